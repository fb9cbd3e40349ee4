#include "tiles.h"

#include <string.h>

enum { CACHED = 1 << 17 }; /* values that the second-level cache holds beside other things */

#if defined(__AMX_BF16__) && defined(__AVX512BW__) && defined(__linux__)
#define HAVE_AMX 1
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

#ifdef HAVE_AMX

/* The compiler's tile intrinsics do not say what memory they read: everything must be written
 * before them. */
#define WRITTEN() __asm__ volatile("" ::: "memory")

int tiles_start(void)
{
    /* Linux lends the tile registers on request only: ARCH_REQ_XCOMP_PERM, feature 18 (tile data).
     */
    if (syscall(SYS_arch_prctl, 0x1023, 18) != 0)
        return -1;
    struct {
        uint8_t palette, start, reserved[14];
        uint16_t bytes[16];
        uint8_t rows[16];
    } config;
    memset(&config, 0, sizeof config);
    config.palette = 1;
    for (int i = 0; i < 8; i++) {
        config.bytes[i] = 64;
        config.rows[i] = 16;
    }
    WRITTEN();
    _tile_loadconfig(&config);
    return 0;
}

void tiles_stop(void)
{
    _tile_release();
}

/* Tiles 0-3: the 2 x 2 sums; 4-5: left; 6-7: right. */
static inline void multiply_step(const Left *left, const bf16 *panel, size_t s)
{
    const bf16 *a = left->at + s * left->step_tile, *b = panel + s * 2 * TILE;
    _tile_loadd(4, a, 2 * left->stride);
    _tile_loadd(6, b, 64);
    _tile_dpbf16ps(0, 4, 6);
    _tile_loadd(7, b + TILE, 64);
    _tile_dpbf16ps(1, 4, 7);
    _tile_loadd(5, a + left->row_tile, 2 * left->stride);
    _tile_dpbf16ps(2, 5, 6);
    _tile_dpbf16ps(3, 5, 7);
}

static inline void clear_sums(void)
{
    WRITTEN();
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
}

static inline void load_sums(const float *sum, size_t width)
{
    WRITTEN();
    _tile_loadd(0, sum, 4 * width);
    _tile_loadd(1, sum + 16, 4 * width);
    _tile_loadd(2, sum + 16 * width, 4 * width);
    _tile_loadd(3, sum + 16 * width + 16, 4 * width);
}

static inline void store_sums(float *sum, size_t width)
{
    _tile_stored(0, sum, 4 * width);
    _tile_stored(1, sum + 16, 4 * width);
    _tile_stored(2, sum + 16 * width, 4 * width);
    _tile_stored(3, sum + 16 * width + 16, 4 * width);
}

/* 16 x 16 transpose of 32-bit values in registers: v[i] lane j becomes v[j] lane i. */
static inline void transpose16(__m512i v[16])
{
    __m512i t[16];
    for (int i = 0; i < 8; i++) {
        t[2 * i] = _mm512_unpacklo_epi32(v[2 * i], v[2 * i + 1]);
        t[2 * i + 1] = _mm512_unpackhi_epi32(v[2 * i], v[2 * i + 1]);
    }
    for (int i = 0; i < 4; i++) {
        v[4 * i] = _mm512_unpacklo_epi64(t[4 * i], t[4 * i + 2]);
        v[4 * i + 1] = _mm512_unpackhi_epi64(t[4 * i], t[4 * i + 2]);
        v[4 * i + 2] = _mm512_unpacklo_epi64(t[4 * i + 1], t[4 * i + 3]);
        v[4 * i + 3] = _mm512_unpackhi_epi64(t[4 * i + 1], t[4 * i + 3]);
    }
    for (int i = 0; i < 4; i++) {
        t[i] = _mm512_shuffle_i32x4(v[i], v[4 + i], 0x88);
        t[4 + i] = _mm512_shuffle_i32x4(v[8 + i], v[12 + i], 0x88);
        t[8 + i] = _mm512_shuffle_i32x4(v[i], v[4 + i], 0xdd);
        t[12 + i] = _mm512_shuffle_i32x4(v[8 + i], v[12 + i], 0xdd);
    }
    for (int i = 0; i < 4; i++) {
        v[i] = _mm512_shuffle_i32x4(t[i], t[4 + i], 0x88);
        v[8 + i] = _mm512_shuffle_i32x4(t[i], t[4 + i], 0xdd);
        v[4 + i] = _mm512_shuffle_i32x4(t[8 + i], t[12 + i], 0x88);
        v[12 + i] = _mm512_shuffle_i32x4(t[8 + i], t[12 + i], 0xdd);
    }
}

/* Rows 2i and 2i+1 of 16 values, woven into 16 pairs. */
static inline __m512i weave(const bf16 *row, size_t width)
{
    __m512i even = _mm512_cvtepu16_epi32(_mm256_loadu_si256((const void *)row));
    __m512i odd = _mm512_cvtepu16_epi32(_mm256_loadu_si256((const void *)(row + width)));
    return _mm512_or_si512(even, _mm512_slli_epi32(odd, 16));
}

/* A tile whose rows are pairs of rows of x. */
static inline void tile_of_row_pairs(const bf16 *x, size_t width, bf16 *tile)
{
    for (size_t i = 0; i < 16; i++)
        _mm512_storeu_si512(tile + 32 * i, weave(x + 2 * i * width, width));
}

/* A tile whose rows are pairs of columns of x. */
static inline void tile_of_column_pairs(const bf16 *x, size_t width, bf16 *tile)
{
    __m512i v[16];
    for (size_t i = 0; i < 16; i++)
        v[i] = _mm512_loadu_si512(x + i * width);
    transpose16(v);
    for (size_t i = 0; i < 16; i++)
        _mm512_storeu_si512(tile + 32 * i, v[i]);
}

/* A tile whose rows are columns of x. */
static inline void tile_of_columns(const bf16 *x, size_t width, bf16 *tile)
{
    __m512i v[16];
    for (size_t i = 0; i < 16; i++)
        v[i] = weave(x + 2 * i * width, width);
    transpose16(v);
    for (size_t i = 0; i < 16; i++)
        _mm512_storeu_si512(tile + 32 * i, v[i]);
}

#else /* the same in plain C */

int tiles_start(void)
{
    return 0;
}

void tiles_stop(void)
{
}

/* The sums of the block under way, as the tile registers would hold them. */
static _Thread_local float block[BLOCK][BLOCK];

static void multiply_step(const Left *left, const bf16 *panel, size_t s)
{
    for (size_t i = 0; i < BLOCK; i++) {
        const bf16 *a =
            left->at + i / 16 * left->row_tile + s * left->step_tile + i % 16 * left->stride;
        for (size_t k = 0; k < 32; k++) {
            const bf16 *b = panel + s * 2 * TILE + k / 2 * 32 + k % 2;
            float x = widen(a[k]);
            for (size_t j = 0; j < 16; j++)
                block[i][j] += x * widen(b[2 * j]);
            for (size_t j = 0; j < 16; j++)
                block[i][16 + j] += x * widen(b[TILE + 2 * j]);
        }
    }
}

static void clear_sums(void)
{
    memset(block, 0, sizeof block);
}

static void load_sums(const float *sum, size_t width)
{
    for (size_t i = 0; i < BLOCK; i++)
        memcpy(block[i], sum + i * width, sizeof block[i]);
}

static void store_sums(float *sum, size_t width)
{
    for (size_t i = 0; i < BLOCK; i++)
        memcpy(sum + i * width, block[i], sizeof block[i]);
}

static void tile_of_row_pairs(const bf16 *x, size_t width, bf16 *tile)
{
    for (size_t k = 0; k < 32; k++)
        for (size_t n = 0; n < 16; n++)
            tile[k / 2 * 32 + 2 * n + k % 2] = x[k * width + n];
}

static void tile_of_column_pairs(const bf16 *x, size_t width, bf16 *tile)
{
    for (size_t n = 0; n < 16; n++)
        for (size_t k = 0; k < 32; k++)
            tile[k / 2 * 32 + 2 * n + k % 2] = x[n * width + k];
}

static void tile_of_columns(const bf16 *x, size_t width, bf16 *tile)
{
    for (size_t n = 0; n < 16; n++)
        for (size_t k = 0; k < 32; k++)
            tile[n * 32 + k] = x[k * width + n];
}

#endif

/* A block whose sums wait to be finished: its place in the result. */
typedef struct {
    const float *sums, *bias;
    size_t at, row;
} Waiting;

static inline float exponentials(const float *restrict sums, const float *restrict bias,
                                 bf16 *restrict out)
{
    float total = 0;
    for (size_t j = 0; j < BLOCK; j++) {
        float e = fast_exp(sums[j] + bias[j]);
        out[j] = narrow(e);
        total += e;
    }
    return total;
}

#define EACH(statement)                \
    for (size_t j = 0; j < BLOCK; j++) \
        statement;                     \
    break

/* Rows [from, to) of a block. */
static inline void finish_rows(Finish finish, const Result *r, const Waiting *w, size_t from,
                               size_t to)
{
    for (size_t i = from; i < to; i++) {
        const float *restrict sums = w->sums + i * BLOCK, *restrict bias = w->bias;
        size_t at = w->at + i * r->width;
        bf16 *restrict out16 = r->out16 + at;
        float *restrict out32 = r->out32 + at;
        const bf16 *restrict other = r->other + at;
        switch (finish) {
        case TO_BF16:
            EACH(out16[j] = narrow(sums[j] + bias[j]));
        case TO_BF16_RELU:
            EACH(out16[j] = narrow(sums[j] + bias[j] > 0 ? sums[j] + bias[j] : 0));
        /* a positive bf16 is a positive integer: neither 0 nor sign bit */
        case TO_BF16_WHERE:
            EACH(out16[j] = (int16_t)other[j] > 0 ? narrow(sums[j]) : 0);
        case TO_F32:
            EACH(out32[j] = sums[j]);
        case TO_SUM:
            EACH(out32[j] = sums[j] + bias[j] + widen(other[j]));
        case ADD_F32:
            EACH(out32[j] += sums[j]);
        case TO_EXP:
            r->totals[w->row + i] += exponentials(sums, bias, out16);
            break;
        }
    }
}

/* The matrix unit works beside the vector units: while it makes a block, they finish the one
 * before, some rows after each step. `finish` is a constant where this is called. */
static inline __attribute__((always_inline)) void product_as(Finish finish, Left left,
                                                             const bf16 *right, size_t rows,
                                                             size_t columns, size_t inner,
                                                             const Result *result)
{
    static const float none[BLOCK];
    float sums[2][BLOCK * BLOCK] __attribute__((aligned(64)));
    size_t chunk = inner < CACHED / BLOCK ? CACHED / inner / BLOCK * BLOCK
                                          : BLOCK; /* rows of left that stay cached */
    size_t steps = inner / 32, slice = steps < BLOCK ? (BLOCK + steps - 1) / steps : 1, parity = 0;
    Waiting waiting = {NULL, NULL, 0, 0};
    for (size_t top = 0; top < rows; top += chunk, left.at += chunk / 16 * left.row_tile) {
        size_t bottom = top + chunk < rows ? top + chunk : rows;
        for (size_t n = 0; n < columns; n += BLOCK) {
            const bf16 *panel = right + n * inner;
            Left l = left;
            for (size_t m = top; m < bottom; m += BLOCK, l.at += 2 * l.row_tile, parity ^= 1) {
                size_t done = waiting.sums ? 0 : BLOCK;
                clear_sums();
                for (size_t s = 0; s < steps; s++) {
                    multiply_step(&l, panel, s);
                    size_t next = done + slice < BLOCK ? done + slice : BLOCK;
                    finish_rows(finish, result, &waiting, done, next);
                    done = next;
                }
                store_sums(sums[parity], BLOCK);
                waiting = (Waiting){sums[parity], result->bias ? result->bias + n : none,
                                    m * result->width + n, m};
            }
        }
    }
    if (waiting.sums)
        finish_rows(finish, result, &waiting, 0, BLOCK);
}

void product(Left left, const bf16 *right, size_t rows, size_t columns, size_t inner,
             const Result *result)
{
    switch (result->finish) {
    case TO_BF16:
        product_as(TO_BF16, left, right, rows, columns, inner, result);
        break;
    case TO_BF16_RELU:
        product_as(TO_BF16_RELU, left, right, rows, columns, inner, result);
        break;
    case TO_BF16_WHERE:
        product_as(TO_BF16_WHERE, left, right, rows, columns, inner, result);
        break;
    case TO_F32:
        product_as(TO_F32, left, right, rows, columns, inner, result);
        break;
    case TO_SUM:
        product_as(TO_SUM, left, right, rows, columns, inner, result);
        break;
    case ADD_F32:
        product_as(ADD_F32, left, right, rows, columns, inner, result);
        break;
    case TO_EXP:
        product_as(TO_EXP, left, right, rows, columns, inner, result);
        break;
    }
}

/* A row of the next block's sums, which come from far away: asked for in time. */
static inline void prefetch_row(const float *row)
{
    __builtin_prefetch(row, 1);
    __builtin_prefetch(row + 16, 1);
}

void add_product(Left left, const bf16 *right, size_t rows, size_t columns, size_t inner,
                 float *sum, size_t width)
{
    for (size_t m = 0; m < rows; m += BLOCK, left.at += 2 * left.row_tile)
        for (size_t n = 0; n < columns; n += BLOCK) {
            float *place = sum + m * width + n;
            load_sums(place, width);
            for (size_t s = 0; s < inner / 32; s++) {
                for (size_t i = 2 * s; i < 2 * s + 2 && i < BLOCK; i++)
                    prefetch_row(place + i * width + BLOCK);
                multiply_step(&left, right + n * inner, s);
            }
            store_sums(place, width);
        }
}

void pack_weight(const float *w, size_t rows, size_t columns, bf16 *panels)
{
    bf16 part[BLOCK * BLOCK];
    for (size_t n = 0; n < round_up(rows); n += BLOCK)
        for (size_t k = 0; k < columns; k += BLOCK, panels += 2 * TILE) {
            for (size_t i = 0; i < BLOCK; i++)
                for (size_t j = 0; j < BLOCK; j++)
                    part[i * BLOCK + j] = n + i < rows ? narrow(w[(n + i) * columns + k + j]) : 0;
            tile_of_column_pairs(part, BLOCK, panels);
            tile_of_column_pairs(part + 16 * BLOCK, BLOCK, panels + TILE);
        }
}

void pack_inverse(const float *w, size_t rows, size_t columns, bf16 *panels)
{
    bf16 part[BLOCK * BLOCK];
    for (size_t n = 0; n < columns; n += BLOCK)
        for (size_t k = 0; k < round_up(rows); k += BLOCK, panels += 2 * TILE) {
            for (size_t i = 0; i < BLOCK; i++)
                for (size_t j = 0; j < BLOCK; j++)
                    part[i * BLOCK + j] = k + i < rows ? narrow(w[(k + i) * columns + n + j]) : 0;
            tile_of_row_pairs(part, BLOCK, panels);
            tile_of_row_pairs(part + 16, BLOCK, panels + TILE);
        }
}

void pack_columns(const bf16 *x, size_t width, size_t rows, size_t columns, bf16 *panels)
{
    for (size_t n = 0; n < rows; n += BLOCK)
        for (size_t k = 0; k < columns; k += BLOCK, panels += 2 * TILE) {
            tile_of_column_pairs(x + n * width + k, width, panels);
            tile_of_column_pairs(x + (n + 16) * width + k, width, panels + TILE);
        }
}

void pack_rows(const bf16 *x, size_t width, size_t rows, size_t columns, bf16 *panels)
{
    for (size_t n = 0; n < columns; n += BLOCK)
        for (size_t k = 0; k < rows; k += BLOCK, panels += 2 * TILE) {
            tile_of_row_pairs(x + k * width + n, width, panels);
            tile_of_row_pairs(x + k * width + n + 16, width, panels + TILE);
        }
}

void pack_transposed(const bf16 *x, size_t width, size_t rows, size_t columns, bf16 *tiles)
{
    for (size_t n = 0; n < columns; n += 16)
        for (size_t m = 0; m < rows; m += 32, tiles += TILE)
            tile_of_columns(x + m * width + n, width, tiles);
}
