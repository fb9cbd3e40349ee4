#include "step.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "layers.h"
#include "output.h"

enum { MOST = 64 }; /* layers, threads */
static const size_t ARENA =
    (size_t)3 << 29; /* address space for a thread's batch; only what is touched is real */

typedef struct {
    size_t weight, bias, rows, columns;
    bf16 *forward, *inverse;
} Linear;
typedef struct {
    size_t gain, bias;
} Norm;
typedef struct {
    int decoder; /* then it has the cross attention and norm2 too */
    Linear qkv, out, cross_q, cross_kv, cross_out, fc1, fc2;
    Norm norm1, norm2, norm3;
} Layer;

enum { LINEARS = 7 };

/* The linear layers of a layer; returns their number. */
static size_t linears(const Layer *l, const Linear *all[LINEARS])
{
    const Linear *both[] = {&l->qkv,     &l->out,      &l->fc1,      &l->fc2,
                            &l->cross_q, &l->cross_kv, &l->cross_out};
    size_t n = l->decoder ? LINEARS : LINEARS - 3;
    for (size_t i = 0; i < n; i++)
        all[i] = both[i];
    return n;
}

/* What the way back needs of the way there. Rows are those of the layer's own side, kv has those of
 * the other. */
typedef struct {
    const bf16 *in;
    bf16 *qkv, *attended, *x1, *normal1, *q, *kv, *crossed, *x2, *normal2, *hidden, *out, *normal3;
    float *inverse1, *inverse2, *inverse3;
} Kept;

typedef struct {
    char *memory;
    size_t used;
    float *gradient; /* of this thread's batches: the caller's for the first, else */
    float *own_gradient;
    float *xsum; /* (d): see output.h */
    float *sum;  /* (rows, d): residual sums, until they are normalised */
    AttentionScratch *attention;
    StepStats stats;
    int failed;
} Worker;

struct Step {
    StepConfig config;
    size_t values, embedding, output_bias, layers;
    Layer *layer; /* encoder's, then decoder's */
    bf16 *table_forward, *table_inverse;
    float *positions; /* (longest + 1, d) */
    float *total;     /* (d): sum of the table's target rows */
    float bias_total;
    Worker *worker;
    /* of the step that runs */
    const float *parameters;
    float *gradient;
    const StepBatch *batches;
    size_t count;
    atomic_size_t next;
};

typedef struct {
    Step *step;
    Worker *worker;
    size_t index;
} Job;

/* --- memory
 * ------------------------------------------------------------------------------------------------------
 */

static void *big_pages(size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                   -1, 0);
    if (p == MAP_FAILED)
        return NULL;
    madvise(p, bytes, MADV_HUGEPAGE);
    return p;
}

static void give_back(void *p, size_t bytes)
{
    if (p)
        munmap(p, bytes);
}

static size_t table_bytes(const Step *s)
{
    return round_up((size_t)s->config.targets) * (size_t)s->config.d * sizeof(bf16);
}

static void *take(Worker *w, size_t bytes)
{
    bytes = (bytes + 63) / 64 * 64;
    void *p = w->memory + w->used;
    w->used += bytes;
    return p;
}

/* (rows, width): the padding rows, and 32 rows more that attention may read, are zero. */
static bf16 *take_rows(Worker *w, size_t rows, size_t width)
{
    size_t all = round_up(rows) + BLOCK;
    bf16 *p = take(w, all * width * sizeof *p);
    memset(p + rows * width, 0, (all - rows) * width * sizeof *p);
    return p;
}

static float *take_floats(Worker *w, size_t rows, size_t width)
{
    return take(w, round_up(rows) * width * sizeof(float));
}

/* --- way there
 * ---------------------------------------------------------------------------------------------------
 */

static void linear(const Step *s, const Linear *l, const bf16 *x, size_t rows, Finish finish,
                   const bf16 *other, bf16 *out16, float *out32)
{
    Result r = {finish, s->parameters + l->bias, other, out16, out32, NULL, l->rows};
    product(left_rows(x, l->columns), l->forward, round_up(rows), l->rows, l->columns, &r);
}

static void normalise(const Step *s, Worker *w, const Norm *n, const float *sum, size_t rows,
                      bf16 **y, bf16 **normal, float **inverse)
{
    size_t d = (size_t)s->config.d;
    *y = take_rows(w, rows, d);
    *normal = take_rows(w, rows, d);
    *inverse = take_floats(w, rows, 1);
    norm_forward(sum, round_up(rows), d, s->parameters + n->gain, s->parameters + n->bias, *y,
                 *normal, *inverse);
}

static Attention self_attention(const Step *s, const StepBatch *b, const Kept *k, int decoder)
{
    size_t d = (size_t)s->config.d, length = (size_t)(decoder ? b->targets : b->sources);
    return (Attention){
        k->qkv, k->qkv + d, k->qkv + 2 * d,          3 * d, 3 * d,   (size_t)b->sentences,
        length, length,     (size_t)s->config.heads, d,     decoder, NULL,
        0};
}

static Attention cross_attention(const Step *s, const StepBatch *b, const Kept *k, int last)
{
    size_t d = (size_t)s->config.d;
    return (Attention){k->q,
                       k->kv,
                       k->kv + d,
                       d,
                       2 * d,
                       (size_t)b->sentences,
                       (size_t)b->targets,
                       (size_t)b->sources,
                       (size_t)s->config.heads,
                       d,
                       0,
                       last ? b->guide : NULL,
                       s->config.guide_weight};
}

/* x: (rows, d) bf16, kept; memory: the encoder's result, or NULL in the encoder. Returns the
 * layer's result. */
static const bf16 *layer_forward(const Step *s, Worker *w, const Layer *l, const StepBatch *b,
                                 const bf16 *x, const bf16 *memory, int last, Kept *k)
{
    size_t d = (size_t)s->config.d, ff = (size_t)s->config.ff,
           sources = (size_t)(b->sentences * b->sources);
    size_t rows = memory ? (size_t)(b->sentences * b->targets) : sources;
    *k = (Kept){.in = x, .qkv = take_rows(w, rows, 3 * d), .attended = take_rows(w, rows, d)};
    float *sum = w->sum;

    linear(s, &l->qkv, x, rows, TO_BF16, NULL, k->qkv, NULL);
    Attention self = self_attention(s, b, k, memory != NULL);
    attention_forward(&self, w->attention, k->attended);
    linear(s, &l->out, k->attended, rows, TO_SUM, x, NULL, sum);
    normalise(s, w, &l->norm1, sum, rows, &k->x1, &k->normal1, &k->inverse1);
    x = k->x1;

    if (memory) {
        k->q = take_rows(w, rows, d);
        k->kv = take_rows(w, sources, 2 * d);
        k->crossed = take_rows(w, rows, d);
        linear(s, &l->cross_q, x, rows, TO_BF16, NULL, k->q, NULL);
        linear(s, &l->cross_kv, memory, sources, TO_BF16, NULL, k->kv, NULL);
        Attention cross = cross_attention(s, b, k, last);
        w->stats.guide += attention_forward(&cross, w->attention, k->crossed);
        linear(s, &l->cross_out, k->crossed, rows, TO_SUM, x, NULL, sum);
        normalise(s, w, &l->norm2, sum, rows, &k->x2, &k->normal2, &k->inverse2);
        x = k->x2;
    }
    k->hidden = take_rows(w, rows, ff);
    linear(s, &l->fc1, x, rows, TO_BF16_RELU, NULL, k->hidden, NULL);
    linear(s, &l->fc2, k->hidden, rows, TO_SUM, x, NULL, sum);
    normalise(s, w, &l->norm3, sum, rows, &k->out, &k->normal3, &k->inverse3);
    return k->out;
}

/* (sentences * length, d) = table[ids] sqrt(d) + positions */
static const bf16 *embed(const Step *s, Worker *w, const int32_t *ids, size_t sentences,
                         size_t length)
{
    size_t d = (size_t)s->config.d;
    float scale = sqrtf((float)d);
    bf16 *x = take_rows(w, sentences * length, d);
    for (size_t i = 0; i < sentences * length; i++) {
        const float *row = s->parameters + s->embedding + (size_t)ids[i] * d,
                    *position = s->positions + i % length * d;
        for (size_t j = 0; j < d; j++)
            x[i * d + j] = narrow(row[j] * scale + position[j]);
    }
    return x;
}

/* --- way back
 * ----------------------------------------------------------------------------------------------------
 */

/* The gradient of a linear layer's weight from its input x and its result's gradient g, both (rows,
 * .) bf16; some rows at a time, so that what is packed is still in the cache when it is used. */
static void weight_gradient(Worker *w, const Linear *l, const bf16 *x, const bf16 *g, size_t rows)
{
    enum { CHUNK = 512 };
    size_t mark = w->used;
    bf16 *turned = take(w, CHUNK * l->rows * sizeof *turned),
         *panels = take(w, CHUNK * l->columns * sizeof *panels);
    for (size_t top = 0; top < rows; top += CHUNK) {
        size_t n = round_up(rows - top < CHUNK ? rows - top : CHUNK);
        pack_transposed(g + top * l->rows, l->rows, n, l->rows, turned);
        pack_rows(x + top * l->columns, l->columns, n, l->columns, panels);
        add_product(left_packed(turned, n), panels, l->rows, l->columns, n, w->gradient + l->weight,
                    l->columns);
    }
    w->used = mark;
}

static void input_gradient(const Linear *l, const bf16 *g, size_t rows, Finish finish,
                           const bf16 *mask, bf16 *out16, float *out32)
{
    Result r = {finish, NULL, mask, out16, out32, NULL, l->columns};
    product(left_rows(g, l->rows), l->inverse, round_up(rows), l->columns, l->rows, &r);
}

/* g (rows, d): gradient of the norm's result, becomes that of the sum before it; also in bf16. */
static void norm_back(const Step *s, Worker *w, const Norm *n, const Linear *before, float *g,
                      size_t rows, const bf16 *normal, const float *inverse, bf16 *g16)
{
    float *grad = w->gradient;
    norm_backward(g, round_up(rows), (size_t)s->config.d, s->parameters + n->gain, normal, inverse,
                  g16, grad + n->gain, grad + n->bias, grad + before->bias);
}

/* The part of a layer after an attention: its out projection, whose gradient is g16. Returns the
 * attention's. */
static bf16 *out_back(Worker *w, const Linear *out, const bf16 *attended, const bf16 *g16,
                      size_t rows)
{
    weight_gradient(w, out, attended, g16, rows);
    bf16 *g = take_rows(w, rows, out->columns);
    input_gradient(out, g16, rows, TO_BF16, NULL, g, NULL);
    return g;
}

static void feed_forward_back(const Step *s, Worker *w, const Layer *l, const Kept *k,
                              const bf16 *x, float *g, bf16 *g16, size_t rows)
{
    norm_back(s, w, &l->norm3, &l->fc2, g, rows, k->normal3, k->inverse3, g16);
    weight_gradient(w, &l->fc2, k->hidden, g16, rows);
    bf16 *dhidden = take_rows(w, rows, l->fc1.rows);
    input_gradient(&l->fc2, g16, rows, TO_BF16_WHERE, k->hidden, dhidden, NULL);
    add_columns(dhidden, rows, l->fc1.rows, w->gradient + l->fc1.bias);
    weight_gradient(w, &l->fc1, x, dhidden, rows);
    input_gradient(&l->fc1, dhidden, rows, ADD_F32, NULL, NULL, g);
}

/* dmemory (sources, d) += what this layer's cross attention asks of the encoder's result. */
static void cross_back(const Step *s, Worker *w, const Layer *l, const StepBatch *b, const Kept *k,
                       const bf16 *memory, int last, float *g, bf16 *g16, float *dmemory,
                       size_t rows)
{
    size_t d = (size_t)s->config.d, sources = (size_t)(b->sentences * b->sources);
    norm_back(s, w, &l->norm2, &l->cross_out, g, rows, k->normal2, k->inverse2, g16);
    bf16 *da = out_back(w, &l->cross_out, k->crossed, g16, rows);
    bf16 *dq = take_rows(w, rows, d), *dkv = take_rows(w, sources, 2 * d);
    Attention cross = cross_attention(s, b, k, last);
    attention_backward(&cross, w->attention, da, dq, dkv, dkv + d);
    add_columns(dq, rows, d, w->gradient + l->cross_q.bias);
    add_columns(dkv, sources, 2 * d, w->gradient + l->cross_kv.bias);
    weight_gradient(w, &l->cross_q, k->x1, dq, rows);
    weight_gradient(w, &l->cross_kv, memory, dkv, sources);
    input_gradient(&l->cross_q, dq, rows, ADD_F32, NULL, NULL, g);
    input_gradient(&l->cross_kv, dkv, sources, ADD_F32, NULL, NULL, dmemory);
}

/* g (rows, d): gradient of the layer's result, becomes that of its input. */
static void layer_backward(const Step *s, Worker *w, const Layer *l, const StepBatch *b,
                           const Kept *k, const bf16 *memory, int last, float *g, float *dmemory)
{
    size_t d = (size_t)s->config.d, mark = w->used;
    size_t rows = (size_t)(b->sentences * (memory ? b->targets : b->sources));
    bf16 *g16 = take_rows(w, rows, d);
    feed_forward_back(s, w, l, k, memory ? k->x2 : k->x1, g, g16, rows);
    if (memory)
        cross_back(s, w, l, b, k, memory, last, g, g16, dmemory, rows);

    norm_back(s, w, &l->norm1, &l->out, g, rows, k->normal1, k->inverse1, g16);
    bf16 *da = out_back(w, &l->out, k->attended, g16, rows), *dqkv = take_rows(w, rows, 3 * d);
    Attention self = self_attention(s, b, k, memory != NULL);
    attention_backward(&self, w->attention, da, dqkv, dqkv + d, dqkv + 2 * d);
    add_columns(dqkv, rows, 3 * d, w->gradient + l->qkv.bias);
    weight_gradient(w, &l->qkv, k->in, dqkv, rows);
    input_gradient(&l->qkv, dqkv, rows, ADD_F32, NULL, NULL, g);
    w->used = mark;
}

static void embed_back(const Step *s, Worker *w, const int32_t *ids, size_t count, const float *g)
{
    size_t d = (size_t)s->config.d;
    float scale = sqrtf((float)d);
    for (size_t i = 0; i < count; i++) {
        if (ids[i] == s->config.vocabulary - 1)
            continue; /* <pad> stays zero */
        float *row = w->gradient + s->embedding + (size_t)ids[i] * d;
        for (size_t j = 0; j < d; j++)
            row[j] += scale * g[i * d + j];
    }
}

/* --- a batch
 * -----------------------------------------------------------------------------------------------------
 */

/* The rows of y that stand for a token, and those tokens. */
static size_t gather(const StepBatch *b, const bf16 *y, size_t d, bf16 *rows, int32_t *gold,
                     int32_t *from)
{
    size_t n = 0;
    for (int32_t i = 0; i < b->sentences * b->targets; i++) {
        if (b->output[i] < 0)
            continue;
        memcpy(rows + n * d, y + (size_t)i * d, d * sizeof *rows);
        gold[n] = b->output[i];
        from[n++] = i;
    }
    return n;
}

/* Cost of the decoder's result y; with a gradient wanted, g (targets, d) becomes y's. */
static void cost(const Step *s, Worker *w, const StepBatch *b, const bf16 *y, float *g)
{
    size_t d = (size_t)s->config.d, all = (size_t)(b->sentences * b->targets), mark = w->used;
    const float *p = s->parameters;
    Output o = {d,
                (size_t)s->config.targets,
                p + s->embedding,
                p + s->output_bias,
                s->table_forward,
                s->table_inverse,
                s->total,
                s->bias_total,
                s->config.smooth};
    bf16 *x = take(w, round_up(all) * d * sizeof *x);
    int32_t *gold = take(w, all * sizeof *gold), *from = take(w, all * sizeof *from);
    size_t n = gather(b, y, d, x, gold, from), rows = round_up(n);
    memset(x + n * d, 0, (rows - n) * d * sizeof *x);
    float *sums = take_floats(w, rows, 1), *dx = g ? take_floats(w, rows, d) : NULL;
    bf16 *scratch = take(w, output_scratch(&o, rows) * sizeof *scratch);
    OutputCost c = output_cost(&o, x, gold, n, rows, dx, w->gradient + s->embedding,
                               w->gradient + s->output_bias, w->xsum, scratch, sums);
    w->stats.loss += c.loss;
    w->stats.surprise += c.surprise;
    w->stats.tokens += (int64_t)n;
    if (g) {
        memset(g, 0, round_up(all) * d * sizeof *g);
        for (size_t i = 0; i < n; i++)
            memcpy(g + (size_t)from[i] * d, dx + i * d, d * sizeof *g);
    }
    w->used = mark;
}

static int fits(const Step *s, const StepBatch *b)
{
    size_t d = (size_t)s->config.d,
           rows = (size_t)b->sentences * (size_t)(b->sources + b->targets) + 256;
    size_t row = d * 64 + (size_t)s->config.ff * 8, layers = s->layers + 2;
    return b->sources <= s->config.longest && b->targets <= s->config.longest &&
           rows * (row * layers + 2 * (size_t)s->config.targets + 4096) < ARENA;
}

static void run_batch(Step *s, Worker *w, const StepBatch *b)
{
    size_t d = (size_t)s->config.d, encoder = (size_t)s->config.encoder_layers;
    size_t sources = (size_t)(b->sentences * b->sources),
           targets = (size_t)(b->sentences * b->targets);
    Kept kept[MOST];
    w->used = 0;
    w->sum = take_floats(w, sources > targets ? sources : targets, d);
    const bf16 *x = embed(s, w, b->source, (size_t)b->sentences, (size_t)b->sources);
    for (size_t i = 0; i < encoder; i++)
        x = layer_forward(s, w, s->layer + i, b, x, NULL, 0, kept + i);
    const bf16 *y = embed(s, w, b->input, (size_t)b->sentences, (size_t)b->targets);
    for (size_t i = encoder; i < s->layers; i++)
        y = layer_forward(s, w, s->layer + i, b, y, x, i + 1 == s->layers, kept + i);
    for (size_t i = 0; b->guide && i < targets; i++)
        w->stats.guided += b->guide[i] >= 0;
    float *g = s->gradient ? take_floats(w, targets, d) : NULL;
    cost(s, w, b, y, g);
    if (!g)
        return;

    float *dmemory = take_floats(w, sources, d);
    memset(dmemory, 0, round_up(sources) * d * sizeof *dmemory);
    for (size_t i = s->layers; i-- > encoder;)
        layer_backward(s, w, s->layer + i, b, kept + i, x, i + 1 == s->layers, g, dmemory);
    embed_back(s, w, b->input, targets, g);
    for (size_t i = encoder; i-- > 0;)
        layer_backward(s, w, s->layer + i, b, kept + i, NULL, 0, dmemory, NULL);
    embed_back(s, w, b->source, sources, dmemory);
}

/* --- threads
 * -----------------------------------------------------------------------------------------------------
 */

static void *run_batches(void *argument)
{
    Job *job = argument;
    Step *s = job->step;
    tiles_start();
    for (size_t i; (i = atomic_fetch_add(&s->next, 1)) < s->count;) {
        if (fits(s, s->batches + i))
            run_batch(s, job->worker, s->batches + i);
        else
            job->worker->failed = 1;
    }
    tiles_stop();
    return NULL;
}

static void pack_linear(const Step *s, const Linear *l)
{
    pack_weight(s->parameters + l->weight, l->rows, l->columns, l->forward);
    if (s->gradient)
        pack_inverse(s->parameters + l->weight, l->rows, l->columns, l->inverse);
}

static void pack_table(Step *s)
{
    size_t d = (size_t)s->config.d, targets = (size_t)s->config.targets;
    const float *table = s->parameters + s->embedding, *bias = s->parameters + s->output_bias;
    pack_weight(table, targets, d, s->table_forward);
    if (s->gradient)
        pack_inverse(table, targets, d, s->table_inverse);
    memset(s->total, 0, d * sizeof *s->total);
    s->bias_total = 0;
    for (size_t i = 0; i < targets; i++) {
        s->bias_total += bias[i];
        for (size_t j = 0; j < d; j++)
            s->total[j] += table[i * d + j];
    }
}

/* Jobs of the first phase: 0 packs the table, others a layer; every thread also clears its
 * gradient. */
static void *pack_all(void *argument)
{
    Job *job = argument;
    Step *s = job->step;
    Worker *w = job->worker;
    memset(&w->stats, 0, sizeof w->stats);
    memset(w->xsum, 0, (size_t)s->config.d * sizeof *w->xsum);
    if (s->gradient)
        memset(w->gradient, 0, s->values * sizeof *w->gradient);
    for (size_t i; (i = atomic_fetch_add(&s->next, 1)) <= s->layers;) {
        if (i == 0) {
            pack_table(s);
            continue;
        }
        const Linear *all[LINEARS];
        for (size_t k = 0, n = linears(s->layer + i - 1, all); k < n; k++)
            pack_linear(s, all[k]);
    }
    return NULL;
}

/* Each thread sums its slice of all threads' gradients into the caller's. */
static void *reduce(void *argument)
{
    Job *job = argument;
    Step *s = job->step;
    size_t threads = (size_t)s->config.threads, slice = (s->values + threads - 1) / threads;
    size_t from = job->index * slice, to = from + slice < s->values ? from + slice : s->values;
    for (size_t t = 1; t < threads; t++) {
        const float *other = s->worker[t].gradient;
        for (size_t i = from; i < to; i++)
            s->gradient[i] += other[i];
    }
    return NULL;
}

/* The phase once for each worker: in threads of their own, and where there is none to be had, here.
 */
static void in_threads(Step *s, void *(*phase)(void *))
{
    pthread_t thread[MOST];
    int running[MOST] = {0};
    Job job[MOST];
    size_t n = (size_t)s->config.threads;
    atomic_store(&s->next, 0);
    for (size_t i = 0; i < n; i++) {
        job[i] = (Job){s, s->worker + i, i};
        running[i] = i > 0 && pthread_create(thread + i, NULL, phase, job + i) == 0;
    }
    for (size_t i = 0; i < n; i++)
        if (!running[i])
            phase(job + i);
    for (size_t i = 0; i < n; i++)
        if (running[i])
            pthread_join(thread[i], NULL);
}

/* The smoothing's share in the gradient of the table: the same row for every target word. */
static void add_smoothing(Step *s)
{
    size_t d = (size_t)s->config.d, targets = (size_t)s->config.targets;
    float even = s->config.smooth / (float)s->config.targets;
    for (size_t t = 1; t < (size_t)s->config.threads; t++)
        for (size_t j = 0; j < d; j++)
            s->worker[0].xsum[j] += s->worker[t].xsum[j];
    for (size_t i = 0; i < targets; i++)
        for (size_t j = 0; j < d; j++)
            s->gradient[s->embedding + i * d + j] -= even * s->worker[0].xsum[j];
}

int step_run(Step *s, const float *parameters, float *gradient, const StepBatch *batches,
             size_t count, StepStats *stats)
{
    int failed = 0;
    s->parameters = parameters;
    s->gradient = s->worker[0].gradient = gradient;
    s->batches = batches;
    s->count = count;
    in_threads(s, pack_all);
    in_threads(s, run_batches);
    if (gradient) {
        in_threads(s, reduce);
        add_smoothing(s);
    }
    memset(stats, 0, sizeof *stats);
    for (size_t t = 0; t < (size_t)s->config.threads; t++) {
        const StepStats *w = &s->worker[t].stats;
        stats->loss += w->loss;
        stats->surprise += w->surprise;
        stats->guide += w->guide;
        stats->tokens += w->tokens;
        stats->guided += w->guided;
        failed |= s->worker[t].failed;
        s->worker[t].failed = 0;
    }
    return failed ? -1 : 0;
}

/* --- creation
 * ----------------------------------------------------------------------------------------------------
 */

static Linear linear_at(const int64_t **at, int32_t rows, int32_t columns)
{
    Linear l = {(size_t)(*at)[0], (size_t)(*at)[1], (size_t)rows, (size_t)columns, NULL, NULL};
    *at += 2;
    l.forward = big_pages(l.rows * l.columns * sizeof *l.forward);
    l.inverse = big_pages(l.rows * l.columns * sizeof *l.inverse);
    return l;
}

static Norm norm_at(const int64_t **at)
{
    Norm n = {(size_t)(*at)[0], (size_t)(*at)[1]};
    *at += 2;
    return n;
}

static Layer layer_at(const StepConfig *c, const int64_t **at, int decoder)
{
    Layer l = {.decoder = decoder};
    l.qkv = linear_at(at, 3 * c->d, c->d);
    l.out = linear_at(at, c->d, c->d);
    l.norm1 = norm_at(at);
    if (decoder) {
        l.cross_q = linear_at(at, c->d, c->d);
        l.cross_kv = linear_at(at, 2 * c->d, c->d);
        l.cross_out = linear_at(at, c->d, c->d);
        l.norm2 = norm_at(at);
    }
    l.fc1 = linear_at(at, c->ff, c->d);
    l.fc2 = linear_at(at, c->d, c->ff);
    l.norm3 = norm_at(at);
    return l;
}

/* Marian's positions: sines in the first half of the vector, cosines in the second. */
static void sinusoids(float *p, size_t count, size_t d)
{
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < d / 2; j++) {
            double angle = (double)i * exp(-(double)(2 * j) * log(10000.0) / (double)d);
            p[i * d + j] = (float)sin(angle);
            p[i * d + d / 2 + j] = (float)cos(angle);
        }
}

static int worker_create(const Step *s, Worker *w, int first)
{
    const StepConfig *c = &s->config;
    w->memory = big_pages(ARENA);
    w->xsum = calloc((size_t)c->d, sizeof *w->xsum);
    w->attention = attention_scratch((size_t)c->longest, (size_t)(c->d / c->heads));
    if (!first)
        w->gradient = w->own_gradient = big_pages(s->values * sizeof *w->gradient);
    return w->memory && w->xsum && w->attention && (first || w->gradient) ? 0 : -1;
}

static int has_panels(const Layer *l)
{
    const Linear *all[LINEARS];
    int fine = 1;
    for (size_t i = 0, n = linears(l, all); i < n; i++)
        fine &= all[i]->forward && all[i]->inverse;
    return fine;
}

static void layer_free(const Layer *l)
{
    const Linear *all[LINEARS];
    for (size_t i = 0, n = linears(l, all); i < n; i++) {
        give_back(all[i]->forward, all[i]->rows * all[i]->columns * sizeof(bf16));
        give_back(all[i]->inverse, all[i]->rows * all[i]->columns * sizeof(bf16));
    }
}

static int step_allocate(Step *s, const int64_t *offsets)
{
    const StepConfig *c = &s->config;
    size_t d = (size_t)c->d, positions = (size_t)c->longest + 1;
    s->embedding = (size_t)*offsets++;
    s->output_bias = (size_t)*offsets++;
    s->table_forward = big_pages(table_bytes(s));
    s->table_inverse = big_pages(table_bytes(s));
    s->positions = malloc(positions * d * sizeof *s->positions);
    s->total = calloc(d, sizeof *s->total);
    s->layer = calloc((size_t)(c->encoder_layers + c->decoder_layers), sizeof *s->layer);
    s->worker = calloc((size_t)c->threads, sizeof *s->worker);
    if (!s->table_forward || !s->table_inverse || !s->positions || !s->total || !s->layer ||
        !s->worker)
        return -1;
    sinusoids(s->positions, positions, d);
    for (; s->layers < (size_t)(c->encoder_layers + c->decoder_layers); s->layers++) {
        s->layer[s->layers] = layer_at(c, &offsets, s->layers >= (size_t)c->encoder_layers);
        if (!has_panels(s->layer + s->layers)) {
            layer_free(s->layer + s->layers); /* it is not counted yet */
            return -1;
        }
    }
    for (int32_t i = 0; i < c->threads; i++)
        if (worker_create(s, s->worker + i, i == 0) != 0)
            return -1;
    return 0;
}

static int sizes_fit(const StepConfig *c)
{
    return c->d > 0 && c->d % 64 == 0 && c->heads > 0 && c->d % c->heads == 0 &&
           c->d / c->heads % BLOCK == 0 && c->ff > 0 && c->ff % 64 == 0 && c->threads > 0 &&
           c->threads <= MOST && c->encoder_layers >= 0 && c->decoder_layers > 0 &&
           c->encoder_layers + c->decoder_layers <= MOST && c->targets > 0 &&
           c->vocabulary >= c->targets && c->longest > 0;
}

Step *step_create(const StepConfig *config, const int64_t *offsets, size_t values)
{
    if (!sizes_fit(config) || tiles_start() != 0)
        return NULL;
    tiles_stop();
    Step *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->config = *config;
    s->values = values;
    if (step_allocate(s, offsets) == 0)
        return s;
    step_free(s);
    return NULL;
}

static void worker_free(const Step *s, Worker *w)
{
    give_back(w->memory, ARENA);
    give_back(w->own_gradient, s->values * sizeof *w->own_gradient);
    free(w->xsum);
    attention_scratch_free(w->attention);
}

void step_free(Step *s)
{
    if (!s)
        return;
    for (size_t i = 0; s->layer && i < s->layers; i++)
        layer_free(s->layer + i);
    for (int32_t i = 0; s->worker && i < s->config.threads; i++)
        worker_free(s, s->worker + i);
    give_back(s->table_forward, table_bytes(s));
    give_back(s->table_inverse, table_bytes(s));
    free(s->positions);
    free(s->total);
    free(s->layer);
    free(s->worker);
    free(s);
}
