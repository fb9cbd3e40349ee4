/* Where a growing text may be cut so that no record is cut in two. */
#ifndef DOCUMENT_RECORDS_H
#define DOCUMENT_RECORDS_H

#include "zhen.h"

/* A line of plain text that is longer than this is cut at the end of a sentence. */
#define DOC_LONGEST_LINE ((size_t)1 << 20)

/* Bytes in a quoted field of TSV at most, so that a quote that means nothing does no harm. */
#define DOC_LONGEST_QUOTED ((size_t)1 << 16)

/* What is known about quotes in the text so far; all zero but the separator at its beginning. */
typedef struct doc_quotes {
    char separator; /* of fields */
    size_t scanned; /* bytes */
    size_t record;  /* end of the last whole record in them, 0 if none is */
    bool tabs_end;  /* tabs end quotes, too */
    bool in_quotes, in_field;
    bool closed; /* the last character closed the quotes: one more opens them again */
} doc_quotes;

/* Whether the format comes in records at all. */
bool doc_has_records(zhen_format format);

/* What separates the fields of a CSV that begins so: what its line sep=; says, or else the one of
 * commas, semicolons and tabs that stands most often in the first line outside of quotes. */
char doc_records_separator(const char *text, size_t length);
/* Length of the line sep=; that Excel reads at the beginning of a CSV, with its line end; 0: there
 * is none. */
size_t doc_records_separator_line(const char *text, size_t length);

/* Whether a line of plain text that begins at `at` begins a paragraph: it is empty or indented, or
 * the text's end. */
bool doc_records_begins_paragraph(const char *text, size_t length, size_t at);

/* The number of bytes at the start of `text` that are whole records and about `wanted` in all; 0 if
 * there are none yet. flush: fewer will do; end: no more text will come, and an open record is
 * whole. CSV and TSV remember in `quotes` what they have scanned; the caller resets it when it
 * takes the bytes away. */
size_t doc_records_cut(const zhen_document_options *options, const char *text, size_t length,
                       size_t wanted, bool flush, bool end, doc_quotes *quotes);

#endif
