/*
 * Greedy and beam search, with the semantics of transformers' generate (GenerationMixin, 5.24),
 * over a stream of sentences: finished sentences leave the batch at once and new ones take their
 * place (continuous batching).
 */
#ifndef SEARCH_SEARCH_H
#define SEARCH_SEARCH_H

#include "nn/nn.h"
#include "tokenizer/tokenizer.h"
#include "zhen.h"

/* Twice the beams candidates of each row must fit into a kn_top, with room for banned ones. */
enum { SEARCH_BEAMS_MAX = 24 };

typedef struct search_options {
    size_t beams;   /* 1 to SEARCH_BEAMS_MAX; 1 is greedy search */
    size_t returns; /* num_return_sequences, 1 to beams */
    double length_penalty;
    zhen_early_stopping early_stopping;
    size_t min_new_tokens;
    size_t max_new_tokens; /* with </s>; at least 1 */
    size_t no_repeat_ngram;
    double repetition_penalty;
    bool renormalize_logits;
    int32_t forced_eos_id;         /* -1: none */
    int32_t forced_bos_id;         /* -1: none */
    const mdl_bad_word *bad_words; /* kept valid by the caller */
    size_t bad_word_count;
    bool alignment;
    /* Greedy search only: compute scores, which takes one exponential per output piece and step.
     * Without it they are 0. Beam search always has scores. */
    bool scores;
    /* Our own, off in parity tests: see guard.h. */
    bool guard;
    /* Spells the pieces, so that the guard sees words that are not copied (copy.h); NULL: it does
     * not look. Kept valid by the caller. */
    const tok_tokenizer *tokenizer;
    /* Facts of the model. */
    int32_t start_id, eos_id;
    size_t max_positions; /* bounds max_new_tokens */
} search_options;

/* The model's own defaults: generation_config.json, one hypothesis returned, guard on, no scores
 * for greedy search. */
void search_options_init(search_options *options, const mdl_config *config,
                         const mdl_generation *generation);

/* One finished translation. Valid during the callback only. */
typedef struct search_hypothesis {
    const int32_t *tokens; /* without the start token, without </s> */
    size_t count;
    /* log probability / length ^ length_penalty, length with </s>: what transformers calls
     * sequences_scores; for greedy search the same of its compute_transition_scores, normalised */
    double score;
    bool complete;             /* ended in </s>, not at the length limit, not cut by the guard */
    const uint32_t *alignment; /* source position of each token; NULL unless asked for */
} search_hypothesis;

/* Where sentences come from and go to. All are called from the thread that runs the search. */
typedef struct search_feed {
    void *context;
    /* The next sentence (ids with </s>, kept valid until it is done) and a tag of the caller's;
     * false: none left, and it is not asked again. */
    bool (*next)(void *context, const int32_t **ids, size_t *count, size_t *tag);
    /* A sentence is done: 1 to `returns` hypotheses, best first. Anything but ZHEN_OK stops the
     * search, which returns that status and leaves the error to the callback. */
    zhen_status (*done)(void *context, size_t tag, const search_hypothesis *hypotheses,
                        size_t count);
    /* Asked once a step: true ends the search with ZHEN_ERROR_CANCELLED. May be NULL. */
    bool (*cancelled)(void *context);
} search_feed;

/* The memory of one searching thread. */
typedef struct search_worker search_worker;

/* batch_rows: hypotheses decoded side by side at most (sentences * beams); at least one sentence
 * is. The network must outlive the worker; the options are copied. */
zhen_status search_worker_create(const nn_network *network, const search_options *options,
                                 size_t batch_rows, search_worker **worker, zhen_error *error);
void search_worker_free(search_worker *worker);

/* See nn_worker_set_team. */
void search_worker_set_team(search_worker *worker, base_team *team);

/* Translates everything that the feed gives. The worker can be used again, after a failure too. */
zhen_status search_run(search_worker *worker, const search_feed *feed, zhen_error *error);

#endif
