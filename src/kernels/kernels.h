/*
 * The inner loops: matrix products and vector loops, one set for each instruction set, chosen once
 * at run time. Integer results are the same bit for bit whatever the set; the float epilogues use
 * the same operations in the same order, so that a model gives the same text on every machine.
 *
 * The int8 product. Activations are quantised row by row: x ~ sx * q, q in [-127, 127],
 * sx = max|x| / 127. Weights come as q and one scale per output row. Then
 *     y[m][n] = act((float)(sum_k qx[m][k] * qw[n][k]) * sx[m] * sw[n] + bias[n])
 * Scales and sums as in Jacob et al. 2018 (symmetric, per-channel weights, dynamic activations).
 */
#ifndef KERNELS_KERNELS_H
#define KERNELS_KERNELS_H

#include "zhen.h"

typedef enum kn_activation { KN_NONE, KN_RELU, KN_SWISH, KN_GELU, KN_GELU_TANH } kn_activation;

typedef struct kn_table kn_table; /* the functions of one instruction set */

/* The best set that this processor has; or the one called `name` ("scalar", "avx2", "avxvnni",
 * "avx512vnni", "amx", "neon", "neondot"), which fails with ZHEN_ERROR_UNSUPPORTED and the list of
 * those available if there is none such here. Callers pass getenv("ZHEN_ISA") or NULL. */
zhen_status kn_select(const char *name, const kn_table **table, zhen_error *error);
const char *kn_name(const kn_table *table);

/* A weight matrix packed for one instruction set. */
typedef struct kn_packed kn_packed;

/* `rows` rows of int8 values, their scales and biases. Several matrices that are multiplied with
 * the same activations (query, key, value) can be packed as one: pass the pieces one after another.
 */
typedef struct kn_weights {
    const int8_t *values; /* (rows, cols) */
    const float *scale;   /* (rows) */
    const float *bias;    /* (rows) or NULL (zero) */
    size_t rows;
} kn_weights;
/* The bytes that the packed form takes. False if they overflow, or if cols > 131072, where sums
 * would. */
bool kn_packed_size(const kn_weights *pieces, size_t count, size_t cols, size_t *size);
/* Packs into `memory`, kn_packed_size bytes, 64-aligned, which then is the result. Nothing of the
 * arguments is kept. -128 counts as -127. NULL where kn_packed_size is false. */
kn_packed *kn_pack(const kn_table *table, const kn_weights *pieces, size_t count, size_t cols,
                   void *memory);
size_t kn_packed_rows(const kn_packed *packed);
size_t kn_packed_cols(const kn_packed *packed);

/* Activations quantised for kn_multiply: bytes needed for `rows` rows of `cols`, 64-aligned. */
size_t kn_quantized_size(const kn_table *table, size_t rows, size_t cols);
/* x: (rows, cols), row stride x_stride floats → `quantized` (kn_quantized_size bytes, 64-aligned).
 * A row that holds a NaN or an infinity makes all its products NaN; one whose largest value is
 * below 1e-36 counts as zero. */
void kn_quantize(const kn_table *table, const float *x, size_t x_stride, size_t rows, size_t cols,
                 void *quantized);

/* y[m][n - begin] for m in [0, rows), n in [begin, end): row stride y_stride floats. `begin` must
 * be a multiple of 64, `end` too unless it is the number of packed rows. */
void kn_multiply(const kn_table *table, const void *quantized, size_t rows, const kn_packed *packed,
                 size_t begin, size_t end, kn_activation activation, float *y, size_t y_stride);

/* OpenBLAS, loaded when float weights need it. Loading it with the program would cost every start
 * a third of its time, for its size and for threads that spin before they sleep. */
typedef struct kn_blas kn_blas;
/* `library`: its file name for dlopen; KN_BLAS_LIBRARY is what we were built with. Workers are our
 * threads, so this sets the library's own number of threads to 1, for the whole process. Fails with
 * ZHEN_ERROR_UNSUPPORTED if it is not there. */
zhen_status kn_blas_open(const char *library, kn_blas **blas, zhen_error *error);
void kn_blas_close(kn_blas *blas); /* NULL is fine */

/* The same product in float for weights that are float: OpenBLAS sgemm, bias and activation after.
 * w: (out, in); bias may be NULL; without `blas` our own loops, slower, do it all. */
void kn_multiply_f32(const kn_table *table, const kn_blas *blas, const float *x, size_t x_stride,
                     size_t rows, const float *w, const float *bias, size_t in, size_t out,
                     kn_activation activation, float *y, size_t y_stride);

/* x = layer_norm(x + residual) * weight + bias over each of `rows` rows of `cols` (stride cols),
 * eps 1e-5, biased variance (Ba et al. 2016; torch.nn.LayerNorm). residual may be NULL. */
void kn_add_norm(const kn_table *table, float *x, const float *residual, const float *weight,
                 const float *bias, size_t rows, size_t cols);

/* Where the keys and values of one head are: k_j = rows[j] + k_offset, v_j = rows[j] + v_offset for
 * j < count, `dim` floats each. Positions are reached through pointers, so that a cache is
 * reordered by moving pointers; one table of pointers serves all layers and heads.
 * With `bytes`, keys and values are int8 as kn_store_bytes makes them, k_offset and v_offset count
 * bytes, and the scales are rows[j][k_scale] and rows[j][v_scale]; dim <= KN_DIM_MAX, and up to 63
 * bytes after a key or value are read and ignored. The query is then rounded to int8 like them, the
 * weights to a 32767th of the largest of 64 neighbours. */
enum { KN_DIM_MAX = 1024 };
typedef struct kn_memory {
    const float *const *rows;
    size_t count, dim;
    size_t k_offset, v_offset;
    bool bytes;
    size_t k_scale, v_scale;
    const struct kn_memory *next; /* what will be looked at after this, fetched into the cache
                                     meanwhile; or NULL */
} kn_memory;

/* Attention of one head for `queries` queries that look at the same memory (the beams of a sentence
 * at its source; the positions of a sentence at each other): for each of them
 *     out[d] = sum_j weights[j] * v_j[d],  weights = softmax_j(q . k_j * scale).
 * q: (queries, q_stride), out: (queries, out_stride), `dim` values used of each row;
 * weights: the softmax, (queries, count), and scratch, (2, count). A query's result does not depend
 * on the others. */
void kn_attend(const kn_table *table, const float *q, size_t q_stride, size_t queries,
               const kn_memory *memory, float scale, float *weights, float *out, size_t out_stride);

/* x ~ *scale * values, `count` numbers, the largest becoming 127: a key or a value of one head. */
void kn_store_bytes(const kn_table *table, const float *x, size_t count, int8_t *values,
                    float *scale);

/* The best `k` (at most KN_TOP_MAX) of one row, kept while blocks of the row pass by. values[]
 * descend; ties keep the lower index first; NaN is never taken. */
enum { KN_TOP_MAX = 64 };
typedef struct kn_top {
    size_t k, count;
    float values[KN_TOP_MAX];
    int32_t indices[KN_TOP_MAX];
    float maximum; /* running maximum and sum of exponentials: log-sum-exp = maximum + log(sum) */
    double sum;
} kn_top;
void kn_top_start(kn_top *top, size_t k);
/* Takes x[0..count) with indices first, first + 1, ...; `want_sum` keeps maximum and sum too. */
void kn_top_update(const kn_table *table, kn_top *top, const float *x, size_t count, int32_t first,
                   bool want_sum);
/* log(sum(exp(x))) over all that was taken with want_sum; the same on every machine, which the C
 * library's log is not. */
double kn_top_log_sum(const kn_top *top);

/* In place: x -= log(sum(exp(x))). */
void kn_log_softmax(const kn_table *table, float *x, size_t count);

#endif
