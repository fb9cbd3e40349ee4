/* NEON with dot products (ARMv8.2): sdot multiplies 16 signed bytes and adds them up by fours. */
#include "kernels/cpu.h"
#include "kernels/table.h"

#include <arm_neon.h>

/* The sums of `rows` rows and 16 outputs; `rows` is a constant in each call, so that the sums stay
 * in registers: at most 4 x 4 of 32. */
static inline KN_INLINE void block(const void *x, size_t x_stride, size_t rows, const int8_t *panel,
                                   size_t cols, int32_t *result)
{
    int32x4_t sum[4][4];
    KN_UNROLL
    for (size_t m = 0; m < rows; m++)
        KN_UNROLL
    for (size_t v = 0; v < 4; v++)
        sum[m][v] = vdupq_n_s32(0);
    for (size_t k = 0; k < cols; k += KN_QUAD, panel += KN_STEP) {
        const int8x16_t w[4] = {vld1q_s8(panel), vld1q_s8(panel + 16), vld1q_s8(panel + 32),
                                vld1q_s8(panel + 48)};
        KN_UNROLL
        for (size_t m = 0; m < rows; m++) {
            const int8x16_t q = vreinterpretq_s8_s32(vdupq_n_s32(kn_quad_at(x, x_stride, m, k)));
            KN_UNROLL
            for (size_t v = 0; v < 4; v++)
                sum[m][v] = vdotq_s32(sum[m][v], w[v], q);
        }
    }
    KN_UNROLL
    for (size_t m = 0; m < rows; m++)
        KN_UNROLL
    for (size_t v = 0; v < 4; v++)
        vst1q_s32(result + m * KN_PANEL + v * 4, sum[m][v]);
}

static void sums(const void *x, size_t x_stride, size_t rows, const uint8_t *panel, size_t cols,
                 int32_t *result)
{
    for (size_t n = 0; n < KN_PANEL; n += 16) {
        const int8_t *weights = (const int8_t *)panel + n * KN_QUAD;
        switch (rows) {
        case 1:
            block(x, x_stride, 1, weights, cols, result + n);
            break;
        case 2:
            block(x, x_stride, 2, weights, cols, result + n);
            break;
        case 3:
            block(x, x_stride, 3, weights, cols, result + n);
            break;
        default:
            block(x, x_stride, 4, weights, cols, result + n);
        }
    }
}

const kn_table kn_table_neondot = {
    .name = "neondot",
    .available = kn_cpu_has_neondot,
    .loops = &kn_loops_neon,
    .block_rows = 4,
    .tile_rows = 1,
    .sums = sums,
};
