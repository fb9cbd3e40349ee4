/* The encoder: a post-norm Transformer stack over the tokens of several sentences at once. */
#include "base/error.h"
#include "nn/layer.h"

#include <math.h>
#include <string.h>

/* Sentences are encoded in groups of about this many tokens: enough rows for the matrix products,
 * few enough for the activations to stay in the cache. */
enum { GROUP_TOKENS = 512 };

/* ---- Arguments ------------------------------------------------------------------------------ */

static zhen_status check_source(const nn_worker *worker, const nn_source *source, size_t index,
                                zhen_error *error)
{
    const mdl_config *config = &worker->network->model->config;
    if (source->count == 0 || source->count > config->max_positions)
        return base_fail(error, ZHEN_ERROR_ARGUMENT,
                         "sentence %zu has %zu tokens; the model takes 1 to %zu", index,
                         source->count, config->max_positions);
    if (source->positions == 0 || source->positions > config->max_positions)
        return base_fail(error, ZHEN_ERROR_ARGUMENT,
                         "sentence %zu asks for %zu target positions; the model has 1 to %zu",
                         index, source->positions, config->max_positions);
    if (source->beams == 0 || source->beams > worker->limits.rows)
        return base_fail(error, ZHEN_ERROR_ARGUMENT,
                         "sentence %zu asks for %zu beams; the worker has room for 1 to %zu", index,
                         source->beams, worker->limits.rows);
    const size_t vocabulary = worker->network->model->source_embedding.rows;
    for (size_t i = 0; i < source->count; i++)
        if (source->ids[i] < 0 || (size_t)source->ids[i] >= vocabulary)
            return base_fail(error, ZHEN_ERROR_ARGUMENT,
                             "sentence %zu has token id %d; the vocabulary has %zu", index,
                             (int)source->ids[i], vocabulary);
    return ZHEN_OK;
}

/* ---- Self-attention ------------------------------------------------------------------------- */

/* Puts the keys and values of one sentence into the worker's cells. qkv: (count, query | key |
 * value, d_model). */
static void fill_cells(nn_worker *worker, const float *qkv, size_t count)
{
    const nn_network *network = worker->network;
    const nn_shape *shape = &worker->encoder_shape;
    const size_t d = network->d_model, cell = nn_cache_cell(shape);
    for (size_t i = 0; i < count; i++, qkv += 3 * d) {
        float *here = worker->encoder_cells + i * cell;
        nn_cache_store(network->table, shape, here, 0, false, qkv + d);
        nn_cache_store(network->table, shape, here, 0, true, qkv + 2 * d);
        worker->keys[i] = here;
    }
}

/* Every position of one sentence looks at all of them. attended: (count, d_model). */
static void attend_sentence(nn_worker *worker, const float *qkv, size_t count, float *attended)
{
    const nn_network *network = worker->network;
    const nn_shape *shape = &worker->encoder_shape;
    const size_t d = network->d_model;
    const float scale = 1.0F / sqrtf((float)shape->dim);
    fill_cells(worker, qkv, count);
    for (size_t head = 0; head < shape->heads; head++) {
        const size_t offset = head * shape->dim;
        const kn_memory memory = nn_cache_memory(shape, 0, head, worker->keys, count);
        for (size_t i = 0; i < count; i += NN_QUERIES) {
            const size_t queries = count - i < NN_QUERIES ? count - i : NN_QUERIES;
            kn_attend(network->table, qkv + i * 3 * d + offset, 3 * d, queries, &memory, scale,
                      worker->weights, attended + i * d + offset, d);
        }
    }
}

static void self_attention(nn_worker *worker, const nn_layer *layer, const nn_source *sources,
                           size_t count, size_t rows)
{
    const nn_network *network = worker->network;
    const size_t d = network->d_model;
    nn_input input = nn_activations(worker, worker->x, rows, d);
    nn_multiply(worker, &layer->self_qkv, &input, KN_NONE, worker->projected, 3 * d);
    size_t row = 0;
    for (size_t i = 0; i < count; i++) {
        attend_sentence(worker, worker->projected + row * 3 * d, sources[i].count,
                        worker->attended + row * d);
        row += sources[i].count;
    }
    nn_finish_attention(worker, &layer->self_out, &layer->self_norm, rows);
}

/* ---- A group of sentences ------------------------------------------------------------------- */

static void embed_sources(nn_worker *worker, const nn_source *sources, size_t count)
{
    const nn_network *network = worker->network;
    float *x = worker->x;
    for (size_t i = 0; i < count; i++)
        for (size_t p = 0; p < sources[i].count; p++) {
            nn_embed(network, &network->model->source_embedding, sources[i].ids[p], p, x);
            x += network->d_model;
        }
}

/* Takes the mean key of a sentence off its keys: the same amount off every score of a query, which
 * softmax does not see. Without what they have in common, keys lose much less when they become
 * bytes. keys: (count, stride), d values used of each row. */
static void centre_keys(float *keys, size_t stride, size_t count, size_t d, float *mean)
{
    memset(mean, 0, d * sizeof *mean);
    for (size_t p = 0; p < count; p++)
        for (size_t i = 0; i < d; i++)
            mean[i] += keys[p * stride + i];
    for (size_t i = 0; i < d; i++)
        mean[i] /= (float)count;
    for (size_t p = 0; p < count; p++)
        for (size_t i = 0; i < d; i++)
            keys[p * stride + i] -= mean[i];
}

/* Stores the keys and values of every decoder layer in the sentence's cells. kv: (positions,
 * layers, key | value, d_model). */
static void fill_cross_cache(nn_worker *worker, const nn_sentence *sentence, float *kv)
{
    const nn_network *network = worker->network;
    const nn_shape *shape = &worker->pool.shape;
    const size_t d = network->d_model, stride = network->cross_kv.out;
    for (size_t layer = 0; layer < shape->layers; layer++) {
        float *keys = kv + layer * 2 * d;
        if (shape->bytes)
            centre_keys(keys, stride, sentence->source_count, d, worker->attended);
        for (size_t p = 0; p < sentence->source_count; p++) {
            float *cell = nn_sentence_source_cell(sentence, p);
            nn_cache_store(network->table, shape, cell, layer, false, keys + p * stride);
            nn_cache_store(network->table, shape, cell, layer, true, keys + p * stride + d);
        }
    }
}

/* Projects the encoder's output to what cross-attention looks at. */
static void fill_cross_caches(nn_worker *worker, nn_sentence *const *sentences, size_t count,
                              size_t rows)
{
    const nn_network *network = worker->network;
    const size_t width = network->cross_kv.out;
    nn_input input = nn_activations(worker, worker->x, rows, network->d_model);
    nn_multiply(worker, &network->cross_kv, &input, KN_NONE, worker->projected, width);
    float *kv = worker->projected;
    for (size_t i = 0; i < count; i++) {
        fill_cross_cache(worker, sentences[i], kv);
        kv += sentences[i]->source_count * width;
    }
}

static void encode_group(nn_worker *worker, const nn_source *sources, nn_sentence *const *sentences,
                         size_t count, size_t rows)
{
    const nn_network *network = worker->network;
    embed_sources(worker, sources, count);
    for (size_t i = 0; i < network->model->config.encoder.layers; i++) {
        const nn_layer *layer = &network->encoder[i];
        self_attention(worker, layer, sources, count, rows);
        nn_feed_forward(worker, layer, rows);
    }
    fill_cross_caches(worker, sentences, count, rows);
}

/* ---- All of them ---------------------------------------------------------------------------- */

/* The sentences that are encoded together with the first one: their number, and tokens in all. */
static size_t next_group(const nn_worker *worker, const nn_source *sources, size_t count,
                         size_t *tokens)
{
    size_t most =
        worker->limits.source_tokens < GROUP_TOKENS ? worker->limits.source_tokens : GROUP_TOKENS;
    size_t taken = 1;
    *tokens = sources[0].count;
    while (taken < count && *tokens + sources[taken].count <= most)
        *tokens += sources[taken++].count;
    return taken;
}

/* Makes the sentences and the room that encoding and decoding them takes. */
static bool prepare(nn_worker *worker, const nn_source *sources, size_t count,
                    nn_sentence **sentences)
{
    size_t rows = worker->limits.rows, span = 0;
    for (size_t i = 0; i < count; i++) {
        span = sources[i].count > span ? sources[i].count : span;
        span = sources[i].positions > span ? sources[i].positions : span;
        sentences[i] = nn_sentence_create(&worker->pool, &sources[i], worker->limits.alignment);
        if (!sentences[i])
            return false;
    }
    for (size_t i = 0; i < count;) {
        size_t tokens;
        i += next_group(worker, sources + i, count - i, &tokens);
        rows = tokens > rows ? tokens : rows;
    }
    return nn_worker_reserve(worker, rows, span);
}

zhen_status nn_encode(nn_worker *worker, const nn_source *sources, size_t count,
                      nn_sentence **sentences, float *memory_out, zhen_error *error)
{
    for (size_t i = 0; i < count; i++)
        sentences[i] = NULL;
    for (size_t i = 0; i < count; i++) {
        zhen_status status = check_source(worker, &sources[i], i, error);
        if (status)
            return status;
    }
    if (!prepare(worker, sources, count, sentences)) {
        for (size_t i = 0; i < count; i++) {
            nn_sentence_release(worker, sentences[i]);
            sentences[i] = NULL;
        }
        return base_fail_memory(error);
    }
    const size_t d = worker->network->d_model;
    for (size_t i = 0; i < count;) {
        size_t tokens;
        const size_t group = next_group(worker, sources + i, count - i, &tokens);
        encode_group(worker, sources + i, sentences + i, group, tokens);
        if (memory_out) {
            memcpy(memory_out, worker->x, tokens * d * sizeof *memory_out);
            memory_out += tokens * d;
        }
        i += group;
    }
    return ZHEN_OK;
}
