/* Runs a search over the sources of a case and compares what comes back with transformers. */
#ifndef TESTS_SEARCH_TOY_CHECK_H
#define TESTS_SEARCH_TOY_CHECK_H

#include "search/toy_case.h"

/* The source position that belongs to the token after the start token and `steps` tokens. */
typedef uint32_t toy_look(const toy_source *source, const int32_t *history, size_t steps);

/* look: NULL if the options do not ask for alignments. */
void toy_check(const toy_case *toy, search_worker *worker, toy_look *look);

#endif
