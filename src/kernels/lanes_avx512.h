/* Sixteen floats at a time: one AVX-512 register. See lanes_scalar.h for what each function means.
 */
#ifndef KERNELS_LANES_AVX512_H
#define KERNELS_LANES_AVX512_H

#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

typedef __m512 lanes;
typedef __m512i lanes_int;

static inline lanes lanes_set(float value)
{
    return _mm512_set1_ps(value);
}

static inline lanes lanes_load(const float *p)
{
    return _mm512_loadu_ps(p);
}

static inline lanes lanes_load_bytes(const int8_t *p)
{
    __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)p);
    return _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(bytes));
}

static inline __mmask16 lanes_first(size_t count)
{
    return (__mmask16)((1U << count) - 1);
}

static inline lanes lanes_load_part(const float *p, size_t count, float fill)
{
    return _mm512_mask_loadu_ps(lanes_set(fill), lanes_first(count), p);
}

static inline void lanes_store(float *p, lanes a)
{
    _mm512_storeu_ps(p, a);
}

static inline void lanes_store_part(float *p, size_t count, lanes a)
{
    _mm512_mask_storeu_ps(p, lanes_first(count), a);
}

static inline lanes lanes_add(lanes a, lanes b)
{
    return _mm512_add_ps(a, b);
}

static inline lanes lanes_sub(lanes a, lanes b)
{
    return _mm512_sub_ps(a, b);
}

static inline lanes lanes_mul(lanes a, lanes b)
{
    return _mm512_mul_ps(a, b);
}

static inline lanes lanes_div(lanes a, lanes b)
{
    return _mm512_div_ps(a, b);
}

static inline lanes lanes_max(lanes a, lanes b)
{
    return _mm512_max_ps(a, b);
}

static inline lanes lanes_min(lanes a, lanes b)
{
    return _mm512_min_ps(a, b);
}

static inline lanes lanes_zero_below(lanes a, lanes x, lanes limit)
{
    return _mm512_maskz_mov_ps(_mm512_cmp_ps_mask(x, limit, _CMP_NLT_UQ), a);
}

static inline unsigned lanes_greater(lanes a, lanes b)
{
    return _mm512_cmp_ps_mask(a, b, _CMP_GT_OQ);
}

/* The upper half of a register. */
static inline __m256 lanes_upper(lanes a)
{
    return _mm256_castpd_ps(_mm512_extractf64x4_pd(_mm512_castps_pd(a), 1));
}

static inline float lanes_sum(lanes a)
{
    __m256 eight = _mm256_add_ps(_mm512_castps512_ps256(a), lanes_upper(a));
    __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
    __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}

/* Adds the halves of a and those of b: 8 sums of each, side by side. */
static inline __m512 lanes_add_halves(__m512 a, __m512 b)
{
    return _mm512_add_ps(_mm512_shuffle_f32x4(a, b, 0x44), _mm512_shuffle_f32x4(a, b, 0xEE));
}

/* The same in quarters, after which each quarter holds 4 sums of one vector. */
static inline __m512 lanes_add_quarters(__m512 a, __m512 b)
{
    return _mm512_add_ps(_mm512_shuffle_f32x4(a, b, 0x88), _mm512_shuffle_f32x4(a, b, 0xDD));
}

/* Four vectors whose sums are to stand in lanes i, i + 4, i + 8, i + 12: (4 vectors, 4 sums). */
static inline __m512 lanes_add_four(const lanes *a)
{
    return lanes_add_quarters(lanes_add_halves(a[0], a[4]), lanes_add_halves(a[8], a[12]));
}

static inline lanes lanes_sum_each(const lanes a[16])
{
    __m512 r0 = lanes_add_four(a), r1 = lanes_add_four(a + 1);
    __m512 r2 = lanes_add_four(a + 2), r3 = lanes_add_four(a + 3);
    __m512 p = _mm512_add_ps(_mm512_shuffle_ps(r0, r1, 0x44), _mm512_shuffle_ps(r0, r1, 0xEE));
    __m512 q = _mm512_add_ps(_mm512_shuffle_ps(r2, r3, 0x44), _mm512_shuffle_ps(r2, r3, 0xEE));
    return _mm512_add_ps(_mm512_shuffle_ps(p, q, 0x88), _mm512_shuffle_ps(p, q, 0xDD));
}

static inline float lanes_maximum(lanes a)
{
    __m256 eight = _mm256_max_ps(_mm512_castps512_ps256(a), lanes_upper(a));
    __m128 four = _mm_max_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
    __m128 two = _mm_max_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_max_ss(two, _mm_movehdup_ps(two)));
}

static inline lanes_int lanes_bits(lanes a)
{
    return _mm512_castps_si512(a);
}

static inline lanes lanes_from_bits(lanes_int a)
{
    return _mm512_castsi512_ps(a);
}

static inline lanes_int lanes_int_set(int32_t value)
{
    return _mm512_set1_epi32(value);
}

static inline lanes_int lanes_int_load(const int32_t *p)
{
    return _mm512_loadu_si512(p);
}

static inline lanes_int lanes_int_add(lanes_int a, lanes_int b)
{
    return _mm512_add_epi32(a, b);
}

static inline lanes_int lanes_int_sub(lanes_int a, lanes_int b)
{
    return _mm512_sub_epi32(a, b);
}

static inline lanes_int lanes_int_and(lanes_int a, lanes_int b)
{
    return _mm512_and_si512(a, b);
}

static inline lanes_int lanes_int_max(lanes_int a, lanes_int b)
{
    return _mm512_max_epi32(a, b);
}

static inline lanes_int lanes_int_to_exponent(lanes_int a)
{
    return _mm512_slli_epi32(a, 23);
}

static inline int32_t lanes_int_sum(lanes_int a)
{
    return _mm512_reduce_add_epi32(a);
}

static inline int32_t lanes_int_maximum(lanes_int a)
{
    return _mm512_reduce_max_epi32(a);
}

static inline lanes lanes_from_int(lanes_int a)
{
    return _mm512_cvtepi32_ps(a);
}

static inline lanes_int lanes_round(lanes a)
{
    return _mm512_cvtps_epi32(a);
}

static inline void lanes_int_store_bytes(int8_t *p, lanes_int a)
{
    _mm_storeu_si128((__m128i *)(void *)p, _mm512_cvtepi32_epi8(a));
}

#endif
