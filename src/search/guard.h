/*
 * What keeps a translation sane when the model is not. Our own, no part of transformers:
 *
 * - Length. A translation never has more than search_guard_limit(source tokens) tokens. In 1.29
 *   million sentence pairs, tokens counted as the model counts them, all but 13 of the English
 * sides are at least 30 tokens shorter than this, and those 13 are no translations.
 * - Repetition. Something of at most SEARCH_GUARD_PERIOD tokens that is said over and over (see
 *   search_guard_loop) is broken off, and the sentence decoded again without repeated n-grams.
 * - Emptiness. A sentence that has words has a translation that has words.
 *
 * A translation in which none of this happens is the one that transformers finds.
 */
#ifndef SEARCH_GUARD_H
#define SEARCH_GUARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    SEARCH_GUARD_PERIOD = 24, /* longest thing whose repetition is noticed, in tokens */
    SEARCH_GUARD_NGRAM = 4,   /* no_repeat_ngram of the second try */
    SEARCH_GUARD_EVERY = 8    /* steps between two looks at the running hypotheses */
};

/* Tokens, </s> included, of the longest translation of `source` tokens, </s> included. */
size_t search_guard_limit(size_t source);

/* How many times in a row the most repeated thing in the tokens is said; 1: nothing is repeated. */
size_t search_guard_repeats(const int32_t *tokens, size_t count);

/* tokens[begin..end) say the same `period` tokens again and again. */
typedef struct search_loop {
    size_t begin, end, period;
} search_loop;

/* Finds endless repetition: something said at least 4 times in a row, at least 20 tokens in all,
 * and more than twice as often as the source says anything (source_repeats): then 哈哈哈哈哈 may
 * become as long a laughter. */
bool search_guard_loop(const int32_t *tokens, size_t count, size_t source_repeats,
                       search_loop *loop);

#endif
