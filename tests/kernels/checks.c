#include "kernels/checks.h"

#include "kernels/table.h"

#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REQUIRE(condition, ...)                                        \
    do {                                                               \
        if (!(condition))                                              \
            return failed(message, __LINE__, #condition, __VA_ARGS__); \
    } while (0)

__attribute__((format(printf, 4, 5))) static bool
failed(char *message, int line, const char *condition, const char *format, ...)
{
    char details[128];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(details, sizeof details, format, arguments);
    va_end(arguments);
    (void)snprintf(message, 256, "checks.c:%d: %.100s: %s", line, condition, details);
    return false;
}

const char *const check_sets[] = {"amx",    "avx512vnni", "avxvnni", "avx2",
                                  "scalar", "neondot",    "neon",    NULL};

/* ---- Material ------------------------------------------------------------------------------ */

/* A sequence of numbers that is the same everywhere (xorshift64*, Vigna 2016). */
typedef struct sequence {
    uint64_t state;
} sequence;

static uint32_t next(sequence *s)
{
    s->state ^= s->state >> 12;
    s->state ^= s->state << 25;
    s->state ^= s->state >> 27;
    return (uint32_t)(s->state * 0x2545F4914F6CDD1DU >> 32);
}

/* In [-1, 1), a multiple of 2^-23. */
static float next_float(sequence *s)
{
    return (float)((int32_t)next(s) >> 8) * 0x1p-23F;
}

static int8_t next_int8(sequence *s)
{
    return (int8_t)((int)(next(s) % 255) - 127);
}

/* Exactly as large as asked for, so that the sanitizer and valgrind see every step beyond. */
static void *take(size_t bytes)
{
    size_t padded = (bytes + 63) / 64 * 64;
    char *memory = bytes % 64 == 0 ? aligned_alloc(64, padded ? padded : 64) : malloc(bytes);
    if (!memory)
        abort();
    return memory;
}

static float *take_floats(sequence *s, size_t count, float size)
{
    float *x = take(count * sizeof *x);
    for (size_t i = 0; i < count; i++)
        x[i] = next_float(s) * size;
    return x;
}

static bool same(float a, float b)
{
    uint32_t a_bits, b_bits;
    memcpy(&a_bits, &a, sizeof a);
    memcpy(&b_bits, &b, sizeof b);
    return a_bits == b_bits || (a != a && b != b);
}

/* The first index at which a and b differ in their bits, `count` if none; NaN equals NaN. */
static size_t difference(const float *a, const float *b, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!same(a[i], b[i]))
            return i;
    return count;
}

static const kn_table *scalar(void)
{
    const kn_table *table = NULL;
    kn_select("scalar", &table, NULL);
    return table;
}

/* To be freed by free(); NULL for sizes that are impossible. */
static kn_packed *pack(const kn_table *table, const kn_weights *pieces, size_t count, size_t cols)
{
    size_t size;
    if (!kn_packed_size(pieces, count, cols, &size))
        return NULL;
    return kn_pack(table, pieces, count, cols, take((size + 63) / 64 * 64));
}

/* x (rows, cols) times w (outs, cols), through quantisation; y: (rows, outs). */
static void product(const kn_table *table, const float *x, size_t rows, const kn_weights *w,
                    size_t cols, kn_activation activation, float *y)
{
    kn_packed *packed = pack(table, w, 1, cols);
    size_t bytes = kn_quantized_size(table, rows, cols);
    void *quantized = aligned_alloc(64, bytes ? bytes : 64);
    if (!packed || !quantized)
        abort();
    kn_quantize(table, x, cols, rows, cols, quantized);
    kn_multiply(table, quantized, rows, packed, 0, w->rows, activation, y, w->rows);
    free(quantized);
    free(packed);
}

/* ---- Exact sums ---------------------------------------------------------------------------- */

typedef enum filling { RANDOM, ALL_GREAT, OPPOSITE, ALTERNATING, GUARDED, FILLINGS } filling;

static int8_t weight_of(filling kind, sequence *s, size_t k)
{
    switch (kind) {
    case ALL_GREAT:
        return 127;
    case OPPOSITE:
        return -127;
    case ALTERNATING:
        return k % 2 ? -127 : 127;
    case GUARDED:
        return -128;
    default:
        return next_int8(s);
    }
}

/* Rows hold whole numbers up to 127, so the scale is 1 and the values are themselves. */
static bool sums_are_exact(const kn_table *table, size_t rows, size_t outs, size_t cols,
                           filling kind, char *message)
{
    sequence s = {rows * 7919 + outs * 104729 + cols * 13 + 1};
    float *x = take(rows * cols * sizeof *x), *y = take(rows * outs * sizeof *y);
    float *one = take(outs * sizeof *one);
    int8_t *w = take(outs * cols);
    for (size_t i = 0; i < rows * cols; i++)
        x[i] = kind == RANDOM ? (float)next_int8(&s) : kind == ALTERNATING && i % 3 ? -127 : 127;
    for (size_t m = 0; m < rows; m++)
        x[m * cols + next(&s) % cols] = -127;
    for (size_t i = 0; i < outs * cols; i++)
        w[i] = weight_of(kind, &s, i);
    for (size_t n = 0; n < outs; n++)
        one[n] = 1.0F;
    product(table, x, rows, &(kn_weights){w, one, NULL, outs}, cols, KN_NONE, y);
    for (size_t m = 0; m < rows; m++)
        for (size_t n = 0; n < outs; n++) {
            int32_t sum = 0;
            for (size_t k = 0; k < cols; k++)
                sum +=
                    (int32_t)x[m * cols + k] * (w[n * cols + k] == -128 ? -127 : w[n * cols + k]);
            REQUIRE(y[m * outs + n] == (float)sum, "(%zu,%zu,%zu) filling %d, [%zu][%zu] %g for %d",
                    rows, outs, cols, (int)kind, m, n, (double)y[m * outs + n], sum);
        }
    free(w);
    free(one);
    free(y);
    free(x);
    return true;
}

static bool check_row_remainders(const kn_table *table, char *message)
{
    for (size_t rows = 1; rows <= 2 * table->block_rows + 1; rows++)
        for (filling kind = 0; kind < FILLINGS; kind++)
            if (!sums_are_exact(table, rows, 65, 68, kind, message))
                return false;
    return true;
}

static bool check_output_remainders(const kn_table *table, char *message)
{
    for (size_t outs = 1; outs <= 2 * KN_PANEL + 1; outs++)
        if (!sums_are_exact(table, 1 + outs % 9, outs, 9, RANDOM, message))
            return false;
    return true;
}

static bool check_column_remainders(const kn_table *table, char *message)
{
    for (size_t cols = 1; cols <= 2 * KN_PAD + 1; cols++)
        if (!sums_are_exact(table, 1 + cols % 18, 17, cols, RANDOM, message))
            return false;
    return true;
}

static bool check_large_sums(const kn_table *table, char *message)
{
    for (filling kind = 0; kind < FILLINGS; kind++)
        if (!sums_are_exact(table, 2, 3, 1024, kind, message) ||
            !sums_are_exact(table, 17, 3, 4100, kind, message))
            return false;
    return sums_are_exact(table, 1, 2, KN_COLS_MAX, ALL_GREAT, message) &&
           sums_are_exact(table, 7, 2, KN_COLS_MAX, OPPOSITE, message);
}

/* A part of the outputs, asked for alone, and rows with a stride. */
static bool check_ranges(const kn_table *table, char *message)
{
    const size_t rows = 19, outs = 150, cols = 40, stride = 200;
    sequence s = {5};
    float *x = take_floats(&s, rows * cols, 3.0F), *scale = take_floats(&s, outs, 1.0F);
    float *bias = take_floats(&s, outs, 1.0F), *whole = take(rows * outs * sizeof *whole);
    float *part = take_floats(&s, rows * stride, 1.0F);
    int8_t *w = take(outs * cols);
    for (size_t i = 0; i < outs * cols; i++)
        w[i] = next_int8(&s);
    product(table, x, rows, &(kn_weights){w, scale, bias, outs}, cols, KN_RELU, whole);
    /* Packed in two pieces, the second without a bias of its own. */
    const kn_weights pieces[2] = {{w, scale, bias, 64}, {w + 64 * cols, scale + 64, NULL, 86}};
    kn_packed *packed = pack(table, pieces, 2, cols);
    void *quantized = aligned_alloc(64, kn_quantized_size(table, rows, cols));
    kn_quantize(table, x, cols, rows, cols, quantized);
    REQUIRE(kn_packed_rows(packed) == outs && kn_packed_cols(packed) == cols, "sizes");
    kn_multiply(table, quantized, rows, packed, 0, 64, KN_RELU, part, stride);
    for (size_t m = 0; m < rows; m++)
        REQUIRE(difference(part + m * stride, whole + m * outs, 64) == 64, "row %zu", m);
    for (size_t n = 64; n < outs; n++)
        bias[n] = 0.0F;
    product(table, x, rows, &(kn_weights){w, scale, bias, outs}, cols, KN_RELU, whole);
    float guard = part[outs - 64];
    kn_multiply(table, quantized, rows, packed, 64, outs, KN_RELU, part, stride);
    for (size_t m = 0; m < rows; m++)
        REQUIRE(difference(part + m * stride, whole + m * outs + 64, outs - 64) == outs - 64,
                "row %zu", m);
    REQUIRE(same(part[outs - 64], guard), "wrote beyond the end");
    free(packed);
    free(quantized);
    free(w);
    free(part);
    free(whole);
    free(bias);
    free(scale);
    free(x);
    return true;
}

static bool check_impossible_sizes(const kn_table *table, char *message)
{
    kn_weights none = {NULL, NULL, NULL, 0}, vast = {NULL, NULL, NULL, SIZE_MAX / 2};
    kn_packed *packed = pack(table, &none, 1, 5);
    REQUIRE(packed && kn_packed_rows(packed) == 0, "an empty matrix is a matrix");
    free(packed);
    REQUIRE(!pack(table, &none, 1, KN_COLS_MAX + 1), "sums could overflow");
    REQUIRE(!pack(table, &vast, 1, 1024), "the size overflows");
    kn_weights twice[3] = {vast, vast, vast};
    REQUIRE(!pack(table, twice, 3, 1), "the rows overflow");
    return true;
}

/* ---- The same bits as plain C -------------------------------------------------------------- */

/* Sizes around every blocking: 16 lanes, 64 values. */
static const size_t sizes[] = {1,  2,  3,  7,  8,  9,  15,  16,  17,  24,  31,  32,  33, 47,
                               48, 63, 64, 65, 80, 96, 100, 127, 128, 129, 200, 256, 257};
enum { SIZES = sizeof sizes / sizeof *sizes };

/* Values of every size, zeros of both signs, and for `wild` also what is not a number. */
static void spread(sequence *s, float *x, size_t count, bool wild)
{
    static const float special[] = {0.0F,   -0.0F,  1e-45F, -1e-39F,  3e38F,    -3e38F,
                                    1e-37F, 127.0F, NAN,    INFINITY, -INFINITY};
    for (size_t i = 0; i < count; i++) {
        uint32_t r = next(s) % 64;
        x[i] = next_float(s) * ldexpf(1.0F, (int)(next(s) % 12) - 6);
        if (r < (wild ? 11 : 4))
            x[i] = special[r];
    }
}

static bool check_quantize(const kn_table *table, char *message)
{
    sequence s = {11};
    for (size_t i = 0; i < SIZES; i++)
        for (int wild = 0; wild < 5; wild++) {
            size_t cols = sizes[i], rows = 3, stride = cols + 1;
            float *x = take(rows * stride * sizeof *x);
            spread(&s, x, rows * stride, wild == 1);
            for (size_t k = 0; wild >= 2 && k < rows * stride; k++)
                x[k] = wild == 2 ? 0.0F : x[k] * (wild == 3 ? 1e-37F : 1e36F);
            size_t bytes = rows * (sizeof(kn_quantized_row) + (cols + 63) / 64 * 64);
            char *a = calloc(1, bytes),
                 *b = aligned_alloc(64, kn_quantized_size(table, rows, cols));
            if (!a || !b)
                abort();
            memset(b, 0, bytes);
            kn_quantize(scalar(), x, stride, rows, cols, a);
            kn_quantize(table, x, stride, rows, cols, b);
            for (size_t m = 0; m < rows; m++) {
                const kn_quantized_row *p = kn_quantized_at(a, bytes / rows, m);
                const kn_quantized_row *q = kn_quantized_at(b, bytes / rows, m);
                REQUIRE(same(p->scale, q->scale) && p->sum == q->sum, "cols %zu, kind %d: %g, %d",
                        cols, wild, (double)q->scale, q->sum);
                REQUIRE(memcmp(p->values, q->values, (cols + 63) / 64 * 64) == 0, "cols %zu", cols);
                for (size_t k = 0; k < cols && isfinite(q->scale); k++) {
                    float v = x[m * stride + k];
                    REQUIRE(q->values[k] >= -127, "cols %zu", cols);
                    REQUIRE(fabsf(v - q->scale * q->values[k]) <= 0.50001F * q->scale + 1e-36F,
                            "%g as %d times %g", (double)v, q->values[k], (double)q->scale);
                }
            }
            free(a);
            free(b);
            free(x);
        }
    return true;
}

static bool check_product_bits(const kn_table *table, char *message)
{
    sequence s = {12};
    for (size_t i = 0; i < SIZES; i++)
        for (kn_activation activation = KN_NONE; activation <= KN_GELU_TANH; activation++) {
            size_t outs = sizes[i], cols = 33, rows = 7;
            float *x = take(rows * cols * sizeof *x), *a = take(rows * outs * sizeof *a);
            float *b = take(rows * outs * sizeof *b), *scale = take_floats(&s, outs, 0.05F);
            float *bias = take_floats(&s, outs, 8.0F);
            int8_t *w = take(outs * cols);
            for (size_t k = 0; k < outs * cols; k++)
                w[k] = next_int8(&s);
            spread(&s, x, rows * cols, false);
            x[3] = NAN;
            for (size_t k = 0; k < cols; k++)
                x[2 * cols + k] *= 1e30F; /* results beyond the largest float */
            const kn_weights weights = {w, scale, bias, outs};
            product(scalar(), x, rows, &weights, cols, activation, a);
            product(table, x, rows, &weights, cols, activation, b);
            size_t at = difference(a, b, rows * outs);
            REQUIRE(at == rows * outs, "activation %d, outs %zu, at %zu: %g for %g",
                    (int)activation, outs, at, (double)b[at], (double)a[at]);
            REQUIRE(b[0] != b[0], "NaN must stay NaN");
            free(w);
            free(bias);
            free(scale);
            free(b);
            free(a);
            free(x);
        }
    return true;
}

static bool check_add_norm(const kn_table *table, char *message)
{
    sequence s = {13};
    for (size_t i = 0; i < SIZES; i++) {
        size_t cols = sizes[i], rows = 2;
        float *x = take_floats(&s, rows * cols, 2.0F), *residual = take_floats(&s, rows * cols, 2);
        float *weight = take_floats(&s, cols, 1.0F), *bias = take_floats(&s, cols, 1.0F);
        float *a = take(rows * cols * sizeof *a), *b = take(rows * cols * sizeof *b);
        memcpy(a, x, rows * cols * sizeof *a);
        memcpy(b, x, rows * cols * sizeof *b);
        kn_add_norm(scalar(), a, i % 2 ? residual : NULL, weight, bias, rows, cols);
        kn_add_norm(table, b, i % 2 ? residual : NULL, weight, bias, rows, cols);
        REQUIRE(difference(a, b, rows * cols) == rows * cols, "cols %zu", cols);
        for (size_t m = 0; m < rows; m++) {
            double mean = 0, variance = 0;
            for (size_t k = 0; k < cols; k++)
                mean += (x[m * cols + k] + (i % 2 ? residual[m * cols + k] : 0.0)) / (double)cols;
            for (size_t k = 0; k < cols; k++) {
                double d = x[m * cols + k] + (i % 2 ? residual[m * cols + k] : 0.0) - mean;
                variance += d * d / (double)cols;
            }
            for (size_t k = 0; k < cols; k++) {
                double v = x[m * cols + k] + (i % 2 ? residual[m * cols + k] : 0.0);
                v = (v - mean) / sqrt(variance + 1e-5) * weight[k] + bias[k];
                REQUIRE(fabs(v - b[m * cols + k]) < 5e-6, "cols %zu: %g for %g", cols,
                        (double)b[m * cols + k], v);
            }
        }
        free(b);
        free(a);
        free(bias);
        free(weight);
        free(residual);
        free(x);
    }
    return true;
}

static bool attends(const kn_table *table, size_t count, size_t dim, char *message)
{
    const size_t queries = 6;
    sequence s = {count * 1000 + dim};
    size_t width = 2 * dim + 3, stride = dim + 5;
    float *cache = take_floats(&s, count * width, 2.0F);
    float *q = take_floats(&s, queries * stride, 2.0F);
    const float **rows = take(count * sizeof *rows);
    for (size_t j = 0; j < count; j++) /* out of order, as beams leave them */
        rows[j] = cache + (j * 7 % count == j ? j : count - 1 - j) * width;
    const kn_memory memory = {
        .rows = rows, .count = count, .dim = dim, .k_offset = 1, .v_offset = dim + 3};
    float *w[2], *out[2];
    for (int t = 0; t < 2; t++) {
        w[t] = take((queries + 2) * count * sizeof **w);
        out[t] = take(((queries - 1) * stride + dim) * sizeof **out);
        memset(out[t], 0, ((queries - 1) * stride + dim) * sizeof **out);
    }
    kn_attend(scalar(), q, stride, queries, &memory, 0.3F, w[0], out[0], stride);
    kn_attend(table, q, stride, queries, &memory, 0.3F, w[1], out[1], stride);
    REQUIRE(difference(w[0], w[1], queries * count) == queries * count, "%zu x %zu", count, dim);
    REQUIRE(difference(out[0], out[1], 5 * stride + dim) == 5 * stride + dim, "%zu x %zu", count,
            dim);
    for (size_t i = 0; i < queries; i++) {
        double sum = 0, first = 0;
        for (size_t j = 0; j < count; j++) {
            double score = 0;
            for (size_t d = 0; d < dim; d++)
                score += (double)q[i * stride + d] * (double)rows[j][1 + d];
            sum += exp(score * (double)0.3F);
            first += exp(score * (double)0.3F) * (double)rows[j][dim + 3];
        }
        REQUIRE(fabs(first / sum - (double)out[1][i * stride]) < 2e-5, "%zu x %zu: %g for %g",
                count, dim, (double)out[1][i * stride], first / sum);
    }
    /* One query alone gives what it gave among others. */
    kn_attend(table, q + stride, stride, 1, &memory, 0.3F, w[0], out[0], stride);
    REQUIRE(difference(out[0], out[1] + stride, dim) == dim, "%zu x %zu", count, dim);
    for (int t = 0; t < 2; t++) {
        free(w[t]);
        free(out[t]);
    }
    free(rows);
    free(q);
    free(cache);
    return true;
}

static bool check_attend(const kn_table *table, char *message)
{
    for (size_t i = 0; i < SIZES; i++)
        if (!attends(table, sizes[i], 64, message) || !attends(table, 21, sizes[i], message))
            return false;
    return true;
}

/* Keys and values kept as bytes against the same ones as floats. A row is two scales, then bytes.
 */
static bool attends_bytes(const kn_table *table, size_t count, size_t dim, char *message)
{
    enum { QUERIES = 5 };
    sequence s = {count * 1000 + dim};
    const size_t width = 2 + (2 * dim + 3) / 4 + 1, stride = dim + 5;
    float *cache = take((count * width + 16) * sizeof *cache),
          *plain = take(count * 2 * dim * sizeof *plain);
    float *q = take_floats(&s, QUERIES * stride, 2.0F);
    const float **rows = take(count * sizeof *rows), **plain_rows = take(count * sizeof *rows);
    memset(cache, 0, (count * width + 16) * sizeof *cache);
    for (size_t j = 0; j < count; j++) {
        float *row = cache + j * width, *numbers = plain + j * 2 * dim;
        rows[j] = row;
        plain_rows[j] = numbers;
        for (size_t part = 0; part < 2; part++) {
            float *x = take_floats(&s, dim, 2.0F);
            int8_t *bytes = (int8_t *)(row + 2) + part * dim, expected[256];
            float scale;
            kn_store_bytes(scalar(), x, dim, expected, &scale);
            kn_store_bytes(table, x, dim, bytes, &row[part]);
            REQUIRE(memcmp(bytes, expected, dim) == 0 && scale == row[part], "dim %zu", dim);
            for (size_t d = 0; d < dim; d++) {
                numbers[part * dim + d] = (float)bytes[d] * scale;
                REQUIRE(fabsf(numbers[part * dim + d] - x[d]) <= scale * 0.5001F, "dim %zu", dim);
            }
            free(x);
        }
    }
    const kn_memory memory = {.rows = rows,
                              .count = count,
                              .dim = dim,
                              .k_offset = 2 * sizeof(float),
                              .v_offset = 2 * sizeof(float) + dim,
                              .bytes = true,
                              .v_scale = 1};
    const kn_memory floats = {
        .rows = plain_rows, .count = count, .dim = dim, .v_offset = dim, .next = &memory};
    float *w[3], *out[3];
    for (int t = 0; t < 3; t++) {
        w[t] = take((QUERIES + 2) * count * sizeof **w);
        out[t] = take(QUERIES * stride * sizeof **out);
        memset(out[t], 0, QUERIES * stride * sizeof **out);
    }
    kn_attend(scalar(), q, stride, QUERIES, &memory, 0.3F, w[0], out[0], stride);
    kn_attend(table, q, stride, QUERIES, &memory, 0.3F, w[1], out[1], stride);
    for (size_t i = 0; i < QUERIES; i++) {
        int8_t bytes[256];
        float scale;
        kn_store_bytes(table, q + i * stride, dim, bytes, &scale);
        for (size_t d = 0; d < dim; d++)
            q[i * stride + d] = (float)bytes[d] * scale;
    }
    kn_attend(table, q, stride, QUERIES, &floats, 0.3F, w[2], out[2], stride);
    REQUIRE(difference(w[0], w[1], QUERIES * count) == QUERIES * count, "%zu x %zu", count, dim);
    REQUIRE(difference(out[0], out[1], QUERIES * stride) == QUERIES * stride, "%zu x %zu", count,
            dim);
    for (size_t i = 0; i < QUERIES * stride; i++)
        REQUIRE(fabsf(out[1][i] - out[2][i]) < 2e-4F, "%zu x %zu: %g for %g", count, dim,
                (double)out[1][i], (double)out[2][i]);
    for (int t = 0; t < 3; t++) {
        free(w[t]);
        free(out[t]);
    }
    free(plain_rows);
    free(rows);
    free(q);
    free(plain);
    free(cache);
    return true;
}

static bool check_attend_bytes(const kn_table *table, char *message)
{
    for (size_t i = 0; i < SIZES; i++)
        if (!attends_bytes(table, sizes[i], 64, message) ||
            (sizes[i] <= 256 && !attends_bytes(table, 21, sizes[i], message)))
            return false;
    return true;
}

static double log_sum_exp(const float *x, size_t count)
{
    double top = -INFINITY, sum = 0;
    for (size_t i = 0; i < count; i++)
        if (x[i] > top)
            top = x[i];
    for (size_t i = 0; i < count; i++)
        sum += exp(x[i] - top);
    return top + log(sum);
}

static bool check_log_softmax(const kn_table *table, char *message)
{
    sequence s = {14};
    for (size_t i = 0; i < SIZES; i++) {
        size_t count = sizes[i];
        float *x = take_floats(&s, count, i % 2 ? 30.0F : 200.0F);
        float *a = take(count * sizeof *a), *b = take(count * sizeof *b);
        memcpy(a, x, count * sizeof *a);
        memcpy(b, x, count * sizeof *b);
        kn_log_softmax(scalar(), a, count);
        kn_log_softmax(table, b, count);
        REQUIRE(difference(a, b, count) == count, "count %zu", count);
        const double sum = log_sum_exp(x, count);
        for (size_t k = 0; k < count; k++)
            REQUIRE(fabs(x[k] - sum - b[k]) < 4e-5, "count %zu: %g for %g", count, (double)b[k],
                    x[k] - sum);
        free(b);
        free(a);
        free(x);
    }
    return true;
}

/* ---- Accuracy ------------------------------------------------------------------------------ */

static double exact(kn_activation activation, double x)
{
    switch (activation) {
    case KN_RELU:
        return x > 0 ? x : 0;
    case KN_SWISH:
        return x / (1 + exp(-x));
    case KN_GELU:
        return x * (1 + erf(x * sqrt(0.5))) / 2;
    case KN_GELU_TANH:
        return x * (1 + tanh(sqrt(2 / 3.14159265358979324) * (x + 0.044715 * x * x * x))) / 2;
    default:
        return x;
    }
}

/* Through the bias of a product with zero. */
static bool check_activations(const kn_table *table, char *message)
{
    enum { COUNT = 3000 };
    static const int8_t zeros[COUNT];
    float x = 0, *one = take(COUNT * sizeof *one), *bias = take(COUNT * sizeof *bias);
    float *y = take(COUNT * sizeof *y);
    for (size_t i = 0; i < COUNT; i++) {
        one[i] = 1.0F;
        bias[i] = ((float)i - 1500.0F) / 100.0F;
    }
    bias[0] = -1e30F;
    bias[1] = 1e30F;
    for (kn_activation activation = KN_NONE; activation <= KN_GELU_TANH; activation++) {
        product(table, &x, 1, &(kn_weights){zeros, one, bias, COUNT}, 1, activation, y);
        for (size_t i = 0; i < COUNT; i++) {
            double want = exact(activation, bias[i]);
            REQUIRE(fabs(y[i] - want) <= 6e-7 * (1 + fabs(want)), "activation %d of %g: %g for %g",
                    (int)activation, (double)bias[i], (double)y[i], want);
        }
    }
    free(y);
    free(bias);
    free(one);
    return true;
}

/* exp by way of a sum of one: x < maximum keeps it in range. */
static bool check_exponential(const kn_table *table, char *message)
{
    for (int i = -8800; i <= 8800; i++) {
        float x = (float)i / 100.0F + 0.001F * (float)(i % 7);
        float y = table->loops->sum_exp(&x, 1, 0.0F);
        double want = exp((double)x);
        if (x < -87.0F)
            REQUIRE(y == 0.0F, "exp(%g) = %g", (double)x, (double)y);
        else if (x <= 88.0F)
            REQUIRE(fabs(y / want - 1) < 3e-7, "exp(%g) = %g", (double)x, (double)y);
    }
    const float wild[4] = {-INFINITY, INFINITY, -1e30F, NAN};
    REQUIRE(table->loops->sum_exp(wild, 1, 0.0F) == 0.0F, "of -infinity");
    float large = table->loops->sum_exp(wild + 1, 1, 0.0F);
    REQUIRE(large > 1e38F && isfinite(large), "of infinity");
    REQUIRE(table->loops->sum_exp(wild + 2, 1, 0.0F) == 0.0F, "of -1e30");
    REQUIRE(isnan(table->loops->sum_exp(wild + 3, 1, 0.0F)), "of NaN");
    return true;
}

/* ---- The best of a row --------------------------------------------------------------------- */

/* Finds by looking through everything what kn_top must have found. */
static bool top_is_right(const kn_top *top, const float *x, size_t count, char *message)
{
    char taken[600] = {0};
    size_t numbers = 0;
    for (size_t i = 0; i < count; i++)
        numbers += x[i] == x[i];
    REQUIRE(top->count == (numbers < top->k ? numbers : top->k), "%zu of %zu", top->count, count);
    for (size_t r = 0; r < top->count; r++) {
        size_t best = count;
        for (size_t i = 0; i < count; i++)
            if (!taken[i] && x[i] == x[i] && (best == count || x[i] > x[best]))
                best = i;
        REQUIRE(top->indices[r] == (int32_t)best + 100 && same(top->values[r], x[best]),
                "rank %zu of %zu: %d for %zu", r, top->k, top->indices[r], best + 100);
        taken[best] = 1;
    }
    return true;
}

static bool check_top(const kn_table *table, char *message)
{
    sequence s = {15};
    for (size_t k = 0; k <= KN_TOP_MAX + 1; k++)
        for (int kind = 0; kind < 4; kind++) {
            size_t count = 1 + next(&s) % 500;
            float *x = take(count * sizeof *x);
            for (size_t i = 0; i < count; i++)
                x[i] = kind == 0   ? next_float(&s)
                       : kind == 1 ? (float)(next(&s) % 10) /* ties */
                       : kind == 2 ? (float)i               /* each one is the best so far */
                                   : (next(&s) % 3 ? NAN : -INFINITY);
            kn_top top, whole;
            kn_top_start(&top, k);
            REQUIRE(top.k == (k > KN_TOP_MAX ? KN_TOP_MAX : k), "k %zu", k);
            kn_top_start(&whole, k);
            size_t at = 0;
            while (at < count) {
                size_t block = 1 + next(&s) % 70;
                block = block < count - at ? block : count - at;
                kn_top_update(table, &top, x + at, block, (int32_t)at + 100, kind == 0);
                kn_top_update(scalar(), &whole, x + at, block, (int32_t)at + 100, kind == 0);
                at += block;
            }
            if (!top_is_right(&top, x, count, message))
                return false;
            REQUIRE(same(top.maximum, whole.maximum) && top.sum == whole.sum, "sum of %zu", count);
            free(x);
        }
    return true;
}

static bool check_log_sum(const kn_table *table, char *message)
{
    sequence s = {16};
    kn_top none;
    kn_top_start(&none, 2);
    REQUIRE(kn_top_log_sum(&none) == -INFINITY, "of nothing");
    const float low[3] = {-INFINITY, -INFINITY, -3.0F}, wild[2] = {1.0F, NAN};
    kn_top_update(table, &none, low, 2, 0, true);
    REQUIRE(kn_top_log_sum(&none) == -INFINITY, "of -infinity: %g", kn_top_log_sum(&none));
    kn_top_update(table, &none, low + 2, 1, 2, true);
    REQUIRE(kn_top_log_sum(&none) == -3.0, "of one: %g", kn_top_log_sum(&none));
    kn_top_update(table, &none, wild, 2, 3, true);
    REQUIRE(isnan(kn_top_log_sum(&none)), "of NaN: %g", kn_top_log_sum(&none));
    float size = 0.01F;
    for (int i = 0; i < 11; i++) {
        size *= 3.0F;
        const size_t count = 1000;
        float *x = take_floats(&s, count, size);
        const double sum = log_sum_exp(x, count);
        kn_top best;
        kn_top_start(&best, 4);
        for (size_t k = 0; k < count; k += 64)
            kn_top_update(table, &best, x + k, count - k < 64 ? count - k : 64, (int32_t)k, true);
        REQUIRE(fabs(kn_top_log_sum(&best) - sum) < 1e-6, "size %g: %.9g for %.9g", (double)size,
                kn_top_log_sum(&best), sum);
        free(x);
    }
    return true;
}

/* ---- Threads and machines ------------------------------------------------------------------ */

typedef struct job {
    const kn_table *table;
    float y[40 * 70];
} job;

static void *work(void *argument)
{
    job *j = argument;
    const size_t rows = 40, outs = 70, cols = 300;
    sequence s = {17};
    float *x = take_floats(&s, rows * cols, 1.0F), *scale = take_floats(&s, outs, 0.01F);
    int8_t *w = take(outs * cols);
    for (size_t i = 0; i < outs * cols; i++)
        w[i] = next_int8(&s);
    for (int i = 0; i < 10; i++)
        product(j->table, x, rows, &(kn_weights){w, scale, scale, outs}, cols, KN_NONE, j->y);
    free(w);
    free(scale);
    free(x);
    return NULL;
}

/* State that belongs to a thread (the tile registers) is set up in each. */
static bool check_threads(const kn_table *table, char *message)
{
    enum { THREADS = 3 };
    pthread_t threads[THREADS];
    job *jobs = calloc(THREADS, sizeof *jobs);
    REQUIRE(jobs, "memory");
    for (int i = 0; i < THREADS; i++) {
        jobs[i].table = i ? table : scalar();
        REQUIRE(pthread_create(&threads[i], NULL, work, &jobs[i]) == 0, "thread %d", i);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 1; i < THREADS; i++)
        REQUIRE(difference(jobs[0].y, jobs[i].y, 40UL * 70) == 40UL * 70, "thread %d", i);
    free(jobs);
    return true;
}

static uint64_t digest(uint64_t hash, const float *x, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t bits;
        memcpy(&bits, x + i, sizeof bits);
        for (int b = 0; b < 32; b += 8)
            hash = (hash ^ (bits >> b & 0xFF)) * 0x100000001B3U;
    }
    return hash;
}

/* A small network's worth of everything has the same bits on every kind of machine and with every
 * compiler: this number was made on x86-64 and holds on aarch64. */
static bool check_digest(const kn_table *table, char *message)
{
    const size_t rows = 9, width = 100;
    sequence s = {18};
    float *x = take_floats(&s, rows * width, 2.0F), *y = take(rows * width * sizeof *y);
    float *scale = take_floats(&s, width, 0.03F), *bias = take_floats(&s, width, 1.0F);
    int8_t *w = take(width * width);
    for (size_t i = 0; i < width * width; i++)
        w[i] = next_int8(&s);
    const float *y_rows[9];
    for (size_t m = 0; m < rows; m++)
        y_rows[m] = y + m * width;
    uint64_t hash = 0xCBF29CE484222325U;
    for (kn_activation activation = KN_NONE; activation <= KN_GELU_TANH; activation++) {
        float weights[99];
        product(table, x, rows, &(kn_weights){w, scale, bias, width}, width, activation, y);
        hash = digest(hash, y, rows * width);
        const kn_memory memory = {
            .rows = y_rows, .count = rows, .dim = width / 2, .v_offset = width / 2};
        kn_attend(table, x, width, rows, &memory, 0.1F, weights, x, width);
        kn_add_norm(table, x, y, scale, bias, rows, width);
        hash = digest(hash, x, rows * width);
    }
    kn_log_softmax(table, x, rows * width);
    hash = digest(hash, x, rows * width);
    REQUIRE(hash == 0x64636FA4D9F3FE7FU, "digest %#llx", (unsigned long long)hash);
    free(w);
    free(bias);
    free(scale);
    free(y);
    free(x);
    return true;
}

const check checks[] = {
    {"row remainders", check_row_remainders},
    {"output remainders", check_output_remainders},
    {"column remainders", check_column_remainders},
    {"large sums", check_large_sums},
    {"ranges", check_ranges},
    {"impossible sizes", check_impossible_sizes},
    {"quantize", check_quantize},
    {"product bits", check_product_bits},
    {"add norm", check_add_norm},
    {"attend", check_attend},
    {"attend bytes", check_attend_bytes},
    {"log softmax", check_log_softmax},
    {"activations", check_activations},
    {"exponential", check_exponential},
    {"top", check_top},
    {"log sum", check_log_sum},
    {"threads", check_threads},
    {"digest", check_digest},
};
const size_t check_count = sizeof checks / sizeof *checks;
