/*
 * AVX2: vpmaddubsw multiplies unsigned with signed bytes and adds pairs into 16 bits, where it
 * saturates. So the unsigned factor is |x| and the sign of x goes to the weight: a pair is at most
 * 2 * 127 * 127 = 32258 and nothing is lost.
 */
#include "kernels/cpu.h"

#include <immintrin.h>

static inline __m256i accumulate(__m256i sum, __m256i w, __m256i q)
{
    const __m256i pairs = _mm256_maddubs_epi16(_mm256_abs_epi8(q), _mm256_sign_epi8(w, q));
    return _mm256_add_epi32(sum, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
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
