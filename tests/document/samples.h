/* Small documents of every format, each with what is hard about it. */
#ifndef TESTS_DOCUMENT_SAMPLES_H
#define TESTS_DOCUMENT_SAMPLES_H

#include "zhen.h"

typedef struct sample {
    const char *path; /* under tests/document/samples */
    zhen_format format;
} sample;

extern const sample samples[];
extern const size_t sample_count;

/* Reads a sample; the result is allocated. */
char *sample_read(const sample *s, size_t *size);

#endif
