#include "text/utf8.h"

#include <utf8proc.h>

enum { REPLACEMENT = 0xFFFD };

/* The range that the byte after a lead byte must be in; narrower than 80..BF where that shuts out
 * overlong forms, surrogates and what lies beyond U+10FFFF (table 3-7). */
static bool second_fits(unsigned char lead, unsigned char second)
{
    unsigned char low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
    unsigned char high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
    return second >= low && second <= high;
}

/* Bytes of a sequence that begins with a lead byte; any number will do for one that begins none. */
static size_t sequence_size(unsigned char lead)
{
    return lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
}

/* Bytes of the sequence at the start of text[0..length) that are as they should be, at least one;
 * if not all are, these are the ill-formed ones that U+FFFD replaces. */
static size_t maximal_subpart(const unsigned char *text, size_t length)
{
    unsigned char lead = text[0];
    if (lead < 0xC2 || lead > 0xF4 || length < 2 || !second_fits(lead, text[1]))
        return 1;
    size_t whole = sequence_size(lead), valid = 2;
    while (valid < whole && valid < length && (text[valid] & 0xC0) == 0x80)
        valid++;
    return valid;
}

size_t text_decode(const char *text, size_t length, int32_t *character)
{
    const unsigned char *bytes = (const unsigned char *)text;
    if (bytes[0] < 0x80) {
        *character = bytes[0];
        return 1;
    }
    /* Four bytes hold every character, and are never too many for utf8proc's signed length. */
    utf8proc_ssize_t read =
        utf8proc_iterate(bytes, length < 4 ? (utf8proc_ssize_t)length : 4, character);
    if (read > 0)
        return (size_t)read;
    *character = REPLACEMENT;
    return maximal_subpart(bytes, length);
}

size_t text_decode_before(const char *text, size_t begin, size_t end, int32_t *character)
{
    size_t start = end - 1;
    while (start > begin && ((unsigned char)text[start] & 0xC0) == 0x80)
        start--;
    text_decode(text + start, end - start, character);
    return end - start;
}

/* Bytes before the first ill-formed sequence. */
static size_t valid_prefix(const char *text, size_t length)
{
    const unsigned char *bytes = (const unsigned char *)text;
    size_t at = 0;
    while (at < length) {
        const size_t size = sequence_size(bytes[at]);
        if (size > 1 && maximal_subpart(bytes + at, length - at) != size)
            return at;
        at += size;
    }
    return length;
}

bool text_is_valid(const char *bytes, size_t length)
{
    return valid_prefix(bytes, length) == length;
}

bool text_repair(const char *bytes, size_t length, base_buffer *out, size_t *origin)
{
    size_t at = 0, written = 0;
    while (at < length) {
        size_t valid = valid_prefix(bytes + at, length - at);
        if (!base_buffer_append(out, bytes + at, valid))
            return false;
        for (size_t i = 0; origin && i < valid; i++)
            origin[written + i] = at + i;
        at += valid;
        written += valid;
        if (at == length)
            break;
        if (!base_buffer_append(out, "\xEF\xBF\xBD", 3))
            return false;
        for (size_t i = 0; origin && i < 3; i++)
            origin[written + i] = at;
        at += maximal_subpart((const unsigned char *)bytes + at, length - at);
        written += 3;
    }
    if (origin)
        origin[written] = length;
    return base_buffer_reserve(out, 0);
}
