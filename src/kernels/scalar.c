/* Plain C: the reference for every other instruction set, and what runs where there is none. */
#define KN_LOOPS kn_loops_scalar
#define KN_UNROLL
#include "kernels/lanes_scalar.h"
#include "kernels/loops.h"

static bool available(void)
{
    return true;
}

static void sums(const void *x, size_t x_stride, size_t rows, const uint8_t *panel, size_t cols,
                 int32_t *result)
{
    (void)x_stride;
    (void)rows;
    const int8_t *values = ((const kn_quantized_row *)x)->values;
    memset(result, 0, KN_PANEL * sizeof *result);
    for (size_t k = 0; k < cols; k += KN_QUAD)
        for (size_t n = 0; n < KN_PANEL; n++) {
            const int8_t *w = (const int8_t *)panel + k * KN_PANEL + n * KN_QUAD;
            result[n] += values[k] * w[0] + values[k + 1] * w[1] + values[k + 2] * w[2] +
                         values[k + 3] * w[3];
        }
}

const kn_table kn_table_scalar = {
    .name = "scalar",
    .available = available,
    .loops = &kn_loops_scalar,
    .block_rows = 1,
    .tile_rows = 1,
    .sums = sums,
};
