/* What the files behind search.h share: the sentences in work and the memory of a worker. */
#ifndef SEARCH_WORKER_H
#define SEARCH_WORKER_H

#include "base/arena.h"
#include "search/beam.h"
#include "search/constraint.h"
#include "search/copy.h"
#include "search/guard.h"
#include "search/search.h"
#include "search/select.h"

/* What a sentence is searched for. */
typedef enum search_attempt {
    SEARCH_FIRST,
    SEARCH_COPYING,    /* words that were missing are favoured */
    SEARCH_NO_REPEATS, /* the first one brought nothing sane */
} search_attempt;

/* A sentence in the batch, or waiting for its next attempt. */
typedef struct search_sentence {
    search_beam beam;
    nn_sentence *state;
    const int32_t *ids;
    size_t count, tag;
    size_t source_repeats; /* as search_guard_repeats; only with the guard */
    search_extra extra;
    bool astray; /* nothing but endless repetition was found */
    search_attempt attempt;
    search_copies copies; /* none without the guard */
    search_beam first;    /* what the first attempt brought, while words are copied */
    bool full_row;        /* of this step's rows some must be seen whole */
} search_sentence;

struct search_worker {
    const nn_network *network;
    const kn_table *kernels;
    nn_worker *nn;
    base_arena arena;
    search_options options;
    search_constraints constraints;
    search_speller speller; /* only with a tokenizer */

    size_t capacity;                             /* active sentences at most; as many can wait */
    search_sentence **active, **idle, **waiting; /* each sentence is in one of these */
    size_t active_count, idle_count, waiting_count;
    bool draining;              /* those that wait come first */
    search_sentence *sentences; /* (2 * capacity) */

    nn_source *sources;    /* (capacity), for one call of nn_encode */
    nn_sentence **encoded; /* (capacity) */
    nn_row *rows;          /* (capacity * beams) each */
    kn_top *tops;
    search_banned *banned;
    int32_t *banned_rows; /* (capacity * beams, most_banned) */
    size_t most_banned;
    float *logits;                 /* (capacity * beams, outputs), touched only when needed */
    int32_t *history;              /* start token and tokens of one hypothesis */
    int32_t *tokens;               /* (beams, max_new_tokens), what `done` sees */
    uint32_t *seen;                /* (max_new_tokens), one alignment */
    search_hypothesis *hypotheses; /* (beams) */
};

/* ---- What comes of a sentence (outcome.c) --------------------------------------------------- */

/* Is there a finished hypothesis that the guard would let pass? */
bool search_found_sane(search_worker *worker, const search_sentence *source);
/* Hands a sentence that is done to the caller, or puts it back for another attempt. Its state in
 * the network has been released. Anything but ZHEN_OK is the caller's. */
zhen_status search_conclude(search_worker *worker, search_sentence *source,
                            const search_feed *feed);

#endif
