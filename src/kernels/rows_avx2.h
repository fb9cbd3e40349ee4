/*
 * The row loop of the sets that have 16 registers of 32 bytes. The including file has defined
 * before
 *     __m256i accumulate(__m256i sum, __m256i w, __m256i q)
 * which adds to each of 8 sums the product of its four weights in `w` with the quad that fills `q`.
 */
#ifndef KERNELS_ROWS_AVX2_H
#define KERNELS_ROWS_AVX2_H

#include "kernels/table.h"

#include <immintrin.h>

/* The sums of `rows` rows and `wide` x 8 outputs; both are constants in each call. */
static inline KN_INLINE void block(const void *x, size_t x_stride, size_t rows,
                                   const uint8_t *panel, size_t wide, size_t cols, int32_t *result)
{
    __m256i sum[6][8];
    KN_UNROLL
    for (size_t m = 0; m < rows; m++)
        KN_UNROLL
    for (size_t v = 0; v < wide; v++)
        sum[m][v] = _mm256_setzero_si256();
    for (size_t k = 0; k < cols; k += KN_QUAD, panel += KN_STEP)
        KN_UNROLL
    for (size_t m = 0; m < rows; m++) {
        const __m256i q = _mm256_set1_epi32(kn_quad_at(x, x_stride, m, k));
        KN_UNROLL
        for (size_t v = 0; v < wide; v++) {
            const __m256i w = _mm256_load_si256((const __m256i *)(const void *)panel + v);
            sum[m][v] = accumulate(sum[m][v], w, q);
        }
    }
    KN_UNROLL
    for (size_t m = 0; m < rows; m++)
        KN_UNROLL
    for (size_t v = 0; v < wide; v++)
        _mm256_store_si256((__m256i *)(void *)(result + m * KN_PANEL) + v, sum[m][v]);
}

/* Few rows take the whole panel at once, so that it is read in order; more rows take as many
 * outputs as leave all sums in registers. */
static inline KN_INLINE void blocks(const void *x, size_t x_stride, size_t rows,
                                    const uint8_t *panel, size_t wide, size_t cols, int32_t *result)
{
    for (size_t n = 0; n < KN_PANEL; n += wide * 8)
        block(x, x_stride, rows, panel + n * KN_QUAD, wide, cols, result + n);
}

#endif
