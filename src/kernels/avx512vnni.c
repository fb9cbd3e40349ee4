/* AVX-512 VNNI: vpdpbusd multiplies 64 unsigned with 64 signed bytes and adds them up by fours. The
 * weights are the unsigned ones, stored as q + 128. */
#include "kernels/cpu.h"
#include "kernels/table.h"

#include <immintrin.h>

/* `rows` is a constant in each call, so that the sums stay in registers: at most 6 x 4 of 32. */
static inline KN_INLINE void block(const void *x, size_t x_stride, size_t rows,
                                   const uint8_t *panel, size_t cols, int32_t *result)
{
    __m512i sum[6][4];
    KN_UNROLL
    for (size_t m = 0; m < rows; m++)
        KN_UNROLL
    for (size_t v = 0; v < 4; v++)
        sum[m][v] = _mm512_setzero_si512();
    for (size_t k = 0; k < cols; k += KN_QUAD, panel += KN_STEP) {
        const __m512i w[4] = {_mm512_load_si512(panel), _mm512_load_si512(panel + 64),
                              _mm512_load_si512(panel + 128), _mm512_load_si512(panel + 192)};
        KN_UNROLL
        for (size_t m = 0; m < rows; m++) {
            const __m512i q = _mm512_set1_epi32(kn_quad_at(x, x_stride, m, k));
            KN_UNROLL
            for (size_t v = 0; v < 4; v++)
                sum[m][v] = _mm512_dpbusd_epi32(sum[m][v], w[v], q);
        }
    }
    KN_UNROLL
    for (size_t m = 0; m < rows; m++)
        KN_UNROLL
    for (size_t v = 0; v < 4; v++)
        _mm512_store_si512(result + m * KN_PANEL + v * 16, sum[m][v]);
}

static void sums(const void *x, size_t x_stride, size_t rows, const uint8_t *panel, size_t cols,
                 int32_t *result)
{
    switch (rows) {
    case 1:
        block(x, x_stride, 1, panel, cols, result);
        break;
    case 2:
        block(x, x_stride, 2, panel, cols, result);
        break;
    case 3:
        block(x, x_stride, 3, panel, cols, result);
        break;
    case 4:
        block(x, x_stride, 4, panel, cols, result);
        break;
    case 5:
        block(x, x_stride, 5, panel, cols, result);
        break;
    default:
        block(x, x_stride, 6, panel, cols, result);
    }
}

const kn_table kn_table_avx512vnni = {
    .name = "avx512vnni",
    .available = kn_cpu_has_avx512vnni,
    .loops = &kn_loops_avx512,
    .offset = 128,
    .block_rows = 6,
    .tile_rows = 1,
    .sums = sums,
};
