/*
 * Words that both languages write alike: names and terms in Latin letters within the Chinese, which
 * a translation says in the very same letters. A small model spells them anew now and then
 * (Dilokrit becomes Dilkullkull). A sentence whose translation lacks such a word is searched once
 * more, with a bonus for each piece that spells one that is still missing: soft lexical
 * constraints, where Hokamp and Liu (2017, "Lexically Constrained Decoding for Sequence Generation
 * Using Grid Beam Search") have hard ones, for the Chinese has no right to its every word. Part of
 * the guard (guard.h).
 */
#ifndef SEARCH_COPY_H
#define SEARCH_COPY_H

#include "base/arena.h"
#include "nn/nn.h"
#include "tokenizer/tokenizer.h"

/* More words or letters than these are not watched: a list of names rather than a sentence. */
enum { SEARCH_COPY_WORDS = 32, SEARCH_COPY_BYTES = 320 };

/* The words of one source sentence, of at least two Latin letters each. One that occurs twice is
 * two words. */
typedef struct search_copies {
    size_t count;
    uint32_t joined; /* a bit for each word that only a blank parts from the one before: one name */
    char letters[SEARCH_COPY_BYTES];
    uint16_t begins[SEARCH_COPY_WORDS + 1]; /* word i: letters[begins[i]..begins[i + 1]) */
} search_copies;

/* The pieces of a worker's model. */
typedef struct search_speller {
    const tok_tokenizer *tokenizer;
    const nn_network *network;
    bool *goes_on; /* (outputs): all letters, so that the piece goes on with a word */
    bool known;    /* goes_on has been filled in, when it was first needed */
} search_speller;

/* Takes its memory from the arena; false when there is none. */
bool search_speller_init(search_speller *speller, base_arena *arena, const tok_tokenizer *tokenizer,
                         const nn_network *network);

void search_copies_read(const tok_tokenizer *tokenizer, const int32_t *ids, size_t count,
                        search_copies *copies);

/* What a translation makes of the words. */
typedef struct search_copied {
    size_t missing; /* of the words */
    size_t surplus; /* words that are there more often than in the source, or broken off */
} search_copied;
search_copied search_copies_judge(const search_copies *copies, const tok_tokenizer *tokenizer,
                                  const int32_t *tokens, size_t count);

/* Adds the bonuses to the scores (outputs) of what may follow the tokens. */
void search_copies_favour(const search_copies *copies, search_speller *speller,
                          const int32_t *tokens, size_t count, float *scores);

/* The sum of the bonuses that the tokens have got. */
double search_copies_bonus(const search_copies *copies, const tok_tokenizer *tokenizer,
                           const int32_t *tokens, size_t count);

#endif
