/* Attention for short sentences.
 *
 * Sentences of a batch have equal lengths and lie one after another, so several short ones are
 * taken as one block of up to 32 rows whose matrix of weights is block diagonal: the products
 * always fill whole tiles. */
#include <stdlib.h>
#include <string.h>

#include "layers.h"

struct AttentionScratch {
    float *scores, *slopes;  /* (rows, keys): of a group; first the scores, then the weights; the
                                weights' gradient */
    bf16 *weights, *wslopes; /* the same in bf16, zero outside the sentences */
    bf16 *panels, *rows;     /* a packed operand; (rows, dh): a result */
};

AttentionScratch *attention_scratch(size_t longest, size_t dh)
{
    size_t n = round_up(longest);
    AttentionScratch *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->scores = aligned_alloc(64, n * n * sizeof *s->scores);
    s->slopes = aligned_alloc(64, n * n * sizeof *s->slopes);
    s->weights = aligned_alloc(64, n * n * sizeof *s->weights);
    s->wslopes = aligned_alloc(64, n * n * sizeof *s->wslopes);
    s->panels = aligned_alloc(64, n * (n > dh ? n : dh) * sizeof *s->panels);
    s->rows = aligned_alloc(64, n * dh * sizeof *s->rows);
    if (s->scores && s->slopes && s->weights && s->wslopes && s->panels && s->rows)
        return s;
    attention_scratch_free(s);
    return NULL;
}

void attention_scratch_free(AttentionScratch *s)
{
    if (!s)
        return;
    free(s->scores);
    free(s->slopes);
    free(s->weights);
    free(s->wslopes);
    free(s->panels);
    free(s->rows);
    free(s);
}

/* One head of a group of sentences. */
typedef struct {
    size_t first, count;               /* sentences */
    size_t query_row, key_row, column; /* where its values begin */
    size_t query_count, key_count;     /* rows */
    size_t query_side, key_side, dh;   /* the same rounded up; width of a head */
    int guided;
} Group;

static size_t group_size(const Attention *a)
{
    size_t longest = a->queries > a->keys ? a->queries : a->keys;
    return longest < BLOCK ? BLOCK / longest : 1;
}

static Group group_at(const Attention *a, size_t first, size_t head)
{
    size_t count = group_size(a), dh = a->d / a->heads;
    if (count > a->sentences - first)
        count = a->sentences - first;
    return (Group){first,
                   count,
                   first * a->queries,
                   first * a->keys,
                   head * dh,
                   count * a->queries,
                   count * a->keys,
                   round_up(count * a->queries),
                   round_up(count * a->keys),
                   dh,
                   a->guide && head == 0};
}

/* Keys that a row of the group may look at: [from, to). */
static void reach(const Attention *a, size_t row, size_t *from, size_t *to)
{
    *from = row / a->queries * a->keys;
    *to = *from + (a->causal ? row % a->queries + 1 : a->keys);
}

/* s (side) becomes softmax(scale s) between from and to, 0 elsewhere. */
static void softmax_row(float *s, size_t side, size_t from, size_t to, float scale)
{
    float top = -1e30f, sum = 0;
    for (size_t j = from; j < to; j++)
        top = s[j] > top ? s[j] : top;
    for (size_t j = 0; j < side; j++) {
        float e = fast_exp((s[j] - top) * scale);
        s[j] = j >= from && j < to ? e : 0.0f;
        sum += s[j];
    }
    float r = 1.0f / sum;
    for (size_t j = 0; j < side; j++)
        s[j] *= r;
}

static void narrow_rows(const float *x, size_t n, bf16 *y)
{
    for (size_t i = 0; i < n; i++)
        y[i] = narrow(x[i]);
}

/* scratch->scores, weights: (query_side, key_side) = softmax(q k^T / sqrt(dh)). */
static void weigh(const Attention *a, const Group *g, AttentionScratch *s)
{
    const bf16 *q = a->q + g->query_row * a->query_width + g->column;
    pack_columns(a->k + g->key_row * a->key_width + g->column, a->key_width, g->key_side, g->dh,
                 s->panels);
    Result r = {.finish = TO_F32, .out32 = s->scores, .width = g->key_side};
    product(left_rows(q, a->query_width), s->panels, g->query_side, g->key_side, g->dh, &r);
    float scale = 1.0f / sqrtf((float)g->dh);
    for (size_t i = 0; i < g->query_count; i++) {
        size_t from, to;
        reach(a, i, &from, &to);
        softmax_row(s->scores + i * g->key_side, g->key_side, from, to, scale);
    }
    memset(s->scores + g->query_count * g->key_side, 0,
           (g->query_side - g->query_count) * g->key_side * sizeof *s->scores);
    narrow_rows(s->scores, g->query_side * g->key_side, s->weights);
}

/* The key, as a column of the group's matrix, that a row is taught to look at, or -1. */
static long taught(const Attention *a, const Group *g, size_t row)
{
    int32_t key = a->guide[g->query_row + row];
    return key < 0 ? -1 : (long)(row / a->queries * a->keys) + key;
}

/* Rows of a head from a whole number of blocks: (count, dh) of x (side, dh) go to rows of `width`.
 */
static void put_rows(const bf16 *x, size_t count, size_t dh, bf16 *out, size_t width)
{
    for (size_t i = 0; i < count; i++)
        memcpy(out + i * width, x + i * dh, dh * sizeof *out);
}

/* out (count rows of `width`) = left (side x inner) times the panels (inner x dh). */
static void put_product(Left left, AttentionScratch *s, size_t side, size_t count, size_t inner,
                        size_t dh, bf16 *out, size_t width)
{
    Result r = {.finish = TO_BF16, .out16 = s->rows, .width = dh};
    product(left, s->panels, side, dh, inner, &r);
    put_rows(s->rows, count, dh, out, width);
}

double attention_forward(const Attention *a, AttentionScratch *s, bf16 *out)
{
    double cost = 0;
    for (size_t first = 0; first < a->sentences; first += group_size(a))
        for (size_t head = 0; head < a->heads; head++) {
            Group g = group_at(a, first, head);
            weigh(a, &g, s);
            for (size_t i = 0; g.guided && i < g.query_count; i++) {
                long key = taught(a, &g, i);
                if (key >= 0)
                    cost -= logf(s->scores[i * g.key_side + (size_t)key] + 1e-4f);
            }
            pack_rows(a->v + g.key_row * a->key_width + g.column, a->key_width, g.key_side, g.dh,
                      s->panels);
            put_product(left_rows(s->weights, g.key_side), s, g.query_side, g.query_count,
                        g.key_side, g.dh, out + g.query_row * a->d + g.column, a->d);
        }
    return cost;
}

/* scratch->wslopes: gradient of the scores, from the gradient `slopes` of the weights. */
static void softmax_slopes(const Attention *a, const Group *g, AttentionScratch *s)
{
    float scale = 1.0f / sqrtf((float)g->dh);
    for (size_t i = 0; i < g->query_count; i++) {
        float *p = s->scores + i * g->key_side, *dp = s->slopes + i * g->key_side, dot = 0;
        long key = g->guided ? taught(a, g, i) : -1;
        if (key >= 0)
            dp[key] -= a->guide_weight / (p[key] + 1e-4f);
        for (size_t j = 0; j < g->key_side; j++)
            dot += p[j] * dp[j];
        for (size_t j = 0; j < g->key_side; j++)
            dp[j] = p[j] * (dp[j] - dot) * scale;
    }
    memset(s->slopes + g->query_count * g->key_side, 0,
           (g->query_side - g->query_count) * g->key_side * sizeof *s->slopes);
    narrow_rows(s->slopes, g->query_side * g->key_side, s->wslopes);
}

void attention_backward(const Attention *a, AttentionScratch *s, const bf16 *grad, bf16 *dq,
                        bf16 *dk, bf16 *dv)
{
    for (size_t first = 0; first < a->sentences; first += group_size(a))
        for (size_t head = 0; head < a->heads; head++) {
            Group g = group_at(a, first, head);
            size_t query = g.query_row * a->query_width + g.column,
                   key = g.key_row * a->key_width + g.column;
            const bf16 *go = grad + g.query_row * a->d + g.column;
            weigh(a, &g, s);

            pack_columns(a->v + key, a->key_width, g.key_side, g.dh, s->panels);
            Result r = {.finish = TO_F32, .out32 = s->slopes, .width = g.key_side};
            product(left_rows(go, a->d), s->panels, g.query_side, g.key_side, g.dh, &r);
            softmax_slopes(a, &g, s);

            pack_rows(a->k + key, a->key_width, g.key_side, g.dh, s->panels);
            put_product(left_rows(s->wslopes, g.key_side), s, g.query_side, g.query_count,
                        g.key_side, g.dh, dq + query, a->query_width);

            bf16 *turned = (bf16 *)s->slopes; /* fp32 of the same size: free again */
            pack_transposed(s->wslopes, g.key_side, g.query_side, g.key_side, turned);
            pack_rows(a->q + query, a->query_width, g.query_side, g.dh, s->panels);
            put_product(left_packed(turned, g.query_side), s, g.key_side, g.key_count, g.query_side,
                        g.dh, dk + key, a->key_width);

            pack_transposed(s->weights, g.key_side, g.query_side, g.key_side, turned);
            pack_rows(go, a->d, g.query_side, g.dh, s->panels);
            put_product(left_packed(turned, g.query_side), s, g.key_side, g.key_count, g.query_side,
                        g.dh, dv + key, a->key_width);
        }
}
