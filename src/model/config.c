#include "model/config.h"

#include "base/error.h"
#include "base/file.h"
#include "model/generation.h"
#include "model/json.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* What the kernels can sum up in 32 bits bounds the widths; the rest keeps a hostile file from
 * asking for absurd amounts of memory before its weights are looked at. */
enum {
    WIDTH_LIMIT = 65536,
    LAYER_LIMIT = 256,
    POSITION_LIMIT = 65536,
    VOCABULARY_LIMIT = 16 * 1024 * 1024
};

static const struct {
    const char *name;
    mdl_activation activation;
} activations[] = {
    {"relu", MDL_RELU},
    {"swish", MDL_SWISH},
    {"silu", MDL_SWISH},
    {"gelu", MDL_GELU},
    {"gelu_python", MDL_GELU},
    {"gelu_new", MDL_GELU_TANH},
    {"gelu_fast", MDL_GELU_TANH},
    {"gelu_accurate", MDL_GELU_TANH},
    {"gelu_pytorch_tanh", MDL_GELU_TANH},
    {"gelu_python_tanh", MDL_GELU_TANH},
};

static const struct {
    const char *key;
    size_t field, minimum, maximum;
} sizes[] = {
    {"d_model", offsetof(mdl_config, d_model), 1, WIDTH_LIMIT},
    {"vocab_size", offsetof(mdl_config, encoder.vocabulary), 1, VOCABULARY_LIMIT},
    {"max_position_embeddings", offsetof(mdl_config, max_positions), 1, POSITION_LIMIT},
    {"encoder_layers", offsetof(mdl_config, encoder.layers), 1, LAYER_LIMIT},
    {"decoder_layers", offsetof(mdl_config, decoder.layers), 1, LAYER_LIMIT},
    {"encoder_attention_heads", offsetof(mdl_config, encoder.heads), 1, WIDTH_LIMIT},
    {"decoder_attention_heads", offsetof(mdl_config, decoder.heads), 1, WIDTH_LIMIT},
    {"encoder_ffn_dim", offsetof(mdl_config, encoder.ffn), 1, WIDTH_LIMIT},
    {"decoder_ffn_dim", offsetof(mdl_config, decoder.ffn), 1, WIDTH_LIMIT},
};

/* Switches of the Bart family that no Marian model turns on and that would change the network. */
static const struct {
    const char *key;
    bool value;
} fixed[] = {
    {"is_encoder_decoder", true},    {"static_position_embeddings", true},
    {"normalize_before", false},     {"normalize_embedding", false},
    {"add_final_layer_norm", false}, {"extra_layer_norm", false},
};

static void read_sizes(mdl_json *json, mdl_config *config)
{
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        size_t *field = (size_t *)(void *)((char *)config + sizes[i].field);
        mdl_json_require(json, sizes[i].key);
        mdl_json_size(json, sizes[i].key, sizes[i].minimum, sizes[i].maximum, field);
    }
}

static void check_heads(mdl_json *json, const mdl_config *config)
{
    if (!json->status && config->d_model % config->encoder.heads)
        mdl_json_reject(json, "encoder_attention_heads", "a divisor of d_model");
    if (!json->status && config->d_model % config->decoder.heads)
        mdl_json_reject(json, "decoder_attention_heads", "a divisor of d_model");
}

static void read_model_type(mdl_json *json)
{
    const char *type = NULL;
    mdl_json_require(json, "model_type");
    mdl_json_string(json, "model_type", &type);
    if (!json->status && strcmp(type, "marian") != 0)
        json->status = base_fail(json->error, ZHEN_ERROR_UNSUPPORTED,
                                 "%s: model_type: \"%.40s\" is not supported, only \"marian\"",
                                 json->path, type);
}

static void check_fixed(mdl_json *json)
{
    for (size_t i = 0; i < sizeof fixed / sizeof fixed[0]; i++) {
        bool value = fixed[i].value;
        mdl_json_bool(json, fixed[i].key, &value);
        if (!json->status && value != fixed[i].value)
            json->status =
                base_fail(json->error, ZHEN_ERROR_UNSUPPORTED, "%s: %s: %s is not supported",
                          json->path, fixed[i].key, value ? "true" : "false");
    }
}

static void read_activation(mdl_json *json, mdl_config *config)
{
    const char *name = NULL;
    mdl_json_require(json, "activation_function");
    mdl_json_string(json, "activation_function", &name);
    for (size_t i = 0; name && i < sizeof activations / sizeof activations[0]; i++)
        if (!strcmp(name, activations[i].name)) {
            config->activation = activations[i].activation;
            config->activation_name = activations[i].name;
            return;
        }
    if (!json->status)
        json->status =
            base_fail(json->error, ZHEN_ERROR_UNSUPPORTED,
                      "%s: activation_function: \"%.40s\" is not supported", json->path, name);
}

/* decoder_vocab_size is null or equal to vocab_size where both sides share one table. */
static void read_vocabularies(mdl_json *json, mdl_config *config)
{
    config->share_embeddings = config->tie_word_embeddings = true;
    mdl_json_bool(json, "share_encoder_decoder_embeddings", &config->share_embeddings);
    mdl_json_bool(json, "tie_word_embeddings", &config->tie_word_embeddings);
    mdl_json_bool(json, "scale_embedding", &config->scale_embedding);
    config->decoder.vocabulary = config->encoder.vocabulary;
    mdl_json_size(json, "decoder_vocab_size", 1, VOCABULARY_LIMIT, &config->decoder.vocabulary);
    if (config->share_embeddings && config->decoder.vocabulary != config->encoder.vocabulary)
        mdl_json_reject(json, "decoder_vocab_size",
                        "vocab_size, as share_encoder_decoder_embeddings is true");
}

static void read_quantization(mdl_json *json, mdl_config *config)
{
    const cJSON *item = mdl_json_get(json, "quantization_config");
    if (!item)
        return;
    if (!cJSON_IsObject(item)) {
        mdl_json_reject(json, "quantization_config", "an object");
        return;
    }
    const cJSON *method = cJSON_GetObjectItemCaseSensitive(item, "quant_method");
    if (!cJSON_IsString(method) || strcmp(method->valuestring, "zhen-int8") != 0)
        json->status =
            base_fail(json->error, ZHEN_ERROR_UNSUPPORTED,
                      "%s: quantization_config: quant_method is not \"zhen-int8\"", json->path);
    config->int8 = true;
}

/* The ids that a sentence cannot be decoded without; later files override earlier ones. */
static void read_special_ids(mdl_json *json, mdl_config *config)
{
    const size_t target = config->decoder.vocabulary;
    const size_t both = config->encoder.vocabulary < target ? config->encoder.vocabulary : target;
    mdl_generation_token(json, "pad_token_id", both, &config->pad_id);
    mdl_generation_token(json, "eos_token_id", both, &config->eos_id);
    mdl_generation_token(json, "decoder_start_token_id", target, &config->decoder_start_id);
}

static void read_config(mdl_json *json, mdl_config *config)
{
    *config = (mdl_config){0};
    read_model_type(json);
    check_fixed(json);
    read_sizes(json, config);
    check_heads(json, config);
    read_activation(json, config);
    read_vocabularies(json, config);
    read_quantization(json, config);
    mdl_json_require(json, "pad_token_id");
    mdl_json_require(json, "decoder_start_token_id");
    if (!json->status)
        read_special_ids(json, config);
}

static zhen_status read_generation_file(const char *directory, base_arena *arena,
                                        mdl_config *config, mdl_generation *generation,
                                        zhen_error *error)
{
    mdl_json json;
    if (!mdl_json_open(directory, "generation_config.json", &json, error)) {
        read_special_ids(&json, config);
        mdl_generation_read(&json, arena, config, generation);
    }
    zhen_status status = json.status;
    mdl_json_close(&json);
    return status;
}

zhen_status mdl_config_read(const char *directory, base_arena *arena, mdl_config *config,
                            mdl_generation *generation, zhen_error *error)
{
    char *path = base_path_join(directory, "generation_config.json");
    if (!path)
        return base_fail_memory(error);
    bool separate = base_path_exists(path);
    free(path);

    mdl_json json;
    if (!mdl_json_open(directory, "config.json", &json, error)) {
        read_config(&json, config);
        if (!json.status && !separate)
            mdl_generation_read(&json, arena, config, generation);
    }
    zhen_status status = json.status;
    mdl_json_close(&json);
    if (status || !separate)
        return status;
    return read_generation_file(directory, arena, config, generation, error);
}
