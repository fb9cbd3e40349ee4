#include "base/buffer.h"
#include "base/error.h"
#include "base/file.h"
#include "base/staging.h"
#include "model/int8.h"
#include "model/json.h"
#include "model/weights.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* The tensors of the new file while they are collected. */
typedef struct collector {
    st_tensor *tensors;
    size_t count, capacity;
    base_arena memory; /* names and quantised values */
    zhen_error *error;
} collector;

/* What config.json says about the form, see config.c. */
static const char declaration[] = ",\n"
                                  "  \"quantization_config\": {\n"
                                  "    \"quant_method\": \"zhen-int8\",\n"
                                  "    \"bits\": 8,\n"
                                  "    \"scheme\": \"symmetric\",\n"
                                  "    \"granularity\": \"output row\",\n"
                                  "    \"scale_suffix\": \".scale\"\n"
                                  "  }\n"
                                  "}\n";

/* Files that hold the weights in another form; they stay behind. */
static const char *const weight_suffixes[] = {
    ".safetensors", ".index.json", ".bin", ".h5", ".msgpack", ".ot", ".onnx", ".npz", ".pt"};

/* Files of a model that is replaced, besides those that the new one has too. */
static const char *const model_files[] = {
    "config.json",
    "generation_config.json",
    "model.safetensors",
    "vocab.json",
    "source.spm",
    "target.spm",
    "target_vocab.json",
    "README.md",
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
};

/* ---- Weights ------------------------------------------------------------------------------- */

static st_tensor *add_tensor(collector *c, const char *name, const char *suffix, st_dtype dtype)
{
    if (!base_grow((void **)&c->tensors, &c->capacity, c->count + 1, sizeof *c->tensors))
        return NULL;
    const size_t size = strlen(name) + strlen(suffix) + 1;
    char *full = base_arena_allocate(&c->memory, size);
    if (!full || snprintf(full, size, "%s%s", name, suffix) < 0)
        return NULL;
    st_tensor *tensor = &c->tensors[c->count++];
    *tensor = (st_tensor){.name = full, .dtype = dtype};
    return tensor;
}

static bool add_floats(collector *c, const char *name, const char *suffix, const float *values,
                       size_t count)
{
    st_tensor *tensor = add_tensor(c, name, suffix, ST_F32);
    if (!tensor)
        return false;
    tensor->dimensions = 1;
    tensor->shape[0] = count;
    tensor->data = (const unsigned char *)values;
    tensor->bytes = count * sizeof *values;
    return true;
}

static bool add_matrix(collector *c, const char *name, const mdl_matrix *matrix)
{
    st_tensor *tensor = add_tensor(c, name, "", ST_I8);
    int8_t *values = base_arena_calloc(&c->memory, matrix->rows, matrix->cols);
    float *scale = base_arena_calloc(&c->memory, matrix->rows, sizeof *scale);
    if (!tensor || !values || !scale)
        return false;
    for (size_t r = 0; r < matrix->rows; r++)
        scale[r] = mdl_int8_quantize_row(matrix->f32 + r * matrix->cols, matrix->cols,
                                         values + r * matrix->cols);
    tensor->dimensions = 2;
    tensor->shape[0] = matrix->rows;
    tensor->shape[1] = matrix->cols;
    tensor->data = (const unsigned char *)values;
    tensor->bytes = matrix->rows * matrix->cols;
    return add_floats(c, name, ".scale", scale, matrix->rows);
}

static zhen_status add_slot(void *context, const mdl_slot *slot)
{
    collector *c = context;
    bool done = slot->matrix ? add_matrix(c, slot->name, slot->matrix)
                             : add_floats(c, slot->name, "", *slot->vector, slot->rows);
    return done ? ZHEN_OK : base_fail_memory(c->error);
}

/* Each table once, under the name that it is looked up by first. */
static bool add_tables(collector *c, const zhen_model *model)
{
    const mdl_config *config = &model->config;
    if (config->share_embeddings && config->tie_word_embeddings)
        return add_matrix(c, mdl_shared_table, &model->target_embedding);
    return add_matrix(c, mdl_encoder_table, &model->source_embedding) &&
           add_matrix(c, mdl_decoder_table, &model->target_embedding) &&
           (config->tie_word_embeddings || add_matrix(c, mdl_lm_head, &model->output));
}

static bool add_output_bias(collector *c, const zhen_model *model)
{
    const size_t pieces = model->config.decoder.vocabulary;
    if (!add_floats(c, mdl_final_logits_bias, "", model->output_bias, pieces))
        return false;
    st_tensor *tensor = &c->tensors[c->count - 1];
    tensor->dimensions = 2;
    tensor->shape[0] = 1;
    tensor->shape[1] = pieces;
    return true;
}

static zhen_status collect(collector *c, const zhen_model *model, base_buffer *image)
{
    const mdl_storage *storage = model->storage;
    if (!add_tables(c, model) || !add_output_bias(c, model))
        return base_fail_memory(c->error);
    zhen_status status =
        mdl_weights_visit_layers(&model->config, storage->encoder, storage->decoder, add_slot, c);
    if (!status && !st_write(c->tensors, c->count, image))
        status = base_fail_memory(c->error);
    return status;
}

static zhen_status write_file(const char *directory, const char *name, const void *bytes,
                              size_t size, zhen_error *error)
{
    char *path = base_path_join(directory, name);
    if (!path)
        return base_fail_memory(error);
    zhen_status status = base_file_write(path, bytes, size, error);
    free(path);
    return status;
}

static zhen_status write_weights(const zhen_model *model, const char *directory, zhen_error *error)
{
    collector c = {.error = error};
    base_buffer image = {0};
    zhen_status status = collect(&c, model, &image);
    if (!status)
        status = write_file(directory, "model.safetensors", image.data, image.length, error);
    base_buffer_free(&image);
    base_arena_free(&c.memory);
    free(c.tensors);
    return status;
}

/* ---- Other files --------------------------------------------------------------------------- */

/* Adds the declaration before the last brace and keeps every other byte: a file that was checked by
 * mdl_config_read ends in one. */
static zhen_status declare(const char *path, base_map config, base_buffer *text, zhen_error *error)
{
    if (memmem(config.bytes, config.size, "\"quantization_config\"", 21))
        return base_fail(error, ZHEN_ERROR_UNSUPPORTED,
                         "%s: quantization_config: remove this key first", path);
    const char *begin = (const char *)config.bytes;
    size_t length = (size_t)((const char *)memrchr(begin, '}', config.size) - begin);
    while (length && strchr(" \t\r\n", begin[length - 1]))
        length--;
    return base_buffer_append(text, begin, length) && base_buffer_append_string(text, declaration)
               ? ZHEN_OK
               : base_fail_memory(error);
}

static zhen_status write_config(const char *in_directory, const char *directory, zhen_error *error)
{
    char *path = base_path_join(in_directory, "config.json");
    if (!path)
        return base_fail_memory(error);
    base_map config;
    base_buffer text = {0};
    zhen_status status = base_map_open(path, &config, error);
    if (!status) {
        status = declare(path, config, &text, error);
        base_map_close(&config);
    }
    if (!status)
        status = write_file(directory, "config.json", text.data, text.length, error);
    base_buffer_free(&text);
    free(path);
    return status;
}

static bool ends_in(const char *name, const char *suffix)
{
    const size_t length = strlen(name), end = strlen(suffix);
    return length >= end && !strcmp(name + length - end, suffix);
}

static bool is_copied(const char *name)
{
    if (name[0] == '.' || !strcmp(name, "config.json"))
        return false;
    for (size_t i = 0; i < sizeof weight_suffixes / sizeof weight_suffixes[0]; i++)
        if (ends_in(name, weight_suffixes[i]))
            return false;
    return true;
}

/* Copies a regular file, or what a symbolic link to one shows; leaves directories out. */
static zhen_status copy_file(const char *from, const char *name, const char *to, zhen_error *error)
{
    char *path = base_path_join(from, name);
    if (!path)
        return base_fail_memory(error);
    zhen_status status = ZHEN_OK;
    struct stat about;
    if (!stat(path, &about) && S_ISREG(about.st_mode)) {
        base_map map;
        status = base_map_open(path, &map, error);
        if (!status) {
            status = write_file(to, name, map.bytes, map.size, error);
            base_map_close(&map);
        }
    }
    free(path);
    return status;
}

static zhen_status copy_files(const char *from, const char *to, zhen_error *error)
{
    DIR *directory = opendir(from);
    if (!directory)
        return base_fail(error, ZHEN_ERROR_IO, "%s: cannot be read", from);
    zhen_status status = ZHEN_OK;
    for (const struct dirent *entry; !status && (entry = readdir(directory));)
        if (is_copied(entry->d_name))
            status = copy_file(from, entry->d_name, to, error);
    closedir(directory);
    return status;
}

/* ---- The directory ------------------------------------------------------------------------- */

static bool is_model_file(const char *name, const char *in_directory)
{
    for (size_t i = 0; i < sizeof model_files / sizeof model_files[0]; i++)
        if (!strcmp(name, model_files[i]))
            return true;
    char *path = base_path_join(in_directory, name);
    bool known = path && is_copied(name) && base_path_exists(path);
    free(path);
    return known;
}

/* Only an empty directory or a model may be replaced: anything else in there is someone's work. */
static zhen_status check_replaceable(DIR *directory, const char *out_directory,
                                     const char *in_directory, zhen_error *error)
{
    for (const struct dirent *entry; (entry = readdir(directory));) {
        const char *name = entry->d_name;
        if (!strcmp(name, ".") || !strcmp(name, ".."))
            continue;
        struct stat about;
        if (fstatat(dirfd(directory), name, &about, AT_SYMLINK_NOFOLLOW) ||
            S_ISDIR(about.st_mode) || !is_model_file(name, in_directory))
            return base_fail(error, ZHEN_ERROR_ARGUMENT,
                             "%s: is there and holds '%s', which is no part of a model; remove it "
                             "or choose another directory",
                             out_directory, name);
    }
    return ZHEN_OK;
}

static zhen_status check_target(const char *in_directory, const char *out_directory,
                                zhen_error *error)
{
    struct stat in, out;
    if (stat(out_directory, &out))
        return ZHEN_OK;
    if (!stat(in_directory, &in) && in.st_dev == out.st_dev && in.st_ino == out.st_ino)
        return base_fail(error, ZHEN_ERROR_ARGUMENT, "%s: is the model itself", out_directory);
    DIR *directory = opendir(out_directory);
    if (!directory)
        return base_fail(error, ZHEN_ERROR_ARGUMENT, "%s: is there and is no readable directory",
                         out_directory);
    zhen_status status = check_replaceable(directory, out_directory, in_directory, error);
    closedir(directory);
    return status;
}

static zhen_status write_directory(const zhen_model *model, const char *out_directory,
                                   zhen_error *error)
{
    base_staging staging;
    zhen_status status = base_staging_begin(out_directory, &staging, error);
    if (status)
        return status;
    status = copy_files(model->directory, staging.temporary, error);
    if (!status)
        status = write_config(model->directory, staging.temporary, error);
    if (!status)
        status = write_weights(model, staging.temporary, error);
    if (!status)
        return base_staging_commit(&staging, error);
    base_staging_abort(&staging);
    return status;
}

zhen_status zhen_model_quantize(const char *in_directory, const char *out_directory,
                                zhen_error *error)
{
    zhen_model *model;
    zhen_status status = check_target(in_directory, out_directory, error);
    if (!status)
        status = zhen_model_open(in_directory, &model, error);
    if (status)
        return status;
    if (model->config.int8)
        status = base_fail(error, ZHEN_ERROR_ARGUMENT, "%s: is int8 already", in_directory);
    else
        status = write_directory(model, out_directory, error);
    zhen_model_close(model);
    return status;
}
