/* The patterns of protected text. Every matcher looks at text[at..length), at < length, and returns
 * how many bytes it protects, 0 for none. Its time is bounded by a constant or by what it protects,
 * so that a search through any text takes no more than linear time. */
#ifndef DOCUMENT_PATTERNS_H
#define DOCUMENT_PATTERNS_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

typedef size_t (*doc_matcher)(const char *text, size_t length, size_t at);

/* Addresses (patterns_address.c). */
size_t doc_match_name(const char *text, size_t length, size_t at); /* letters of any script, _ - */
size_t doc_match_url(const char *text, size_t length, size_t at);
size_t doc_match_email(const char *text, size_t length, size_t at);
size_t doc_match_domain(const char *text, size_t length, size_t at);
size_t doc_match_file(const char *text, size_t length, size_t at);
size_t doc_match_quoted_file(const char *text, size_t length, size_t at);
size_t doc_match_option(const char *text, size_t length, size_t at);
size_t doc_match_mention(const char *text, size_t length, size_t at);
size_t doc_match_hashtag(const char *text, size_t length, size_t at);

/* Long numbers and identifiers (patterns_number.c). */
size_t doc_match_number(const char *text, size_t length, size_t at);
/* Whether what stands at `end` makes a quantity or a year of the number before it: 万, 年. */
bool doc_is_counted(const char *text, size_t length, size_t end);

/* Placeholders of templates and messages (patterns_template.c). */
size_t doc_match_braces(const char *text, size_t length, size_t at);
size_t doc_match_call(const char *text, size_t length, size_t at);
size_t doc_match_message(const char *text, size_t length, size_t at);
size_t doc_match_colon(const char *text, size_t length, size_t at);
size_t doc_match_role(const char *text, size_t length, size_t at);
size_t doc_match_shortcode(const char *text, size_t length, size_t at);
size_t doc_match_variable(const char *text, size_t length, size_t at);

/* Code, tags, notes (patterns_code.c). */
size_t doc_match_percent(const char *text, size_t length, size_t at);
size_t doc_match_entity(const char *text, size_t length, size_t at);
size_t doc_match_tag(const char *text, size_t length, size_t at);
size_t doc_match_backslash(const char *text, size_t length, size_t at);
size_t doc_match_code(const char *text, size_t length, size_t at);
size_t doc_match_note(const char *text, size_t length, size_t at);
size_t doc_match_formula(const char *text, size_t length, size_t at);
/* The end of the name of a tag that begins at `at` ("b" of <b>), `at` if there is none. */
size_t doc_tag_name_end(const char *text, size_t length, size_t at);

/* Emoji, arrows and other symbols (patterns_symbol.c). */
size_t doc_match_emoji(const char *text, size_t length, size_t at);
size_t doc_match_keys(const char *text, size_t length, size_t at);
size_t doc_match_parting_arrow(const char *text, size_t length, size_t at);
size_t doc_match_arrow(const char *text, size_t length, size_t at);
size_t doc_match_box(const char *text, size_t length, size_t at);
size_t doc_match_bullet(const char *text, size_t length, size_t at);
size_t doc_match_relation(const char *text, size_t length, size_t at);
size_t doc_match_chain(const char *text, size_t length, size_t at);
size_t doc_match_signed(const char *text, size_t length, size_t at);
size_t doc_match_symbol(const char *text, size_t length, size_t at);
size_t doc_match_value(const char *text, size_t length, size_t at);
size_t doc_match_sign(const char *text, size_t length, size_t at);

/* Faces (patterns_face.c). */
size_t doc_match_face(const char *text, size_t length, size_t at);
size_t doc_match_smiley(const char *text, size_t length, size_t at);

static inline bool doc_is_alpha(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static inline bool doc_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static inline bool doc_is_alnum(char c)
{
    return doc_is_alpha(c) || doc_is_digit(c);
}

/* -1: it is no digit. */
static inline int doc_hex_value(char c)
{
    return doc_is_digit(c)        ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* A blank within a line, whose end may be \r\n. */
static inline bool doc_is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* Whether c is an ASCII character of `set` (which a zero byte never is). */
static inline bool doc_is_one_of(char c, const char *set)
{
    return c && strchr(set, c);
}

static inline char doc_at_or_zero(const char *text, size_t length, size_t at)
{
    if (at >= length)
        return '\0';
    return text[at];
}

/* The first byte at or after `at` that is no blank. */
static inline size_t doc_skip_blanks(const char *text, size_t length, size_t at)
{
    while (at < length && text[at] == ' ')
        at++;
    return at;
}

/* Whether a Latin word or number goes on to the left of `at`. */
static inline bool doc_is_inside_word(const char *text, size_t at)
{
    return at > 0 && (doc_is_alnum(text[at - 1]) || text[at - 1] == '_');
}

static inline bool doc_starts_with(const char *text, size_t length, size_t at, const char *prefix)
{
    size_t size = strlen(prefix);
    return length - at >= size && memcmp(text + at, prefix, size) == 0;
}

#endif
