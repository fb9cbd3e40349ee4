/* Files that are no text in any encoding. */
#ifndef DOCUMENT_BINARY_H
#define DOCUMENT_BINARY_H

#include <stddef.h>

/* What a file is, by the bytes that it begins with: "a PDF file"; NULL if it may be a text. Lives
 * for ever. */
const char *doc_binary_kind(const char *bytes, size_t length);

#endif
