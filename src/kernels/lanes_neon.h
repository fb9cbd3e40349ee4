/* Sixteen floats at a time: four NEON registers. See lanes_scalar.h for what each function means.
 */
#ifndef KERNELS_LANES_NEON_H
#define KERNELS_LANES_NEON_H

#include <arm_neon.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct lanes {
    float32x4_t q[4];
} lanes;
typedef struct lanes_int {
    int32x4_t q[4];
} lanes_int;

#define EACH_QUARTER for (size_t i = 0; i < 4; i++)

static inline lanes lanes_set(float value)
{
    lanes r;
    EACH_QUARTER r.q[i] = vdupq_n_f32(value);
    return r;
}

static inline lanes lanes_load(const float *p)
{
    lanes r;
    EACH_QUARTER r.q[i] = vld1q_f32(p + 4 * i);
    return r;
}

static inline void lanes_store(float *p, lanes a)
{
    EACH_QUARTER vst1q_f32(p + 4 * i, a.q[i]);
}

static inline lanes lanes_load_part(const float *p, size_t count, float fill)
{
    float part[16];
    lanes_store(part, lanes_set(fill));
    for (size_t l = 0; l < count; l++)
        part[l] = p[l];
    return lanes_load(part);
}

static inline void lanes_store_part(float *p, size_t count, lanes a)
{
    float part[16];
    lanes_store(part, a);
    for (size_t l = 0; l < count; l++)
        p[l] = part[l];
}

static inline lanes lanes_add(lanes a, lanes b)
{
    EACH_QUARTER a.q[i] = vaddq_f32(a.q[i], b.q[i]);
    return a;
}

static inline lanes lanes_sub(lanes a, lanes b)
{
    EACH_QUARTER a.q[i] = vsubq_f32(a.q[i], b.q[i]);
    return a;
}

static inline lanes lanes_mul(lanes a, lanes b)
{
    EACH_QUARTER a.q[i] = vmulq_f32(a.q[i], b.q[i]);
    return a;
}

static inline lanes lanes_div(lanes a, lanes b)
{
    EACH_QUARTER a.q[i] = vdivq_f32(a.q[i], b.q[i]);
    return a;
}

/* Not vmaxq_f32 and vminq_f32, which treat NaN and -0 differently. */
static inline float32x4_t lanes_max_quarter(float32x4_t a, float32x4_t b)
{
    return vbslq_f32(vcgtq_f32(a, b), a, b);
}

static inline lanes lanes_max(lanes a, lanes b)
{
    EACH_QUARTER a.q[i] = lanes_max_quarter(a.q[i], b.q[i]);
    return a;
}

static inline lanes lanes_min(lanes a, lanes b)
{
    EACH_QUARTER a.q[i] = vbslq_f32(vcltq_f32(a.q[i], b.q[i]), a.q[i], b.q[i]);
    return a;
}

static inline lanes lanes_zero_below(lanes a, lanes x, lanes limit)
{
    EACH_QUARTER a.q[i] = vbslq_f32(vcltq_f32(x.q[i], limit.q[i]), vdupq_n_f32(0.0F), a.q[i]);
    return a;
}

static inline unsigned lanes_greater(lanes a, lanes b)
{
    static const uint32_t weights[4] = {1, 2, 4, 8};
    unsigned mask = 0;
    EACH_QUARTER mask |= vaddvq_u32(vandq_u32(vcgtq_f32(a.q[i], b.q[i]), vld1q_u32(weights)))
                         << 4 * i;
    return mask;
}

/* Four sums of a vector. */
static inline float32x4_t lanes_add_quarters(lanes a)
{
    return vaddq_f32(vaddq_f32(a.q[0], a.q[2]), vaddq_f32(a.q[1], a.q[3]));
}

/* Two sums of each of two vectors: [a, b]. */
static inline float32x4_t lanes_add_eighths(lanes a, lanes b)
{
    float32x4_t x = lanes_add_quarters(a), y = lanes_add_quarters(b);
    return vaddq_f32(vcombine_f32(vget_low_f32(x), vget_low_f32(y)),
                     vcombine_f32(vget_high_f32(x), vget_high_f32(y)));
}

static inline float lanes_sum(lanes a)
{
    float32x4_t four = lanes_add_quarters(a);
    float32x2_t two = vadd_f32(vget_low_f32(four), vget_high_f32(four));
    return vpadds_f32(two);
}

static inline lanes lanes_sum_each(const lanes a[16])
{
    lanes r;
    EACH_QUARTER r.q[i] = vpaddq_f32(lanes_add_eighths(a[4 * i], a[4 * i + 1]),
                                     lanes_add_eighths(a[4 * i + 2], a[4 * i + 3]));
    return r;
}

static inline float lanes_maximum(lanes a)
{
    float32x4_t four =
        lanes_max_quarter(lanes_max_quarter(a.q[0], a.q[2]), lanes_max_quarter(a.q[1], a.q[3]));
    float32x4_t two = lanes_max_quarter(four, vextq_f32(four, four, 2));
    float first = vgetq_lane_f32(two, 0), second = vgetq_lane_f32(two, 1);
    return first > second ? first : second;
}

static inline lanes_int lanes_bits(lanes a)
{
    lanes_int r;
    EACH_QUARTER r.q[i] = vreinterpretq_s32_f32(a.q[i]);
    return r;
}

static inline lanes lanes_from_bits(lanes_int a)
{
    lanes r;
    EACH_QUARTER r.q[i] = vreinterpretq_f32_s32(a.q[i]);
    return r;
}

static inline lanes_int lanes_int_set(int32_t value)
{
    lanes_int r;
    EACH_QUARTER r.q[i] = vdupq_n_s32(value);
    return r;
}

static inline lanes_int lanes_int_load(const int32_t *p)
{
    lanes_int r;
    EACH_QUARTER r.q[i] = vld1q_s32(p + 4 * i);
    return r;
}

static inline lanes_int lanes_int_add(lanes_int a, lanes_int b)
{
    EACH_QUARTER a.q[i] = vaddq_s32(a.q[i], b.q[i]);
    return a;
}

static inline lanes_int lanes_int_sub(lanes_int a, lanes_int b)
{
    EACH_QUARTER a.q[i] = vsubq_s32(a.q[i], b.q[i]);
    return a;
}

static inline lanes_int lanes_int_and(lanes_int a, lanes_int b)
{
    EACH_QUARTER a.q[i] = vandq_s32(a.q[i], b.q[i]);
    return a;
}

static inline lanes_int lanes_int_max(lanes_int a, lanes_int b)
{
    EACH_QUARTER a.q[i] = vmaxq_s32(a.q[i], b.q[i]);
    return a;
}

static inline lanes_int lanes_int_to_exponent(lanes_int a)
{
    EACH_QUARTER a.q[i] = vshlq_n_s32(a.q[i], 23);
    return a;
}

static inline int32_t lanes_int_sum(lanes_int a)
{
    return vaddvq_s32(vaddq_s32(vaddq_s32(a.q[0], a.q[1]), vaddq_s32(a.q[2], a.q[3])));
}

static inline int32_t lanes_int_maximum(lanes_int a)
{
    return vmaxvq_s32(vmaxq_s32(vmaxq_s32(a.q[0], a.q[1]), vmaxq_s32(a.q[2], a.q[3])));
}

static inline lanes lanes_from_int(lanes_int a)
{
    lanes r;
    EACH_QUARTER r.q[i] = vcvtq_f32_s32(a.q[i]);
    return r;
}

static inline lanes_int lanes_round(lanes a)
{
    lanes_int r;
    EACH_QUARTER r.q[i] = vcvtnq_s32_f32(a.q[i]);
    return r;
}

static inline void lanes_int_store_bytes(int8_t *p, lanes_int a)
{
    int16x8_t low = vcombine_s16(vmovn_s32(a.q[0]), vmovn_s32(a.q[1]));
    int16x8_t high = vcombine_s16(vmovn_s32(a.q[2]), vmovn_s32(a.q[3]));
    vst1q_s8(p, vcombine_s8(vmovn_s16(low), vmovn_s16(high)));
}

static inline void lanes_int_store_words(int16_t *p, lanes_int a)
{
    EACH_QUARTER vst1_s16(p + 4 * i, vmovn_s32(a.q[i]));
}

typedef struct lanes_bytes {
    int8x16_t q[4];
} lanes_bytes;

static inline lanes_bytes lanes_bytes_load(const int8_t *p)
{
    lanes_bytes r;
    EACH_QUARTER r.q[i] = vld1q_s8(p + 16 * i);
    return r;
}

/* Two products, at most 2 * 127 * 127, fit into 16 bits. */
static inline lanes_int lanes_bytes_dot(lanes_bytes a, const int8_t *b)
{
    lanes_int r;
    EACH_QUARTER
    {
        int8x16_t q = vld1q_s8(b + 16 * i);
        int16x8_t pairs = vmull_s8(vget_low_s8(a.q[i]), vget_low_s8(q));
        pairs = vmlal_s8(pairs, vget_high_s8(a.q[i]), vget_high_s8(q));
        r.q[i] = vpaddlq_s16(pairs);
    }
    return r;
}

static inline int32x4_t lanes_int_sum_four(lanes_int a)
{
    return vaddq_s32(vaddq_s32(a.q[0], a.q[1]), vaddq_s32(a.q[2], a.q[3]));
}

static inline lanes_int lanes_int_sum_each(const lanes_int a[16])
{
    lanes_int r;
    EACH_QUARTER
    {
        const lanes_int *v = a + 4 * i;
        r.q[i] = vpaddq_s32(vpaddq_s32(lanes_int_sum_four(v[0]), lanes_int_sum_four(v[1])),
                            vpaddq_s32(lanes_int_sum_four(v[2]), lanes_int_sum_four(v[3])));
    }
    return r;
}

typedef struct lanes_sums {
    int32x4_t q[16];
} lanes_sums;
typedef struct lanes_pairs {
    const int8_t *a, *b;
} lanes_pairs;

static inline lanes_sums lanes_sums_zero(void)
{
    lanes_sums sums;
    for (size_t i = 0; i < 16; i++)
        sums.q[i] = vdupq_n_s32(0);
    return sums;
}

static inline lanes_pairs lanes_pairs_load(const int8_t *a, const int8_t *b)
{
    return (lanes_pairs){a, b};
}

static inline void lanes_sums_add_one(lanes_sums *sums, const int8_t *bytes, int16_t weight)
{
    EACH_QUARTER
    {
        int8x16_t q = vld1q_s8(bytes + 16 * i);
        int16x8_t low = vmovl_s8(vget_low_s8(q)), high = vmovl_s8(vget_high_s8(q));
        int32x4_t *r = sums->q + 4 * i;
        r[0] = vmlal_n_s16(r[0], vget_low_s16(low), weight);
        r[1] = vmlal_n_s16(r[1], vget_high_s16(low), weight);
        r[2] = vmlal_n_s16(r[2], vget_low_s16(high), weight);
        r[3] = vmlal_n_s16(r[3], vget_high_s16(high), weight);
    }
}

static inline void lanes_sums_add(lanes_sums *sums, lanes_pairs pairs, const int16_t *weights)
{
    lanes_sums_add_one(sums, pairs.a, weights[0]);
    lanes_sums_add_one(sums, pairs.b, weights[1]);
}

static inline void lanes_sums_store(int32_t *p, lanes_sums sums)
{
    for (size_t i = 0; i < 16; i++)
        vst1q_s32(p + 4 * i, sums.q[i]);
}

#endif
