#include "document/charset.h"

#include "base/buffer.h"
#include "document/common.h"
#include "document/decode.h"
#include "text/script.h"
#include "text/utf8.h"

#include <string.h>
#include <strings.h>

/* ---- Names ---------------------------------------------------------------------------------- */

const char *doc_charset_canonical(const char *name)
{
    static const char *const names[][2] = {
        {"utf8", "UTF-8"},         {"utf-8", "UTF-8"},         {"ascii", "UTF-8"},
        {"us-ascii", "UTF-8"},     {"gb2312", "GB18030"},      {"gbk", "GB18030"},
        {"gb18030", "GB18030"},    {"cp936", "GB18030"},       {"x-gbk", "GB18030"},
        {"gb_2312-80", "GB18030"}, {"big5", "BIG5-HKSCS"},     {"big5-hkscs", "BIG5-HKSCS"},
        {"cp950", "BIG5-HKSCS"},   {"x-x-big5", "BIG5-HKSCS"}, {"utf16", "UTF-16"},
        {"utf-16", "UTF-16"},      {"utf-16le", "UTF-16LE"},   {"utf-16be", "UTF-16BE"},
        {"utf16le", "UTF-16LE"},   {"utf16be", "UTF-16BE"},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcasecmp(names[i][0], name) == 0)
            return names[i][1];
    return name;
}

/* ---- Declarations --------------------------------------------------------------------------- */

static bool is_name_byte(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c && strchr("-_.:", c));
}

static size_t skip_blanks(const char *text, size_t length, size_t at)
{
    while (at < length && (text[at] == ' ' || text[at] == '\t' || text[at] == '\n'))
        at++;
    return at;
}

/* The value of `word` = value that begins at `at`, quoted or not. */
static bool match_value(const char *text, size_t length, size_t at, const char *word,
                        zhen_span *name)
{
    size_t size = strlen(word);
    if (length - at < size || strncasecmp(text + at, word, size) != 0)
        return false;
    at = skip_blanks(text, length, at + size);
    if (at >= length || text[at] != '=')
        return false;
    at = skip_blanks(text, length, at + 1);
    if (at < length && (text[at] == '"' || text[at] == '\''))
        at++;
    name->begin = at;
    while (at < length && is_name_byte(text[at]))
        at++;
    name->end = at;
    return name->begin < name->end;
}

/* Whether the tag around `at` is the one that declares. */
static bool is_in_tag(const char *text, size_t at, const char *tag)
{
    while (at > 0 && text[at] != '<' && text[at] != '>')
        at--;
    return strncasecmp(text + at, tag, strlen(tag)) == 0;
}

bool doc_charset_declared(zhen_format format, const char *text, size_t length, size_t from,
                          zhen_span *name)
{
    bool html = format == ZHEN_FORMAT_HTML, po = format == ZHEN_FORMAT_PO;
    bool xml = format == ZHEN_FORMAT_XHTML || format == ZHEN_FORMAT_XLIFF;
    for (size_t i = from; i < length; i++) {
        if (po && match_value(text, length, i, "charset", name))
            return true;
        if ((html || format == ZHEN_FORMAT_XHTML) &&
            match_value(text, length, i, "charset", name) && is_in_tag(text, i, "<meta"))
            return true;
        if ((xml || html) && match_value(text, length, i, "encoding", name) &&
            is_in_tag(text, i, "<?xml"))
            return true;
    }
    return false;
}

/* ---- Guesses -------------------------------------------------------------------------------- */

typedef enum utf8_likeness { NOT_UTF8, PERHAPS_UTF8, CERTAINLY_UTF8 } utf8_likeness;

/* Whether the bytes read as UTF-8, save for a few and for a character cut off at the end.
 * Characters of two bytes alone prove little: a few words of GB2312 may look like them. */
static utf8_likeness utf8_likeness_of(const char *sample, size_t length)
{
    size_t good = 0, certain = 0, bad = 0;
    for (size_t at = 0; at < length;) {
        int32_t character;
        size_t bytes = text_decode(sample + at, length - at, &character);
        bool cut_off = at + bytes == length && (unsigned char)sample[at] >= 0xC2 && length > 8;
        if (character == 0xFFFD)
            bad += !cut_off;
        else
            good += bytes > 1;
        certain += bytes > 2 && character != 0xFFFD;
        at += bytes;
    }
    if (bad ? certain <= 20 * bad : good == 0)
        return NOT_UTF8;
    return certain ? CERTAINLY_UTF8 : PERHAPS_UTF8;
}

bool doc_charset_is_ascii(const char *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)bytes[i] >= 0x80 || bytes[i] == '\0')
            return false;
    return true;
}

/* How well a character beyond ASCII fits into a Chinese text. */
static double fit(const char *text, size_t bytes, int32_t character)
{
    if (character == 0xFFFD)
        return -6;
    if (text_is_han(character))
        return bytes == 3 && doc_is_common(text) ? 1 : bytes == 3 ? -0.4 : -3;
    if ((character >= 0x3000 && character <= 0x3011) ||
        (character >= 0xFF01 && character <= 0xFF5E) ||
        (character >= 0x2010 && character <= 0x2026) || character == 0xB7)
        return 0.8;
    if (character >= 0xE000 && character <= 0xF8FF)
        return -3;
    return -0.8;
}

/* An encoding that a file may have without saying so. */
typedef struct candidate {
    const char *name;
    const char *line_end; /* of UTF-16: the two bytes of one; NULL: ASCII is spelled as ever */
} candidate;

static const candidate candidates[] = {
    {"GB18030", NULL}, {"BIG5-HKSCS", NULL}, {"UTF-16LE", "\n\0"}, {"UTF-16BE", "\0\n"}};
enum { CANDIDATES = sizeof candidates / sizeof *candidates };

/* The mean fit of the characters that the sample has in an encoding; control characters, which a
 * wrong byte order gives many of, count against it. ASCII says nothing, for all spell it alike, but
 * for UTF-16. */
static double score(const candidate *c, const char *sample, size_t length)
{
    base_buffer text = {0};
    doc_decoder decoder;
    double sum = 0;
    size_t count = 0;
    if (doc_decoder_open(&decoder, c->name) &&
        doc_decoder_run(&decoder, sample, length, false, &text)) {
        for (size_t at = 0; at < text.length;) {
            int32_t character;
            size_t bytes = text_decode(text.data + at, text.length - at, &character);
            bool control = character < 0x20 && !strchr("\t\n\r\f", (char)character);
            if (control || character == 0)
                sum += -6;
            else if (character >= 0x80)
                sum += fit(text.data + at, bytes, character);
            else if (c->line_end)
                sum += 0.8;
            count += control || character == 0 || character >= 0x80 || c->line_end;
            at += bytes;
        }
    }
    doc_decoder_close(&decoder);
    base_buffer_free(&text);
    return count ? sum / (double)count : -1;
}

/* Whether lines end as UTF-16 spells it. A line feed in the high byte of a unit, which would be a
 * letter of India, is one that is spelled as ASCII spells it. */
static bool has_line_ends(const candidate *c, const char *sample, size_t length)
{
    bool found = false;
    size_t high = c->line_end[0] == '\n' ? 1 : 0;
    for (size_t at = 0; at + 2 <= length; at += 2) {
        if (sample[at + high] == '\n')
            return false;
        found = found || memcmp(sample + at, c->line_end, 2) == 0;
    }
    return found;
}

/* Letters of ASCII, two by two, are Han characters in UTF-16: where lines do not end as it spells
 * that, most characters must be common ones. A zero byte alone may be a stray one. */
static double least_score(const candidate *c, const char *sample, size_t length, double least)
{
    return !c->line_end || has_line_ends(c, sample, length) ? least : 0.2;
}

/* The encoding that the bytes fit best, if better than `least`; else UTF-8. */
static const char *best_candidate(const char *sample, size_t length, double least)
{
    const char *best = "UTF-8";
    double best_score = least;
    for (size_t i = 0; i < CANDIDATES; i++) {
        double s = score(&candidates[i], sample, length);
        if (s > best_score && s > least_score(&candidates[i], sample, length, least)) {
            best = candidates[i].name;
            best_score = s;
        }
    }
    return best;
}

/* The candidate that the file declares to be its encoding in the first 4 KiB, or NULL. A
 * declaration that can be read as such is not in UTF-16. */
static const char *declared_encoding(zhen_format format, const char *sample, size_t length)
{
    zhen_span name;
    char declared[32] = "";
    if (!doc_charset_declared(format, sample, length < 4096 ? length : 4096, 0, &name))
        return NULL;
    if (name.end - name.begin < sizeof declared)
        memcpy(declared, sample + name.begin, name.end - name.begin);
    for (size_t i = 0; i < CANDIDATES; i++)
        if (!candidates[i].line_end &&
            strcmp(doc_charset_canonical(declared), candidates[i].name) == 0)
            return candidates[i].name;
    return NULL;
}

const char *doc_charset_guess(zhen_format format, const char *sample, size_t length)
{
    if (length >= 2 && memcmp(sample, "\xFF\xFE", 2) == 0)
        return "UTF-16LE";
    if (length >= 2 && memcmp(sample, "\xFE\xFF", 2) == 0)
        return "UTF-16BE";
    utf8_likeness utf8 = utf8_likeness_of(sample, length);
    if (doc_charset_is_ascii(sample, length) || utf8 == CERTAINLY_UTF8)
        return "UTF-8";
    const char *declared = declared_encoding(format, sample, length);
    if (declared)
        return declared;
    /* Rare characters alone fit better than this; junk does not, and stays in lines as UTF-8. */
    double least = utf8 == PERHAPS_UTF8 ? 0.5 : -0.7;
    return best_candidate(sample, length < 32768 ? length : 32768, least);
}
