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

/* Positions whose weights become integers on one scale; even. 2^31 > CHUNK * 127 * 32767. */
enum { CHUNK = 64 };
/* Bytes that are multiplied together. */
enum { BYTES = 64 };
_Static_assert(KN_DIM_MAX % BYTES == 0, "a query is padded to whole products");

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

/* The same for positions [begin, end) of what comes next, as far as it has them. */
static inline void fetch_next(const kn_memory *memory, size_t begin, size_t end)
{
    const kn_memory *next = memory->next;
    for (size_t j = begin; next && j < end && j < next->count; j++)
        fetch(next, j);
}

/* Turns scores into weights. */
static inline void softmax(float *w, size_t count)
{
    const lanes factor = lanes_set(softmax_unscaled(w, count));
    for (size_t j = 0; j < count; j += 16)
        store_up_to(w + j, count - j, lanes_mul(load_up_to(w + j, count - j, 0.0F), factor));
}

/* ---- Floats -------------------------------------------------------------------------------- */

/* sums[i][l] = q_i . k of one key of 64 numbers, whose queries stay in registers. */
static inline KN_INLINE void dot_key_64(lanes q[KN_QUERIES][4], size_t queries, const float *row,
                                        const kn_memory *memory, lanes sums[KN_QUERIES][16],
                                        size_t l)
{
    lanes k[4];
    KN_UNROLL for (size_t c = 0; c < 4; c++) k[c] = lanes_load(row + memory->k_offset + 16 * c);
    KN_UNROLL for (size_t i = 0; i < queries; i++)
    {
        lanes sum = lanes_mul(q[i][0], k[0]);
        KN_UNROLL for (size_t c = 1; c < 4; c++) sum = lanes_add(sum, lanes_mul(q[i][c], k[c]));
        sums[i][l] = sum;
    }
}

/* weights[i][j] = q_i . k_j * scale for `queries` <= KN_QUERIES queries; `queries` and `wide`
 * (whether there are 64 numbers in a key) are constants in each call. */
static inline KN_INLINE void score(const float *q, size_t q_stride, size_t queries,
                                   const kn_memory *memory, float scale, bool wide, float *weights)
{
    const size_t count = memory->count;
    lanes wide_q[KN_QUERIES][4];
    if (wide)
        KN_UNROLL for (size_t i = 0; i < queries; i++) KN_UNROLL for (size_t c = 0; c < 4; c++)
            wide_q[i][c] = lanes_load(q + i * q_stride + 16 * c);
    for (size_t j = 0; j < count; j += 16) {
        const size_t keys = count - j < 16 ? count - j : 16;
        lanes sums[KN_QUERIES][16];
        fetch_next(memory, j, count - j <= 16 ? SIZE_MAX : j + 16);
        for (size_t i = 0; keys < 16 && i < queries; i++)
            KN_UNROLL for (size_t l = 0; l < 16; l++) sums[i][l] = lanes_set(0.0F);
        for (size_t l = 0; l < keys; l++) {
            const float *row = memory->rows[j + l];
            if (wide)
                dot_key_64(wide_q, queries, row, memory, sums, l);
            else
                for (size_t i = 0; i < queries; i++)
                    sums[i][l] = dot(q + i * q_stride, row + memory->k_offset, memory->dim);
        }
        for (size_t i = 0; i < queries; i++)
            store_up_to(weights + i * count + j, keys,
                        lanes_mul(lanes_sum_each(sums[i]), lanes_set(scale)));
    }
}

/* out = sum_j weights[j] v_j for `width` <= 16 values from `at` on. */
static inline void gather(const float *weights, const kn_memory *memory, size_t at, size_t width,
                          float *out)
{
    lanes sum = lanes_set(0.0F);
    for (size_t j = 0; j < memory->count; j++) {
        const lanes v = load_up_to(memory->rows[j] + memory->v_offset + at, width, 0.0F);
        sum = lanes_add(sum, lanes_mul(lanes_set(weights[j]), v));
    }
    store_up_to(out, width, sum);
}

/* The same for 64 values and `queries` <= KN_QUERIES queries. weights: (queries, count). */
static inline KN_INLINE void gather_64(const float *weights, size_t queries,
                                       const kn_memory *memory, size_t at, float *out,
                                       size_t out_stride)
{
    const size_t count = memory->count;
    lanes sums[KN_QUERIES][4];
    KN_UNROLL for (size_t i = 0; i < queries; i++) KN_UNROLL for (size_t c = 0; c < 4; c++)
        sums[i][c] = lanes_set(0.0F);
    for (size_t j = 0; j < count; j++) {
        const float *v = memory->rows[j] + memory->v_offset + at;
        const lanes values[4] = {lanes_load(v), lanes_load(v + 16), lanes_load(v + 32),
                                 lanes_load(v + 48)};
        KN_UNROLL for (size_t i = 0; i < queries; i++)
        {
            const lanes w = lanes_set(weights[i * count + j]);
            KN_UNROLL for (size_t c = 0; c < 4; c++) sums[i][c] =
                lanes_add(sums[i][c], lanes_mul(w, values[c]));
        }
    }
    KN_UNROLL for (size_t i = 0; i < queries; i++) KN_UNROLL for (size_t c = 0; c < 4; c++)
        lanes_store(out + i * out_stride + 16 * c, sums[i][c]);
}

/* For `queries` <= KN_QUERIES queries. */
static inline KN_INLINE void attend_floats(const float *q, size_t q_stride, size_t queries,
                                           const kn_memory *memory, float scale, float *weights,
                                           float *out, size_t out_stride)
{
    const size_t count = memory->count, dim = memory->dim;
    if (dim == 64)
        score(q, q_stride, queries, memory, scale, true, weights);
    else
        score(q, q_stride, queries, memory, scale, false, weights);
    for (size_t i = 0; i < queries; i++)
        softmax(weights + i * count, count);
    size_t d = 0;
    for (; d + 64 <= dim; d += 64)
        gather_64(weights, queries, memory, d, out + d, out_stride);
    for (; d < dim; d += 16)
        for (size_t i = 0; i < queries; i++)
            gather(weights + i * count, memory, d, dim - d, out + i * out_stride + d);
}

/* ---- Bytes --------------------------------------------------------------------------------- */

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

static inline const int8_t *bytes_at(const float *row, size_t offset)
{
    return (const int8_t *)(const void *)row + offset;
}

/* scores[l] = q . k_(j + l) * scales[j + l] for sixteen positions, or those up to `count`. q: the
 * query as bytes, followed by zeros up to a multiple of BYTES. */
static inline KN_INLINE void score_bytes(const int8_t *q, const kn_memory *memory, size_t j,
                                         bool whole, size_t dim, const float *scales, float scale,
                                         float *scores)
{
    const size_t last = memory->count - 1, left = memory->count - j;
    lanes_int sums[16];
    KN_UNROLL for (size_t l = 0; l < 16; l++)
    {
        /* Where positions are missing, the last one takes their place. */
        const float *row = memory->rows[whole || j + l < last ? j + l : last];
        sums[l] = lanes_bytes_dot(lanes_bytes_load(q), bytes_at(row, memory->k_offset));
        for (size_t at = BYTES; at < dim; at += BYTES)
            sums[l] = lanes_int_add(sums[l], lanes_bytes_dot(lanes_bytes_load(q + at),
                                                             bytes_at(row, memory->k_offset + at)));
    }
    lanes s = lanes_mul(lanes_from_int(lanes_int_sum_each(sums)), lanes_set(scale));
    store_up_to(scores, whole ? 16 : left,
                lanes_mul(s, load_up_to(scales + j, whole ? 16 : left, 0.0F)));
}

static inline KN_INLINE void score_all_bytes(const int8_t *q, const kn_memory *memory, size_t dim,
                                             const float *scales, float scale, float *scores)
{
    size_t j = 0;
    for (; j + 16 <= memory->count; j += 16) {
        fetch_next(memory, j, j + 16);
        score_bytes(q, memory, j, true, dim, scales, scale, scores + j);
    }
    fetch_next(memory, j, SIZE_MAX);
    if (j < memory->count)
        score_bytes(q, memory, j, false, dim, scales, scale, scores + j);
}

/* words[l] * unit ~ weights[l] * scales[l] for `count` <= CHUNK positions, and zeros up to a
 * multiple of 16. Returns the unit. */
static inline float weigh_chunk(const float *weights, const float *scales, size_t count,
                                int16_t words[CHUNK])
{
    float products[CHUNK];
    for (size_t l = 0; l < count; l += 16)
        lanes_store(products + l, lanes_mul(load_up_to(weights + l, count - l, 0.0F),
                                            load_up_to(scales + l, count - l, 0.0F)));
    const float largest = largest_size(products, count);
    const bool usable = isfinite(largest) && largest >= 1e-30F;
    const lanes factor = lanes_set(usable ? 32767.0F / largest : 0.0F);
    for (size_t l = 0; l < count; l += 16)
        lanes_int_store_words(words + l, lanes_round(lanes_mul(lanes_load(products + l), factor)));
    return usable ? largest / 32767.0F : isfinite(largest) ? 0.0F : NAN;
}

/* out (+)= sum_l weights[l] v_(j + l) for `count` <= CHUNK positions, `width` <= BYTES values from
 * `at` on, and `queries` <= KN_QUERIES queries. */
static inline KN_INLINE void gather_bytes(int16_t words[][CHUNK], const float *units,
                                          size_t queries, const kn_memory *memory, size_t j,
                                          size_t count, size_t at, size_t width, float *out,
                                          size_t out_stride)
{
    lanes_sums sums[KN_QUERIES];
    KN_UNROLL for (size_t i = 0; i < queries; i++) sums[i] = lanes_sums_zero();
    const float *const *rows = memory->rows + j;
    const size_t offset = memory->v_offset + at;
    for (size_t l = 0; l < count; l += 2) {
        /* An odd last one is paired with itself; the second weight is zero. */
        const float *second = rows[l + 1 < count ? l + 1 : l];
        const lanes_pairs pairs =
            lanes_pairs_load(bytes_at(rows[l], offset), bytes_at(second, offset));
        KN_UNROLL for (size_t i = 0; i < queries; i++)
            lanes_sums_add(&sums[i], pairs, words[i] + l);
    }
    for (size_t i = 0; i < queries; i++) {
        int32_t integers[BYTES];
        lanes_sums_store(integers, sums[i]);
        const lanes unit = lanes_set(units[i]);
        for (size_t d = 0; d < width; d += 16) {
            float *o = out + i * out_stride + d;
            lanes v = lanes_mul(lanes_from_int(lanes_int_load(integers + d)), unit);
            if (j > 0)
                v = lanes_add(load_up_to(o, width - d, 0.0F), v);
            store_up_to(o, width - d, v);
        }
    }
}

/* For `queries` <= KN_QUERIES queries. scales: of the keys, then of the values, (2, count). */
static inline KN_INLINE void attend_bytes(const float *q, size_t q_stride, size_t queries,
                                          const kn_memory *memory, const float *scales, float scale,
                                          size_t dim, float *weights, float *out, size_t out_stride)
{
    const size_t count = memory->count;
    for (size_t i = 0; i < queries; i++) {
        int8_t bytes[KN_DIM_MAX];
        float query_scale;
        memset(bytes + dim, 0, (dim + BYTES - 1) / BYTES * BYTES - dim);
        store_bytes(q + i * q_stride, dim, bytes, &query_scale);
        score_all_bytes(bytes, memory, dim, scales, scale * query_scale, weights + i * count);
        softmax(weights + i * count, count);
    }
    for (size_t j = 0; j < count; j += CHUNK) {
        const size_t chunk = count - j < CHUNK ? count - j : CHUNK;
        int16_t words[KN_QUERIES][CHUNK];
        float units[KN_QUERIES];
        for (size_t i = 0; i < queries; i++)
            units[i] = weigh_chunk(weights + i * count + j, scales + count + j, chunk, words[i]);
        for (size_t d = 0; d < dim; d += BYTES)
            gather_bytes(words, units, queries, memory, j, chunk, d,
                         dim - d < BYTES ? dim - d : BYTES, out + d, out_stride);
    }
}

/* ---- All queries --------------------------------------------------------------------------- */

static inline KN_INLINE void attend_some(const float *q, size_t q_stride, size_t queries,
                                         const kn_memory *memory, const float *scales, float scale,
                                         float *weights, float *out, size_t out_stride)
{
    if (memory->bytes && memory->dim == 64)
        attend_bytes(q, q_stride, queries, memory, scales, scale, 64, weights, out, out_stride);
    else if (memory->bytes)
        attend_bytes(q, q_stride, queries, memory, scales, scale, memory->dim, weights, out,
                     out_stride);
    else
        attend_floats(q, q_stride, queries, memory, scale, weights, out, out_stride);
}

static void attend(const float *q, size_t q_stride, size_t queries, const kn_memory *memory,
                   float scale, float *weights, float *out, size_t out_stride)
{
    kn_memory here = *memory;
    const size_t count = here.count;
    float *scales = weights + queries * count; /* of keys, then of values, (2, count) */
    for (size_t j = 0; j < count && here.bytes; j++) {
        scales[j] = here.rows[j][here.k_scale];
        scales[count + j] = here.rows[j][here.v_scale];
    }
    size_t i = 0;
    for (; i + KN_QUERIES <= queries; i += KN_QUERIES) {
        attend_some(q + i * q_stride, q_stride, KN_QUERIES, &here, scales, scale,
                    weights + i * count, out + i * out_stride, out_stride);
        here.next = NULL; /* what comes next is fetched once, not for every query */
    }
    for (; i < queries; i++) {
        attend_some(q + i * q_stride, q_stride, 1, &here, scales, scale, weights + i * count,
                    out + i * out_stride, out_stride);
        here.next = NULL;
    }
}

#endif
