#include "model/model.h"

#include "base/error.h"
#include "base/file.h"
#include "model/card.h"
#include "model/json.h"
#include "model/weights.h"

#include <stdlib.h>
#include <string.h>

static bool has_file(const char *directory, const char *name)
{
    char *path = base_path_join(directory, name);
    bool exists = path && base_path_exists(path);
    free(path);
    return exists;
}

/* Says what to do about a directory whose weights come in a form that we do not read. */
static zhen_status check_weight_file(const char *directory, zhen_error *error)
{
    if (has_file(directory, "model.safetensors"))
        return ZHEN_OK;
    if (has_file(directory, "model.safetensors.index.json"))
        return base_fail(error, ZHEN_ERROR_UNSUPPORTED,
                         "%s: weights in several files (model.safetensors.index.json) are not "
                         "supported",
                         directory);
    if (has_file(directory, "pytorch_model.bin"))
        return base_fail(error, ZHEN_ERROR_UNSUPPORTED,
                         "%s: has pytorch_model.bin but no model.safetensors; convert it with: "
                         "python3 training/convert_bin.py %s",
                         directory, directory);
    return base_fail(error, ZHEN_ERROR_IO, "%s: has no model.safetensors", directory);
}

static zhen_status load_weights(zhen_model *model, zhen_error *error)
{
    zhen_status status = check_weight_file(model->directory, error);
    if (status)
        return status;
    char *path = base_path_join(model->directory, "model.safetensors");
    if (!path)
        return base_fail_memory(error);
    status = mdl_weights_load(model, path, error);
    free(path);
    return status;
}

static zhen_status finish_tokenizer(zhen_model *model, zhen_error *error)
{
    const mdl_config *config = &model->config;
    const tok_limits limits = {config->encoder.vocabulary, config->decoder.vocabulary};
    return tok_open_finish(model->tokenizer, &limits, error);
}

static zhen_status copy_string(base_arena *arena, const char *text, const char **copy,
                               zhen_error *error)
{
    if (!text)
        return ZHEN_OK;
    *copy = base_arena_string(arena, text, strlen(text));
    return *copy ? ZHEN_OK : base_fail_memory(error);
}

/* The languages that the tokeniser's configuration names, if there is one. */
static zhen_status read_languages(zhen_model *model, zhen_error *error)
{
    static const char name[] = "tokenizer_config.json";
    if (!has_file(model->directory, name))
        return ZHEN_OK;
    mdl_json json;
    const char *source = NULL, *target = NULL;
    base_arena *arena = &model->storage->memory;
    zhen_status status = mdl_json_open(model->directory, name, &json, error);
    if (!status) {
        mdl_json_string(&json, "source_lang", &source);
        mdl_json_string(&json, "target_lang", &target);
        status = json.status;
    }
    if (!status)
        status = copy_string(arena, source, &model->info.source_language, error);
    if (!status)
        status = copy_string(arena, target, &model->info.target_language, error);
    mdl_json_close(&json);
    return status;
}

/* A model without a card, or with one that cannot be read, has no known licence. */
static const char *read_licence(const zhen_model *model)
{
    char *path = base_path_join(model->directory, "README.md");
    base_map map;
    if (!path || base_map_open(path, &map, NULL)) {
        free(path);
        return NULL;
    }
    const char *licence = mdl_card_value(map.bytes, map.size, "license", &model->storage->memory);
    base_map_close(&map);
    free(path);
    return licence;
}

static const char *weight_type(const st_file *file)
{
    /* The matrices decide; the first of them in the file speaks for all. */
    for (size_t i = 0; i < file->count; i++) {
        const st_tensor *tensor = &file->tensors[i];
        if (tensor->dimensions != 2 || !strcmp(tensor->name, mdl_final_logits_bias))
            continue;
        switch (tensor->dtype) {
        case ST_F16:
            return "float16";
        case ST_BF16:
            return "bfloat16";
        case ST_I8:
            return "int8";
        case ST_F32:
        case ST_OTHER:
            break;
        }
        break;
    }
    return "float32";
}

/* Trained numbers: the layers and each table once; scales, positions and final_logits_bias are
 * none. */
static zhen_status count_slot(void *context, const mdl_slot *slot)
{
    size_t *parameters = context;
    *parameters += slot->rows * slot->cols;
    return ZHEN_OK;
}

static bool same_matrix(const mdl_matrix *a, const mdl_matrix *b)
{
    return a->f32 == b->f32 && a->s8 == b->s8;
}

static size_t count_parameters(const zhen_model *model)
{
    const mdl_matrix *source = &model->source_embedding, *target = &model->target_embedding;
    size_t parameters = source->rows * source->cols;
    if (!same_matrix(source, target))
        parameters += target->rows * target->cols;
    if (!same_matrix(&model->output, target))
        parameters += model->output.rows * model->output.cols;
    const mdl_storage *storage = model->storage;
    mdl_weights_visit_layers(&model->config, storage->encoder, storage->decoder, count_slot,
                             &parameters);
    return parameters;
}

static size_t count_output_pieces(const zhen_model *model)
{
    size_t count = 0;
    for (size_t i = 0; i < model->config.decoder.vocabulary; i++)
        count += model->output_bias[i] > MDL_BANNED_BIAS;
    return count;
}

static zhen_status fill_info(zhen_model *model, zhen_error *error)
{
    const mdl_config *config = &model->config;
    model->info = (zhen_model_info){
        .directory = model->directory,
        .architecture = "marian",
        .activation = config->activation_name,
        .weight_type = weight_type(&model->storage->file),
        .licence = read_licence(model),
        .d_model = config->d_model,
        .encoder_layers = config->encoder.layers,
        .decoder_layers = config->decoder.layers,
        .encoder_heads = config->encoder.heads,
        .decoder_heads = config->decoder.heads,
        .encoder_ffn = config->encoder.ffn,
        .decoder_ffn = config->decoder.ffn,
        .source_vocabulary = config->encoder.vocabulary,
        .target_vocabulary = config->decoder.vocabulary,
        .output_pieces = count_output_pieces(model),
        .max_positions = config->max_positions,
        .parameters = count_parameters(model),
        .file_bytes = model->storage->file.map.size,
    };
    return read_languages(model, error);
}

static zhen_status open_model(zhen_model *model, const char *directory, zhen_error *error)
{
    model->directory = strdup(directory);
    model->storage = calloc(1, sizeof *model->storage);
    if (!model->directory || !model->storage)
        return base_fail_memory(error);
    /* Half of the tokeniser is read beside all the rest, which takes about as long. */
    zhen_status status = tok_open_start(directory, &model->tokenizer, error);
    if (!status)
        status = mdl_config_read(directory, &model->storage->memory, &model->config,
                                 &model->generation, error);
    if (!status)
        status = load_weights(model, error);
    if (!status)
        status = fill_info(model, error);
    if (!status)
        status = finish_tokenizer(model, error);
    if (!status)
        model->info.memory_bytes =
            sizeof *model + sizeof *model->storage + base_arena_size(&model->storage->memory) +
            base_arena_size(&model->storage->file.memory) + tok_memory(model->tokenizer);
    return status;
}

zhen_status zhen_model_open(const char *directory, zhen_model **model, zhen_error *error)
{
    *model = NULL;
    zhen_model *opened = calloc(1, sizeof *opened);
    if (!opened)
        return base_fail_memory(error);
    zhen_status status = open_model(opened, directory, error);
    if (status)
        zhen_model_close(opened);
    else
        *model = opened;
    return status;
}

void zhen_model_close(zhen_model *model)
{
    if (!model)
        return;
    tok_close(model->tokenizer);
    if (model->storage) {
        st_close(&model->storage->file);
        base_arena_free(&model->storage->memory);
    }
    free(model->storage);
    free(model->directory);
    free(model);
}

void zhen_model_get_info(const zhen_model *model, zhen_model_info *info)
{
    *info = model->info;
}
