/* Sixteen floats at a time: one AVX-512 register. See lanes_scalar.h for what each function means.
 */
#ifndef KERNELS_LANES_AVX512_H
#define KERNELS_LANES_AVX512_H

#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

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

static inline void lanes_int_store_words(int16_t *p, lanes_int a)
{
    _mm256_storeu_si256((__m256i *)(void *)p, _mm512_cvtepi32_epi16(a));
}

/* Products want one side unsigned: b + 128, and 128 times the sum of a is taken off again. */
typedef struct lanes_bytes {
    __m512i values, start;
} lanes_bytes;

static inline lanes_bytes lanes_bytes_load(const int8_t *p)
{
    __m512i values = _mm512_loadu_si512(p);
    __m512i excess = _mm512_dpbusd_epi32(_mm512_setzero_si512(), _mm512_set1_epi8(-128), values);
    return (lanes_bytes){values, _mm512_sub_epi32(_mm512_setzero_si512(), excess)};
}

static inline lanes_int lanes_bytes_dot(lanes_bytes a, const int8_t *b)
{
    __m512i raised = _mm512_xor_si512(_mm512_loadu_si512(b), _mm512_set1_epi8(-128));
    return _mm512_dpbusd_epi32(a.start, raised, a.values);
}

static inline __m512i lanes_int_add_halves(__m512i a, __m512i b)
{
    return _mm512_add_epi32(_mm512_shuffle_i32x4(a, b, 0x44), _mm512_shuffle_i32x4(a, b, 0xEE));
}

static inline __m512i lanes_int_add_quarters(__m512i a, __m512i b)
{
    return _mm512_add_epi32(_mm512_shuffle_i32x4(a, b, 0x88), _mm512_shuffle_i32x4(a, b, 0xDD));
}

static inline __m512i lanes_int_add_four(const lanes_int *a)
{
    return lanes_int_add_quarters(lanes_int_add_halves(a[0], a[4]),
                                  lanes_int_add_halves(a[8], a[12]));
}

static inline lanes_int lanes_int_sum_each(const lanes_int a[16])
{
    __m512i r0 = lanes_int_add_four(a), r1 = lanes_int_add_four(a + 1);
    __m512i r2 = lanes_int_add_four(a + 2), r3 = lanes_int_add_four(a + 3);
    __m512i p = _mm512_add_epi32(_mm512_unpacklo_epi64(r0, r1), _mm512_unpackhi_epi64(r0, r1));
    __m512i q = _mm512_add_epi32(_mm512_unpacklo_epi64(r2, r3), _mm512_unpackhi_epi64(r2, r3));
    __m512 x = _mm512_castsi512_ps(p), y = _mm512_castsi512_ps(q);
    return _mm512_add_epi32(_mm512_castps_si512(_mm512_shuffle_ps(x, y, 0x88)),
                            _mm512_castps_si512(_mm512_shuffle_ps(x, y, 0xDD)));
}

/* In the order in which unpacking leaves them: quarters of 4 and 4, [0, 8, 16, 24], [32, ...], then
 * the same from 8 on. */
typedef struct lanes_sums {
    __m512i r[4];
} lanes_sums;
typedef struct lanes_pairs {
    __m512i r[4];
} lanes_pairs;

static inline lanes_sums lanes_sums_zero(void)
{
    const __m512i zero = _mm512_setzero_si512();
    return (lanes_sums){{zero, zero, zero, zero}};
}

static inline lanes_pairs lanes_pairs_load(const int8_t *a, const int8_t *b)
{
    __m512i x = _mm512_loadu_si512(a), y = _mm512_loadu_si512(b);
    __m512i low = _mm512_unpacklo_epi8(x, y), high = _mm512_unpackhi_epi8(x, y);
    return (lanes_pairs){{_mm512_cvtepi8_epi16(_mm512_castsi512_si256(low)),
                          _mm512_cvtepi8_epi16(_mm512_extracti64x4_epi64(low, 1)),
                          _mm512_cvtepi8_epi16(_mm512_castsi512_si256(high)),
                          _mm512_cvtepi8_epi16(_mm512_extracti64x4_epi64(high, 1))}};
}

static inline void lanes_sums_add(lanes_sums *sums, lanes_pairs pairs, const int16_t *weights)
{
    int32_t both;
    memcpy(&both, weights, sizeof both);
    const __m512i w = _mm512_set1_epi32(both);
    sums->r[0] = _mm512_dpwssd_epi32(sums->r[0], pairs.r[0], w);
    sums->r[1] = _mm512_dpwssd_epi32(sums->r[1], pairs.r[1], w);
    sums->r[2] = _mm512_dpwssd_epi32(sums->r[2], pairs.r[2], w);
    sums->r[3] = _mm512_dpwssd_epi32(sums->r[3], pairs.r[3], w);
}

/* low: sums 0 to 7 and 16 to 23, high: 8 to 15 and 24 to 31 of what is written. */
static inline void lanes_sums_store_half(int32_t *p, __m512i low, __m512i high)
{
    _mm512_storeu_si512(p, _mm512_shuffle_i64x2(low, high, 0x44));
    _mm512_storeu_si512(p + 16, _mm512_shuffle_i64x2(low, high, 0xEE));
}

static inline void lanes_sums_store(int32_t *p, lanes_sums sums)
{
    lanes_sums_store_half(p, sums.r[0], sums.r[2]);
    lanes_sums_store_half(p + 32, sums.r[1], sums.r[3]);
}

#endif
