/* Text on utf8proc: validation and repair, scripts, sentence boundaries. */
#ifndef TEXT_TEXT_H
#define TEXT_TEXT_H

#include "base/buffer.h"
#include "zhen.h"

/* Appends `length` bytes of text to `out`, with U+FFFD for each ill-formed sequence (the maximal
 * subpart of Unicode 15, section 3.9, as Python's errors="replace"). Returns false when memory runs
 * out. `origin`, if not NULL, gets for every byte written (and one past the end) the offset in
 * `bytes` that it came from; room for it is the caller's: 3 * length + 1 entries are enough. */
bool text_repair(const char *bytes, size_t length, base_buffer *out, size_t *origin);
bool text_is_valid(const char *bytes, size_t length);

/* Whether any character is a Han ideograph (script Han): what has none passes through untranslated. */
bool text_has_han(const char *text, size_t length);

/* Cuts a text into sentences at 。！？；… and their Latin forms; closing quotes and brackets stay
 * with their sentence; decimals, abbreviations, URLs and ellipses inside a sentence do not cut.
 * Spans ascend, do not overlap, hold no surrounding white space, and miss nothing else. */
typedef struct text_sentences {
    zhen_span *spans;
    size_t count, capacity;
} text_sentences; /* all zero is empty; reusable */
bool text_split_sentences(const char *text, size_t length, text_sentences *sentences);
void text_sentences_free(text_sentences *sentences);

/* The best place to cut text[0..length) in two not after `limit` bytes: after a comma-like mark,
 * else between grapheme clusters (never inside one unless it alone is longer). 0 < result <= length. */
size_t text_cut(const char *text, size_t length, size_t limit);

#endif
