/*
 * AMX: tdpbsud multiplies a tile of 16 rows x 64 signed bytes with one of 64 x 16 unsigned bytes.
 * Panels are packed as for AVX-512 VNNI, 16 of whose 64-byte vectors, 256 bytes apart, are a tile;
 * so a few rows, which would leave the tiles mostly empty, can be left to VNNI.
 */
#include "kernels/cpu.h"
#include "kernels/table.h"

#include <immintrin.h>

enum { TILE = 16, TILE_BYTES = 64 };
enum { TILE_STEP = TILE * KN_STEP }; /* from one tile of weights to the next in the same column */

/* Every tile has 16 rows of 64 bytes. A thread's tile registers belong to kn_multiply from enter to
 * leave only: given back, they need not be saved when the thread is switched. */
static void enter(void)
{
    static const struct {
        uint8_t palette, start_row, reserved[14];
        uint16_t row_bytes[16];
        uint8_t rows[16];
    } configuration = {
        .palette = 1,
        .row_bytes = {64, 64, 64, 64, 64, 64, 64, 64},
        .rows = {TILE, TILE, TILE, TILE, TILE, TILE, TILE, TILE},
    };
    _tile_loadconfig(&configuration);
}

static void leave(void)
{
    _tile_release();
}

/* Tile numbers are part of the instructions and so cannot be loop variables. */
#define LOAD_WEIGHTS(tile, column) _tile_loadd(tile, panel + (column##UL) * TILE_BYTES, KN_STEP)
#define STORE(tile, row, column)                                            \
    _tile_stored(tile, result + (row##UL) * KN_PANEL + (column##UL) * TILE, \
                 KN_PANEL * sizeof *result)

/* 16 rows and the 64 outputs of the panel. */
static void one_by_four(const int8_t *x, size_t x_stride, const uint8_t *panel, size_t cols,
                        int32_t *result)
{
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
    for (size_t k = 0; k < cols; k += TILE_BYTES, panel += TILE_STEP) {
        _tile_loadd(4, x + k, x_stride);
        LOAD_WEIGHTS(5, 0);
        _tile_dpbsud(0, 4, 5);
        LOAD_WEIGHTS(6, 1);
        _tile_dpbsud(1, 4, 6);
        LOAD_WEIGHTS(7, 2);
        _tile_dpbsud(2, 4, 7);
        LOAD_WEIGHTS(5, 3);
        _tile_dpbsud(3, 4, 5);
    }
    STORE(0, 0, 0);
    STORE(1, 0, 1);
    STORE(2, 0, 2);
    STORE(3, 0, 3);
}

/* 32 rows and 32 outputs: each tile that is loaded is used twice. */
static void two_by_two(const int8_t *x, size_t x_stride, const uint8_t *panel, size_t cols,
                       int32_t *result)
{
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
    for (size_t k = 0; k < cols; k += TILE_BYTES, panel += TILE_STEP) {
        _tile_loadd(4, x + k, x_stride);
        LOAD_WEIGHTS(6, 0);
        _tile_dpbsud(0, 4, 6);
        LOAD_WEIGHTS(7, 1);
        _tile_dpbsud(1, 4, 7);
        _tile_loadd(5, x + TILE * x_stride + k, x_stride);
        _tile_dpbsud(2, 5, 6);
        _tile_dpbsud(3, 5, 7);
    }
    STORE(0, 0, 0);
    STORE(1, 0, 1);
    STORE(2, 16, 0);
    STORE(3, 16, 1);
}

static void sums(const void *x, size_t x_stride, size_t rows, const uint8_t *panel, size_t cols,
                 int32_t *result)
{
    const int8_t *values = kn_quantized_at(x, x_stride, 0)->values;
    if (rows <= TILE) {
        one_by_four(values, x_stride, panel, cols, result);
    } else {
        two_by_two(values, x_stride, panel, cols, result);
        two_by_two(values, x_stride, panel + (size_t)2 * TILE_BYTES, cols,
                   result + (size_t)2 * TILE);
    }
}

const kn_table kn_table_amx = {
    .name = "amx",
    .available = kn_cpu_has_amx,
    .loops = &kn_loops_avx512,
    .offset = 128,
    .block_rows = 2UL * TILE,
    .tile_rows = TILE,
    .few = &kn_table_avx512vnni,
    .few_rows = 4,
    .sums = sums,
    .enter = enter,
    .leave = leave,
};
