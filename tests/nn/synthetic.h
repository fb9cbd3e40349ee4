/* Models made up in memory, of any shape, with random weights. */
#ifndef TESTS_NN_SYNTHETIC_H
#define TESTS_NN_SYNTHETIC_H

#include "model/model.h"

typedef struct synthetic_shape {
    size_t d_model;
    mdl_stack encoder, decoder;
    mdl_activation activation;
    size_t max_positions;
    size_t banned_from; /* pieces from here on cannot be produced; 0: all can */
    size_t banned_step; /* nor every banned_step-th; 0: none */
} synthetic_shape;

/* Float weights. Abort when memory runs out: these are tests. */
zhen_model *synthetic_model(const synthetic_shape *shape, unsigned seed);
/* The same model with int8 matrices, one scale for each row, largest value 127. */
zhen_model *synthetic_int8(const zhen_model *model);
/* An int8 model's weights as floats. */
zhen_model *synthetic_dequantized(const zhen_model *model);
void synthetic_free(zhen_model *model);

/* A random number in [0, limit), always the same sequence for a seed. */
size_t synthetic_random(unsigned *seed, size_t limit);

#endif
