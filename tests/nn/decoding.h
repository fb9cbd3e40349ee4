/* Short ways to run a network in tests. Everything aborts when memory runs out. */
#ifndef TESTS_NN_DECODING_H
#define TESTS_NN_DECODING_H

#include "nn/nn.h"

/* Reads `count` tokens one by one as a single hypothesis of `source` and gives all logits,
 * (count, outputs); free() them. memory: NULL or room for the encoder's output. alignment: NULL or
 * room for `count` source positions. */
float *decode_alone(const nn_network *network, const int32_t *source, size_t source_count,
                    const int32_t *tokens, size_t count, float *memory, uint32_t *alignment);

/* The largest difference relative to the range of `expected`. */
double relative_difference(const float *got, const float *expected, size_t count);

#endif
