/*
 * From what the network says about the rows of one sentence to its best candidates.
 */
#ifndef SEARCH_SELECT_H
#define SEARCH_SELECT_H

#include "search/beam.h"
#include "search/constraint.h"
#include "search/copy.h"

/* The rows that one hypothesis must not choose, beyond constraints->always. */
typedef struct search_banned {
    const int32_t *rows;
    size_t count;
} search_banned;

/* Turns a full row of logits, (outputs), into its best `top->k` after all constraints, in the way
 * of transformers: beam search works on log probabilities (normalise), greedy search on logits.
 * Afterwards top->values - log(top->sum) - top->maximum is what is added to a hypothesis' score.
 * history: as in search_constraints_penalise, or NULL if there is no penalty and nothing to copy.
 * Returns how much the second log-softmax took from each; 0 where there is nothing to copy. */
typedef struct search_row_rules {
    const kn_table *kernels;
    const search_constraints *constraints;
    bool normalise;   /* log-softmax before the constraints */
    bool renormalise; /* log-softmax after them */
    bool want_sum;    /* the sum is wanted although not normalised: scores of greedy search */
    const search_copies *copies; /* words to favour; NULL: none */
    search_speller *speller;     /* for them */
} search_row_rules;
float search_select_row(const search_row_rules *rules, const int32_t *history, size_t steps,
                        search_banned banned, float *logits, kn_top *top);

/* Takes forbidden rows and what is not a number out of a row's best. */
void search_select_filter(const search_constraints *constraints, search_banned banned, kn_top *top);

/* The best `want` extensions of all running hypotheses, best first; among equals that of the lower
 * slot. tops: (beam->live), the best of each, with sums if `scored`; otherwise (greedy search
 * without scores) scores stay as they are. Returns their number. */
size_t search_select_merge(const search_beam *beam, const nn_network *network, const kn_top *tops,
                           bool scored, size_t want, search_candidate *candidates);

/* Every hypothesis goes on with `token`, at no cost. */
size_t search_select_forced(const search_beam *beam, int32_t token, search_candidate *candidates);

#endif
