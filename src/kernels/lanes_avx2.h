/* Sixteen floats at a time: two AVX registers. See lanes_scalar.h for what each function means. */
#ifndef KERNELS_LANES_AVX2_H
#define KERNELS_LANES_AVX2_H

#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct lanes {
    __m256 low, high;
} lanes;
typedef struct lanes_int {
    __m256i low, high;
} lanes_int;

static inline lanes lanes_set(float value)
{
    return (lanes){_mm256_set1_ps(value), _mm256_set1_ps(value)};
}

static inline lanes lanes_load(const float *p)
{
    return (lanes){_mm256_loadu_ps(p), _mm256_loadu_ps(p + 8)};
}

/* All ones in the first `count` <= 8 lanes. */
static inline __m256i lanes_first(size_t count)
{
    static const int32_t mask[16] = {-1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0};
    return _mm256_loadu_si256((const __m256i *)(const void *)(mask + 8 - count));
}

static inline __m256 lanes_load_half(const float *p, size_t count, float fill)
{
    __m256i mask = lanes_first(count);
    return _mm256_blendv_ps(_mm256_set1_ps(fill), _mm256_maskload_ps(p, mask),
                            _mm256_castsi256_ps(mask));
}

static inline lanes lanes_load_part(const float *p, size_t count, float fill)
{
    if (count < 8)
        return (lanes){lanes_load_half(p, count, fill), _mm256_set1_ps(fill)};
    return (lanes){_mm256_loadu_ps(p), lanes_load_half(p + 8, count - 8, fill)};
}

static inline void lanes_store(float *p, lanes a)
{
    _mm256_storeu_ps(p, a.low);
    _mm256_storeu_ps(p + 8, a.high);
}

static inline void lanes_store_part(float *p, size_t count, lanes a)
{
    if (count < 8) {
        _mm256_maskstore_ps(p, lanes_first(count), a.low);
    } else {
        _mm256_storeu_ps(p, a.low);
        _mm256_maskstore_ps(p + 8, lanes_first(count - 8), a.high);
    }
}

static inline lanes lanes_add(lanes a, lanes b)
{
    return (lanes){_mm256_add_ps(a.low, b.low), _mm256_add_ps(a.high, b.high)};
}

static inline lanes lanes_sub(lanes a, lanes b)
{
    return (lanes){_mm256_sub_ps(a.low, b.low), _mm256_sub_ps(a.high, b.high)};
}

static inline lanes lanes_mul(lanes a, lanes b)
{
    return (lanes){_mm256_mul_ps(a.low, b.low), _mm256_mul_ps(a.high, b.high)};
}

static inline lanes lanes_div(lanes a, lanes b)
{
    return (lanes){_mm256_div_ps(a.low, b.low), _mm256_div_ps(a.high, b.high)};
}

static inline lanes lanes_max(lanes a, lanes b)
{
    return (lanes){_mm256_max_ps(a.low, b.low), _mm256_max_ps(a.high, b.high)};
}

static inline lanes lanes_min(lanes a, lanes b)
{
    return (lanes){_mm256_min_ps(a.low, b.low), _mm256_min_ps(a.high, b.high)};
}

static inline lanes lanes_zero_below(lanes a, lanes x, lanes limit)
{
    return (lanes){_mm256_and_ps(_mm256_cmp_ps(x.low, limit.low, _CMP_NLT_UQ), a.low),
                   _mm256_and_ps(_mm256_cmp_ps(x.high, limit.high, _CMP_NLT_UQ), a.high)};
}

static inline unsigned lanes_greater(lanes a, lanes b)
{
    int low = _mm256_movemask_ps(_mm256_cmp_ps(a.low, b.low, _CMP_GT_OQ));
    int high = _mm256_movemask_ps(_mm256_cmp_ps(a.high, b.high, _CMP_GT_OQ));
    return (unsigned)low | (unsigned)high << 8;
}

static inline float lanes_sum(lanes a)
{
    __m256 eight = _mm256_add_ps(a.low, a.high);
    __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
    __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}

/* Two vectors, four sums of each: [a, b]. */
static inline __m256 lanes_add_quarters(lanes a, lanes b)
{
    __m256 x = _mm256_add_ps(a.low, a.high), y = _mm256_add_ps(b.low, b.high);
    return _mm256_add_ps(_mm256_permute2f128_ps(x, y, 0x20), _mm256_permute2f128_ps(x, y, 0x31));
}

/* Four vectors, two sums of each: [a0, a1, a4, a5]. */
static inline __m256 lanes_add_eighths(const lanes *a)
{
    __m256 x = lanes_add_quarters(a[0], a[4]), y = lanes_add_quarters(a[1], a[5]);
    return _mm256_add_ps(_mm256_shuffle_ps(x, y, 0x44), _mm256_shuffle_ps(x, y, 0xEE));
}

static inline __m256 lanes_sum_eight(const lanes *a)
{
    __m256 x = lanes_add_eighths(a), y = lanes_add_eighths(a + 2);
    return _mm256_add_ps(_mm256_shuffle_ps(x, y, 0x88), _mm256_shuffle_ps(x, y, 0xDD));
}

static inline lanes lanes_sum_each(const lanes a[16])
{
    return (lanes){lanes_sum_eight(a), lanes_sum_eight(a + 8)};
}

static inline float lanes_maximum(lanes a)
{
    __m256 eight = _mm256_max_ps(a.low, a.high);
    __m128 four = _mm_max_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
    __m128 two = _mm_max_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_max_ss(two, _mm_movehdup_ps(two)));
}

static inline lanes_int lanes_bits(lanes a)
{
    return (lanes_int){_mm256_castps_si256(a.low), _mm256_castps_si256(a.high)};
}

static inline lanes lanes_from_bits(lanes_int a)
{
    return (lanes){_mm256_castsi256_ps(a.low), _mm256_castsi256_ps(a.high)};
}

static inline lanes_int lanes_int_set(int32_t value)
{
    return (lanes_int){_mm256_set1_epi32(value), _mm256_set1_epi32(value)};
}

static inline lanes_int lanes_int_load(const int32_t *p)
{
    return (lanes_int){_mm256_loadu_si256((const __m256i *)(const void *)p),
                       _mm256_loadu_si256((const __m256i *)(const void *)(p + 8))};
}

static inline lanes_int lanes_int_add(lanes_int a, lanes_int b)
{
    return (lanes_int){_mm256_add_epi32(a.low, b.low), _mm256_add_epi32(a.high, b.high)};
}

static inline lanes_int lanes_int_sub(lanes_int a, lanes_int b)
{
    return (lanes_int){_mm256_sub_epi32(a.low, b.low), _mm256_sub_epi32(a.high, b.high)};
}

static inline lanes_int lanes_int_and(lanes_int a, lanes_int b)
{
    return (lanes_int){_mm256_and_si256(a.low, b.low), _mm256_and_si256(a.high, b.high)};
}

static inline lanes_int lanes_int_max(lanes_int a, lanes_int b)
{
    return (lanes_int){_mm256_max_epi32(a.low, b.low), _mm256_max_epi32(a.high, b.high)};
}

static inline lanes_int lanes_int_to_exponent(lanes_int a)
{
    return (lanes_int){_mm256_slli_epi32(a.low, 23), _mm256_slli_epi32(a.high, 23)};
}

static inline int32_t lanes_int_sum(lanes_int a)
{
    __m256i eight = _mm256_add_epi32(a.low, a.high);
    __m128i four = _mm_add_epi32(_mm256_castsi256_si128(eight), _mm256_extracti128_si256(eight, 1));
    __m128i two = _mm_add_epi32(four, _mm_shuffle_epi32(four, 0x4E));
    return _mm_cvtsi128_si32(_mm_add_epi32(two, _mm_shuffle_epi32(two, 0xB1)));
}

static inline int32_t lanes_int_maximum(lanes_int a)
{
    __m256i eight = _mm256_max_epi32(a.low, a.high);
    __m128i four = _mm_max_epi32(_mm256_castsi256_si128(eight), _mm256_extracti128_si256(eight, 1));
    __m128i two = _mm_max_epi32(four, _mm_shuffle_epi32(four, 0x4E));
    return _mm_cvtsi128_si32(_mm_max_epi32(two, _mm_shuffle_epi32(two, 0xB1)));
}

static inline lanes lanes_from_int(lanes_int a)
{
    return (lanes){_mm256_cvtepi32_ps(a.low), _mm256_cvtepi32_ps(a.high)};
}

static inline lanes_int lanes_round(lanes a)
{
    return (lanes_int){_mm256_cvtps_epi32(a.low), _mm256_cvtps_epi32(a.high)};
}

static inline void lanes_int_store_bytes(int8_t *p, lanes_int a)
{
    /* packs works within 128-bit halves; the permutation puts the words in order again. */
    __m256i words = _mm256_permute4x64_epi64(_mm256_packs_epi32(a.low, a.high), 0xD8);
    __m128i bytes =
        _mm_packs_epi16(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1));
    _mm_storeu_si128((__m128i *)(void *)p, bytes);
}

static inline void lanes_int_store_words(int16_t *p, lanes_int a)
{
    __m256i words = _mm256_packs_epi32(a.low, a.high); /* quarters 0, 2, 1, 3 */
    _mm256_storeu_si256((__m256i *)(void *)p, _mm256_permute4x64_epi64(words, 0xD8));
}

/* Products want one side unsigned: |a|, and the sign of a goes to b. Two products, at most
 * 2 * 127 * 127, fit into 16 bits. */
typedef struct lanes_bytes {
    __m256i low, high;
} lanes_bytes;

static inline __m256i lanes_half_load(const int8_t *p)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)p);
}

static inline lanes_bytes lanes_bytes_load(const int8_t *p)
{
    return (lanes_bytes){lanes_half_load(p), lanes_half_load(p + 32)};
}

static inline __m256i lanes_half_dot(__m256i a, __m256i b)
{
    __m256i pairs = _mm256_maddubs_epi16(_mm256_abs_epi8(a), _mm256_sign_epi8(b, a));
    return _mm256_madd_epi16(pairs, _mm256_set1_epi16(1));
}

static inline lanes_int lanes_bytes_dot(lanes_bytes a, const int8_t *b)
{
    return (lanes_int){lanes_half_dot(a.low, lanes_half_load(b)),
                       lanes_half_dot(a.high, lanes_half_load(b + 32))};
}

static inline __m256i lanes_int_sum_four(const lanes_int *a)
{
    __m256i x = _mm256_hadd_epi32(_mm256_add_epi32(a[0].low, a[0].high),
                                  _mm256_add_epi32(a[1].low, a[1].high));
    __m256i y = _mm256_hadd_epi32(_mm256_add_epi32(a[2].low, a[2].high),
                                  _mm256_add_epi32(a[3].low, a[3].high));
    return _mm256_hadd_epi32(x, y); /* each half has four sums of half of the lanes */
}

static inline __m256i lanes_int_sum_eight(const lanes_int *a)
{
    __m256i x = lanes_int_sum_four(a), y = lanes_int_sum_four(a + 4);
    return _mm256_add_epi32(_mm256_permute2x128_si256(x, y, 0x20),
                            _mm256_permute2x128_si256(x, y, 0x31));
}

static inline lanes_int lanes_int_sum_each(const lanes_int a[16])
{
    return (lanes_int){lanes_int_sum_eight(a), lanes_int_sum_eight(a + 8)};
}

/* In the order in which unpacking leaves them, for each 32 bytes: 0 to 7, 16 to 23, then 8 to 15,
 * 24 to 31. */
typedef struct lanes_sums {
    __m256i r[8];
} lanes_sums;
typedef struct lanes_pairs {
    __m256i r[8];
} lanes_pairs;

static inline lanes_sums lanes_sums_zero(void)
{
    const __m256i zero = _mm256_setzero_si256();
    return (lanes_sums){{zero, zero, zero, zero, zero, zero, zero, zero}};
}

static inline lanes_pairs lanes_pairs_load(const int8_t *a, const int8_t *b)
{
    lanes_pairs pairs;
    for (size_t half = 0; half < 2; half++) {
        __m256i x = lanes_half_load(a + 32 * half), y = lanes_half_load(b + 32 * half);
        __m256i low = _mm256_unpacklo_epi8(x, y), high = _mm256_unpackhi_epi8(x, y);
        pairs.r[4 * half] = _mm256_cvtepi8_epi16(_mm256_castsi256_si128(low));
        pairs.r[4 * half + 1] = _mm256_cvtepi8_epi16(_mm256_castsi256_si128(high));
        pairs.r[4 * half + 2] = _mm256_cvtepi8_epi16(_mm256_extracti128_si256(low, 1));
        pairs.r[4 * half + 3] = _mm256_cvtepi8_epi16(_mm256_extracti128_si256(high, 1));
    }
    return pairs;
}

static inline void lanes_sums_add(lanes_sums *sums, lanes_pairs pairs, const int16_t *weights)
{
    int32_t both;
    memcpy(&both, weights, sizeof both);
    const __m256i w = _mm256_set1_epi32(both);
    for (size_t i = 0; i < 8; i++)
        sums->r[i] = _mm256_add_epi32(sums->r[i], _mm256_madd_epi16(pairs.r[i], w));
}

static inline void lanes_sums_store(int32_t *p, lanes_sums sums)
{
    for (size_t i = 0; i < 8; i++)
        _mm256_storeu_si256((__m256i *)(void *)(p + 8 * i), sums.r[i]);
}

#endif
