#include "model/weights.h"

#include "base/error.h"
#include "model/half.h"
#include "model/positions.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char mdl_final_logits_bias[] = "final_logits_bias";

const char mdl_shared_table[] = "model.shared.weight";
const char mdl_encoder_table[] = "model.encoder.embed_tokens.weight";
const char mdl_decoder_table[] = "model.decoder.embed_tokens.weight";
const char mdl_lm_head[] = "lm_head.weight";

enum { NAME_SIZE = 128 };

/* ---- Visiting the layers ------------------------------------------------------------------- */

typedef struct visitor {
    mdl_visit visit;
    void *context;
    zhen_status status; /* after a failure nothing more is visited */
} visitor;

/* No name of ours is too long; one that were would be cut and not be found in any file. */
static void join(char joined[NAME_SIZE], const char *prefix, const char *name, const char *suffix)
{
    if (snprintf(joined, NAME_SIZE, "%s%s%s", prefix, name, suffix) >= NAME_SIZE)
        joined[NAME_SIZE - 1] = '\0';
}

static void visit_matrix(visitor *v, const char *prefix, const char *name, size_t rows, size_t cols,
                         mdl_matrix *matrix)
{
    char full[NAME_SIZE];
    join(full, prefix, name, ".weight");
    const mdl_slot slot = {.name = full, .rows = rows, .cols = cols, .matrix = matrix};
    if (!v->status)
        v->status = v->visit(v->context, &slot);
}

static void visit_vector(visitor *v, const char *prefix, const char *name, size_t rows,
                         const float **vector)
{
    char full[NAME_SIZE];
    join(full, prefix, name, "");
    const mdl_slot slot = {.name = full, .rows = rows, .cols = 1, .vector = vector};
    if (!v->status)
        v->status = v->visit(v->context, &slot);
}

static void visit_linear(visitor *v, const char *prefix, const char *name, size_t out, size_t in,
                         mdl_linear *linear)
{
    char bias[NAME_SIZE];
    join(bias, "", name, ".bias");
    visit_matrix(v, prefix, name, out, in, &linear->weight);
    visit_vector(v, prefix, bias, out, &linear->bias);
}

static void visit_norm(visitor *v, const char *prefix, const char *name, size_t d_model,
                       mdl_norm *norm)
{
    char part[NAME_SIZE];
    join(part, "", name, ".weight");
    visit_vector(v, prefix, part, d_model, &norm->weight);
    join(part, "", name, ".bias");
    visit_vector(v, prefix, part, d_model, &norm->bias);
}

static void visit_attention(visitor *v, const char *prefix, const char *name, size_t d_model,
                            mdl_attention *attention)
{
    char part[NAME_SIZE];
    join(part, prefix, name, ".");
    visit_linear(v, part, "q_proj", d_model, d_model, &attention->query);
    visit_linear(v, part, "k_proj", d_model, d_model, &attention->key);
    visit_linear(v, part, "v_proj", d_model, d_model, &attention->value);
    visit_linear(v, part, "out_proj", d_model, d_model, &attention->output);
    join(part, "", name, "_layer_norm");
    visit_norm(v, prefix, part, d_model, &attention->norm);
}

static void visit_stack(visitor *v, const char *side, const mdl_stack *stack, size_t d_model,
                        bool cross, mdl_layer *layers)
{
    for (size_t i = 0; i < stack->layers; i++) {
        mdl_layer *layer = &layers[i];
        char prefix[NAME_SIZE], number[32];
        (void)snprintf(number, sizeof number, ".layers.%zu.", i);
        join(prefix, "model.", side, number);
        visit_attention(v, prefix, "self_attn", d_model, &layer->self);
        if (cross)
            visit_attention(v, prefix, "encoder_attn", d_model, &layer->cross);
        visit_linear(v, prefix, "fc1", stack->ffn, d_model, &layer->fc1);
        visit_linear(v, prefix, "fc2", d_model, stack->ffn, &layer->fc2);
        visit_norm(v, prefix, "final_layer_norm", d_model, &layer->norm);
    }
}

zhen_status mdl_weights_visit_layers(const mdl_config *config, mdl_layer *encoder,
                                     mdl_layer *decoder, mdl_visit visit, void *context)
{
    visitor v = {.visit = visit, .context = context};
    visit_stack(&v, "encoder", &config->encoder, config->d_model, false, encoder);
    visit_stack(&v, "decoder", &config->decoder, config->d_model, true, decoder);
    return v.status;
}

/* ---- Loading ------------------------------------------------------------------------------- */

typedef struct loader {
    zhen_model *model;
    const st_file *file;
    base_arena *memory;
    const char *path;
    bool *used; /* (file->count) */
    zhen_error *error;
} loader;

static zhen_status fail(const loader *l, const char *tensor, const char *problem)
{
    return base_fail(l->error, ZHEN_ERROR_FORMAT, "%s: tensor '%s': %s", l->path, tensor, problem);
}

/* Finds a tensor and marks it as used. A checkpoint of the bare MarianModel, without the output
 * layer, has the same names without "model." */
static const st_tensor *take(const loader *l, const char *name)
{
    static const char prefix[] = "model.";
    const st_tensor *tensor = st_find(l->file, name);
    if (!tensor && !strncmp(name, prefix, sizeof prefix - 1))
        tensor = st_find(l->file, name + sizeof prefix - 1);
    if (tensor)
        l->used[tensor - l->file->tensors] = true;
    return tensor;
}

static void describe_shape(const size_t *shape, size_t dimensions, char text[NAME_SIZE])
{
    size_t length = (size_t)snprintf(text, NAME_SIZE, "(");
    for (size_t i = 0; i < dimensions && length < NAME_SIZE; i++)
        length +=
            (size_t)snprintf(text + length, NAME_SIZE - length, "%s%zu", i ? ", " : "", shape[i]);
    if (length < NAME_SIZE)
        (void)snprintf(text + length, NAME_SIZE - length, ")");
}

static zhen_status check_shape(const loader *l, const st_tensor *tensor, const size_t *shape,
                               size_t dimensions)
{
    if (tensor->dimensions == dimensions &&
        !memcmp(tensor->shape, shape, dimensions * sizeof *shape))
        return ZHEN_OK;
    char is[NAME_SIZE], should_be[NAME_SIZE];
    describe_shape(tensor->shape, tensor->dimensions, is);
    describe_shape(shape, dimensions, should_be);
    return base_fail(l->error, ZHEN_ERROR_FORMAT,
                     "%s: tensor '%s': shape is %s, config.json asks for %s", l->path, tensor->name,
                     is, should_be);
}

/* A float is infinite or no number if its exponent is all ones; adding one to the exponent then
 * carries into the sign bit. Written without branches, this runs at the speed of memory. */
static bool all_finite(const float *values, size_t count)
{
    uint32_t carry = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t bits;
        memcpy(&bits, &values[i], sizeof bits);
        carry |= (bits & 0x7F800000) + 0x00800000;
    }
    return !(carry >> 31);
}

static void convert(const st_tensor *tensor, size_t count, float *out)
{
    if (tensor->dtype == ST_F32) {
        memcpy(out, tensor->data, count * sizeof *out);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        uint16_t bits;
        memcpy(&bits, tensor->data + 2 * i, sizeof bits);
        out[i] = tensor->dtype == ST_F16 ? mdl_float_of_f16(bits) : mdl_float_of_bf16(bits);
    }
}

/* The floats of a tensor of any floating type: where they are in the file if possible. */
static zhen_status load_floats(const loader *l, const st_tensor *tensor, const float **floats)
{
    if (tensor->dtype != ST_F32 && tensor->dtype != ST_F16 && tensor->dtype != ST_BF16)
        return base_fail(l->error, ZHEN_ERROR_FORMAT,
                         "%s: tensor '%s': dtype %s where F32, F16 or BF16 is needed", l->path,
                         tensor->name, tensor->type);
    const size_t count = tensor->bytes / (tensor->dtype == ST_F32 ? 4 : 2);
    if (tensor->dtype == ST_F32 && (uintptr_t)tensor->data % sizeof(float) == 0) {
        *floats = (const float *)(const void *)tensor->data;
    } else {
        float *copy = base_arena_calloc(l->memory, count, sizeof *copy);
        if (!copy)
            return base_fail_memory(l->error);
        convert(tensor, count, copy);
        *floats = copy;
    }
    if (!all_finite(*floats, count))
        return fail(l, tensor->name, "holds a value that is not finite");
    return ZHEN_OK;
}

/* The scales of an int8 matrix, one for each row, in the tensor "<name>.scale". */
static zhen_status load_scale(const loader *l, const st_tensor *tensor, size_t rows,
                              const float **scale)
{
    char name[NAME_SIZE];
    join(name, "", tensor->name, ".scale");
    const st_tensor *scales = take(l, name);
    if (!scales)
        return fail(l, name, "is missing");
    zhen_status status = check_shape(l, scales, &rows, 1);
    if (!status)
        status = load_floats(l, scales, scale);
    for (size_t i = 0; !status && i < rows; i++)
        if (!((*scale)[i] > 0))
            status = fail(l, name, "holds a scale that is not positive");
    return status;
}

static zhen_status load_matrix(const loader *l, const st_tensor *tensor, size_t rows, size_t cols,
                               mdl_matrix *matrix)
{
    const bool int8 = l->model->config.int8;
    *matrix = (mdl_matrix){.rows = rows, .cols = cols};
    zhen_status status = check_shape(l, tensor, (size_t[]){rows, cols}, 2);
    if (status)
        return status;
    if (!int8 && tensor->dtype == ST_I8)
        return fail(l, tensor->name, "dtype I8, but config.json has no quantization_config");
    if (!int8)
        return load_floats(l, tensor, &matrix->f32);
    if (tensor->dtype != ST_I8)
        return base_fail(l->error, ZHEN_ERROR_FORMAT,
                         "%s: tensor '%s': dtype %s, but config.json declares int8 weights",
                         l->path, tensor->name, tensor->type);
    matrix->s8 = (const int8_t *)tensor->data;
    return load_scale(l, tensor, rows, &matrix->scale);
}

static zhen_status load_slot(void *context, const mdl_slot *slot)
{
    const loader *l = context;
    const st_tensor *tensor = take(l, slot->name);
    if (!tensor)
        return fail(l, slot->name, "is missing");
    if (slot->matrix)
        return load_matrix(l, tensor, slot->rows, slot->cols, slot->matrix);
    zhen_status status = check_shape(l, tensor, &slot->rows, 1);
    return status ? status : load_floats(l, tensor, slot->vector);
}

/* Another name of a table that is already loaded may be stored, too, if it says the same. */
static zhen_status check_copy(const loader *l, const char *name, const st_tensor *original)
{
    const st_tensor *copy = take(l, name);
    if (!copy || copy == original)
        return ZHEN_OK;
    if (copy->dtype != original->dtype || copy->bytes != original->bytes ||
        memcmp(copy->data, original->data, copy->bytes) != 0)
        return base_fail(l->error, ZHEN_ERROR_FORMAT,
                         "%s: tensor '%s': differs from '%s', to which config.json ties it",
                         l->path, copy->name, original->name);
    return ZHEN_OK;
}

/* Loads a table that goes by `count` names: the first that is stored; the others must agree. */
static zhen_status load_tied(const loader *l, const char *const *names, size_t count, size_t rows,
                             mdl_matrix *table)
{
    const st_tensor *tensor = NULL;
    for (size_t i = 0; i < count && !tensor; i++)
        tensor = take(l, names[i]);
    if (!tensor)
        return fail(l, names[0], "is missing");
    zhen_status status = load_matrix(l, tensor, rows, l->model->config.d_model, table);
    for (size_t i = 0; i < count && !status; i++)
        status = check_copy(l, names[i], tensor);
    return status;
}

/* Loads a table by its own name or, failing that, by the name of the shared one. Where nothing is
 * tied, transformers stores all of them and uses only their own. */
static zhen_status load_untied(const loader *l, const char *name, size_t rows, mdl_matrix *table)
{
    const st_tensor *tensor = take(l, name);
    if (l->model->config.share_embeddings) {
        const st_tensor *fallback = take(l, mdl_shared_table);
        tensor = tensor ? tensor : fallback;
    }
    if (!tensor)
        return fail(l, name, "is missing");
    return load_matrix(l, tensor, rows, l->model->config.d_model, table);
}

static zhen_status load_tables(const loader *l)
{
    zhen_model *model = l->model;
    const mdl_config *config = &model->config;
    const size_t source = config->encoder.vocabulary, target = config->decoder.vocabulary;
    zhen_status status;
    if (config->tie_word_embeddings && config->share_embeddings) {
        const char *names[] = {mdl_shared_table, mdl_decoder_table, mdl_encoder_table, mdl_lm_head};
        status = load_tied(l, names, 4, target, &model->target_embedding);
        model->source_embedding = model->output = model->target_embedding;
        return status;
    }
    status = load_untied(l, mdl_encoder_table, source, &model->source_embedding);
    if (status)
        return status;
    if (config->tie_word_embeddings) {
        const char *names[] = {mdl_decoder_table, mdl_lm_head};
        status = load_tied(l, names, 2, target, &model->target_embedding);
        model->output = model->target_embedding;
        return status;
    }
    status = load_untied(l, mdl_decoder_table, target, &model->target_embedding);
    return status ? status : load_tied(l, (const char *[]){mdl_lm_head}, 1, target, &model->output);
}

/* transformers takes a missing final_logits_bias for zeros. */
static zhen_status load_output_bias(const loader *l)
{
    const size_t pieces = l->model->config.decoder.vocabulary;
    const st_tensor *tensor = take(l, mdl_final_logits_bias);
    if (!tensor) {
        l->model->output_bias = base_arena_calloc(l->memory, pieces, sizeof(float));
        return l->model->output_bias ? ZHEN_OK : base_fail_memory(l->error);
    }
    zhen_status status = check_shape(l, tensor, (size_t[]){1, pieces}, 2);
    return status ? status : load_floats(l, tensor, &l->model->output_bias);
}

/* Positions that are stored must be those that are computed: a model that learned its own is not a
 * Marian model. Half precision rounds them to 2^-9 at worst. */
static zhen_status check_positions(const loader *l, const char *name)
{
    const mdl_config *config = &l->model->config;
    const st_tensor *tensor = take(l, name);
    if (!tensor)
        return ZHEN_OK;
    zhen_status status =
        check_shape(l, tensor, (size_t[]){config->max_positions, config->d_model}, 2);
    const float *stored = NULL;
    if (!status)
        status = load_floats(l, tensor, &stored);
    if (status || !stored)
        return status;
    const float tolerance = tensor->dtype == ST_F32 ? 1e-4F : 4e-3F;
    for (size_t i = 0; i < config->max_positions * config->d_model; i++)
        if (!(fabsf(stored[i] - l->model->positions[i]) <= tolerance))
            return fail(l, tensor->name, "these are not the sinusoidal positions of Marian");
    return ZHEN_OK;
}

static zhen_status load_positions(const loader *l)
{
    const mdl_config *config = &l->model->config;
    float *table =
        base_arena_calloc(l->memory, config->max_positions, config->d_model * sizeof *table);
    if (!table)
        return base_fail_memory(l->error);
    mdl_positions_fill(table, config->max_positions, config->d_model);
    l->model->positions = table;
    zhen_status status = check_positions(l, "model.encoder.embed_positions.weight");
    return status ? status : check_positions(l, "model.decoder.embed_positions.weight");
}

static zhen_status load_layers(loader *l)
{
    zhen_model *model = l->model;
    mdl_storage *storage = model->storage;
    const mdl_config *config = &model->config;
    storage->encoder = base_arena_calloc(l->memory, config->encoder.layers, sizeof(mdl_layer));
    storage->decoder = base_arena_calloc(l->memory, config->decoder.layers, sizeof(mdl_layer));
    if (!storage->encoder || !storage->decoder)
        return base_fail_memory(l->error);
    model->encoder = storage->encoder;
    model->decoder = storage->decoder;
    return mdl_weights_visit_layers(config, storage->encoder, storage->decoder, load_slot, l);
}

static zhen_status check_all_used(const loader *l)
{
    for (size_t i = 0; i < l->file->count; i++)
        if (!l->used[i])
            return fail(l, l->file->tensors[i].name, "is not part of the model in config.json");
    return ZHEN_OK;
}

static zhen_status load_all(loader *l)
{
    l->used = base_arena_calloc(l->memory, l->file->count, sizeof *l->used);
    if (!l->used)
        return base_fail_memory(l->error);
    zhen_status status = load_tables(l);
    if (!status)
        status = load_layers(l);
    if (!status)
        status = load_output_bias(l);
    if (!status)
        status = load_positions(l);
    return status ? status : check_all_used(l);
}

zhen_status mdl_weights_load(zhen_model *model, const char *path, zhen_error *error)
{
    mdl_storage *storage = model->storage;
    zhen_status status = st_open(path, &storage->file, error);
    if (status)
        return status;
    loader l = {
        .model = model,
        .file = &storage->file,
        .memory = &storage->memory,
        .path = path,
        .error = error,
    };
    return load_all(&l);
}

void mdl_weights_rest(const zhen_model *model)
{
    base_map_rest(&model->storage->file.map);
}
