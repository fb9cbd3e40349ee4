/* Where Markdown's delimiters stand between the texts that md4c reports. */
#ifndef DOCUMENT_MARKDOWN_GAP_H
#define DOCUMENT_MARKDOWN_GAP_H

#include "zhen.h"

#include <md4c.h>

/* The delimiter that opens a span and ends right before `end`: its beginning, or SIZE_MAX if there
 * is none. `begin`: it starts no earlier. */
size_t doc_markdown_opening(const char *text, size_t begin, size_t end, MD_SPANTYPE type);

/* The delimiter that closes a span and begins at `begin`: its end, or SIZE_MAX if there is none. It
 * ends no later than `end`. Links and images close with ](target "title"), ][label], ] or >. */
size_t doc_markdown_closing(const char *text, size_t begin, size_t end, MD_SPANTYPE type);

/* The end of the code span whose backticks begin at `begin`, or SIZE_MAX. */
size_t doc_markdown_code_end(const char *text, size_t begin, size_t end);

#endif
