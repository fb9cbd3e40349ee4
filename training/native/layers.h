/* The parts of a layer that work row by row, and attention. Shapes are (rows, width); padding rows
 * are zero. */
#ifndef LAYERS_H
#define LAYERS_H

#include "tiles.h"

/* y = norm(x) gain + bias. x: (rows, d) fp32. Kept for the way back: `normal`, the rows of mean 0
 * and variance 1, and `inverse`, one over the standard deviation of each row. */
void norm_forward(const float *x, size_t rows, size_t d, const float *gain, const float *bias,
                  bf16 *y, bf16 *normal, float *inverse);

/* g: gradient of y, becomes the gradient of x; g16 the same in bf16. The gradients of gain and bias
 * are added to dgain, dbias, and the column sums of the new g to dlinear: the bias of the linear
 * layer before the sum. */
void norm_backward(float *g, size_t rows, size_t d, const float *gain, const bf16 *normal,
                   const float *inverse, bf16 *g16, float *dgain, float *dbias, float *dlinear);

/* sum (columns) += column sums of x (rows, columns). */
void add_columns(const bf16 *x, size_t rows, size_t columns, float *sum);

/* Multi-head attention over sentences that all have `queries` and `keys` tokens. Rows of q, k, v
 * are `query_width` and `key_width` apart; every buffer can be read 32 rows beyond its end. */
typedef struct {
    const bf16 *q, *k, *v;
    size_t query_width, key_width;
    size_t sentences, queries, keys, heads, d;
    int causal;
    const int32_t *guide; /* (sentences, queries): the key that the first head should look at, -1
                             none; or NULL */
    float guide_weight;
} Attention;

typedef struct AttentionScratch AttentionScratch;

/* Memory for sentences of up to `longest` tokens and heads of dh values; NULL if there is none. */
AttentionScratch *attention_scratch(size_t longest, size_t dh);
void attention_scratch_free(AttentionScratch *s);

/* out: (rows, d). Returns the guide's cost, the sum of -log p(aligned key), or 0. */
double attention_forward(const Attention *a, AttentionScratch *s, bf16 *out);

/* g: gradient of out. dq, dk, dv: like q, k, v. */
void attention_backward(const Attention *a, AttentionScratch *s, const bf16 *g, bf16 *dq, bf16 *dk,
                        bf16 *dv);

#endif
