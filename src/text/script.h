/* What a character is: Han, blank, a separator. */
#ifndef TEXT_SCRIPT_H
#define TEXT_SCRIPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Script Han of the Unicode Character Database (Scripts.txt): ideographs with all extensions,
 * compatibility ideographs, radicals, 々, 〇, Hangzhou numerals. Kana, bopomofo, hangul and CJK
 * punctuation are not Han. */
bool text_is_han(int32_t character);
/* Whether any character is Han: what has none passes through untranslated. */
bool text_has_han(const char *text, size_t length);

/* White space of every kind (U+3000 too), control characters, U+200B and U+FEFF. */
bool text_is_blank(int32_t character);
/* A blank that no sentence goes across: tab, line ends, other control characters. */
bool text_is_separator(int32_t character);

/* Letters, marks, digits and symbols: what punctuation and blanks are not. */
bool text_is_content(int32_t character);
/* ASCII letters and digits and their full-width forms. */
bool text_is_digit(int32_t character);
bool text_is_latin(int32_t character);

#endif
