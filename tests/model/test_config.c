/* config.json and generation_config.json: what is read, and what is refused with which words. */
#include "model/config.h"
#include "model/tiny.h"
#include "support/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static tiny_model model;
static base_arena arena;
static mdl_config config;
static mdl_generation generation;
static zhen_error error;

static void setup(void)
{
    tiny_create(&model);
    arena = (base_arena){0};
    error = (zhen_error){0};
}

static void teardown(void)
{
    base_arena_free(&arena);
    tiny_remove(&model);
}

static zhen_status read_config(void)
{
    return mdl_config_read(model.directory, &arena, &config, &generation, &error);
}

static void expect_error(zhen_status status, const char *message)
{
    ck_assert_int_eq(read_config(), status);
    ck_assert_msg(strstr(error.message, message) != NULL, "\"%s\" is not in \"%s\"", message,
                  error.message);
}

static void remove_generation_file(void)
{
    char path[256];
    snprintf(path, sizeof path, "%s/generation_config.json", model.directory);
    ck_assert_int_eq(unlink(path), 0);
}

START_TEST(test_reads_the_network)
{
    ck_assert_msg(!read_config(), "%s", error.message);
    ck_assert_uint_eq(config.d_model, 8);
    ck_assert_uint_eq(config.encoder.layers, 1);
    ck_assert_uint_eq(config.encoder.heads, 2);
    ck_assert_uint_eq(config.encoder.ffn, 16);
    ck_assert_uint_eq(config.encoder.vocabulary, 12);
    ck_assert_uint_eq(config.decoder.layers, 1);
    ck_assert_uint_eq(config.decoder.heads, 4);
    ck_assert_uint_eq(config.decoder.ffn, 12);
    ck_assert_uint_eq(config.decoder.vocabulary, 12);
    ck_assert_int_eq(config.activation, MDL_RELU);
    ck_assert_str_eq(config.activation_name, "relu");
    ck_assert(config.scale_embedding);
    ck_assert(config.share_embeddings);
    ck_assert(config.tie_word_embeddings);
    ck_assert(!config.int8);
    ck_assert_uint_eq(config.max_positions, 16);
    ck_assert_int_eq(config.pad_id, 11);
    ck_assert_int_eq(config.eos_id, 0);
    ck_assert_int_eq(config.decoder_start_id, 11);
}
END_TEST

START_TEST(test_reads_the_generation_settings)
{
    ck_assert_msg(!read_config(), "%s", error.message);
    ck_assert_uint_eq(generation.num_beams, 3);
    ck_assert_uint_eq(generation.max_new_tokens, 15);
    ck_assert_uint_eq(generation.min_new_tokens, 0);
    ck_assert_double_eq(generation.length_penalty, 0.5);
    ck_assert_double_eq(generation.repetition_penalty, 1);
    ck_assert_int_eq(generation.early_stopping, ZHEN_EARLY_STOPPING_NEVER);
    ck_assert(generation.renormalize_logits);
    ck_assert_int_eq(generation.forced_eos_id, 0);
    ck_assert_int_eq(generation.forced_bos_id, -1);
    /* [0] is </s> alone, which transformers drops. */
    ck_assert_uint_eq(generation.bad_word_count, 2);
    ck_assert_uint_eq(generation.bad_words[0].count, 1);
    ck_assert_int_eq(generation.bad_words[0].ids[0], 11);
    ck_assert_uint_eq(generation.bad_words[1].count, 2);
    ck_assert_int_eq(generation.bad_words[1].ids[1], 4);
    ck_assert_uint_eq(generation.alignment_head_count, 1);
    ck_assert_uint_eq(generation.alignment_heads[0].layer, 0);
    ck_assert_uint_eq(generation.alignment_heads[0].head, 3);
}
END_TEST

/* As transformers 5.24 does: what counts new tokens wins, even a 0. */
START_TEST(test_lengths)
{
    static const struct {
        const char *text;
        size_t longest, shortest;
    } cases[] = {
        {"{}", 20, 0},
        {"{\"max_length\": 20, \"min_length\": 12}", 19, 11},
        {"{\"max_new_tokens\": 7, \"max_length\": 20}", 7, 0},
        {"{\"min_new_tokens\": 0, \"min_length\": 12}", 20, 0},
        {"{\"min_new_tokens\": null, \"min_length\": 12}", 20, 11},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tiny_write_text(&model, "generation_config.json", cases[i].text);
        ck_assert_msg(!read_config(), "%s", error.message);
        ck_assert_uint_eq(generation.max_new_tokens, cases[i].longest);
        ck_assert_uint_eq(generation.min_new_tokens, cases[i].shortest);
    }
}
END_TEST

START_TEST(test_generation_file_stands_alone)
{
    static const char edit[] = "\"dropout\": 0.1, \"num_beams\": 7, \"no_repeat_ngram_size\": 2";
    tiny_edit_config(&model, "\"dropout\": 0.0", edit);
    tiny_write_text(&model, "generation_config.json", "{\"eos_token_id\": [0]}");
    ck_assert_msg(!read_config(), "%s", error.message);
    ck_assert_uint_eq(generation.num_beams, 1);
    ck_assert_uint_eq(generation.max_new_tokens, 20);
    ck_assert_uint_eq(generation.no_repeat_ngram, 0);
    ck_assert_int_eq(generation.forced_eos_id, -1);

    remove_generation_file();
    ck_assert_msg(!read_config(), "%s", error.message);
    ck_assert_uint_eq(generation.num_beams, 7);
    ck_assert_uint_eq(generation.no_repeat_ngram, 2);
}
END_TEST

START_TEST(test_generation_file_overrides_special_ids)
{
    tiny_write_text(&model, "generation_config.json",
                    "{\"decoder_start_token_id\": 5, \"eos_token_id\": 6, \"pad_token_id\": 7}");
    ck_assert_msg(!read_config(), "%s", error.message);
    ck_assert_int_eq(config.decoder_start_id, 5);
    ck_assert_int_eq(config.eos_id, 6);
    ck_assert_int_eq(config.pad_id, 7);
}
END_TEST

static const struct {
    const char *name;
    mdl_activation activation;
} activations[] = {
    {"relu", MDL_RELU}, {"swish", MDL_SWISH},        {"silu", MDL_SWISH},
    {"gelu", MDL_GELU}, {"gelu_new", MDL_GELU_TANH}, {"gelu_pytorch_tanh", MDL_GELU_TANH},
};

START_TEST(test_reads_activation)
{
    char text[64];
    snprintf(text, sizeof text, "\"%s\"", activations[_i].name);
    tiny_edit_config(&model, "\"relu\"", text);
    ck_assert_msg(!read_config(), "%s", error.message);
    ck_assert_int_eq(config.activation, activations[_i].activation);
    ck_assert_str_eq(config.activation_name, activations[_i].name);
}
END_TEST

START_TEST(test_reads_separate_vocabularies)
{
    tiny_edit_config(&model, "\"decoder_vocab_size\": 12",
                     "\"decoder_vocab_size\": 14, \"share_encoder_decoder_embeddings\": false,"
                     "\"tie_word_embeddings\": false");
    ck_assert_msg(!read_config(), "%s", error.message);
    ck_assert(!config.share_embeddings);
    ck_assert(!config.tie_word_embeddings);
    ck_assert_uint_eq(config.encoder.vocabulary, 12);
    ck_assert_uint_eq(config.decoder.vocabulary, 14);
}
END_TEST

START_TEST(test_reads_quantization)
{
    tiny_edit_config(&model, "\"dropout\": 0.0",
                     "\"quantization_config\": {\"quant_method\": \"zhen-int8\", \"bits\": 8}");
    ck_assert_msg(!read_config(), "%s", error.message);
    ck_assert(config.int8);
}
END_TEST

/* In the order of the message's path, the key and the rule. */
static const struct {
    const char *old, *new, *message;
    zhen_status status;
} wrong[] = {
    {"\"marian\"", "\"bart\"", "model_type: \"bart\" is not supported", ZHEN_ERROR_UNSUPPORTED},
    {"\"model_type\"", "\"type\"", "model_type: key is missing", ZHEN_ERROR_FORMAT},
    {"\"marian\"", "5", "model_type: must be a string", ZHEN_ERROR_FORMAT},
    {"\"vocab_size\"", "\"x\"", "vocab_size: key is missing", ZHEN_ERROR_FORMAT},
    {"\"d_model\"", "\"x\"", "d_model: key is missing", ZHEN_ERROR_FORMAT},
    {"\"encoder_layers\"", "\"x\"", "encoder_layers: key is missing", ZHEN_ERROR_FORMAT},
    {"\"decoder_ffn_dim\"", "\"x\"", "decoder_ffn_dim: key is missing", ZHEN_ERROR_FORMAT},
    {"\"activation_function\"", "\"x\"", "activation_function: key is missing", ZHEN_ERROR_FORMAT},
    {"\"pad_token_id\"", "\"x\"", "pad_token_id: key is missing", ZHEN_ERROR_FORMAT},
    {"\"pad_token_id\": 11", "\"pad_token_id\": null", "pad_token_id: key is missing",
     ZHEN_ERROR_FORMAT},
    {"\"decoder_start_token_id\"", "\"x\"", "decoder_start_token_id: key is missing",
     ZHEN_ERROR_FORMAT},
    {"\"d_model\": 8", "\"d_model\": 0", "d_model: must be a whole number from 1 to",
     ZHEN_ERROR_FORMAT},
    {"\"d_model\": 8", "\"d_model\": -8", "d_model: must be", ZHEN_ERROR_FORMAT},
    {"\"d_model\": 8", "\"d_model\": 8.5", "d_model: must be", ZHEN_ERROR_FORMAT},
    {"\"d_model\": 8", "\"d_model\": 1e400", "d_model: must be", ZHEN_ERROR_FORMAT},
    {"\"d_model\": 8", "\"d_model\": 18446744073709551616", "d_model: must be", ZHEN_ERROR_FORMAT},
    {"\"d_model\": 8", "\"d_model\": \"8\"", "d_model: must be", ZHEN_ERROR_FORMAT},
    {"\"d_model\": 8", "\"d_model\": true", "d_model: must be", ZHEN_ERROR_FORMAT},
    {"\"d_model\": 8", "\"d_model\": [8]", "d_model: must be", ZHEN_ERROR_FORMAT},
    {"\"d_model\": 8", "\"d_model\": 8, \"d_model\": 8", "d_model: key appears twice",
     ZHEN_ERROR_FORMAT},
    {"\"d_model\": 8", "\"d_model\": 9", "encoder_attention_heads: must be a divisor of d_model",
     ZHEN_ERROR_FORMAT},
    {"\"decoder_attention_heads\": 4", "\"decoder_attention_heads\": 3",
     "decoder_attention_heads: must be a divisor", ZHEN_ERROR_FORMAT},
    {"\"encoder_layers\": 1", "\"encoder_layers\": 100000", "encoder_layers: must be",
     ZHEN_ERROR_FORMAT},
    {"\"vocab_size\": 12", "\"vocab_size\": 4000000000", "vocab_size: must be", ZHEN_ERROR_FORMAT},
    {"\"max_position_embeddings\": 16", "\"max_position_embeddings\": 1e9",
     "max_position_embeddings: must be", ZHEN_ERROR_FORMAT},
    {"\"decoder_vocab_size\": 12", "\"decoder_vocab_size\": 13",
     "decoder_vocab_size: must be vocab_size", ZHEN_ERROR_FORMAT},
    {"\"relu\"", "\"prelu\"", "activation_function: \"prelu\" is not supported",
     ZHEN_ERROR_UNSUPPORTED},
    {"\"scale_embedding\": true", "\"scale_embedding\": 1",
     "scale_embedding: must be true or false", ZHEN_ERROR_FORMAT},
    {"\"pad_token_id\": 11", "\"pad_token_id\": 12", "pad_token_id: must be a token id",
     ZHEN_ERROR_FORMAT},
    {"\"eos_token_id\": 0", "\"eos_token_id\": [0, 1]", "eos_token_id: only one id",
     ZHEN_ERROR_UNSUPPORTED},
    {"\"eos_token_id\": 0", "\"eos_token_id\": []", "eos_token_id: must be a token id",
     ZHEN_ERROR_FORMAT},
    {"\"dropout\": 0.0", "\"normalize_before\": true", "normalize_before: true is not supported",
     ZHEN_ERROR_UNSUPPORTED},
    {"\"dropout\": 0.0", "\"static_position_embeddings\": false",
     "static_position_embeddings: false is not supported", ZHEN_ERROR_UNSUPPORTED},
    {"\"dropout\": 0.0", "\"quantization_config\": {\"quant_method\": \"gptq\"}",
     "quant_method is not \"zhen-int8\"", ZHEN_ERROR_UNSUPPORTED},
    {"\"dropout\": 0.0", "\"quantization_config\": 8", "quantization_config: must be an object",
     ZHEN_ERROR_FORMAT},
    {"\"dropout\": 0.0", "\"dropout\": \"\xC3\x28\"", "not valid UTF-8", ZHEN_ERROR_FORMAT},
    {"\"dropout\": 0.0", "\"dropout\": \"\\u0000\"", "zero character", ZHEN_ERROR_FORMAT},
    {"\"dropout\": 0.0", "\"dropout\": {\"a\": [{\"b\": 1, \"b\": 2}]}", "b: key appears twice",
     ZHEN_ERROR_FORMAT},
    {"\"dropout\": 0.0,", "\"dropout\": 0.0", "config.json: not valid JSON at byte",
     ZHEN_ERROR_FORMAT},
    {"}\n", "}}\n", "not valid JSON", ZHEN_ERROR_FORMAT},
    {"}\n", "", "not valid JSON", ZHEN_ERROR_FORMAT},
};

START_TEST(test_refuses_wrong_config)
{
    tiny_edit_config(&model, wrong[_i].old, wrong[_i].new);
    expect_error(wrong[_i].status, wrong[_i].message);
    ck_assert_ptr_nonnull(strstr(error.message, "/config.json: "));
}
END_TEST

static const struct {
    const char *text, *message;
    zhen_status status;
} wrong_generation[] = {
    {"{\"num_beams\": 0}", "num_beams: must be a whole number from 1", ZHEN_ERROR_FORMAT},
    {"{\"max_length\": 1}", "max_length: must be a whole number from 2", ZHEN_ERROR_FORMAT},
    {"{\"length_penalty\": \"1\"}", "length_penalty: must be a number", ZHEN_ERROR_FORMAT},
    {"{\"length_penalty\": 1e300}", "length_penalty: must be a number", ZHEN_ERROR_FORMAT},
    {"{\"repetition_penalty\": 0}", "repetition_penalty: must be", ZHEN_ERROR_FORMAT},
    {"{\"early_stopping\": \"maybe\"}", "early_stopping: must be true, false or \"never\"",
     ZHEN_ERROR_FORMAT},
    {"{\"early_stopping\": 1}", "early_stopping: must be", ZHEN_ERROR_FORMAT},
    {"{\"bad_words_ids\": 3}", "bad_words_ids: must be a list of lists", ZHEN_ERROR_FORMAT},
    {"{\"bad_words_ids\": [3]}", "bad_words_ids: must be a list of lists", ZHEN_ERROR_FORMAT},
    {"{\"bad_words_ids\": [[]]}", "bad_words_ids: must be a list of lists", ZHEN_ERROR_FORMAT},
    {"{\"bad_words_ids\": [[12]]}", "bad_words_ids: must be a list of lists", ZHEN_ERROR_FORMAT},
    {"{\"bad_words_ids\": [[1], [-1]]}", "bad_words_ids: must be", ZHEN_ERROR_FORMAT},
    {"{\"alignment_heads\": [[0]]}", "alignment_heads: must be a list of [layer, head]",
     ZHEN_ERROR_FORMAT},
    {"{\"alignment_heads\": [[1, 0]]}", "alignment_heads: must be", ZHEN_ERROR_FORMAT},
    {"{\"alignment_heads\": [[0, 4]]}", "alignment_heads: must be", ZHEN_ERROR_FORMAT},
    {"{\"alignment_heads\": {\"a\": 1}}", "alignment_heads: must be", ZHEN_ERROR_FORMAT},
    {"{\"forced_eos_token_id\": 99}", "forced_eos_token_id: must be", ZHEN_ERROR_FORMAT},
    {"{\"do_sample\": true}", "do_sample: this kind of search is not supported",
     ZHEN_ERROR_UNSUPPORTED},
    {"{\"num_beam_groups\": 2}", "num_beam_groups: this kind", ZHEN_ERROR_UNSUPPORTED},
    {"{\"suppress_tokens\": [3]}", "suppress_tokens: this kind", ZHEN_ERROR_UNSUPPORTED},
    {"{\"stop_strings\": \"x\"}", "stop_strings: this kind", ZHEN_ERROR_UNSUPPORTED},
    {"[1]", "not a JSON object", ZHEN_ERROR_FORMAT},
    {"", "empty file", ZHEN_ERROR_FORMAT},
};

START_TEST(test_refuses_wrong_generation)
{
    tiny_write_text(&model, "generation_config.json", wrong_generation[_i].text);
    expect_error(wrong_generation[_i].status, wrong_generation[_i].message);
    ck_assert_ptr_nonnull(strstr(error.message, "/generation_config.json: "));
}
END_TEST

START_TEST(test_accepts_settings_that_are_off)
{
    tiny_write_text(&model, "generation_config.json",
                    "{\"do_sample\": false, \"num_beam_groups\": 1, \"diversity_penalty\": 0.0,"
                    " \"suppress_tokens\": [], \"begin_suppress_tokens\": null,"
                    " \"encoder_repetition_penalty\": 1.0, \"early_stopping\": true,"
                    " \"bad_words_ids\": [], \"temperature\": 1.0, \"top_k\": 50}");
    ck_assert_msg(!read_config(), "%s", error.message);
    ck_assert_int_eq(generation.early_stopping, ZHEN_EARLY_STOPPING_TRUE);
    ck_assert_uint_eq(generation.bad_word_count, 0);
}
END_TEST

START_TEST(test_refuses_large_and_deep_files)
{
    static char text[2 * 1024 * 1024];
    memset(text, ' ', sizeof text);
    tiny_write(&model, "config.json", text, sizeof text);
    expect_error(ZHEN_ERROR_FORMAT, "config.json: larger than");
    memset(text, '[', 500000);
    tiny_write(&model, "config.json", text, 500000);
    expect_error(ZHEN_ERROR_FORMAT, "config.json: not valid JSON");
}
END_TEST

START_TEST(test_survives_random_damage)
{
    uint32_t state = 88172645;
    const size_t size = strlen(tiny_config);
    for (int round = 0; round < 2000; round++) {
        char text[2048];
        memcpy(text, tiny_config, size);
        for (uint32_t n = 1 + tiny_random(&state) % 3; n; n--)
            text[tiny_random(&state) % size] = (char)tiny_random(&state);
        tiny_write(&model, "config.json", text, size);
        error.message[0] = '\0';
        ck_assert(!read_config() || error.message[0]);
        base_arena_free(&arena);
    }
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("config");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, test_reads_the_network);
    tcase_add_test(tests, test_reads_the_generation_settings);
    tcase_add_test(tests, test_lengths);
    tcase_add_test(tests, test_generation_file_stands_alone);
    tcase_add_test(tests, test_generation_file_overrides_special_ids);
    tcase_add_loop_test(tests, test_reads_activation, 0,
                        (int)(sizeof activations / sizeof activations[0]));
    tcase_add_test(tests, test_reads_separate_vocabularies);
    tcase_add_test(tests, test_reads_quantization);
    tcase_add_loop_test(tests, test_refuses_wrong_config, 0, (int)(sizeof wrong / sizeof wrong[0]));
    tcase_add_loop_test(tests, test_refuses_wrong_generation, 0,
                        (int)(sizeof wrong_generation / sizeof wrong_generation[0]));
    tcase_add_test(tests, test_accepts_settings_that_are_off);
    tcase_add_test(tests, test_refuses_large_and_deep_files);
    tcase_add_test(tests, test_survives_random_damage);
    tcase_set_timeout(tests, 0);
    return run_group("model config", tests);
}
