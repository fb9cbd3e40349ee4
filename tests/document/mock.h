/* Translators under the tests' control: what a model might write, and what none should. */
#ifndef TESTS_DOCUMENT_MOCK_H
#define TESTS_DOCUMENT_MOCK_H

#include "zhen.h"

typedef enum mock_kind {
    MOCK_IDENTITY,    /* the text itself */
    MOCK_GLOSS,       /* each Han character becomes a word of two letters; aligned */
    MOCK_REVERSED,    /* the same words from the last to the first; aligned */
    MOCK_UNALIGNED,   /* the gloss without links */
    MOCK_DROPPING,    /* the gloss without numbers and every other word */
    MOCK_DOUBLING,    /* every word twice */
    MOCK_WRONG_LINKS, /* the gloss with random links */
    MOCK_GARBLED,     /* digits of numbers shuffled, markup characters everywhere */
    MOCK_RANDOM,      /* random bytes with random sentences and links */
    MOCK_SHORT,       /* one letter */
    MOCK_EMPTY,
    MOCK_KINDS
} mock_kind;

/* Translates every text of a document. Random ones are the same in every run. */
void mock_translate(zhen_document *document, mock_kind kind);

/* Reads a file's bytes in chunks of `step` bytes, translates, and returns the output, allocated,
 * with its size; NULL and the error if the reader fails. */
char *mock_run(const zhen_document_options *options, const char *bytes, size_t size, size_t step,
               mock_kind kind, size_t *out_size, zhen_error *error);

/* A small generator of numbers, for inputs that are random but the same each time. */
typedef struct mock_random {
    uint64_t state;
} mock_random;
uint32_t mock_next(mock_random *random);
/* Less than `limit`, which is not 0. */
size_t mock_below(mock_random *random, size_t limit);

#endif
