/* Searching with the toy network in one call, results collected. */
#ifndef TESTS_SEARCH_TOY_RUN_H
#define TESTS_SEARCH_TOY_RUN_H

#include "search/search.h"
#include "search/toy_network.h"

enum { TOY_RUN_SOURCES = 128, TOY_RUN_TOKENS = TOY_POSITIONS };

typedef struct toy_result {
    int32_t tokens[TOY_RUN_TOKENS]; /* of the best hypothesis */
    size_t count;
    double score;
    bool complete;
    size_t hypotheses;
    size_t times; /* how often `done` was called: 1 */
} toy_result;

typedef struct toy_run {
    const int32_t *sources[TOY_RUN_SOURCES];
    size_t counts[TOY_RUN_SOURCES];
    size_t source_count;
    size_t next;
    size_t done;
    size_t fail_at;   /* `done` fails when this many are done; 0: never */
    size_t cancel_at; /* cancelled once this many are done; 0: never */
    toy_result results[TOY_RUN_SOURCES];
    zhen_error error;
} toy_run;

void toy_run_add(toy_run *run, const int32_t *ids, size_t count);
/* Makes a worker for `rows` rows, runs it over all sources from the first on, frees it. */
zhen_status toy_run_all(toy_run *run, nn_network *network, const search_options *options,
                        size_t rows);
/* The same with a worker of the caller's. */
zhen_status toy_run_with(toy_run *run, search_worker *worker);

#endif
