/* Where a growing text may be cut so that no record is cut in two. */
#ifndef DOCUMENT_RECORDS_H
#define DOCUMENT_RECORDS_H

#include "zhen.h"

/* A line of plain text that is longer than this is cut at the end of a sentence. */
#define DOC_LONGEST_LINE ((size_t)1 << 20)

/* What is known about quotes in the text so far; all zero at its beginning. */
typedef struct doc_quotes {
    size_t scanned; /* bytes */
    size_t record;  /* end of the last whole record in them, 0 if none is */
    bool in_quotes, in_field;
    bool closed; /* the last character closed the quotes: one more opens them again */
} doc_quotes;

/* Whether the format comes in records at all. */
bool doc_has_records(zhen_format format);

/* The number of bytes at the start of `text` that are whole records and about `wanted` in all; 0 if
 * there are none yet. flush: fewer will do; end: no more text will come, and an open record is
 * whole. CSV remembers in `quotes` what it has scanned; the caller resets it when it takes the
 * bytes away. */
size_t doc_records_cut(const zhen_document_options *options, const char *text, size_t length,
                       size_t wanted, bool flush, bool end, doc_quotes *quotes);

#endif
