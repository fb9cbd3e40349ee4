#include "kernels/kernels.h"

#include "base/error.h"
#include "base/size.h"
#include "kernels/table.h"

#include <math.h>
#include <string.h>

/* ---- The choice ---------------------------------------------------------------------------- */

/* The best first. */
static const kn_table *const tables[] = {
#if defined(__x86_64__)
    &kn_table_amx,    &kn_table_avx512vnni, &kn_table_avxvnni, &kn_table_avx2,
#elif defined(__aarch64__)
    &kn_table_neondot,
    &kn_table_neon,
#endif
    &kn_table_scalar,
};
enum { TABLES = sizeof tables / sizeof tables[0] };

static zhen_status no_such_set(const char *name, zhen_error *error)
{
    char list[128] = "";
    size_t length = 0;
    for (size_t i = 0; i < TABLES; i++) {
        if (!tables[i]->available())
            continue;
        size_t more = strlen(tables[i]->name);
        if (length + more + 3 > sizeof list)
            break;
        if (length > 0) {
            memcpy(list + length, ", ", 3);
            length += 2;
        }
        memcpy(list + length, tables[i]->name, more + 1);
        length += more;
    }
    return base_fail(error, ZHEN_ERROR_UNSUPPORTED,
                     "instruction set '%s' is not available here; there are: %s", name, list);
}

zhen_status kn_select(const char *name, const kn_table **table, zhen_error *error)
{
    for (size_t i = 0; i < TABLES; i++)
        if ((!name || strcmp(name, tables[i]->name) == 0) && tables[i]->available()) {
            *table = tables[i];
            return ZHEN_OK;
        }
    return no_such_set(name ? name : "", error);
}

const char *kn_name(const kn_table *table)
{
    return table->name;
}

/* ---- Packed weights ------------------------------------------------------------------------ */

/* Where the parts of a packed matrix stand in its one block of memory: this, panels, scales,
 * biases.
 */
typedef struct layout {
    size_t rows, padded_cols;
    size_t values, scales, biases; /* offsets in bytes */
    size_t total;
} layout;

/* False on overflow. */
static bool lay_out(const kn_weights *pieces, size_t count, size_t cols, layout *l)
{
    l->rows = 0;
    for (size_t i = 0; i < count; i++)
        if (!base_add(l->rows, pieces[i].rows, &l->rows))
            return false;
    size_t padded_rows, values, floats;
    if (cols > KN_COLS_MAX || !base_add(l->rows, KN_PANEL - 1, &padded_rows))
        return false;
    padded_rows &= ~(size_t)(KN_PANEL - 1);
    l->padded_cols = base_round_up(cols, KN_PAD);
    l->values = base_round_up(sizeof(kn_packed), KN_PAD);
    return base_multiply(padded_rows, l->padded_cols, &values) &&
           base_multiply(padded_rows, sizeof(float), &floats) &&
           base_add(l->values, values, &l->scales) && base_add(l->scales, floats, &l->biases) &&
           base_add(l->biases, floats, &l->total) && l->total <= SIZE_MAX / 2;
}

bool kn_packed_size(const kn_weights *pieces, size_t count, size_t cols, size_t *size)
{
    layout l;
    if (!lay_out(pieces, count, cols, &l))
        return false;
    *size = l.total;
    return true;
}

/* -128 is outside of what quantisation makes and outside of what the AVX2 kernel can negate, so it
 * counts as -127 for all sets. */
static void guard(uint8_t *values, size_t count, uint8_t offset)
{
    const uint8_t least_value = (uint8_t)(offset + 128), next = (uint8_t)(least_value + 1);
    for (size_t i = 0; i < count; i++)
        values[i] = values[i] == least_value ? next : values[i];
}

/* Quads of a row that are moved at once. */
enum { QUADS = 4 };

static inline void load_quads(const int8_t *row, size_t left, uint32_t quads[QUADS])
{
    if (left >= QUADS * KN_QUAD) {
        memcpy(quads, row, QUADS * KN_QUAD);
        return;
    }
    memset(quads, 0, QUADS * KN_QUAD);
    memcpy(quads, row, left);
}

/* Puts 64 rows of weights into their panel, `offset` (0 or 128) added to each. They are looked
 * through in the order of memory first, which brings them into the cache. */
static void pack_panel(const int8_t *const *rows, kn_packed *packed, size_t index, uint8_t offset)
{
    const size_t cols = packed->cols;
    const uint32_t turn = offset * 0x01010101U; /* adding 128 to a byte is flipping its top bit */
    uint8_t *const panel = packed->values + index * KN_PANEL * packed->padded_cols;
    bool guarded = false;
    for (size_t n = 0; n < KN_PANEL; n++)
        guarded = memchr(rows[n], 0x80, cols) || guarded;
    for (size_t k = 0; k < packed->padded_cols; k += QUADS * KN_QUAD)
        for (size_t n = 0; n < KN_PANEL; n++) {
            uint32_t quads[QUADS];
            load_quads(rows[n] + k, k < cols ? cols - k : 0, quads);
            for (size_t q = 0; q < QUADS; q++) {
                const uint32_t quad = quads[q] ^ turn;
                memcpy(panel + k * KN_PANEL + q * KN_STEP + n * KN_QUAD, &quad, KN_QUAD);
            }
        }
    if (guarded)
        guard(panel, KN_PANEL * packed->padded_cols, offset);
}

kn_packed *kn_pack(const kn_table *table, const kn_weights *pieces, size_t count, size_t cols,
                   void *memory)
{
    layout l;
    if (!lay_out(pieces, count, cols, &l))
        return NULL;
    kn_packed *packed = memory;
    *packed = (kn_packed){.rows = l.rows,
                          .cols = cols,
                          .padded_cols = l.padded_cols,
                          .values = (uint8_t *)memory + l.values,
                          .scale = (float *)(void *)((char *)memory + l.scales),
                          .bias = (float *)(void *)((char *)memory + l.biases)};
    const int8_t *panel[KN_PANEL];
    size_t row = 0;
    for (size_t i = 0; i < count; i++)
        for (size_t r = 0; r < pieces[i].rows; r++, row++) {
            packed->scale[row] = pieces[i].scale[r];
            packed->bias[row] = pieces[i].bias ? pieces[i].bias[r] : 0.0F;
            panel[row % KN_PANEL] = pieces[i].values + r * cols;
            if (row % KN_PANEL == KN_PANEL - 1)
                pack_panel(panel, packed, row / KN_PANEL, table->offset);
        }
    /* The last panel is filled up with copies of its last row, whose products nobody asks for. */
    for (; row % KN_PANEL != 0; row++) {
        packed->scale[row] = packed->scale[row - 1];
        packed->bias[row] = packed->bias[row - 1];
        panel[row % KN_PANEL] = panel[row % KN_PANEL - 1];
        if (row % KN_PANEL == KN_PANEL - 1)
            pack_panel(panel, packed, row / KN_PANEL, table->offset);
    }
    return packed;
}

size_t kn_packed_rows(const kn_packed *packed)
{
    return packed->rows;
}

size_t kn_packed_cols(const kn_packed *packed)
{
    return packed->cols;
}

/* ---- The int8 product ---------------------------------------------------------------------- */

static size_t quantized_stride(size_t cols)
{
    return sizeof(kn_quantized_row) + base_round_up(cols, KN_PAD);
}

size_t kn_quantized_size(const kn_table *table, size_t rows, size_t cols)
{
    return base_round_up(rows, table->tile_rows) * quantized_stride(cols);
}

void kn_quantize(const kn_table *table, const float *x, size_t x_stride, size_t rows, size_t cols,
                 void *quantized)
{
    char *out = quantized;
    for (size_t m = 0; m < rows; m++)
        table->loops->quantize(x + m * x_stride, cols, (void *)(out + m * quantized_stride(cols)));
}

/* The most rows that any table takes at once. */
enum { BLOCK_ROWS_MAX = 32 };

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

void kn_multiply(const kn_table *table, const void *quantized, size_t rows, const kn_packed *packed,
                 size_t begin, size_t end, kn_activation activation, float *y, size_t y_stride)
{
    _Alignas(64) int32_t sums[BLOCK_ROWS_MAX * KN_PANEL];
    const size_t stride = quantized_stride(packed->cols);
    if (table->few && rows <= table->few_rows)
        table = table->few;
    if (table->enter)
        table->enter();
    for (size_t n = begin; n < end; n += KN_PANEL) {
        const uint8_t *panel = packed->values + n * packed->padded_cols;
        for (size_t m = 0; m < rows; m += table->block_rows) {
            const kn_block block = {.x = (const char *)quantized + m * stride,
                                    .x_stride = stride,
                                    .rows = least(rows - m, table->block_rows),
                                    .sums = sums,
                                    .offset = table->offset,
                                    .scale = packed->scale + n,
                                    .bias = packed->bias + n,
                                    .width = least(end - n, KN_PANEL),
                                    .activation = activation,
                                    .y = y + m * y_stride + (n - begin),
                                    .y_stride = y_stride};
            table->sums(block.x, stride, block.rows, panel, packed->padded_cols, sums);
            table->loops->finish(&block);
        }
    }
    if (table->leave)
        table->leave();
}

/* ---- Vector loops -------------------------------------------------------------------------- */

void kn_add_norm(const kn_table *table, float *x, const float *residual, const float *weight,
                 const float *bias, size_t rows, size_t cols)
{
    for (size_t m = 0; m < rows; m++)
        table->loops->add_norm(x + m * cols, residual ? residual + m * cols : NULL, weight, bias,
                               cols);
}

void kn_attend(const kn_table *table, const float *q, size_t q_stride, size_t queries,
               const kn_memory *memory, float scale, float *weights, float *out, size_t out_stride)
{
    table->loops->attend(q, q_stride, queries, memory, scale, weights, out, out_stride);
}

void kn_store_bytes(const kn_table *table, const float *x, size_t count, int8_t *values,
                    float *scale)
{
    table->loops->store_bytes(x, count, values, scale);
}

void kn_top_start(kn_top *top, size_t k)
{
    top->k = least(k, KN_TOP_MAX);
    top->count = 0;
    top->maximum = -INFINITY;
    top->sum = 0.0;
}

/* The natural logarithm, with nothing but IEEE operations: the C library's may differ in the last
 * bit from one machine to the next. x = 2^e m, sqrt(1/2) <= m < sqrt(2); log m = 2 artanh s,
 * s = (m - 1) / (m + 1), |s| < 0.172, of which eleven terms are enough for a double. */
static double logarithm(double x)
{
    if (!(x > 0.0))
        return x == 0.0 ? -INFINITY : NAN;
    int e;
    double m = frexp(x, &e);
    if (m < 0.70710678118654752) {
        m *= 2.0;
        e--;
    }
    const double s = (m - 1.0) / (m + 1.0), square = s * s;
    double series = 0.0;
    for (int i = 21; i >= 1; i -= 2)
        series = series * square + 1.0 / i;
    return 2.0 * s * series + e * 0.69314718055994531;
}

double kn_top_log_sum(const kn_top *top)
{
    return (double)top->maximum + logarithm(top->sum);
}

void kn_top_update(const kn_table *table, kn_top *top, const float *x, size_t count, int32_t first,
                   bool want_sum)
{
    table->loops->top(top, x, count, first);
    if (!want_sum)
        return;
    /* The best one is the maximum, unless none is kept. */
    const float maximum = top->count > 0 ? top->values[0] : table->loops->maximum(x, count);
    if (maximum > top->maximum) {
        /* A block of one element is a way to the loops' own exponential. */
        if (top->sum > 0.0)
            top->sum *= (double)table->loops->sum_exp(&top->maximum, 1, maximum);
        top->maximum = maximum;
    }
    /* As long as nothing but -infinity was there, any number will do. */
    const float shift = top->maximum > -INFINITY ? top->maximum : 0.0F;
    top->sum += (double)table->loops->sum_exp(x, count, shift);
}

void kn_log_softmax(const kn_table *table, float *x, size_t count)
{
    float maximum = table->loops->maximum(x, count);
    double sum = (double)table->loops->sum_exp(x, count, maximum);
    table->loops->subtract(x, count, (float)((double)maximum + logarithm(sum)));
}
