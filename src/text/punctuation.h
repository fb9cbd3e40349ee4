/* Which marks end sentences, which divide them, which come in pairs. */
#ifndef TEXT_PUNCTUATION_H
#define TEXT_PUNCTUATION_H

#include <stdbool.h>
#include <stdint.h>

typedef enum text_mark {
    TEXT_MARK_NONE,
    TEXT_MARK_STOP,     /* 。！？； and the like: ends a sentence wherever it stands */
    TEXT_MARK_LATIN,    /* . ! ? ; in ASCII: ends a sentence or belongs to a word or number */
    TEXT_MARK_ELLIPSIS, /* … ⋯ ‥ */
    TEXT_MARK_COMMA     /* ，、：, and dashes: divides a sentence */
} text_mark;

text_mark text_mark_of(int32_t character);
/* . and its full-width and small forms. */
bool text_is_dot(int32_t character);

/* The mark that closes what this one opens, or 0 if it opens nothing. ASCII quotes are not among
 * them: they open and close alike. */
int32_t text_closer_of(int32_t opener);
bool text_is_closer(int32_t character);
/* Marks around direct speech: “ ‘ 「 『. */
bool text_is_speech_opener(int32_t character);

#endif
