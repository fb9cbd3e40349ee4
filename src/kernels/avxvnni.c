/* AVX-VNNI: as avx512vnni.c, in registers half as wide, of which there are 16. */
#include "kernels/cpu.h"

#include <immintrin.h>

static inline __m256i accumulate(__m256i sum, __m256i w, __m256i q)
{
    return _mm256_dpbusd_avx_epi32(sum, w, q);
}

#include "kernels/rows_avx2.h"

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
