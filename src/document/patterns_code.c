#include "document/patterns.h"

/* In bytes: a tag in text that is no markup, the tag's name, `code`. */
enum { LONGEST_TAG = 1024, LONGEST_NAME = 64, LONGEST_CODE = 4096 };

/* The end of <PRIu64>, as gettext writes the macros of C for types of a known size. */
static size_t macro_end(const char *text, size_t length, size_t at)
{
    if (!doc_starts_with(text, length, at, "<PRI"))
        return 0;
    at += 4;
    while (at < length && doc_is_alnum(text[at]))
        at++;
    return doc_at_or_zero(text, length, at) == '>' ? at + 1 : 0;
}

/* Qt's arguments: %1, %L2. */
static size_t numbered(const char *text, size_t length, size_t at)
{
    size_t begin = at + 1 + (doc_at_or_zero(text, length, at + 1) == 'L'), end = begin;
    while (end - begin < 2 && doc_is_digit(doc_at_or_zero(text, length, end)))
        end++;
    return end > begin ? end - at : 0;
}

/* printf's conversions, with positions and Python's names: %s, %5.2f, %1$d, %(name)s, %lu, %dMB.
 * Not "100% of", "5 %sugar": a conversion follows the sign directly, and a number before it is a
 * percentage. */
size_t doc_match_percent(const char *text, size_t length, size_t at)
{
    if (text[at] != '%')
        return 0;
    size_t end = at + 1;
    if (doc_at_or_zero(text, length, end) == '%')
        return 2;
    if (doc_at_or_zero(text, length, end) == '(') {
        while (end < length && end - at < 64 && text[end] != ')')
            end++;
        end++;
    }
    while (end < length && (doc_is_digit(text[end]) || doc_is_one_of(text[end], "$#+-.*'0")))
        end++;
    size_t macro = macro_end(text, length, end);
    if (macro)
        return macro - at;
    while (end < length && doc_is_one_of(text[end], "hlLqjzt"))
        end++;
    if (at > 0 && doc_is_digit(text[at - 1]))
        return 0;
    if (end >= length || !doc_is_one_of(text[end], "diouxXeEfFgGaAcspn@"))
        return numbered(text, length, at);
    char conversion = text[end++];
    if (!doc_is_alpha(doc_at_or_zero(text, length, end)))
        return end - at;
    bool quantity = at > 1 && text[at - 1] == ' ' && doc_is_digit(text[at - 2]);
    return doc_is_one_of(conversion, "dsfux") && !quantity ? end - at : 0;
}

/* A character reference: &nbsp; &#160; &#xA0;. */
size_t doc_match_entity(const char *text, size_t length, size_t at)
{
    if (text[at] != '&')
        return 0;
    size_t end = at + 1;
    if (doc_at_or_zero(text, length, end) == '#')
        end++;
    size_t begin = end;
    while (end < length && end - begin < 32 && doc_is_alnum(text[end]))
        end++;
    return end > begin && doc_at_or_zero(text, length, end) == ';' ? end + 1 - at : 0;
}

/* Letters, digits and some marks; or digits alone, as react-i18next names its elements. */
size_t doc_tag_name_end(const char *text, size_t length, size_t at)
{
    size_t end = at;
    bool number = doc_is_digit(doc_at_or_zero(text, length, at));
    if (!number && !doc_is_alpha(doc_at_or_zero(text, length, at)))
        return at;
    while (end < length && end - at < LONGEST_NAME &&
           (doc_is_digit(text[end]) ||
            (!number && (doc_is_alpha(text[end]) || doc_is_one_of(text[end], "-:._")))))
        end++;
    return end;
}

/* What may follow a tag's name at `at`: nothing, /, or attributes up to `end`; directly after a
 * letter these must have values. */
static bool are_attributes(const char *text, size_t at, size_t end, bool inside)
{
    size_t first = doc_skip_blanks(text, end, at);
    if (first == end || (first + 1 == end && text[first] == '/'))
        return true;
    bool named =
        first > at && (doc_is_alpha(text[first]) || doc_is_one_of(text[first], "_:@#*[({"));
    return named && (!inside || memchr(text + first, '=', end - first));
}

static bool is_ascii(const char *text, size_t begin, size_t end)
{
    while (begin < end && (unsigned char)text[begin] < 0x80)
        begin++;
    return begin == end;
}

/* A tag in text that is not parsed as markup (PO, JSON, tables): <b>, </a>, <br/>, <a title="题">,
 * <1>; and what is written like one in other languages: <stdio.h>, <T, E>. Not a comparison:
 * a<b，c>d, i<n 时 j>m. */
size_t doc_match_tag(const char *text, size_t length, size_t at)
{
    if (text[at] != '<')
        return 0;
    size_t name = at + 1 + (doc_at_or_zero(text, length, at + 1) == '/');
    size_t name_end = doc_tag_name_end(text, length, name), end = name_end;
    if (end == name)
        return 0;
    while (end < length && end - at < LONGEST_TAG && text[end] != '>' && text[end] != '<')
        end++;
    if (doc_at_or_zero(text, length, end) != '>')
        return 0;
    bool letters = !doc_is_digit(text[name]);
    bool tag = end == name_end ||
               (letters && (is_ascii(text, name, end) ||
                            are_attributes(text, name_end, end, doc_is_inside_word(text, at))));
    return tag ? end + 1 - at : 0;
}

/* \n and \t as two characters, in text that has been quoted twice. */
size_t doc_match_backslash(const char *text, size_t length, size_t at)
{
    return text[at] == '\\' && doc_is_one_of(doc_at_or_zero(text, length, at + 1), "nrt") &&
                   !doc_is_alnum(doc_at_or_zero(text, length, at + 2))
               ? 2
               : 0;
}

/* ---- Code and notes ----------------------------------------------------------------------- */

/* `code`: as many backticks at the end as at the start, on one line. Where a sentence ends between
 * them they were quotes: ``so'' and `so'. */
size_t doc_match_code(const char *text, size_t length, size_t at)
{
    if (text[at] != '`' || (at > 0 && text[at - 1] == '`'))
        return 0;
    size_t ticks = 0;
    while (doc_at_or_zero(text, length, at + ticks) == '`')
        ticks++;
    for (size_t i = at + ticks; i < length && i - at < LONGEST_CODE && text[i] != '\n';) {
        size_t run = 0;
        if (doc_starts_with(text, length, i, "。"))
            return 0;
        while (doc_at_or_zero(text, length, i + run) == '`')
            run++;
        if (run == ticks)
            return i + run - at;
        i += run ? run : 1;
    }
    return 0;
}

size_t doc_match_note(const char *text, size_t length, size_t at)
{
    if (!doc_starts_with(text, length, at, "[^"))
        return 0;
    size_t end = at + 2;
    while (end < length && text[end] != ']' && text[end] != '[' && text[end] != '\n')
        end++;
    if (doc_at_or_zero(text, length, end) != ']' || end == at + 2)
        return 0;
    end++;
    return doc_at_or_zero(text, length, end) == ':' ? end + 1 - at : end - at;
}

/* $a^2 + b^2$ and $$...$$: no Chinese inside but between braces (v_{平均}), no blank at the inner
 * edges, no digit after ("$5 and $6" is money). */
size_t doc_match_formula(const char *text, size_t length, size_t at)
{
    if (text[at] != '$' || doc_is_inside_word(text, at))
        return 0;
    size_t signs = doc_at_or_zero(text, length, at + 1) == '$' ? 2 : 1, begin = at + signs;
    if (begin >= length || text[begin] == ' ')
        return 0;
    for (size_t i = begin, depth = 0; i < length; i++) {
        if ((unsigned char)text[i] >= 0x80 && (depth == 0 || text[begin] == '{'))
            return 0;
        depth += text[i] == '{';
        depth -= text[i] == '}' && depth > 0;
        if (text[i] != '$' || i == begin)
            continue;
        if (text[i - 1] == ' ' || (signs == 2 && doc_at_or_zero(text, length, i + 1) != '$') ||
            doc_is_digit(doc_at_or_zero(text, length, i + signs)))
            return 0;
        return i + signs - at;
    }
    return 0;
}
