/* Whether a Latin mark (. ! ? ;) ends a sentence or belongs to an abbreviation, a number, a list
 * label, an address. */
#ifndef TEXT_LATIN_H
#define TEXT_LATIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A mark in its surroundings. */
typedef struct text_latin_mark {
    const char *text;
    size_t length; /* of the text */
    size_t begin;  /* of the sentence */
    size_t at;     /* the mark itself */
    int32_t character;
} text_latin_mark;

/* Whether the mark is tied to what follows it directly: 3.14, v1.2, a.txt, U.S.A, ?q=1, &nbsp;.
 * Such a mark is part of a word. */
bool text_latin_is_inside_word(const text_latin_mark *mark);

/* Whether the word before the mark keeps the sentence open. `next` is the next visible character (0
 * if there is none); `blank`: not directly after the mark. */
bool text_latin_keeps_open(const text_latin_mark *mark, int32_t next, bool blank);

#endif
