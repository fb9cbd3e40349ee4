#include "output.h"

#include <string.h>

#include "layers.h"

enum {
    PART = 512
}; /* words of the vocabulary at a time: the part of the table and of the results stay in the cache
    */

size_t output_scratch(const Output *o, size_t rows)
{
    size_t words = (round_up(o->targets) + PART - 1) / PART * PART;
    return rows * words + rows * PART + rows * o->d * 2;
}

static size_t part_width(const Output *o, size_t first)
{
    size_t left = round_up(o->targets) - first;
    return left < PART ? left : PART;
}

/* e = exp(x E^T + b) for the words [first, first + width), (rows, width); row sums are added to
 * sums. */
static void exponentials(const Output *o, const bf16 *x, size_t rows, size_t first, size_t width,
                         bf16 *e, float *sums)
{
    float bias[PART];
    for (size_t j = 0; j < width; j++) /* beyond the last word e^-80, which is as good as 0 */
        bias[j] = first + j < o->targets ? o->bias[first + j] : -1e9f;
    Result r = {.finish = TO_EXP, .bias = bias, .out16 = e, .totals = sums, .width = width};
    product(left_rows(x, o->d), o->forward + first * o->d, rows, width, o->d, &r);
}

static float dot_rounded(const bf16 *x, const float *w, size_t d)
{
    float sum = 0;
    for (size_t j = 0; j < d; j++)
        sum += widen(x[j]) * widen(narrow(w[j]));
    return sum;
}

static OutputCost cost_of(const Output *o, const bf16 *x, const int32_t *gold, size_t n,
                          const float *sums)
{
    OutputCost c = {0, 0};
    for (size_t i = 0; i < n; i++, x += o->d) {
        float right = dot_rounded(x, o->table + (size_t)gold[i] * o->d, o->d) + o->bias[gold[i]];
        float mean = (dot_rounded(x, o->total, o->d) + o->bias_total) / (float)o->targets;
        float all = logf(sums[i]);
        c.surprise += all - right;
        c.loss += (1 - o->smooth) * (all - right) + o->smooth * (all - mean);
    }
    return c;
}

/* Gradient of x: what the products have summed over e, divided by the row's sum, less the right
 * word's row. */
static void finish_dx(const Output *o, const int32_t *gold, size_t n, const float *inverse,
                      float *dx)
{
    float even = o->smooth / (float)o->targets, keep = 1 - o->smooth;
    for (size_t i = 0; i < n; i++, dx += o->d) {
        const float *right = o->table + (size_t)gold[i] * o->d;
        for (size_t j = 0; j < o->d; j++)
            dx[j] = dx[j] * inverse[i] - keep * right[j] - even * o->total[j];
    }
}

/* Gradient of the table from the right words, and of the bias from them and the smoothing. */
static void finish_table(const Output *o, const bf16 *x, const int32_t *gold, size_t n,
                         float *dtable, float *dbias, float *xsum)
{
    float even = o->smooth / (float)o->targets * (float)n, keep = 1 - o->smooth;
    for (size_t i = 0; i < n; i++, x += o->d) {
        float *row = dtable + (size_t)gold[i] * o->d;
        for (size_t j = 0; j < o->d; j++) {
            float v = widen(x[j]);
            row[j] -= keep * v;
            xsum[j] += v;
        }
        dbias[gold[i]] -= keep;
    }
    for (size_t v = 0; v < o->targets; v++)
        dbias[v] -= even;
}

/* sum (width) += columns of e (rows, width), each row times its weight. */
static void add_weighted(const bf16 *e, const float *weight, size_t rows, size_t width, size_t real,
                         float *sum)
{
    float part[PART] = {0};
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < width; j++)
            part[j] += weight[i] * widen(e[i * width + j]);
    for (size_t j = 0; j < real; j++)
        sum[j] += part[j];
}

OutputCost output_cost(const Output *o, const bf16 *x, const int32_t *gold, size_t n, size_t rows,
                       float *dx, float *dtable, float *dbias, float *xsum, bf16 *scratch,
                       float *sums)
{
    size_t words = round_up(o->targets), d = o->d;
    bf16 *e = scratch, *turned = e + rows * ((words + PART - 1) / PART * PART),
         *scaled = turned + rows * PART, *panels = scaled + rows * d;
    memset(sums, 0, rows * sizeof *sums);
    if (dx)
        memset(dx, 0, rows * d * sizeof *dx);
    for (size_t first = 0; first < words; first += PART) {
        size_t width = part_width(o, first);
        bf16 *part = dx ? e + first * rows : e;
        exponentials(o, x, rows, first, width, part, sums);
        if (!dx)
            continue;
        /* the inverse panels run over the whole vocabulary: a part of their inner dimension is a
         * slice of each */
        Result r = {.finish = ADD_F32, .out32 = dx, .width = d};
        for (size_t c = 0; c < d; c += BLOCK) {
            r.out32 = dx + c;
            product(left_rows(part, width), o->inverse + c * words + first * BLOCK, rows, BLOCK,
                    width, &r);
        }
    }
    OutputCost cost = cost_of(o, x, gold, n, sums);
    if (!dx)
        return cost;

    for (size_t i = 0; i < rows; i++) {
        sums[i] = i < n ? 1 / sums[i] : 0;
        for (size_t j = 0; j < d; j++)
            scaled[i * d + j] = narrow(widen(x[i * d + j]) * sums[i]);
    }
    finish_dx(o, gold, n, sums, dx);
    memset(dx + n * d, 0, (rows - n) * d * sizeof *dx);
    pack_rows(scaled, d, rows, d, panels);
    for (size_t first = 0; first < words; first += PART) {
        size_t width = part_width(o, first),
               real = o->targets - first < width ? o->targets - first : width;
        const bf16 *part = e + first * rows;
        add_weighted(part, sums, rows, width, real, dbias + first);
        pack_transposed(part, width, rows, width, turned);
        add_product(left_packed(turned, rows), panels, width, d, rows, dtable + first * d, d);
    }
    finish_table(o, x, gold, n, dtable, dbias, xsum);
    return cost;
}
