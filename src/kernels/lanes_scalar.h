/*
 * Sixteen floats at a time, in plain C: the reference for the other lanes_*.h, and what processors
 * without a set of their own use. loops.h is written in these operations only, so every
 * instruction set does the same operations in the same order, lane by lane, and gets the same
 * bits. For that no operation may be fused (-ffp-contract=off) and minima and maxima treat NaN
 * alike: lanes_max(a, b) is a > b ? a : b.
 */
#ifndef KERNELS_LANES_SCALAR_H
#define KERNELS_LANES_SCALAR_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct lanes {
    float f[16];
} lanes;
typedef struct lanes_int {
    int32_t i[16];
} lanes_int;

#define EACH_LANE for (size_t l = 0; l < 16; l++)

static inline lanes lanes_set(float value)
{
    lanes r;
    EACH_LANE r.f[l] = value;
    return r;
}

static inline lanes lanes_load(const float *p)
{
    lanes r;
    memcpy(r.f, p, sizeof r.f);
    return r;
}

/* The first `count` < 16 lanes from memory, the others `fill`. */
static inline lanes lanes_load_part(const float *p, size_t count, float fill)
{
    lanes r;
    EACH_LANE r.f[l] = l < count ? p[l] : fill;
    return r;
}

static inline void lanes_store(float *p, lanes a)
{
    memcpy(p, a.f, sizeof a.f);
}

static inline void lanes_store_part(float *p, size_t count, lanes a)
{
    for (size_t l = 0; l < count; l++)
        p[l] = a.f[l];
}

static inline lanes lanes_add(lanes a, lanes b)
{
    EACH_LANE a.f[l] += b.f[l];
    return a;
}

static inline lanes lanes_sub(lanes a, lanes b)
{
    EACH_LANE a.f[l] -= b.f[l];
    return a;
}

static inline lanes lanes_mul(lanes a, lanes b)
{
    EACH_LANE a.f[l] *= b.f[l];
    return a;
}

static inline lanes lanes_div(lanes a, lanes b)
{
    EACH_LANE a.f[l] /= b.f[l];
    return a;
}

static inline lanes lanes_max(lanes a, lanes b)
{
    EACH_LANE a.f[l] = a.f[l] > b.f[l] ? a.f[l] : b.f[l];
    return a;
}

static inline lanes lanes_min(lanes a, lanes b)
{
    EACH_LANE a.f[l] = a.f[l] < b.f[l] ? a.f[l] : b.f[l];
    return a;
}

/* a, but zero in the lanes where x < limit. */
static inline lanes lanes_zero_below(lanes a, lanes x, lanes limit)
{
    EACH_LANE a.f[l] = x.f[l] < limit.f[l] ? 0.0F : a.f[l];
    return a;
}

/* Bit l is set where a > b. */
static inline unsigned lanes_greater(lanes a, lanes b)
{
    unsigned mask = 0;
    EACH_LANE mask |= (unsigned)(a.f[l] > b.f[l]) << l;
    return mask;
}

/* The lanes are added as a tree: 8 and 8, 4 and 4, 2 and 2, 1 and 1. */
static inline float lanes_sum(lanes a)
{
    for (size_t half = 8; half > 0; half /= 2)
        for (size_t l = 0; l < half; l++)
            a.f[l] += a.f[l + half];
    return a.f[0];
}

/* Sixteen sums at once: lane l is lanes_sum(a[l]). */
static inline lanes lanes_sum_each(const lanes a[16])
{
    lanes r;
    EACH_LANE r.f[l] = lanes_sum(a[l]);
    return r;
}

static inline float lanes_maximum(lanes a)
{
    for (size_t half = 8; half > 0; half /= 2)
        for (size_t l = 0; l < half; l++)
            a.f[l] = a.f[l] > a.f[l + half] ? a.f[l] : a.f[l + half];
    return a.f[0];
}

/* Bit patterns as integers, and back. */
static inline lanes_int lanes_bits(lanes a)
{
    lanes_int r;
    memcpy(r.i, a.f, sizeof r.i);
    return r;
}

static inline lanes lanes_from_bits(lanes_int a)
{
    lanes r;
    memcpy(r.f, a.i, sizeof r.f);
    return r;
}

static inline lanes_int lanes_int_set(int32_t value)
{
    lanes_int r;
    EACH_LANE r.i[l] = value;
    return r;
}

static inline lanes_int lanes_int_load(const int32_t *p)
{
    lanes_int r;
    memcpy(r.i, p, sizeof r.i);
    return r;
}

static inline lanes_int lanes_int_add(lanes_int a, lanes_int b)
{
    EACH_LANE a.i[l] = (int32_t)((uint32_t)a.i[l] + (uint32_t)b.i[l]);
    return a;
}

static inline lanes_int lanes_int_sub(lanes_int a, lanes_int b)
{
    EACH_LANE a.i[l] = (int32_t)((uint32_t)a.i[l] - (uint32_t)b.i[l]);
    return a;
}

static inline lanes_int lanes_int_and(lanes_int a, lanes_int b)
{
    EACH_LANE a.i[l] &= b.i[l];
    return a;
}

static inline lanes_int lanes_int_max(lanes_int a, lanes_int b)
{
    EACH_LANE a.i[l] = a.i[l] > b.i[l] ? a.i[l] : b.i[l];
    return a;
}

/* Shifts left by 23: an integer becomes a float's exponent field. */
static inline lanes_int lanes_int_to_exponent(lanes_int a)
{
    EACH_LANE a.i[l] = (int32_t)((uint32_t)a.i[l] << 23);
    return a;
}

static inline int32_t lanes_int_sum(lanes_int a)
{
    int32_t sum = 0;
    EACH_LANE sum += a.i[l];
    return sum;
}

static inline int32_t lanes_int_maximum(lanes_int a)
{
    int32_t maximum = a.i[0];
    EACH_LANE maximum = a.i[l] > maximum ? a.i[l] : maximum;
    return maximum;
}

static inline lanes lanes_from_int(lanes_int a)
{
    lanes r;
    EACH_LANE r.f[l] = (float)a.i[l];
    return r;
}

/* To the nearest integer, ties to even; |a| < 2^22. Adding 1.5 * 2^23 leaves the integer in the low
 * bits of the mantissa. */
static inline lanes_int lanes_round(lanes a)
{
    lanes_int r = lanes_bits(lanes_add(a, lanes_set(12582912.0F)));
    EACH_LANE r.i[l] -= 0x4B400000;
    return r;
}

/* Sixteen values in [-128, 127] as bytes. */
static inline void lanes_int_store_bytes(int8_t *p, lanes_int a)
{
    EACH_LANE p[l] = (int8_t)a.i[l];
}

/* The lowest 16 bits of each. */
static inline void lanes_int_store_words(int16_t *p, lanes_int a)
{
    EACH_LANE p[l] = (int16_t)a.i[l];
}

/* ---- Bytes ---- */

/* 64 bytes in [-127, 127], for products with many others. */
typedef struct lanes_bytes {
    const int8_t *p;
} lanes_bytes;

static inline lanes_bytes lanes_bytes_load(const int8_t *p)
{
    return (lanes_bytes){p};
}

/* Sums of four products each of a with the 64 bytes at b: which four is each lane's own affair. */
static inline lanes_int lanes_bytes_dot(lanes_bytes a, const int8_t *b)
{
    lanes_int r;
    EACH_LANE r.i[l] = a.p[4 * l] * b[4 * l] + a.p[4 * l + 1] * b[4 * l + 1] +
                       a.p[4 * l + 2] * b[4 * l + 2] + a.p[4 * l + 3] * b[4 * l + 3];
    return r;
}

/* Lane l is lanes_int_sum(a[l]). */
static inline lanes_int lanes_int_sum_each(const lanes_int a[16])
{
    lanes_int r;
    EACH_LANE r.i[l] = lanes_int_sum(a[l]);
    return r;
}

/* 64 sums, and 64 pairs of bytes to be added to them. */
typedef struct lanes_sums {
    int32_t i[64];
} lanes_sums;
typedef struct lanes_pairs {
    const int8_t *a, *b;
} lanes_pairs;

static inline lanes_sums lanes_sums_zero(void)
{
    return (lanes_sums){{0}};
}

static inline lanes_pairs lanes_pairs_load(const int8_t *a, const int8_t *b)
{
    return (lanes_pairs){a, b};
}

/* sums[n] += a[n] * weights[0] + b[n] * weights[1] */
static inline void lanes_sums_add(lanes_sums *sums, lanes_pairs pairs, const int16_t *weights)
{
    for (size_t n = 0; n < 64; n++)
        sums->i[n] += pairs.a[n] * weights[0] + pairs.b[n] * weights[1];
}

static inline void lanes_sums_store(int32_t *p, lanes_sums sums)
{
    memcpy(p, sums.i, sizeof sums.i);
}

#endif
