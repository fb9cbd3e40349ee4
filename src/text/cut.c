#include "text/cut.h"

#include "text/punctuation.h"
#include "text/script.h"
#include "text/utf8.h"

#include <utf8proc.h>

/* How good a place is, between two grapheme clusters. */
enum { PLACE_WORD, PLACE_PLAIN, PLACE_GAP, PLACE_COMMA, PLACES };

static bool is_word(int32_t character)
{
    return text_is_latin(character) || text_is_digit(character) || character == '\'' ||
           character == '-' || character == '_' || (character >= 0xC0 && character < 0x2000);
}

/* Whether `character`, which `next` follows, divides a sentence: not the , of 1,000 or : of 9:30.
 */
static bool divides(int32_t character, int32_t next)
{
    text_mark mark = text_mark_of(character);
    if (mark == TEXT_MARK_NONE || character == 0x3001 /* 、 */)
        return false;
    return character > 0x7F || text_is_blank(next) || text_is_han(next);
}

/* How good it is to cut between `before` and `after`; `divided`: only closing marks and blanks
 * stand between the last dividing mark and here. */
static int place_quality(int32_t before, int32_t after, bool divided)
{
    bool closes = text_is_closer(after) || text_is_blank(after);
    text_mark mark = text_mark_of(after);
    if (mark != TEXT_MARK_NONE || closes)
        return text_is_blank(after) && !divided && !text_closer_of(before) ? PLACE_GAP : PLACE_WORD;
    if (divided)
        return PLACE_COMMA;
    if (text_closer_of(before))
        return PLACE_WORD;
    if (text_is_blank(before) || text_is_closer(before) || text_closer_of(after) ||
        before == 0x3001 /* 、 */)
        return PLACE_GAP;
    return is_word(before) && is_word(after) ? PLACE_WORD : PLACE_PLAIN;
}

size_t text_cut(const char *text, size_t length, size_t limit)
{
    if (length <= limit)
        return length;
    size_t last[PLACES] = {0}; /* the last place of each quality; 0: none */
    size_t inside = 0;         /* the last place between characters */
    int32_t before, after;
    utf8proc_int32_t state = 0;
    bool divided = false;
    for (size_t at = text_decode(text, length, &before); at < length; before = after) {
        if (at > limit && inside)
            break;
        size_t size = text_decode(text + at, length - at, &after);
        inside = at;
        if (divides(before, after))
            divided = true;
        else if (!text_is_closer(before) && !text_is_blank(before))
            divided = false;
        if (utf8proc_grapheme_break_stateful(before, after, &state) && at <= limit)
            last[place_quality(before, after, divided)] = at;
        at += size;
    }
    for (int quality = PLACE_COMMA; quality > PLACE_WORD; quality--)
        if (last[quality] >= limit / 4 && last[quality])
            return last[quality];
    size_t best = 0;
    for (int quality = 0; quality < PLACES; quality++)
        best = last[quality] > best ? last[quality] : best;
    return best ? best : inside ? inside : length;
}
