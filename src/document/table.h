/* What separates the fields of a table, and which columns of it are translated. */
#ifndef DOCUMENT_TABLE_H
#define DOCUMENT_TABLE_H

#include <stdbool.h>
#include <stddef.h>

/* Resolved with the first line; kept from one chunk to the next. */
typedef struct doc_columns {
    char separator; /* found by the reader, which cuts records by it; '\0': not yet */
    bool resolved;
    bool by_name; /* so that the first line holds names and stays as it is */
    bool *wanted; /* of each column that was named; later ones are not wanted; NULL: all are */
    size_t count;
} doc_columns;

void doc_columns_free(doc_columns *columns);

#endif
