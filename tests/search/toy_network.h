/*
 * A toy in the place of src/nn, for exact tests of the search: nn.h's functions over a language
 * model that is a formula, so that every logit is known to the last bit and can be recomputed in
 * Python (make_fixtures.py) and in the tests. It also checks that the search keeps nn.h's rules.
 */
#ifndef TESTS_SEARCH_TOY_NETWORK_H
#define TESTS_SEARCH_TOY_NETWORK_H

#include "nn/nn.h"

/* Ids of the toy's vocabulary. */
enum { TOY_EOS = 0, TOY_VOCABULARY = 62, TOY_PAD = TOY_VOCABULARY - 1, TOY_POSITIONS = 400 };

/* Every third id from 2 on can never be produced. */
bool toy_producible(int32_t token);

/* The logit of `token` after the start token and `steps` tokens. seed: of the source. */
typedef float toy_logit(uint32_t seed, const int32_t *history, size_t steps, int32_t token);

/* The default formula: depends on the last two tokens of the history; </s> gains 1/16 a step. */
toy_logit toy_hashed_logit;

uint32_t toy_seed(const int32_t *ids, size_t count);
/* Where the toy looks while it produces the token after a history. */
uint32_t toy_attention(uint32_t seed, const int32_t *history, size_t steps, size_t source_count);

nn_network *toy_network_create(toy_logit *logit);
/* nn_encode fails after `calls` successful calls. */
void toy_network_fail_after(nn_network *network, size_t calls);
size_t toy_network_alive(const nn_network *network);     /* sentences not released */
size_t toy_network_steps(const nn_network *network);     /* calls of nn_step */
size_t toy_network_encodes(const nn_network *network);   /* calls of nn_encode */
size_t toy_network_full_rows(const nn_network *network); /* rows given as full logits */
size_t toy_network_rows(const nn_network *network);      /* rows altogether */

#endif
