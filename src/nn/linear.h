/* Linear layers, y = act(x W^T + b), over int8 weights that were packed or float weights in place.
 */
#ifndef NN_LINEAR_H
#define NN_LINEAR_H

#include "base/arena.h"
#include "kernels/kernels.h"
#include "model/model.h"

#include <stdbool.h>

/* Float weights of some of a layer's outputs. */
typedef struct nn_part {
    const float *weight; /* (rows, in) */
    const float *bias;   /* (rows) or NULL */
    size_t rows;
} nn_part;

/* One or more matrices that read the same input; their outputs stand one after another. */
typedef struct nn_linear {
    size_t in, out;
    kn_packed *packed;    /* int8, all matrices as one; or NULL and: */
    const nn_part *parts; /* float, (count) */
    size_t count;
    const kn_blas *blas; /* for the float ones; the creator sets it, or leaves it NULL */
} nn_linear;

/* Joins `count` layers of the same input width, which must outlive the result. If all of them are
 * int8 they are packed as one; otherwise they stay where they are and are multiplied one by one, an
 * int8 one among them in float. The arena takes what is allocated besides. False when memory runs
 * out. */
bool nn_linear_create(nn_linear *linear, const kn_table *table, const mdl_linear *const *layers,
                      size_t count, base_arena *arena);
void nn_linear_free(nn_linear *linear);

/* A matrix of activations on its way into linear layers: quantised when the first int8 layer reads
 * it, once for all of them. */
typedef struct nn_input {
    const float *x; /* (rows, cols) without gaps */
    size_t rows, cols;
    void *quantized; /* room for kn_quantized_size(rows, cols) bytes */
    bool ready;
} nn_input;

/* y: (input->rows, y_stride), `out` values of each row. */
void nn_linear_apply(const nn_linear *linear, const kn_table *table, nn_input *input,
                     kn_activation activation, float *y, size_t y_stride);
/* The outputs [begin, end) alone, for a layer of one matrix; both multiples of 64, or end == out.
 * y: (input->rows, y_stride), the first is output `begin`. */
void nn_linear_apply_range(const nn_linear *linear, const kn_table *table, nn_input *input,
                           size_t begin, size_t end, float *y, size_t y_stride);

#endif
