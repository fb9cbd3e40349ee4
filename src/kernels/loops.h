/*
 * The float loops, written once in the operations of a lanes_*.h, which the including file has
 * included before, with KN_LOOPS defined as the name of the table to make. Sums over a row are kept
 * in sixteen lanes, element i in lane i % 16, and added as a tree at the end.
 */
#ifndef KERNELS_LOOPS_H
#define KERNELS_LOOPS_H

#include "kernels/table.h"

#include <math.h>
#include <string.h>

/* The sixteen or fewer elements at p of which `left` remain. */
static inline lanes load_up_to(const float *p, size_t left, float fill)
{
    return left >= 16 ? lanes_load(p) : lanes_load_part(p, left, fill);
}

static inline void store_up_to(float *p, size_t left, lanes a)
{
    if (left >= 16)
        lanes_store(p, a);
    else
        lanes_store_part(p, left, a);
}

/* ---- Functions ----------------------------------------------------------------------------- */

/* e^x with a relative error below 3e-7. Zero below -87 (e^-87 is near the smallest normal number);
 * above 88 it stays at e^88, so it is never infinite. x = n log 2 + r, |r| <= log 2 / 2, e^x =
 * 2^n e^r; log 2 is subtracted in two parts, the first with so few bits that n times it is exact;
 * the polynomial is a minimax fit of e^r. */
static inline lanes exponential(lanes x)
{
    const lanes magic = lanes_set(12582912.0F); /* 1.5 * 2^23: what is added to it gets rounded */
    lanes bounded = lanes_min(lanes_set(88.0F), x);
    lanes shifted = lanes_add(lanes_mul(bounded, lanes_set(1.44269504F)), magic);
    lanes n = lanes_sub(shifted, magic);
    lanes r = lanes_sub(bounded, lanes_mul(n, lanes_set(0.693359375F)));
    r = lanes_add(r, lanes_mul(n, lanes_set(2.12194440e-4F)));
    lanes p = lanes_set(0.008312501013278961F);
    p = lanes_add(lanes_mul(p, r), lanes_set(0.041890330612659454F));
    p = lanes_add(lanes_mul(p, r), lanes_set(0.16667115688323975F));
    p = lanes_add(lanes_mul(p, r), lanes_set(0.499992311000824F));
    p = lanes_add(lanes_add(lanes_mul(lanes_mul(p, r), r), r), lanes_set(1.0F));
    lanes_int exponent = lanes_int_add(lanes_bits(shifted), lanes_int_set(127));
    lanes power = lanes_from_bits(lanes_int_to_exponent(exponent));
    return lanes_zero_below(lanes_mul(p, power), x, lanes_set(-87.0F));
}

/* x / (1 + e^-ax): swish for a = 1. */
static inline lanes sigmoid_times(lanes x, lanes ax)
{
    lanes e = exponential(lanes_sub(lanes_set(0.0F), ax));
    return lanes_div(x, lanes_add(lanes_set(1.0F), e));
}

/* x (1 + erf(x / sqrt 2)) / 2 with erf from Abramowitz & Stegun 7.1.26, absolute error 1.5e-7. */
static inline lanes gelu(lanes x)
{
    const lanes one = lanes_set(1.0F), half = lanes_set(0.5F);
    lanes size = lanes_from_bits(lanes_int_and(lanes_bits(x), lanes_int_set(0x7FFFFFFF)));
    lanes z = lanes_mul(size, lanes_set(0.70710678F));
    lanes t = lanes_div(one, lanes_add(one, lanes_mul(z, lanes_set(0.3275911F))));
    lanes p = lanes_set(1.061405429F);
    p = lanes_add(lanes_mul(p, t), lanes_set(-1.453152027F));
    p = lanes_add(lanes_mul(p, t), lanes_set(1.421413741F));
    p = lanes_add(lanes_mul(p, t), lanes_set(-0.284496736F));
    p = lanes_add(lanes_mul(p, t), lanes_set(0.254829592F));
    lanes e = exponential(lanes_sub(lanes_set(0.0F), lanes_mul(z, z)));
    lanes erf = lanes_sub(one, lanes_mul(lanes_mul(p, t), e));
    return lanes_mul(half, lanes_add(x, lanes_mul(size, erf)));
}

/* x (1 + tanh u) / 2 = x / (1 + e^-2u) with u = sqrt(2 / pi) (x + 0.044715 x^3) (Hendrycks and
 * Gimpel 2016). */
static inline lanes gelu_tanh(lanes x)
{
    lanes cube = lanes_mul(lanes_mul(x, x), x);
    lanes inner = lanes_add(x, lanes_mul(cube, lanes_set(0.044715F)));
    return sigmoid_times(x, lanes_mul(inner, lanes_set(1.5957691F)));
}

static inline lanes apply(lanes x, kn_activation activation)
{
    switch (activation) {
    case KN_RELU: /* NaN stays NaN */
        return lanes_max(lanes_set(0.0F), x);
    case KN_SWISH:
        return sigmoid_times(x, x);
    case KN_GELU:
        return gelu(x);
    case KN_GELU_TANH:
        return gelu_tanh(x);
    case KN_NONE:
        break;
    }
    return x;
}

/* ---- Quantised products -------------------------------------------------------------------- */

/* max |x|, NaN being larger than infinity: the sizes of floats are ordered as their bits are. */
static inline float largest_size(const float *x, size_t count)
{
    lanes_int top = lanes_int_set(0);
    const lanes_int magnitude = lanes_int_set(0x7FFFFFFF);
    for (size_t k = 0; k < count; k += 16) {
        lanes_int bits = lanes_bits(load_up_to(x + k, count - k, 0.0F));
        top = lanes_int_max(top, lanes_int_and(bits, magnitude));
    }
    int32_t top_bits = lanes_int_maximum(top);
    float largest;
    memcpy(&largest, &top_bits, sizeof largest);
    return largest;
}

/* A row that holds NaN or infinity gets the scale NaN, and so all its products are NaN, as in
 * float; one that is zero or too small for 127 / max to be finite counts as zero. */
static void quantize(const float *x, size_t cols, kn_quantized_row *row)
{
    const float largest = largest_size(x, cols);
    size_t padded = (cols + KN_PAD - 1) / KN_PAD * KN_PAD;
    if (!isfinite(largest) || largest < 1e-36F) {
        row->scale = isfinite(largest) ? 0.0F : NAN;
        row->sum = 0;
        memset(row->values, 0, padded);
        return;
    }
    row->scale = largest / 127.0F;
    const lanes factor = lanes_set(127.0F / largest);
    lanes_int sum = lanes_int_set(0);
    size_t k = 0;
    for (; k < cols; k += 16) {
        lanes_int q = lanes_round(lanes_mul(load_up_to(x + k, cols - k, 0.0F), factor));
        lanes_int_store_bytes(row->values + k, q);
        sum = lanes_int_add(sum, q);
    }
    memset(row->values + k, 0, padded - k);
    row->sum = lanes_int_sum(sum);
}

/* act((float)(sum - excess) * row's scale * output's scale + bias) for sixteen outputs. */
static inline lanes finished(const int32_t *sums, lanes_int excess, lanes row_scale, lanes scale,
                             lanes bias, kn_activation activation)
{
    lanes v = lanes_from_int(lanes_int_sub(lanes_int_load(sums), excess));
    return apply(lanes_add(lanes_mul(lanes_mul(v, row_scale), scale), bias), activation);
}

/* All 64 outputs of a panel, whose scales and biases stay in registers where there are enough. */
static inline void finish_whole(kn_block block, kn_activation activation)
{
    enum { VECTORS = KN_PANEL / 16 };
    lanes scale[VECTORS], bias[VECTORS];
    KN_UNROLL
    for (size_t v = 0; v < VECTORS; v++) {
        scale[v] = lanes_load(block.scale + v * 16);
        bias[v] = lanes_load(block.bias + v * 16);
    }
    for (size_t m = 0; m < block.rows; m++) {
        const kn_quantized_row *x = kn_quantized_at(block.x, block.x_stride, m);
        const lanes row_scale = lanes_set(x->scale);
        const lanes_int excess = lanes_int_set(block.offset * x->sum);
        const int32_t *sums = block.sums + m * KN_PANEL;
        float *y = block.y + m * block.y_stride;
        KN_UNROLL
        for (size_t v = 0; v < VECTORS; v++)
            lanes_store(y + v * 16,
                        finished(sums + v * 16, excess, row_scale, scale[v], bias[v], activation));
    }
}

static inline void finish_part(kn_block block, kn_activation activation)
{
    for (size_t m = 0; m < block.rows; m++) {
        const kn_quantized_row *x = kn_quantized_at(block.x, block.x_stride, m);
        const lanes row_scale = lanes_set(x->scale);
        const lanes_int excess = lanes_int_set(block.offset * x->sum);
        for (size_t n = 0; n < block.width; n += 16) {
            lanes v = finished(block.sums + m * KN_PANEL + n, excess, row_scale,
                               lanes_load(block.scale + n), lanes_load(block.bias + n), activation);
            store_up_to(block.y + m * block.y_stride + n, block.width - n, v);
        }
    }
}

static void finish(const kn_block *block)
{
    /* The activation is a constant where it matters, so that the loop has no switch in it. */
    if (block->width < KN_PANEL)
        finish_part(*block, block->activation);
    else if (block->activation == KN_NONE)
        finish_whole(*block, KN_NONE);
    else if (block->activation == KN_RELU)
        finish_whole(*block, KN_RELU);
    else
        finish_whole(*block, block->activation);
}

/* ---- Float products ------------------------------------------------------------------------ */

/* y = activation(y + bias); bias may be NULL. */
static void activate(float *y, const float *bias, size_t count, kn_activation activation)
{
    for (size_t n = 0; n < count; n += 16) {
        lanes v = load_up_to(y + n, count - n, 0.0F);
        if (bias)
            v = lanes_add(v, load_up_to(bias + n, count - n, 0.0F));
        store_up_to(y + n, count - n, apply(v, activation));
    }
}

/* The sixteen partial sums of a dot product. */
static inline lanes dot(const float *a, const float *b, size_t count)
{
    lanes sum = lanes_set(0.0F);
    size_t k = 0;
    for (; k + 16 <= count; k += 16)
        sum = lanes_add(sum, lanes_mul(lanes_load(a + k), lanes_load(b + k)));
    if (k < count)
        sum = lanes_add(sum, lanes_mul(lanes_load_part(a + k, count - k, 0.0F),
                                       lanes_load_part(b + k, count - k, 0.0F)));
    return sum;
}

/* y[m][n] = x[m] . w[n] for `rows` x `outs` <= 4 x 4 of them; `rows` is a constant in each call. */
static inline KN_INLINE void multiply_block(const float *x, size_t x_stride, size_t rows,
                                            const float *w, size_t in, size_t outs, float *y,
                                            size_t y_stride)
{
    lanes sums[16];
    KN_UNROLL
    for (size_t l = 0; l < 16; l++)
        sums[l] = lanes_set(0.0F);
    size_t k = 0;
    for (; k + 16 <= in; k += 16) {
        lanes xs[4];
        KN_UNROLL
        for (size_t m = 0; m < rows; m++)
            xs[m] = lanes_load(x + m * x_stride + k);
        KN_UNROLL
        for (size_t n = 0; n < 4; n++) {
            const lanes ws = lanes_load(w + (n < outs ? n : 0) * in + k);
            KN_UNROLL
            for (size_t m = 0; m < rows; m++)
                sums[m * 4 + n] = lanes_add(sums[m * 4 + n], lanes_mul(xs[m], ws));
        }
    }
    for (size_t n = 0; k < in && n < outs; n++)
        for (size_t m = 0; m < rows; m++)
            sums[m * 4 + n] = lanes_add(
                sums[m * 4 + n], lanes_mul(lanes_load_part(x + m * x_stride + k, in - k, 0.0F),
                                           lanes_load_part(w + n * in + k, in - k, 0.0F)));
    float results[16];
    lanes_store(results, lanes_sum_each(sums));
    for (size_t m = 0; m < rows; m++)
        for (size_t n = 0; n < outs; n++)
            y[m * y_stride + n] = results[m * 4 + n];
}

/* y[m][n] = x[m] . w[n]. */
static void multiply_f32(const float *x, size_t x_stride, size_t rows, const float *w, size_t in,
                         size_t out, float *y, size_t y_stride)
{
    for (size_t n = 0; n < out; n += 4) {
        const size_t outs = out - n < 4 ? out - n : 4;
        size_t m = 0;
        for (; m + 4 <= rows; m += 4)
            multiply_block(x + m * x_stride, x_stride, 4, w + n * in, in, outs,
                           y + m * y_stride + n, y_stride);
        for (; m < rows; m++)
            multiply_block(x + m * x_stride, x_stride, 1, w + n * in, in, outs,
                           y + m * y_stride + n, y_stride);
    }
}

/* ---- Layer norm ---------------------------------------------------------------------------- */

static void add_norm(float *x, const float *residual, const float *weight, const float *bias,
                     size_t cols)
{
    lanes sum = lanes_set(0.0F);
    for (size_t k = 0; k < cols; k += 16) {
        lanes v = load_up_to(x + k, cols - k, 0.0F);
        if (residual) {
            v = lanes_add(v, load_up_to(residual + k, cols - k, 0.0F));
            store_up_to(x + k, cols - k, v);
        }
        sum = lanes_add(sum, v);
    }
    const float mean = lanes_sum(sum) / (float)cols;
    const lanes means = lanes_set(mean);
    lanes squares = lanes_set(0.0F);
    for (size_t k = 0; k < cols; k += 16) {
        lanes d = lanes_sub(load_up_to(x + k, cols - k, mean), means); /* padding differs by 0 */
        squares = lanes_add(squares, lanes_mul(d, d));
    }
    const lanes factor = lanes_set(1.0F / sqrtf(lanes_sum(squares) / (float)cols + 1e-5F));
    for (size_t k = 0; k < cols; k += 16) {
        lanes v = lanes_mul(lanes_sub(load_up_to(x + k, cols - k, 0.0F), means), factor);
        v = lanes_mul(v, load_up_to(weight + k, cols - k, 0.0F));
        v = lanes_add(v, load_up_to(bias + k, cols - k, 0.0F));
        store_up_to(x + k, cols - k, v);
    }
}

/* ---- Softmax ------------------------------------------------------------------------------- */

static float maximum(const float *x, size_t count)
{
    lanes top = lanes_set(-INFINITY);
    for (size_t i = 0; i < count; i += 16)
        top = lanes_max(load_up_to(x + i, count - i, -INFINITY), top);
    return lanes_maximum(top);
}

static float sum_exp(const float *x, size_t count, float shift)
{
    const lanes shifts = lanes_set(shift);
    lanes sum = lanes_set(0.0F);
    for (size_t i = 0; i < count; i += 16) {
        lanes v = load_up_to(x + i, count - i, -INFINITY);
        sum = lanes_add(sum, exponential(lanes_sub(v, shifts)));
    }
    return lanes_sum(sum);
}

static void subtract(float *x, size_t count, float value)
{
    const lanes values = lanes_set(value);
    for (size_t i = 0; i < count; i += 16)
        store_up_to(x + i, count - i, lanes_sub(load_up_to(x + i, count - i, 0.0F), values));
}

/* x = e^(x - max x); returns 1 / sum x. */
static inline float softmax_unscaled(float *x, size_t count)
{
    const lanes top = lanes_set(maximum(x, count));
    lanes sum = lanes_set(0.0F);
    for (size_t i = 0; i < count; i += 16) {
        lanes v = load_up_to(x + i, count - i, -INFINITY);
        v = exponential(lanes_sub(v, top));
        store_up_to(x + i, count - i, v);
        sum = lanes_add(sum, v);
    }
    return 1.0F / lanes_sum(sum);
}

#include "kernels/attention.h"

/* ---- The best of a row --------------------------------------------------------------------- */

/* Puts x where it belongs; the caller knows that it does belong. Equal values stand before it. */
static inline void insert(kn_top *top, float x, int32_t index)
{
    size_t i = top->count < top->k ? top->count++ : top->k - 1;
    for (; i > 0 && top->values[i - 1] < x; i--) {
        top->values[i] = top->values[i - 1];
        top->indices[i] = top->indices[i - 1];
    }
    top->values[i] = x;
    top->indices[i] = index;
}

/* NaN is never among the best: it is greater than nothing. */
static void top(kn_top *best, const float *x, size_t count, int32_t first)
{
    size_t i = 0;
    for (; i < count && best->count < best->k; i++)
        if (x[i] == x[i])
            insert(best, x[i], first + (int32_t)i);
    if (best->k == 0)
        return;
    for (; i < count; i += 16) {
        lanes v = load_up_to(x + i, count - i, -INFINITY);
        unsigned mask = lanes_greater(v, lanes_set(best->values[best->k - 1]));
        for (; mask; mask &= mask - 1) {
            size_t l = (size_t)__builtin_ctz(mask);
            if (x[i + l] > best->values[best->k - 1])
                insert(best, x[i + l], first + (int32_t)(i + l));
        }
    }
}

const kn_loops KN_LOOPS = {
    .quantize = quantize,
    .finish = finish,
    .activate = activate,
    .multiply_f32 = multiply_f32,
    .add_norm = add_norm,
    .attend = attend,
    .store_bytes = store_bytes,
    .maximum = maximum,
    .sum_exp = sum_exp,
    .subtract = subtract,
    .top = top,
};

#endif
