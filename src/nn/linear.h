/* Linear layers, y = act(x W^T + b), over int8 weights that are packed or float weights in place.
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
    size_t count;             /* matrices */
    const nn_part *parts;     /* float, (count); or NULL and: */
    const kn_weights *pieces; /* int8, (count), as they are in the model */
    size_t packed_size;       /* bytes that they take packed as one; 0 for float */
    kn_packed *packed;        /* by nn_linear_pack */
    const kn_blas *blas;      /* for float; the creator sets it, or leaves it NULL */
} nn_linear;

/* Joins `count` layers of the same input width, all int8 or all float, as they are in any one
 * model. Float ones stay where they are, are multiplied one by one and must outlive the result;
 * int8 ones need only live until they are packed. The arena takes what is allocated besides. False
 * when memory runs out. */
bool nn_linear_create(nn_linear *linear, const mdl_linear *const *layers, size_t count,
                      base_arena *arena);
/* Packs the int8 matrices into `memory`, packed_size bytes, 64-aligned, which must outlive the
 * layer; before that it cannot be applied. */
void nn_linear_pack(nn_linear *linear, const kn_table *table, void *memory);

/* A matrix of activations on its way into linear layers: quantised when the first int8 layer reads
 * it, once for all of them. */
typedef struct nn_input {
    const float *x; /* (rows, cols) without gaps */
    size_t rows, cols;
    void *quantized; /* room for kn_quantized_size(rows, cols) bytes */
    bool ready;
} nn_input;

/* Quantises now what the first int8 layer would; several threads may then apply parts of layers. */
void nn_input_quantize(nn_input *input, const kn_table *table);

/* y: (input->rows, y_stride), `out` values of each row. */
void nn_linear_apply(const nn_linear *linear, const kn_table *table, nn_input *input,
                     kn_activation activation, float *y, size_t y_stride);
/* The outputs [begin, end) alone, of an int8 layer or one of a single matrix; both are multiples of
 * NN_LINEAR_STEP, or end == out. y: (input->rows, y_stride), the first is output `begin`. */
enum { NN_LINEAR_STEP = 64 };
void nn_linear_apply_range(const nn_linear *linear, const kn_table *table, nn_input *input,
                           size_t begin, size_t end, kn_activation activation, float *y,
                           size_t y_stride);

#endif
