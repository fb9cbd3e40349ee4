/*
 * NEON without dot products: two multiplications of 8 bytes add up in 16 bits (at most
 * 2 * 127 * 127 = 32258), then neighbours are added to 32-bit sums. A sum register holds two
 * outputs, two partial sums of each.
 */
#include "kernels/table.h"

#include <arm_neon.h>

static bool available(void)
{
    return true;
}

/* One row and 16 outputs: 16 of 32 registers hold sums of two rows. */
static inline void step(int32x4_t sum[8], const int8_t *panel, int8x16_t q, int8x16_t next)
{
    const int8x8_t first = vget_low_s8(q), second = vget_low_s8(next);
    KN_UNROLL
    for (size_t v = 0; v < 4; v++) {
        const int8x16_t w = vld1q_s8(panel + v * 16);
        const int8x16_t w_next = vld1q_s8(panel + KN_STEP + v * 16);
        int16x8_t low = vmull_s8(vget_low_s8(w), first);
        int16x8_t high = vmull_s8(vget_high_s8(w), first);
        low = vmlal_s8(low, vget_low_s8(w_next), second);
        high = vmlal_s8(high, vget_high_s8(w_next), second);
        sum[2 * v] = vpadalq_s16(sum[2 * v], low);
        sum[2 * v + 1] = vpadalq_s16(sum[2 * v + 1], high);
    }
}

/* The sums of `rows` <= 2 rows, a constant in each call, and 16 outputs. */
static inline KN_INLINE void block(const void *x, size_t x_stride, size_t rows, const int8_t *panel,
                                   size_t cols, int32_t *result)
{
    int32x4_t sum[2][8];
    KN_UNROLL
    for (size_t m = 0; m < rows; m++)
        KN_UNROLL
    for (size_t v = 0; v < 8; v++)
        sum[m][v] = vdupq_n_s32(0);
    for (size_t k = 0; k < cols; k += 2 * KN_QUAD, panel += 2 * KN_STEP)
        KN_UNROLL
    for (size_t m = 0; m < rows; m++) {
        const int32_t q = kn_quad_at(x, x_stride, m, k);
        const int32_t next = kn_quad_at(x, x_stride, m, k + KN_QUAD);
        step(sum[m], panel, vreinterpretq_s8_s32(vdupq_n_s32(q)),
             vreinterpretq_s8_s32(vdupq_n_s32(next)));
    }
    KN_UNROLL
    for (size_t m = 0; m < rows; m++)
        KN_UNROLL
    for (size_t v = 0; v < 4; v++)
        vst1q_s32(result + m * KN_PANEL + v * 4, vpaddq_s32(sum[m][2 * v], sum[m][2 * v + 1]));
}

static void sums(const void *x, size_t x_stride, size_t rows, const uint8_t *panel, size_t cols,
                 int32_t *result)
{
    for (size_t n = 0; n < KN_PANEL; n += 16) {
        const int8_t *weights = (const int8_t *)panel + n * KN_QUAD;
        if (rows == 1)
            block(x, x_stride, 1, weights, cols, result + n);
        else
            block(x, x_stride, 2, weights, cols, result + n);
    }
}

const kn_table kn_table_neon = {
    .name = "neon",
    .available = available,
    .loops = &kn_loops_neon,
    .block_rows = 2,
    .tile_rows = 1,
    .sums = sums,
};
