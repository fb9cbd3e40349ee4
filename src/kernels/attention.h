/*
 * Attention, in the operations of a lanes_*.h; included by loops.h. A query's numbers are summed in
 * an order of their own, whatever other queries are handled together with it.
 */
#ifndef KERNELS_ATTENTION_H
#define KERNELS_ATTENTION_H

/* How many queries read a value while it is in registers: what the registers have room for. */
#ifndef KN_QUERIES
#define KN_QUERIES 1
#endif

/* Sixteen or fewer of the numbers of a key or value. */
static inline KN_INLINE lanes load_number(const float *row, size_t offset, size_t left, bool bytes)
{
    if (!bytes)
        return load_up_to(row + offset, left, 0.0F);
    const int8_t *p = (const int8_t *)(const void *)row + offset;
    if (left >= 16)
        return lanes_load_bytes(p);
    int8_t part[16] = {0};
    memcpy(part, p, left);
    return lanes_load_bytes(part);
}

/* Asks for the key and the value of position j to be brought into the cache. */
static inline void fetch(const kn_memory *memory, size_t j)
{
    const size_t size = memory->bytes ? 1 : sizeof(float);
    const char *row = (const char *)memory->rows[j];
    for (size_t at = 0; at < memory->dim * size; at += 64) {
        __builtin_prefetch(row + memory->k_offset * size + at);
        __builtin_prefetch(row + memory->v_offset * size + at);
    }
    if (memory->bytes)
        __builtin_prefetch(memory->rows[j] + memory->k_scale);
}

/* q . k, sixteen partial sums. */
static inline lanes dot_key(const float *q, const float *row, const kn_memory *memory, bool bytes)
{
    lanes sum = lanes_set(0.0F);
    for (size_t d = 0; d < memory->dim; d += 16) {
        const size_t left = memory->dim - d;
        lanes k = load_number(row, memory->k_offset + d, left, bytes);
        sum = lanes_add(sum, lanes_mul(load_up_to(q + d, left, 0.0F), k));
    }
    return sum;
}

/* sums[i][l] = q_i . k of one key of 64 numbers, whose queries stay in registers. */
static inline KN_INLINE void dot_key_64(lanes q[KN_QUERIES][4], size_t queries, const float *row,
                                        const kn_memory *memory, bool bytes,
                                        lanes sums[KN_QUERIES][16], size_t l)
{
    lanes k[4];
    KN_UNROLL for (size_t c = 0; c < 4; c++) k[c] =
        load_number(row, memory->k_offset + 16 * c, 16, bytes);
    KN_UNROLL for (size_t i = 0; i < queries; i++)
    {
        lanes sum = lanes_mul(q[i][0], k[0]);
        KN_UNROLL for (size_t c = 1; c < 4; c++) sum = lanes_add(sum, lanes_mul(q[i][c], k[c]));
        sums[i][l] = sum;
    }
}

/* weights[i][j] = q_i . k_j * scale for `queries` <= KN_QUERIES queries; `queries`, `wide` (whether
 * there are 64 numbers in a key) and `bytes` are constants in each call. */
static inline KN_INLINE void score(const float *q, size_t q_stride, size_t queries,
                                   const kn_memory *memory, float scale, bool wide, bool bytes,
                                   float *weights)
{
    const size_t count = memory->count, fetched = memory->next ? memory->next->count : 0;
    lanes wide_q[KN_QUERIES][4];
    KN_UNROLL for (size_t i = 0; wide && i < queries; i++) KN_UNROLL for (size_t c = 0; c < 4; c++)
        wide_q[i][c] = lanes_load(q + i * q_stride + 16 * c);
    for (size_t j = 0; j < count; j += 16) {
        const size_t keys = count - j < 16 ? count - j : 16;
        lanes sums[KN_QUERIES][16];
        float scales[16];
        if (keys < 16) {
            lanes_store(scales, lanes_set(0.0F));
            for (size_t i = 0; i < queries; i++)
                KN_UNROLL for (size_t l = 0; l < 16; l++) sums[i][l] = lanes_set(0.0F);
        }
        for (size_t l = 0; l < keys; l++) {
            const float *row = memory->rows[j + l];
            if (wide)
                dot_key_64(wide_q, queries, row, memory, bytes, sums, l);
            else
                for (size_t i = 0; i < queries; i++)
                    sums[i][l] = dot_key(q + i * q_stride, row, memory, bytes);
            if (bytes)
                scales[l] = scale * row[memory->k_scale];
            if (j + l < fetched)
                fetch(memory->next, j + l);
        }
        const lanes scaling = bytes ? lanes_load(scales) : lanes_set(scale);
        for (size_t i = 0; i < queries; i++)
            store_up_to(weights + i * count + j, keys, lanes_mul(lanes_sum_each(sums[i]), scaling));
    }
    for (size_t j = count; j < fetched; j++)
        fetch(memory->next, j);
}

/* out = sum_j weights[j] v_j for `width` <= 16 values from `at` on. */
static inline void gather(const float *weights, const kn_memory *memory, size_t at, size_t width,
                          bool bytes, float *out)
{
    lanes sum = lanes_set(0.0F);
    for (size_t j = 0; j < memory->count; j++) {
        const float *row = memory->rows[j];
        const float weight = bytes ? weights[j] * row[memory->v_scale] : weights[j];
        lanes v = load_number(row, memory->v_offset + at, width, bytes);
        sum = lanes_add(sum, lanes_mul(lanes_set(weight), v));
    }
    store_up_to(out, width, sum);
}

/* The same for 64 values and `queries` <= KN_QUERIES queries. weights: (queries, count). */
static inline KN_INLINE void gather_64(const float *weights, size_t queries,
                                       const kn_memory *memory, size_t at, bool bytes, float *out,
                                       size_t out_stride)
{
    const size_t count = memory->count;
    lanes sums[KN_QUERIES][4];
    KN_UNROLL for (size_t i = 0; i < queries; i++) KN_UNROLL for (size_t c = 0; c < 4; c++)
        sums[i][c] = lanes_set(0.0F);
    for (size_t j = 0; j < count; j++) {
        const float *row = memory->rows[j];
        lanes v[4];
        KN_UNROLL for (size_t c = 0; c < 4; c++) v[c] =
            load_number(row, memory->v_offset + at + 16 * c, 16, bytes);
        KN_UNROLL for (size_t i = 0; i < queries; i++)
        {
            const float weight = weights[i * count + j];
            const lanes w = lanes_set(bytes ? weight * row[memory->v_scale] : weight);
            KN_UNROLL for (size_t c = 0; c < 4; c++) sums[i][c] =
                lanes_add(sums[i][c], lanes_mul(w, v[c]));
        }
    }
    KN_UNROLL for (size_t i = 0; i < queries; i++) KN_UNROLL for (size_t c = 0; c < 4; c++)
        lanes_store(out + i * out_stride + 16 * c, sums[i][c]);
}

/* For `queries` <= KN_QUERIES queries; see score. */
static inline KN_INLINE void attend_some(const float *q, size_t q_stride, size_t queries,
                                         const kn_memory *memory, float scale, bool bytes,
                                         float *weights, float *out, size_t out_stride)
{
    const size_t count = memory->count;
    if (memory->dim == 64)
        score(q, q_stride, queries, memory, scale, true, bytes, weights);
    else
        score(q, q_stride, queries, memory, scale, false, bytes, weights);
    for (size_t i = 0; i < queries; i++) {
        float *w = weights + i * count;
        const lanes factor = lanes_set(softmax_unscaled(w, count));
        for (size_t j = 0; j < count; j += 16)
            store_up_to(w + j, count - j, lanes_mul(load_up_to(w + j, count - j, 0.0F), factor));
    }
    size_t d = 0;
    for (; d + 64 <= memory->dim; d += 64)
        gather_64(weights, queries, memory, d, bytes, out + d, out_stride);
    for (; d < memory->dim; d += 16)
        for (size_t i = 0; i < queries; i++)
            gather(weights + i * count, memory, d, memory->dim - d, bytes,
                   out + i * out_stride + d);
}

static inline KN_INLINE void attend_all(const float *q, size_t q_stride, size_t queries,
                                        const kn_memory *memory, float scale, bool bytes,
                                        float *weights, float *out, size_t out_stride)
{
    kn_memory here = *memory; /* what comes next is fetched once, not for every query */
    size_t i = 0;
    for (; i + KN_QUERIES <= queries; i += KN_QUERIES) {
        attend_some(q + i * q_stride, q_stride, KN_QUERIES, &here, scale, bytes,
                    weights + i * here.count, out + i * out_stride, out_stride);
        here.next = NULL;
    }
    for (; i < queries; i++) {
        attend_some(q + i * q_stride, q_stride, 1, &here, scale, bytes, weights + i * here.count,
                    out + i * out_stride, out_stride);
        here.next = NULL;
    }
}

static void attend(const float *q, size_t q_stride, size_t queries, const kn_memory *memory,
                   float scale, float *weights, float *out, size_t out_stride)
{
    if (memory->bytes)
        attend_all(q, q_stride, queries, memory, scale, true, weights, out, out_stride);
    else
        attend_all(q, q_stride, queries, memory, scale, false, weights, out, out_stride);
}

/* x ~ scale * values, `count` of them, the largest becoming 127. */
static void store_bytes(const float *x, size_t count, int8_t *values, float *scale)
{
    const float largest = largest_size(x, count);
    const bool usable = isfinite(largest) && largest >= 1e-36F;
    *scale = usable ? largest / 127.0F : isfinite(largest) ? 0.0F : NAN;
    const lanes factor = lanes_set(usable ? 127.0F / largest : 0.0F);
    size_t i = 0;
    for (; i + 16 <= count; i += 16)
        lanes_int_store_bytes(values + i, lanes_round(lanes_mul(lanes_load(x + i), factor)));
    if (i < count) {
        int8_t part[16];
        lanes rest = lanes_load_part(x + i, count - i, 0.0F);
        lanes_int_store_bytes(part, lanes_round(lanes_mul(rest, factor)));
        memcpy(values + i, part, count - i);
    }
}

#endif
