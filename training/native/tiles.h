/* Matrix products in bfloat16 with fp32 sums, in blocks of 32 x 32 results.
 *
 * Both operands of a product are cut into tiles that an AMX unit takes whole; where the compiler
 * has no AMX the same tiles are multiplied by plain C, so the library is correct everywhere and
 * fast where it matters.
 *
 *   left operand   rows of 32 values of the inner dimension, 16 rows a tile
 *   right operand  "panel" form: for 32 columns, for 32 inner steps, two tiles of 16 columns;
 * inside a tile the row holds two neighbouring inner steps of each column, as TDPBF16PS wants them
 *
 * All dimensions are multiples of 32: callers pad rows with zeros.
 */
#ifndef TILES_H
#define TILES_H

#include "numbers.h"

enum { TILE = 512 }; /* values in a tile */

/* The left operand of a product: where its tiles lie. */
typedef struct {
    const bf16 *at;
    size_t row_tile, step_tile; /* distance to the next 16 rows, to the next 32 inner values */
    size_t stride;              /* distance between the rows of a tile */
} Left;

/* x: rows of `width` values, used as it lies. */
static inline Left left_rows(const bf16 *x, size_t width)
{
    return (Left){x, 16 * width, 32, width};
}

/* x: written by pack_transposed for `inner` rows. */
static inline Left left_packed(const bf16 *x, size_t inner)
{
    return (Left){x, inner / 32 * TILE, TILE, 32};
}

/* What becomes of a block of sums. */
typedef enum {
    TO_BF16,       /* out16 = sums + bias */
    TO_BF16_RELU,  /* out16 = max(0, sums + bias) */
    TO_BF16_WHERE, /* out16 = sums where mask > 0, else 0: the gradient of relu */
    TO_F32,        /* out32 = sums */
    TO_SUM,        /* out32 = sums + bias + residual */
    ADD_F32,       /* out32 += sums */
    TO_EXP         /* out16 = exp(sums + bias), and totals += what it is, row by row */
} Finish;

typedef struct {
    Finish finish;
    const float *bias; /* one value a column, or NULL */
    const bf16 *other; /* residual or mask, rows like the result's */
    bf16 *out16;
    float *out32, *totals;
    size_t width; /* of the rows of the result, and of `other` */
} Result;

/* Call in every thread before the first product and after the last. tiles_start returns -1 where
 * the system refuses. */
int tiles_start(void);
void tiles_stop(void);

/* result (rows x columns) = left (rows x inner) times right (inner x columns, panels). */
void product(Left left, const bf16 *right, size_t rows, size_t columns, size_t inner,
             const Result *result);

/* sum (rows x columns, fp32, rows of `width`) += left times right, in place: gradients of weights.
 */
void add_product(Left left, const bf16 *right, size_t rows, size_t columns, size_t inner,
                 float *sum, size_t width);

/* Panels of w and of its transpose, from fp32 w (rows x columns). Rows are padded with zeros to a
 * multiple of 32. pack_weight:  inner = columns, panel columns = rows     (x w^T, the forward
 * product) pack_inverse: inner = rows,    panel columns = columns  (g w, the gradient of x) */
void pack_weight(const float *w, size_t rows, size_t columns, bf16 *panels);
void pack_inverse(const float *w, size_t rows, size_t columns, bf16 *panels);

/* The same from bf16 rows of `width` values; `rows`, `columns` multiples of 32.
 * pack_columns: inner = columns, panel columns = rows; pack_rows: inner = rows, panel columns =
 * columns. */
void pack_columns(const bf16 *x, size_t width, size_t rows, size_t columns, bf16 *panels);
void pack_rows(const bf16 *x, size_t width, size_t rows, size_t columns, bf16 *panels);

/* Left operand x^T: `columns` rows of `rows` inner values, for left_packed. */
void pack_transposed(const bf16 *x, size_t width, size_t rows, size_t columns, bf16 *tiles);

#endif
