/*
 * The hypotheses of one sentence while it is searched: which are running, which are finished, and
 * whether it is worth going on. It knows scores and tokens, nothing of networks.
 *
 * Scores are sums of float32 log probabilities, rounded after each addition as transformers does
 * it, so that near-ties fall the same way.
 */
#ifndef SEARCH_BEAM_H
#define SEARCH_BEAM_H

#include "base/arena.h"
#include "search/search.h"

/* A running hypothesis, extended by one token. */
typedef struct search_candidate {
    float score;
    uint32_t parent; /* slot of the running hypothesis */
    int32_t token;
} search_candidate;

/* A finished hypothesis: the history of slot `parent` before step `length` - 1, then `last`. */
typedef struct search_finished {
    float score;   /* normalised by length */
    size_t length; /* tokens generated, </s> included */
    uint32_t parent;
    int32_t last;
    uint32_t *alignment; /* (capacity), of its tokens with `last`; NULL unless asked for */
} search_finished;

typedef struct search_beam {
    size_t beams, capacity; /* capacity: steps at most */
    size_t limit;           /* steps of this sentence, at most the capacity */
    size_t steps;           /* tokens generated so far */
    size_t live;            /* running hypotheses: slots 0 to live - 1, best first */
    float *scores;          /* (live) */
    /* Token t of what is now or was once slot s, and the slot it had at step t - 1: (capacity,
     * beams) each. Nothing is ever copied; a hypothesis is read by walking back. */
    int32_t *tokens;
    uint32_t *parents;
    float *shifts;             /* (capacity, beams), see search_beam_shift */
    search_finished *finished; /* (beams), best first */
    size_t finished_count;
} search_beam;

/* Takes memory for up to `capacity` steps from the arena; false when there is none. */
bool search_beam_init(search_beam *beam, base_arena *arena, const search_options *options,
                      size_t capacity);

/* Begins a sentence: one running hypothesis without tokens. */
void search_beam_start(search_beam *beam, size_t limit);

/* Tells of a hypothesis that has just entered the list of finished ones; the network still holds
 * what it saw on the way in slot `slot`. */
typedef void search_beam_notice(void *context, const search_finished *finished, size_t slot);

/* One step: `candidates`, best first, are the best 2 * beams extensions of the running hypotheses
 * (greedy search: the best one). Returns true when the sentence is done. Otherwise slot s goes on
 * with the history of slot search_beam_parents()[s]. `notice` may be NULL. */
bool search_beam_advance(search_beam *beam, const search_options *options,
                         const search_candidate *candidates, size_t count,
                         search_beam_notice *notice, void *context);

/* Remembers how much lower the scores of all that may follow in slot `slot` at this step are than
 * the network's log probabilities with what else was added to them. */
void search_beam_shift(search_beam *beam, size_t slot, float shift);
/* The sum of what was remembered on the way of a finished hypothesis. */
double search_beam_shifted(const search_beam *beam, const search_finished *finished);

/* The token that slot `slot` reads next, `start` at the first step. */
int32_t search_beam_token(const search_beam *beam, size_t slot, int32_t start);
/* Where the slots of the last step came from: (live). */
const uint32_t *search_beam_parents(const search_beam *beam);
/* Writes the tokens of a running hypothesis (steps of them). */
void search_beam_history(const search_beam *beam, size_t slot, int32_t *out);
/* Writes the tokens of a finished hypothesis without </s> and returns their number. */
size_t search_beam_finished(const search_beam *beam, const search_finished *finished,
                            int32_t eos_id, int32_t *out);

#endif
