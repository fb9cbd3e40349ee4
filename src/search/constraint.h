/*
 * What a hypothesis must not say next: transformers' logits processors, in its order (repetition
 * penalty, no_repeat_ngram_size, bad_words_ids, min_new_tokens). All but the penalty come down to a
 * list of forbidden output rows, which is filtered out of the best candidates where that is enough
 * and struck out of the full row of logits where it is not.
 */
#ifndef SEARCH_CONSTRAINT_H
#define SEARCH_CONSTRAINT_H

#include "base/arena.h"
#include "search/search.h"

typedef struct search_constraints {
    const nn_network *network;
    ptrdiff_t eos_row;
    size_t min_new_tokens, no_repeat_ngram;
    float repetition_penalty;
    const mdl_bad_word *words; /* those of more than one token count here */
    size_t word_count;
    size_t long_words; /* bad words of more than one token */
    int32_t *always;   /* rows of the bad words of one token; </s> alone is never bad */
    size_t always_count;
    unsigned char *penalised; /* (outputs), scratch */
} search_constraints;

bool search_constraints_init(search_constraints *constraints, base_arena *arena,
                             const nn_network *network, const search_options *options);

/* What a sentence adds for reasons of its own: see guard.h. */
typedef struct search_extra {
    size_t no_repeat_ngram; /* 0: none */
    bool never_empty;       /* </s> must not come first */
} search_extra;

/* Does any rule look at more than the length of a hypothesis? */
bool search_constraints_need_history(const search_constraints *constraints,
                                     const search_extra *extra);
/* Most rows that search_constraints_forbid writes for hypotheses of up to `steps` tokens. */
size_t search_constraints_most(const search_constraints *constraints, size_t steps, bool guard);

/* Writes the rows that must not come next, beyond constraints->always and possibly twice, and
 * returns their number. history: the start token and `steps` tokens; only read when needed. */
size_t search_constraints_forbid(const search_constraints *constraints, const search_extra *extra,
                                 const int32_t *history, size_t steps, int32_t *rows);

/* Multiplies or divides the scores of all tokens of the history by the penalty. */
void search_constraints_penalise(const search_constraints *constraints, const int32_t *history,
                                 size_t steps, float *scores);

#endif
