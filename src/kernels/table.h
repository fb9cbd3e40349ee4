/*
 * What the functions of kernels.h are made of, for the room itself: the layouts in memory and the
 * table of one instruction set.
 */
#ifndef KERNELS_TABLE_H
#define KERNELS_TABLE_H

#include "kernels/kernels.h"

#include <string.h>

/* Weights stand in panels of 64 outputs, each panel as (padded cols / 4, 64, 4) bytes: the four
 * products that every instruction set sums into one int32 lie side by side, and sixteen outputs
 * are one 64-byte row of an AMX tile. Cols are padded with zeros to a multiple of 64. */
enum { KN_PANEL = 64, KN_QUAD = 4, KN_PAD = 64 };
enum { KN_STEP = KN_PANEL * KN_QUAD }; /* bytes from one quad of an output to its next */

/* int32 sums of products of values in [-127, 127] cannot overflow up to here. */
enum { KN_COLS_MAX = 131072 };

struct kn_packed {
    size_t rows, cols;
    size_t padded_cols;
    uint8_t *values; /* panels */
    float *scale;    /* (padded rows); padding is zero */
    float *bias;     /* (padded rows) */
};

/* One row of quantised activations: this header, then the values, padded with zeros. Its 64 bytes
 * also keep rows from being a power of two apart, which would crowd one set of the cache. */
typedef struct kn_quantized_row {
    float scale;
    int32_t sum; /* of the values: what weights stored as q + 128 add too much, / 128 */
    int8_t unused[56];
    int8_t values[];
} kn_quantized_row;

static inline const kn_quantized_row *kn_quantized_at(const void *rows, size_t stride, size_t index)
{
    return (const kn_quantized_row *)((const char *)rows + index * stride);
}

/* The four values from k on of row m, as they lie in memory. */
static inline int32_t kn_quad_at(const void *rows, size_t stride, size_t m, size_t k)
{
    int32_t quad;
    memcpy(&quad, kn_quantized_at(rows, stride, m)->values + k, sizeof quad);
    return quad;
}

/* The sums of a block of rows and one panel, to be turned into floats. */
typedef struct kn_block {
    const void *x; /* quantised rows */
    size_t x_stride, rows;
    const int32_t *sums; /* (rows, KN_PANEL) */
    int32_t offset;      /* was added to each weight */
    const float *scale;  /* (KN_PANEL) */
    const float *bias;   /* (KN_PANEL) */
    size_t width;        /* outputs to write, <= KN_PANEL */
    kn_activation activation;
    float *y; /* (rows, y_stride) */
    size_t y_stride;
} kn_block;

/* The float loops (loops.h), compiled once for each width of vector registers. */
typedef struct kn_loops {
    void (*quantize)(const float *x, size_t cols, kn_quantized_row *row);
    void (*finish)(const kn_block *block);
    void (*activate)(float *y, const float *bias, size_t count, kn_activation activation);
    void (*multiply_f32)(const float *x, size_t x_stride, size_t rows, const float *w, size_t in,
                         size_t out, float *y, size_t y_stride);
    void (*add_norm)(float *x, const float *residual, const float *weight, const float *bias,
                     size_t cols);
    void (*attend)(const float *q, size_t q_stride, size_t queries, const kn_memory *memory,
                   float scale, float *weights, float *out, size_t out_stride);
    void (*store_bytes)(const float *x, size_t count, int8_t *values, float *scale);
    float (*maximum)(const float *x, size_t count);
    float (*sum_exp)(const float *x, size_t count, float maximum);
    void (*subtract)(float *x, size_t count, float value);
    void (*top)(kn_top *top, const float *x, size_t count, int32_t first);
} kn_loops;

extern const kn_loops kn_loops_scalar;
extern const kn_loops kn_loops_avx2;
extern const kn_loops kn_loops_avx512;
extern const kn_loops kn_loops_neon;

struct kn_table {
    const char *name;
    bool (*available)(void);
    const kn_loops *loops;
    uint8_t offset;    /* added to each weight when packed: 128 where the product wants unsigned */
    size_t block_rows; /* rows that `sums` takes at most */
    size_t tile_rows;  /* `sums` may read (and ignore) rows up to a multiple of this */
    const kn_table *few; /* does better with at most few_rows rows; packs alike; or NULL */
    size_t few_rows;
    /* sums[m][n] = sum over k of x[m][k] * (w[n][k] + offset), (rows, KN_PANEL), for one panel;
     * modulo 2^32, so that only the true sum must fit. `sums` is 64-aligned. */
    void (*sums)(const void *x, size_t x_stride, size_t rows, const uint8_t *panel, size_t cols,
                 int32_t *sums);
    /* Around a run of `sums` calls, for instruction sets with state; may be NULL. */
    void (*enter)(void);
    void (*leave)(void);
};

extern const kn_table kn_table_scalar;
extern const kn_table kn_table_avx2;
extern const kn_table kn_table_avxvnni;
extern const kn_table kn_table_avx512vnni;
extern const kn_table kn_table_amx;
extern const kn_table kn_table_neon;
extern const kn_table kn_table_neondot;

/* Before a loop over an array that must become registers: GCC keeps an array in memory as soon as
 * one of its loops is not unrolled. Nothing where there are no such registers (scalar.c); without
 * optimisation GCC would only warn. */
#ifdef __OPTIMIZE__
#ifndef KN_UNROLL
#define KN_UNROLL _Pragma("GCC unroll 16")
#endif
#else
#undef KN_UNROLL
#define KN_UNROLL
#endif

/* For functions whose arguments must become constants of each call. */
#define KN_INLINE __attribute__((always_inline))

#endif
