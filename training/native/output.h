/* The last step of the network: label-smoothed cross entropy over the whole target vocabulary.
 *
 * The matrix of logits would be larger than everything else together. It is made once, a part of
 * the vocabulary at a time, as e^logit in bf16, without dividing by its sum: the sum of a row is
 * known only at the end, and dividing then costs nothing, because it can be done to the rows of the
 * products instead. */
#ifndef OUTPUT_H
#define OUTPUT_H

#include "tiles.h"

typedef struct {
    size_t d, targets;             /* targets: rows of the table that can be produced */
    const float *table, *bias;     /* (vocabulary, d), (targets) */
    const bf16 *forward, *inverse; /* panels of the table's first `targets` rows */
    const float *total;            /* (d): sum of those rows */
    float bias_total;
    float smooth;
} Output;

typedef struct {
    double loss, surprise; /* smoothed loss; negative log-likelihood; sums over tokens */
} OutputCost;

/* Values of scratch (bf16) that output_cost needs for `rows` rows. */
size_t output_scratch(const Output *o, size_t rows);

/* x: (rows, d), rows a multiple of 32 of which the first n count; gold: (n).
 * With dx not NULL: dx (rows, d) becomes the gradient of x, and the gradients of table and bias are
 * added to dtable, dbias, except that of the smoothing, which is the same for every row of the
 * table: the caller adds -smooth / targets * xsum to each, where xsum (d) has been raised by the
 * sum of x here. */
OutputCost output_cost(const Output *o, const bf16 *x, const int32_t *gold, size_t n, size_t rows,
                       float *dx, float *dtable, float *dbias, float *xsum, bf16 *scratch,
                       float *sums);

#endif
