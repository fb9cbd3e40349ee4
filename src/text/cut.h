/* Where to cut a sentence that is too long. */
#ifndef TEXT_CUT_H
#define TEXT_CUT_H

#include <stddef.h>

/* The best place to cut the valid text[0..length), length > 0, in two not after `limit` bytes:
 * after a comma-like mark, else at a blank, bracket or 、, else between words, each not in the
 * first quarter, else between grapheme clusters (never inside one unless it alone is longer; never
 * inside a character). 0 < result <= length; `length` if that is within the limit. */
size_t text_cut(const char *text, size_t length, size_t limit);

#endif
