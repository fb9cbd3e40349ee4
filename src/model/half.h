/* The 16-bit floating types that weights are stored in. */
#ifndef MODEL_HALF_H
#define MODEL_HALF_H

#include <stdint.h>
#include <string.h>

static inline float mdl_float_of_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* bfloat16 is the upper half of a float. */
static inline float mdl_float_of_bf16(uint16_t bits)
{
    return mdl_float_of_bits((uint32_t)bits << 16);
}

/* IEEE 754 binary16: sign, 5 bits of exponent (bias 15), 10 bits of fraction. */
static inline float mdl_float_of_f16(uint16_t bits)
{
    const uint32_t sign = (uint32_t)(bits & 0x8000) << 16;
    const uint32_t exponent = bits >> 10 & 0x1F, fraction = bits & 0x3FF;
    if (exponent == 0x1F)
        return mdl_float_of_bits(sign | 0x7F800000 | fraction << 13);
    if (exponent)
        return mdl_float_of_bits(sign | (exponent + 112) << 23 | fraction << 13);
    const float subnormal = (float)fraction * 0x1p-24F;
    return sign ? -subnormal : subnormal;
}

#endif
