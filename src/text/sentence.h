/* Where sentences end. */
#ifndef TEXT_SENTENCE_H
#define TEXT_SENTENCE_H

#include "zhen.h"

typedef struct text_sentences {
    zhen_span *spans;
    size_t count, capacity;
} text_sentences; /* all zero is empty; reusable */

/* Cuts a valid text into sentences at 。！？；… and their Latin forms, and at line ends, tabs and
 * other control characters. Closing quotes and brackets stay with their sentence; what stands in
 * brackets or book-title marks, or is quoted in the midst of a sentence, is not cut, nor are
 * decimals, abbreviations, addresses, file names, and ellipses of hesitation or enumeration; a
 * quotation stays with the words that say who spoke. Signs before and after a sentence and list
 * labels before a blank are spans of their own; items of a list and fields of a form that stand on
 * one line are cut apart. Spans ascend, do not overlap and miss nothing but blanks (text_is_blank),
 * with which they neither begin nor end. What was in `sentences` before is replaced. Returns false
 * when memory runs out. */
bool text_split_sentences(const char *text, size_t length, text_sentences *sentences);
void text_sentences_free(text_sentences *sentences);

#endif
