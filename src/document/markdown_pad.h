/*
 * Tables as md4c wants them: before 0.5 it takes |---|---| for the line below a table's head, but
 * not |-|-| or |:-|--|, which GitHub's Markdown allows. Such lines are shown to it with more
 * dashes.
 */
#ifndef DOCUMENT_MARKDOWN_PAD_H
#define DOCUMENT_MARKDOWN_PAD_H

#include "base/buffer.h"

typedef struct doc_insertion {
    size_t begin, count; /* dashes, in the padded text */
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
