#include "nn/network.h"

#include "base/error.h"
#include "base/pages.h"
#include "base/size.h"
#include "base/task.h"
#include "model/weights.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static kn_activation activation_of(mdl_activation activation)
{
    switch (activation) {
    case MDL_RELU:
        return KN_RELU;
    case MDL_SWISH:
        return KN_SWISH;
    case MDL_GELU:
        return KN_GELU;
    case MDL_GELU_TANH:
        return KN_GELU_TANH;
    }
    return KN_NONE;
}

/* ---- Layers ------------------------------------------------------------------------------- */

static bool create_one(nn_network *network, nn_linear *linear, const mdl_linear *layer)
{
    return nn_linear_create(linear, &layer, 1, &network->arena);
}

static bool create_layer(nn_network *network, nn_layer *layer, const mdl_layer *from, bool decoder)
{
    const mdl_linear *qkv[] = {&from->self.query, &from->self.key, &from->self.value};
    layer->self_norm = from->self.norm;
    layer->cross_norm = from->cross.norm;
    layer->norm = from->norm;
    return nn_linear_create(&layer->self_qkv, qkv, 3, &network->arena) &&
           create_one(network, &layer->self_out, &from->self.output) &&
           (!decoder || (create_one(network, &layer->cross_q, &from->cross.query) &&
                         create_one(network, &layer->cross_out, &from->cross.output))) &&
           create_one(network, &layer->fc1, &from->fc1) &&
           create_one(network, &layer->fc2, &from->fc2);
}

static bool create_stack(nn_network *network, nn_layer **stack, const mdl_layer *from, size_t count,
                         bool decoder)
{
    *stack = base_arena_calloc(&network->arena, count, sizeof **stack);
    if (!*stack)
        return false;
    for (size_t i = 0; i < count; i++)
        if (!create_layer(network, &(*stack)[i], &from[i], decoder))
            return false;
    return true;
}

/* The keys and values of all decoder layers read the same encoder output: one product. */
static bool create_cross_kv(nn_network *network)
{
    const size_t layers = network->model->config.decoder.layers;
    const mdl_layer *decoder = network->model->decoder;
    const mdl_linear **parts = base_arena_calloc(&network->arena, 2 * layers, sizeof(mdl_linear *));
    if (!parts)
        return false;
    for (size_t i = 0; i < layers; i++) {
        parts[2 * i] = &decoder[i].cross.key;
        parts[2 * i + 1] = &decoder[i].cross.value;
    }
    return nn_linear_create(&network->cross_kv, parts, 2 * layers, &network->arena);
}

/* Marks the heads that generation_config.json names; without any, those of the last layer. */
static bool mark_alignment_heads(nn_network *network)
{
    const mdl_generation *generation = &network->model->generation;
    const size_t layers = network->model->config.decoder.layers;
    const size_t heads = network->model->config.decoder.heads;
    bool *marks = base_arena_calloc(&network->arena, layers * heads, sizeof *marks);
    if (!marks)
        return false;
    bool any = false;
    for (size_t i = 0; i < generation->alignment_head_count; i++) {
        const mdl_head *head = &generation->alignment_heads[i];
        if (head->layer >= layers || head->head >= heads)
            continue;
        marks[head->layer * heads + head->head] = true;
        network->decoder[head->layer].aligns = marks + head->layer * heads;
        any = true;
    }
    if (any)
        return true;
    bool *last = marks + (layers - 1) * heads;
    memset(last, true, heads * sizeof *last);
    network->decoder[layers - 1].aligns = last;
    return true;
}

/* ---- Output matrix ------------------------------------------------------------------------- */

/* Lists the tokens that can be produced. */
static bool list_outputs(nn_network *network)
{
    const zhen_model *model = network->model;
    const size_t vocabulary = model->output.rows;
    network->output_tokens = base_arena_calloc(&network->arena, vocabulary, sizeof(int32_t));
    network->output_rows = base_arena_calloc(&network->arena, vocabulary, sizeof(int32_t));
    if (!network->output_tokens || !network->output_rows)
        return false;
    for (size_t token = 0; token < vocabulary; token++) {
        network->output_rows[token] = -1;
        if (model->output_bias && model->output_bias[token] <= MDL_BANNED_BIAS)
            continue;
        network->output_rows[token] = (int32_t)network->output_count;
        network->output_tokens[network->output_count++] = (int32_t)token;
    }
    return true;
}

static bool outputs_are_prefix(const nn_network *network)
{
    return network->output_tokens[network->output_count - 1] ==
           (int32_t)(network->output_count - 1);
}

/* Copies the rows of the output layer that can be produced. Packing int8 rows copies them once
 * more; float rows are used where they are. */
static bool gather_outputs(nn_network *network, mdl_linear *output)
{
    const mdl_matrix *from = &network->model->output;
    base_arena *copies = from->s8 ? &network->unpacked : &network->arena;
    const size_t rows = network->output_count, cols = from->cols;
    const size_t size = from->s8 ? sizeof(int8_t) : sizeof(float);
    char *values = base_arena_calloc(copies, rows * cols, size);
    float *scale = base_arena_calloc(copies, rows, sizeof *scale);
    float *bias = base_arena_calloc(copies, rows, sizeof *bias);
    if (!values || !scale || !bias)
        return false;
    const char *source = from->s8 ? (const char *)from->s8 : (const char *)from->f32;
    for (size_t r = 0; r < rows; r++) {
        const size_t token = (size_t)network->output_tokens[r];
        memcpy(values + r * cols * size, source + token * cols * size, cols * size);
        scale[r] = from->s8 ? from->scale[token] : 1.0F;
        bias[r] = output->bias ? output->bias[token] : 0.0F;
    }
    output->weight = (mdl_matrix){.rows = rows, .cols = cols, .scale = scale};
    if (from->s8)
        output->weight.s8 = (const int8_t *)values;
    else
        output->weight.f32 = (const float *)(const void *)values;
    output->bias = bias;
    return true;
}

static bool create_output(nn_network *network)
{
    mdl_linear output = {.weight = network->model->output, .bias = network->model->output_bias};
    output.weight.rows = network->output_count;
    if (outputs_are_prefix(network))
        return create_one(network, &network->output, &output);
    return gather_outputs(network, &output) && create_one(network, &network->output, &output);
}

/* ---- All layers ---------------------------------------------------------------------------- */

static bool create_all(nn_network *network)
{
    const zhen_model *model = network->model;
    return create_stack(network, &network->encoder, model->encoder, model->config.encoder.layers,
                        false) &&
           create_stack(network, &network->decoder, model->decoder, model->config.decoder.layers,
                        true) &&
           create_cross_kv(network) && mark_alignment_heads(network) && create_output(network);
}

/* Calls `visit` for every linear layer, the largest first. */
static void each_linear(nn_network *network, void (*visit)(nn_linear *linear, void *context),
                        void *context)
{
    const mdl_config *config = &network->model->config;
    nn_layer *stacks[] = {network->encoder, network->decoder};
    const size_t counts[] = {config->encoder.layers, config->decoder.layers};
    visit(&network->output, context);
    visit(&network->cross_kv, context);
    for (size_t s = 0; s < 2; s++)
        for (size_t i = 0; i < counts[s]; i++) {
            nn_layer *layer = &stacks[s][i];
            visit(&layer->self_qkv, context);
            visit(&layer->fc1, context);
            visit(&layer->fc2, context);
            visit(&layer->self_out, context);
            visit(&layer->cross_q, context);
            visit(&layer->cross_out, context);
        }
}

/* ---- Packing ------------------------------------------------------------------------------- */

/* Packing is most of what it takes to make a network: several threads share it, layer by layer. */
enum { PACKERS_MAX = 8 };

typedef struct packing_job {
    nn_linear *linear;
    size_t offset; /* in the network's packed weights */
} packing_job;

typedef struct packing {
    nn_network *network;
    packing_job *jobs; /* NULL while they are counted */
    size_t count;
    size_t total; /* bytes */
    bool overflow;
    atomic_size_t next; /* the first job that nobody has taken */
} packing;

static void add_job(nn_linear *linear, void *context)
{
    packing *work = context;
    if (!linear->packed_size)
        return;
    if (work->jobs)
        work->jobs[work->count] = (packing_job){linear, work->total};
    work->count++;
    work->overflow = !base_add(work->total, linear->packed_size, &work->total) || work->overflow;
}

static void do_jobs(void *context)
{
    packing *work = context;
    for (size_t i; (i = atomic_fetch_add(&work->next, 1)) < work->count;)
        nn_linear_pack(work->jobs[i].linear, work->network->table,
                       (char *)work->network->packed + work->jobs[i].offset);
}

static void share_jobs(packing *work, size_t threads)
{
    base_task others[PACKERS_MAX];
    const size_t count = (threads < PACKERS_MAX ? threads : PACKERS_MAX) - 1;
    for (size_t i = 0; i < count; i++)
        base_task_start(&others[i], do_jobs, work);
    do_jobs(work);
    for (size_t i = 0; i < count; i++)
        base_task_wait(&others[i]);
}

/* Packs all int8 layers, one after another in one piece of memory. */
static bool pack_all(nn_network *network, size_t threads)
{
    packing work = {.network = network};
    each_linear(network, add_job, &work);
    if (!work.count)
        return true;
    work.jobs = base_arena_calloc(&network->unpacked, work.count, sizeof *work.jobs);
    network->packed = work.overflow ? NULL : base_pages_allocate(work.total);
    if (!work.jobs || !network->packed)
        return false;
    network->packed_size = work.total;
    work.count = work.total = 0;
    each_linear(network, add_job, &work);
    share_jobs(&work, threads);
    base_arena_free(&network->unpacked);
    return true;
}

/* ---- OpenBLAS ------------------------------------------------------------------------------ */

static void look_for_float(nn_linear *linear, void *context)
{
    bool *found = context;
    *found = *found || linear->parts;
}

static void set_blas(nn_linear *linear, void *context)
{
    linear->blas = context;
}

static zhen_status open_blas(nn_network *network, zhen_error *error)
{
    bool has_float = false;
    each_linear(network, look_for_float, &has_float);
    if (!has_float)
        return ZHEN_OK;
    zhen_status status = kn_blas_open(KN_BLAS_LIBRARY, &network->blas, error);
    each_linear(network, set_blas, network->blas);
    return status;
}

/* ---- Making and freeing -------------------------------------------------------------------- */

static zhen_status build(nn_network *network, const char *isa, size_t threads, zhen_error *error)
{
    zhen_status status = kn_select(isa, &network->table, error);
    if (status)
        return status;
    if (!list_outputs(network))
        return base_fail_memory(error);
    if (network->output_count == 0)
        return base_fail(error, ZHEN_ERROR_FORMAT,
                         "final_logits_bias: forbids every piece of the vocabulary");
    if (!create_all(network) || !pack_all(network, threads))
        return base_fail_memory(error);
    return open_blas(network, error);
}

void nn_network_free(nn_network *network)
{
    if (!network)
        return;
    kn_blas_close(network->blas);
    free(network->packed);
    base_arena_free(&network->unpacked);
    base_arena_free(&network->arena);
    free(network);
}

zhen_status nn_network_create(const zhen_model *model, const char *isa, size_t threads,
                              nn_network **network, zhen_error *error)
{
    *network = NULL;
    nn_network *made = calloc(1, sizeof *made);
    if (!made)
        return base_fail_memory(error);
    made->model = model;
    made->d_model = model->config.d_model;
    made->activation = activation_of(model->config.activation);
    made->embedding_scale = model->config.scale_embedding ? sqrtf((float)made->d_model) : 1.0F;
    zhen_status status = build(made, isa, threads, error);
    if (status) {
        nn_network_free(made);
        return status;
    }
    *network = made;
    return ZHEN_OK;
}

size_t nn_network_memory(const nn_network *network)
{
    return sizeof *network + base_arena_size(&network->arena) + network->packed_size;
}

size_t nn_output_count(const nn_network *network)
{
    return network->output_count;
}

int32_t nn_output_token(const nn_network *network, size_t row)
{
    return network->output_tokens[row];
}

ptrdiff_t nn_output_row(const nn_network *network, int32_t token)
{
    if (token < 0 || (size_t)token >= network->model->output.rows)
        return -1;
    return network->output_rows[token];
}
