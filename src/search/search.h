/*
 * Greedy and beam search, with the semantics of transformers' generate (GenerationMixin, 5.x), over
 * a stream of sentences: finished sentences leave the batch at once and new ones take their place
 * (continuous batching).
 */
#ifndef SEARCH_SEARCH_H
#define SEARCH_SEARCH_H

#include "nn/nn.h"
#include "zhen.h"

typedef struct search_options {
    size_t beams;
    size_t returns; /* num_return_sequences, 1 to beams */
    double length_penalty;
    zhen_early_stopping early_stopping;
    size_t min_new_tokens;
    size_t max_new_tokens; /* with </s> */
    size_t no_repeat_ngram;
    double repetition_penalty;
    bool renormalize_logits;
    int32_t forced_eos_id; /* -1: none */
    int32_t forced_bos_id; /* -1: none */
    const mdl_bad_word *bad_words;
    size_t bad_word_count;
    bool alignment;
    /* Our own, off in parity tests: see search_guard in guard.h. */
    bool guard;
} search_options;

/* One finished translation. Valid during the callback only. */
typedef struct search_hypothesis {
    const int32_t *tokens; /* without the start token, without </s> */
    size_t count;
    double score;            /* log probability / length ^ length_penalty, as sequences_scores */
    bool complete;           /* ended in </s>, not at the length limit */
    const uint32_t *alignment; /* source position of each token; NULL unless asked for */
} search_hypothesis;

/* Where sentences come from and go to. Both are called from the thread that runs the search. */
typedef struct search_feed {
    void *context;
    /* The next sentence (ids with </s>, kept valid until it is done) and a tag of the caller's;
     * false: none left. */
    bool (*next)(void *context, const int32_t **ids, size_t *count, size_t *tag);
    /* A sentence is done: hypotheses best first. Anything but ZHEN_OK stops the search. */
    zhen_status (*done)(void *context, size_t tag, const search_hypothesis *hypotheses,
                        size_t count);
    /* Asked once a step: true ends the search with ZHEN_ERROR_CANCELLED. May be NULL. */
    bool (*cancelled)(void *context);
} search_feed;

/* The memory of one searching thread. */
typedef struct search_worker search_worker;

/* batch_rows: hypotheses decoded side by side at most (sentences * beams). */
zhen_status search_worker_create(const nn_network *network, const search_options *options,
                                 size_t batch_rows, search_worker **worker, zhen_error *error);
void search_worker_free(search_worker *worker);

/* Translates everything that the feed gives. */
zhen_status search_run(search_worker *worker, const search_feed *feed, zhen_error *error);

#endif
