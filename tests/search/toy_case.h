/* The cases of toy.txt and marian.txt: options of a search, sources, and what transformers makes of
 * them. */
#ifndef TESTS_SEARCH_TOY_CASE_H
#define TESTS_SEARCH_TOY_CASE_H

#include "search/search.h"

#include <stdio.h>

enum { TOY_SOURCES = 6, TOY_TOKENS = 80, TOY_RETURNS = 24, TOY_WORDS = 96 };

typedef struct toy_expected {
    double score;
    bool complete;
    int32_t tokens[TOY_TOKENS];
    size_t count;
} toy_expected;

typedef struct toy_source {
    int32_t ids[TOY_TOKENS];
    size_t count;
    toy_expected expected[TOY_RETURNS];
    size_t expected_count;
} toy_source;

typedef struct toy_case {
    char line[2048]; /* the options as they stand in the file, for messages */
    char model[32];
    search_options options;
    mdl_bad_word words[TOY_WORDS];
    int32_t word_ids[4 * TOY_WORDS];
    toy_source sources[TOY_SOURCES];
    size_t source_count;
} toy_case;

/* What transformers takes when nothing is said, for the toy network. Guard off, scores on. */
void toy_options(search_options *options);

/* Reads the next case; false at the end of the file. */
bool toy_case_read(FILE *file, toy_case *out);

#endif
