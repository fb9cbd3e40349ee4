/* AVX-VNNI: as avx512vnni.c, in registers half as wide, of which there are 16. */
#include "kernels/cpu.h"
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
            sum[m][v] = _mm256_dpbusd_avx_epi32(sum[m][v], w, q);
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
        blocks(x, x_stride, 3, panel, 4, cols, result);
        break;
    case 4:
        blocks(x, x_stride, 4, panel, 2, cols, result);
        break;
    case 5:
        blocks(x, x_stride, 5, panel, 2, cols, result);
        break;
    default:
        blocks(x, x_stride, 6, panel, 2, cols, result);
    }
}

const kn_table kn_table_avxvnni = {
    .name = "avxvnni",
    .available = kn_cpu_has_avxvnni,
    .loops = &kn_loops_avx2,
    .offset = 128,
    .block_rows = 6,
    .tile_rows = 1,
    .sums = sums,
};
