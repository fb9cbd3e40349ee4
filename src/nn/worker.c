#include "nn/worker.h"

#include "base/error.h"

#include <stdlib.h>

static size_t maximum(size_t a, size_t b)
{
    return a > b ? a : b;
}

static size_t minimum(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t widest_ffn(const mdl_config *config)
{
    return maximum(config->encoder.ffn, config->decoder.ffn);
}

/* An array of floats, (rows, cols). */
static bool floats(base_arena *arena, float **array, size_t rows, size_t cols)
{
    size_t count;
    if (__builtin_mul_overflow(rows, cols, &count))
        return false;
    *array = base_arena_allocate(arena, count > SIZE_MAX / 8 ? SIZE_MAX : count * sizeof(float));
    return *array != NULL;
}

static bool allocate(nn_worker *worker, size_t rows, size_t span)
{
    const nn_network *network = worker->network;
    const mdl_config *config = &network->model->config;
    const size_t d = network->d_model, ffn = widest_ffn(config), steps = worker->limits.rows;
    const size_t ffn_rows = minimum(rows, NN_FFN_ROWS);
    base_arena *arena = &worker->scratch;
    worker->quantized =
        base_arena_allocate(arena, maximum(kn_quantized_size(network->table, rows, d),
                                           kn_quantized_size(network->table, ffn_rows, ffn)));
    worker->keys = base_arena_calloc(arena, span, sizeof *worker->keys);
    worker->cells = base_arena_calloc(arena, steps, sizeof *worker->cells);
    /* Attention may read beyond the last cell, and beyond a key: there must be numbers. */
    worker->encoder_cells = base_arena_calloc(
        arena, span + 1, nn_cache_cell(&worker->encoder_shape) * sizeof *worker->encoder_cells);
    return worker->quantized && worker->keys && worker->cells && worker->encoder_cells &&
           floats(arena, &worker->x, rows, d) && floats(arena, &worker->attended, rows, d) &&
           floats(arena, &worker->projected, rows, maximum(3 * d, network->cross_kv.out)) &&
           floats(arena, &worker->hidden, ffn_rows, ffn) &&
           floats(arena, &worker->weights, NN_QUERIES + 2, span) &&
           floats(arena, &worker->outputs, steps, maximum(NN_PANEL, network->output.out)) &&
           (!worker->limits.alignment || floats(arena, &worker->looked, steps, span));
}

bool nn_worker_reserve(nn_worker *worker, size_t rows, size_t span)
{
    if (rows <= worker->rows && span <= worker->span)
        return true;
    nn_worker grown = *worker;
    grown.scratch = (base_arena){0};
    grown.rows = maximum(rows, worker->rows);
    grown.span = maximum(span, worker->span);
    if (!allocate(&grown, grown.rows, grown.span)) {
        base_arena_free(&grown.scratch);
        return false;
    }
    base_arena_free(&worker->scratch);
    *worker = grown;
    return true;
}

/* How keys and values are kept. The decoder of an int8 network keeps bytes: see cache.h. The
 * encoder keeps floats: bytes there took 0.3 BLEU from our own model (in the decoder 0.04) and
 * would save little, as it holds one layer of one sentence at a time. */
static nn_shape encoder_shape(const nn_network *network)
{
    const size_t heads = network->model->config.encoder.heads;
    return (nn_shape){.layers = 1, .heads = heads, .dim = network->d_model / heads};
}

static nn_shape decoder_shape(const nn_network *network)
{
    const mdl_stack *stack = &network->model->config.decoder;
    const size_t dim = network->d_model / stack->heads;
    return (nn_shape){.layers = stack->layers,
                      .heads = stack->heads,
                      .dim = dim,
                      .bytes = network->cross_kv.packed && dim <= KN_DIM_MAX};
}

zhen_status nn_worker_create(const nn_network *network, const nn_limits *limits, nn_worker **worker,
                             zhen_error *error)
{
    *worker = NULL;
    if (limits->rows == 0)
        return base_fail(error, ZHEN_ERROR_ARGUMENT, "a worker needs room for at least one row");
    nn_worker *made = calloc(1, sizeof *made);
    if (!made)
        return base_fail_memory(error);
    made->network = network;
    made->limits = *limits;
    made->encoder_shape = encoder_shape(network);
    made->pool.shape = decoder_shape(network);
    made->pool.cell = nn_cache_cell(&made->pool.shape);
    if (!nn_worker_reserve(made, limits->rows, 1)) {
        nn_worker_free(made);
        return base_fail_memory(error);
    }
    *worker = made;
    return ZHEN_OK;
}

void nn_worker_set_team(nn_worker *worker, base_team *team)
{
    worker->team = team;
}

void nn_worker_free(nn_worker *worker)
{
    if (!worker)
        return;
    base_arena_free(&worker->scratch);
    nn_pool_free(&worker->pool);
    free(worker);
}

void nn_sentence_release(nn_worker *worker, nn_sentence *sentence)
{
    nn_sentence_free(&worker->pool, sentence);
}
