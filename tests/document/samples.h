/* Documents of every format: small ones, each with what is hard about it, or those in the directory
 * that $ZHEN_SAMPLES names (real_files.sh). */
#ifndef TESTS_DOCUMENT_SAMPLES_H
#define TESTS_DOCUMENT_SAMPLES_H

#include "zhen.h"

typedef struct sample {
    char name[256];
    zhen_format format; /* by the name's extension */
} sample;

/* Lists the samples and returns how many there are; once, before the others are used. */
int samples_list(void);
const sample *sample_at(int index);
/* Reads a sample; the result is allocated. */
char *sample_read(const sample *s, size_t *size);

#endif
