/* The decoder: one step of a post-norm Transformer stack for hypotheses of many sentences. */
#include "nn/layer.h"

#include <math.h>
#include <string.h>

/* The rows of one sentence within a step. */
typedef struct nn_span {
    nn_sentence *sentence;
    size_t begin, count;
} nn_span;

static nn_span span_at(const nn_row *rows, size_t count, size_t begin)
{
    nn_span span = {.sentence = rows[begin].sentence, .begin = begin, .count = 1};
    while (begin + span.count < count && rows[begin + span.count].sentence == span.sentence)
        span.count++;
    return span;
}

static float head_scale(const nn_shape *shape)
{
    return 1.0F / sqrtf((float)shape->dim);
}

/* ---- Self-attention ------------------------------------------------------------------------- */

/* What a row looks at: the positions of its own history, the current one included. */
static kn_memory history_of(const nn_shape *shape, const nn_row *row, size_t layer, size_t head)
{
    const nn_sentence *sentence = row->sentence;
    return nn_cache_memory(shape, layer, head, sentence->history + row->slot * sentence->positions,
                           sentence->length + 1);
}

static void self_attention(nn_worker *worker, const nn_row *rows, size_t count, size_t index)
{
    const nn_network *network = worker->network;
    const nn_layer *layer = &network->decoder[index];
    const nn_shape *shape = &worker->pool.shape;
    const size_t d = network->d_model;
    nn_input input = nn_activations(worker, worker->x, count, d);
    nn_multiply(worker, &layer->self_qkv, &input, KN_NONE, worker->projected, 3 * d);
    for (size_t i = 0; i < count; i++) {
        const float *qkv = worker->projected + i * 3 * d; /* (query | key | value, d_model) */
        nn_cache_store(network->table, shape, worker->cells[i], index, false, qkv + d);
        nn_cache_store(network->table, shape, worker->cells[i], index, true, qkv + 2 * d);
        for (size_t head = 0; head < shape->heads; head++) {
            const size_t offset = head * shape->dim;
            kn_memory next, memory = history_of(shape, &rows[i], index, head);
            if (i + 1 < count) {
                next = history_of(shape, &rows[i + 1], index, head);
                memory.next = &next;
            }
            kn_attend(network->table, qkv + offset, 3 * d, 1, &memory, head_scale(shape),
                      worker->weights, worker->attended + i * d + offset, d);
        }
    }
    nn_finish_attention(worker, &layer->self_out, &layer->self_norm, count);
}

/* ---- Cross-attention ------------------------------------------------------------------------ */

/* Adds the attention of an alignment head to what the rows looked at. weights: (queries, source
 * positions); looked: (queries, worker->span). */
static void add_looks(const nn_worker *worker, const float *weights, size_t queries,
                      size_t positions, float *looked)
{
    for (size_t i = 0; i < queries; i++)
        for (size_t p = 0; p < positions; p++)
            looked[i * worker->span + p] += weights[i * positions + p];
}

static kn_memory source_of(const nn_shape *shape, const nn_sentence *sentence, size_t layer,
                           size_t head)
{
    return nn_cache_memory(shape, layer, head, sentence->source, sentence->source_count);
}

/* The hypotheses of one sentence look at its source: they share what is read. follower: the
 * sentence that is looked at next, or NULL. */
static void look_at_source(nn_worker *worker, const nn_span *span, const nn_sentence *follower,
                           size_t index, size_t head)
{
    const nn_network *network = worker->network;
    const nn_shape *shape = &worker->pool.shape;
    const size_t d = network->d_model, offset = head * shape->dim;
    const size_t positions = span->sentence->source_count;
    const bool *aligns = worker->limits.alignment ? network->decoder[index].aligns : NULL;
    kn_memory next, memory = source_of(shape, span->sentence, index, head);
    if (follower) {
        next = source_of(shape, follower, index, head);
        memory.next = &next;
    }
    for (size_t i = 0; i < span->count; i += NN_QUERIES) {
        const size_t queries = span->count - i < NN_QUERIES ? span->count - i : NN_QUERIES;
        const size_t row = span->begin + i;
        kn_attend(network->table, worker->projected + row * d + offset, d, queries, &memory,
                  head_scale(shape), worker->weights, worker->attended + row * d + offset, d);
        if (aligns && aligns[head])
            add_looks(worker, worker->weights, queries, positions,
                      worker->looked + row * worker->span);
    }
}

static void cross_attention(nn_worker *worker, const nn_row *rows, size_t count, size_t index)
{
    const nn_network *network = worker->network;
    const nn_layer *layer = &network->decoder[index];
    const size_t d = network->d_model;
    nn_input input = nn_activations(worker, worker->x, count, d);
    nn_multiply(worker, &layer->cross_q, &input, KN_NONE, worker->projected, d);
    for (size_t i = 0; i < count;) {
        const nn_span span = span_at(rows, count, i);
        i += span.count;
        for (size_t head = 0; head < worker->pool.shape.heads; head++)
            look_at_source(worker, &span, i < count ? rows[i].sentence : NULL, index, head);
    }
    nn_finish_attention(worker, &layer->cross_out, &layer->cross_norm, count);
}

/* ---- Alignment ------------------------------------------------------------------------------ */

static uint32_t highest(const float *values, size_t count)
{
    size_t best = 0;
    for (size_t i = 1; i < count; i++)
        if (values[i] > values[best])
            best = i;
    return (uint32_t)best;
}

/* Notes which source position each row looked at most. */
static void note_alignment(const nn_worker *worker, const nn_row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        nn_sentence *sentence = rows[i].sentence;
        sentence->aligned[rows[i].slot * sentence->positions + sentence->length] =
            highest(worker->looked + i * worker->span, sentence->source_count);
    }
}

/* ---- Output --------------------------------------------------------------------------------- */

/* Logits are made panel by panel and looked at while they are in the cache. */
static void keep_top(nn_worker *worker, size_t count, kn_top *top, bool want_sum)
{
    const nn_network *network = worker->network;
    const nn_linear *output = &network->output;
    nn_input input = nn_activations(worker, worker->x, count, network->d_model);
    for (size_t begin = 0; begin < output->out; begin += NN_PANEL) {
        const size_t end = output->out - begin < NN_PANEL ? output->out : begin + NN_PANEL;
        nn_linear_apply_range(output, network->table, &input, begin, end, KN_NONE, worker->outputs,
                              NN_PANEL);
        for (size_t i = 0; i < count; i++)
            kn_top_update(network->table, &top[i], worker->outputs + i * NN_PANEL, end - begin,
                          (int32_t)begin, want_sum);
    }
}

static void write_logits(nn_worker *worker, size_t count, float *logits)
{
    const nn_network *network = worker->network;
    nn_input input = nn_activations(worker, worker->x, count, network->d_model);
    nn_multiply(worker, &network->output, &input, KN_NONE, logits, network->output.out);
}

/* Rows of logits that a team looks through. */
typedef struct choice {
    const nn_worker *worker;
    size_t count;
    kn_top *top; /* (count) */
    bool want_sum;
} choice;

/* Goes through a row in the steps of keep_top: sums depend on them, in their last bits. */
void nn_choose(const nn_network *network, const float *logits, kn_top *top, bool want_sum)
{
    const size_t out = network->output.out;
    for (size_t begin = 0; begin < out; begin += NN_PANEL)
        kn_top_update(network->table, top, logits + begin,
                      out - begin < NN_PANEL ? out - begin : NN_PANEL, (int32_t)begin, want_sum);
}

static void choose_part(void *context, size_t part, size_t parts)
{
    const choice *c = context;
    const nn_network *network = c->worker->network;
    for (size_t i = c->count * part / parts; i < c->count * (part + 1) / parts; i++)
        nn_choose(network, c->worker->outputs + i * network->output.out, &c->top[i], c->want_sum);
}

/* A team makes all logits first, each member some outputs of every row, then looks at them, each
 * member at some rows. */
static void keep_top_together(nn_worker *worker, size_t count, kn_top *top, bool want_sum)
{
    choice shared = {worker, count, top, want_sum};
    write_logits(worker, count, worker->outputs);
    base_team_run(worker->team, choose_part, &shared);
}

/* ---- A step --------------------------------------------------------------------------------- */

static void begin_step(nn_worker *worker, const nn_row *rows, size_t count)
{
    const nn_network *network = worker->network;
    for (size_t i = 0; i < count; i++) {
        nn_embed(network, &network->model->target_embedding, rows[i].token,
                 rows[i].sentence->length, worker->x + i * network->d_model);
        worker->cells[i] = nn_sentence_advance(&worker->pool, rows[i].sentence, rows[i].slot);
    }
    if (worker->limits.alignment)
        memset(worker->looked, 0, count * worker->span * sizeof *worker->looked);
}

static void end_step(const nn_worker *worker, const nn_row *rows, size_t count)
{
    if (worker->limits.alignment)
        note_alignment(worker, rows, count);
    for (size_t i = 0; i < count;) {
        const nn_span span = span_at(rows, count, i);
        span.sentence->length++;
        i += span.count;
    }
}

void nn_step(nn_worker *worker, const nn_row *rows, size_t count, float *logits, kn_top *top,
             bool want_sum)
{
    const nn_network *network = worker->network;
    begin_step(worker, rows, count);
    for (size_t i = 0; i < network->model->config.decoder.layers; i++) {
        self_attention(worker, rows, count, i);
        cross_attention(worker, rows, count, i);
        nn_feed_forward(worker, &network->decoder[i], count);
    }
    if (logits)
        write_logits(worker, count, logits);
    if (top && worker->team && network->output.packed)
        keep_top_together(worker, count, top, want_sum);
    else if (top)
        keep_top(worker, count, top, want_sum);
    end_step(worker, rows, count);
}
