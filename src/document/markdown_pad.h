/*
 * Markdown with what md4c needs put in.
 *
 * Tables: before 0.5 it takes |---|---| for the line below a table's head, but not |-|-| or
 * |:-|--|, which GitHub's Markdown allows. Such lines are shown to it with more dashes.
 *
 * Emphasis: CommonMark wants a blank or a mark outside of **...** where a mark stands inside, as in
 * **a:** b. Chinese has no blanks, and **注意：**请 is what people write and many programs read.
 * A full stop outside of such a run makes md4c see it. Only runs that find their partner get one:
 * the asterisks of *.c, a*b and "* means" stay what they are.
 */
#ifndef DOCUMENT_MARKDOWN_PAD_H
#define DOCUMENT_MARKDOWN_PAD_H

#include "base/buffer.h"

typedef struct doc_insertion {
    size_t begin, count; /* of bytes, in the padded text */
    size_t before;       /* how many were inserted before these */
} doc_insertion;

typedef struct doc_padded {
    base_buffer text;
    doc_insertion *insertions; /* in order */
    size_t count, capacity;
} doc_padded; /* all zero is empty */

/* Fills `padded`; false when memory runs out. */
bool doc_markdown_pad(const char *text, size_t length, doc_padded *padded);
/* Where in the text a place of the padded one is. */
size_t doc_markdown_unpad(const doc_padded *padded, size_t at);
void doc_markdown_pad_free(doc_padded *padded);

#endif
