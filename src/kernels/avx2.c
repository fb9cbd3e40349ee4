/*
 * AVX2: vpmaddubsw multiplies unsigned with signed bytes and adds pairs into 16 bits, where it
 * saturates. So the unsigned factor is |x| and the sign of x goes to the weight: a pair is at most
 * 2 * 127 * 127 = 32258 and nothing is lost.
 */
#include "kernels/cpu.h"
#include "kernels/table.h"

#include <immintrin.h>

/* The sums of `rows` rows and `wide` x 8 outputs; both are constants in each call. */
static inline KN_INLINE void block(const void *x, size_t x_stride, size_t rows,
                                   const uint8_t *panel, size_t wide, size_t cols, int32_t *result)
{
    const __m256i ones = _mm256_set1_epi16(1);
    __m256i sum[4][8];
    KN_UNROLL
    for (size_t m = 0; m < rows; m++)
        KN_UNROLL
    for (size_t v = 0; v < wide; v++)
        sum[m][v] = _mm256_setzero_si256();
    for (size_t k = 0; k < cols; k += KN_QUAD, panel += KN_STEP)
        KN_UNROLL
    for (size_t m = 0; m < rows; m++) {
        const __m256i q = _mm256_set1_epi32(kn_quad_at(x, x_stride, m, k));
        const __m256i size = _mm256_abs_epi8(q);
        KN_UNROLL
        for (size_t v = 0; v < wide; v++) {
            const __m256i w = _mm256_load_si256((const __m256i *)(const void *)panel + v);
            const __m256i pairs = _mm256_maddubs_epi16(size, _mm256_sign_epi8(w, q));
            sum[m][v] = _mm256_add_epi32(sum[m][v], _mm256_madd_epi16(pairs, ones));
        }
    }
    KN_UNROLL
    for (size_t m = 0; m < rows; m++)
        KN_UNROLL
    for (size_t v = 0; v < wide; v++)
        _mm256_store_si256((__m256i *)(void *)(result + m * KN_PANEL) + v, sum[m][v]);
}

static inline KN_INLINE void blocks(const void *x, size_t x_stride, size_t rows,
                                    const uint8_t *panel, size_t wide, size_t cols, int32_t *result)
{
    for (size_t n = 0; n < KN_PANEL; n += wide * 8)
        block(x, x_stride, rows, panel + n * KN_QUAD, wide, cols, result + n);
}

static void sums(const void *x, size_t x_stride, size_t rows, const uint8_t *panel, size_t cols,
                 int32_t *result)
{
    switch (rows) {
    case 1:
        blocks(x, x_stride, 1, panel, 8, cols, result);
        break;
    case 2:
        blocks(x, x_stride, 2, panel, 4, cols, result);
        break;
    case 3:
        blocks(x, x_stride, 3, panel, 2, cols, result);
        break;
    default:
        blocks(x, x_stride, 4, panel, 2, cols, result);
    }
}

const kn_table kn_table_avx2 = {
    .name = "avx2",
    .available = kn_cpu_has_avx2,
    .loops = &kn_loops_avx2,
    .block_rows = 4,
    .tile_rows = 1,
    .sums = sums,
};
