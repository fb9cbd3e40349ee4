/* Reading tests/tokenizer/fixtures. A fixture that is missing ends the program. */
#ifndef TESTS_TOKENIZER_FIXTURE_H
#define TESTS_TOKENIZER_FIXTURE_H

#include "base/buffer.h"
#include "tokenizer/spm.h"

#define FIXTURES "tests/tokenizer/fixtures/"

/* The variants of make_fixtures.py. */
extern const char *const fixture_variants[];
extern const int fixture_variant_count;

/* FIXTURES name suffix, in a static buffer that the next call reuses. */
const char *fixture_path(const char *name, const char *suffix);
void fixture_read(const char *name, const char *suffix, base_buffer *bytes);

/* A walk over the lines of a text; all zero but `text` is the beginning. */
typedef struct fixture_line {
    const base_buffer *text;
    size_t next;
    char *start; /* no zero byte at its end */
    size_t length;
    int number; /* from 1 */
} fixture_line;

bool fixture_next(fixture_line *line);

/* Writes bytes to a new temporary file and returns its path, in a static buffer. */
const char *fixture_temporary(const void *bytes, size_t length);

#endif
