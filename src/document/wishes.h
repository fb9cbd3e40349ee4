/* What the options name in a file (columns, JSON paths), and whether it is there. */
#ifndef DOCUMENT_WISHES_H
#define DOCUMENT_WISHES_H

#include <stdbool.h>
#include <stddef.h>

typedef struct doc_wish {
    char *text;
    bool granted;
} doc_wish;

typedef struct doc_wishes {
    doc_wish *items;
    size_t count, capacity;
} doc_wishes; /* all zero is empty */

/* Remembers that something is named so; `granted`: and that (a part of) the file has it. False when
 * memory runs out. */
bool doc_wishes_add(doc_wishes *wishes, const char *text, size_t length, bool granted);
void doc_wishes_free(doc_wishes *wishes);

#endif
