/* The workers of a translator: threads that take pieces from one queue. */
#ifndef TRANSLATE_CREW_H
#define TRANSLATE_CREW_H

#include "search/search.h"
#include "translate/memory.h"

#include <stdatomic.h>

/* Keeps each worker's memory from call to call; threads live during a call only. */
typedef struct translate_crew translate_crew;

/* `cancel` is looked at once a decoding step and ends a run with ZHEN_ERROR_CANCELLED. The network,
 * the flag and what the options point to must outlive the crew. */
zhen_status translate_crew_create(const zhen_model *model, const nn_network *network,
                                  const search_options *options, size_t threads,
                                  const atomic_bool *cancel, translate_crew **crew,
                                  zhen_error *error);
void translate_crew_free(translate_crew *crew);

/* Fills in the versions of all entries. The calling thread works too; others are started only if
 * there is work enough for them, and have ended on return. After a failure some entries have
 * versions and some have none. */
zhen_status translate_crew_run(translate_crew *crew, translate_entry *const *entries, size_t count,
                               zhen_error *error);

#endif
