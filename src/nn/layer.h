/* What the layers of encoder and decoder have in common. All work on rows of worker->x. */
#ifndef NN_LAYER_H
#define NN_LAYER_H

#include "nn/worker.h"

/* x[d] = embedding of `id` * scale + sinusoids of `position`. x: (d_model). */
void nn_embed(const nn_network *network, const mdl_matrix *table, int32_t id, size_t position,
              float *x);

/* The activations x, (rows, cols), as an input for linear layers. One input at a time: it is
 * quantised into the worker's only buffer. */
nn_input nn_activations(const nn_worker *worker, const float *x, size_t rows, size_t cols);

/* nn_linear_apply, shared by the worker's team if the layer is int8. */
void nn_multiply(const nn_worker *worker, const nn_linear *linear, nn_input *input,
                 kn_activation activation, float *y, size_t y_stride);

/* x = norm(x + attended W^T + b) for the first `rows` rows: the end of each attention. */
void nn_finish_attention(nn_worker *worker, const nn_linear *linear, const mdl_norm *norm,
                         size_t rows);

/* x = norm(x + fc2(act(fc1(x)))) for the first `rows` rows. */
void nn_feed_forward(nn_worker *worker, const nn_layer *layer, size_t rows);

#endif
