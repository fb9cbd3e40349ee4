/*
 * What md4c is shown in place of extensions that it does not know: formulas, footnotes, and lines
 * that would else be taken for the prose beside them. Texts are reported by place, so that the
 * source shows through: a mask only says where they begin and end.
 */
#ifndef DOCUMENT_MARKDOWN_MASK_H
#define DOCUMENT_MARKDOWN_MASK_H

#include <stddef.h>

/* A copy of the text, of the same length and zero-terminated, to be freed by free(); NULL when
 * memory runs out. */
char *doc_markdown_mask(const char *text, size_t length);

#endif
