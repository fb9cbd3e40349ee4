/*
 * What keeps a translation sane when the model is not. Our own, no part of transformers:
 *
 * - Length. A translation never has more than search_guard_limit(source tokens) tokens, unless
 *   min_new_tokens asks for more.
 * - Repetition. A translation that says something of at most SEARCH_GUARD_PERIOD tokens over and
 *   over (see search_guard_loop) is given up, as soon as nothing else can come of the search, and
 *   the sentence is decoded a second time without repeated n-grams.
 * - Emptiness. A sentence that has words has a translation that has words: the best one that has,
 *   or a second try.
 * - Names. Words in Latin letters are copied (copy.h): where one is missing, a second try favours
 *   it, and counts if it has more of them.
 *
 * A translation in which none of this happens is the one that transformers finds. How rare it is in
 * what people write: of the 1.29 million English sentences that our own model is trained on, 6 are
 * too long for their Chinese and 10 too repetitive, and all of these are noise, no translations.
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
