/* Numbers: bfloat16, and an exponential that vectorises. */
#ifndef NUMBERS_H
#define NUMBERS_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

typedef uint16_t bf16;

enum { BLOCK = 32 }; /* rows and columns come in multiples of this */

static inline size_t round_up(size_t n)
{
    return (n + BLOCK - 1) / BLOCK * BLOCK;
}

static inline float widen(bf16 x)
{
    union {
        uint32_t u;
        float f;
    } v = {(uint32_t)x << 16};
    return v.f;
}

/* Round to nearest, ties to even. */
static inline bf16 narrow(float x)
{
    union {
        float f;
        uint32_t u;
    } v = {x};
    return (bf16)((v.u + 0x7fffu + (v.u >> 16 & 1)) >> 16);
}

/* e^x to about 1e-7 relative, for |x| <= 80: no branch and no call, so that loops over it
 * vectorise. */
static inline float fast_exp(float x)
{
    x = x < -80.0f ? -80.0f : x > 80.0f ? 80.0f : x;
    float t = x * 1.44269504f, whole = floorf(t + 0.5f), f = t - whole;
    float p = 1.8775767e-3f;
    p = p * f + 8.9893397e-3f;
    p = p * f + 5.5826318e-2f;
    p = p * f + 2.4015361e-1f;
    p = p * f + 6.9315308e-1f;
    p = p * f + 9.9999994e-1f;
    union {
        int32_t i;
        float f;
    } scale = {((int32_t)whole + 127) << 23};
    return p * scale.f;
}

#endif
