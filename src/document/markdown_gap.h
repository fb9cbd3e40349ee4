/* Where Markdown's delimiters stand between the texts that md4c reports. */
#ifndef DOCUMENT_MARKDOWN_GAP_H
#define DOCUMENT_MARKDOWN_GAP_H

#include "base/arena.h"
#include "zhen.h"

#include <md4c.h>
#include <stdbool.h>

/* The delimiter that opens a span and ends right before `end`: its beginning, or SIZE_MAX if there
 * is none. `begin`: it starts no earlier. */
size_t doc_markdown_opening(const char *text, size_t begin, size_t end, MD_SPANTYPE type);

/* The delimiter that closes a span and begins at `begin`: its end, or SIZE_MAX if there is none. It
 * ends no later than `end`. Links and images close with ](target "title"), ][label], ] or >. */
size_t doc_markdown_closing(const char *text, size_t begin, size_t end, MD_SPANTYPE type);

/* Whether the mark that closes a link or image is ] or ][], so that the text before it is the label
 * by which its target is found. `limit`: where the next text begins, if that is known, else
 * SIZE_MAX. */
bool doc_markdown_is_unlabelled(const char *text, zhen_span closing, size_t limit);
/* ][label]: a mark that closes a link or image whose text was the label. Zero-terminated; NULL when
 * memory runs out. */
const char *doc_markdown_label(base_arena *arena, const char *text, zhen_span label,
                               size_t *length);

/* The end of the code span whose backticks begin at `begin`, or SIZE_MAX. */
size_t doc_markdown_code_end(const char *text, size_t begin, size_t end);
/* The code in a span, without its backticks and the blanks that set it off. */
zhen_span doc_markdown_code(const char *text, zhen_span span);

#endif
