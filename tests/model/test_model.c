/* Whole model directories: what transformers writes is read as transformers reads it, and what is
 * damaged is refused with the tensor's name. */
#include "model/card.h"
#include "model/half.h"
#include "model/model.h"
#include "model/positions.h"
#include "model/tiny.h"
#include "model/weights.h"
#include "support/suite.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static tiny_model tiny;
static zhen_error error;

static void setup(void)
{
    tiny_create(&tiny);
    error = (zhen_error){0};
}

static void teardown(void)
{
    tiny_remove(&tiny);
}

static void expect_error(zhen_status status, const char *message)
{
    zhen_model *model = (zhen_model *)&tiny;
    ck_assert_msg(zhen_model_open(tiny.directory, &model, &error) == status, "%s", error.message);
    ck_assert_ptr_null(model);
    ck_assert_msg(strstr(error.message, message) != NULL, "\"%s\" is not in \"%s\"", message,
                  error.message);
    ck_assert_msg(strstr(error.message, tiny.directory) != NULL, "%s", error.message);
}

static void remove_file(const char *name)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", tiny.directory, name);
    ck_assert_int_eq(unlink(path), 0);
}

static zhen_model *open_tiny(void)
{
    zhen_model *model;
    ck_assert_msg(!zhen_model_open(tiny.directory, &model, &error), "%s", error.message);
    return model;
}

/* ---- Valid models -------------------------------------------------------------------------- */

START_TEST(test_opens_and_describes)
{
    zhen_model *model = open_tiny();
    zhen_model_info info;
    zhen_model_get_info(model, &info);
    ck_assert_str_eq(info.directory, tiny.directory);
    ck_assert_str_eq(info.architecture, "marian");
    ck_assert_str_eq(info.activation, "relu");
    ck_assert_str_eq(info.weight_type, "float32");
    ck_assert_str_eq(info.licence, "cc0-1.0");
    ck_assert_str_eq(info.source_language, "zho");
    ck_assert_str_eq(info.target_language, "eng");
    ck_assert_uint_eq(info.d_model, TINY_D);
    ck_assert_uint_eq(info.encoder_layers, 1);
    ck_assert_uint_eq(info.decoder_heads, 4);
    ck_assert_uint_eq(info.decoder_ffn, TINY_DECODER_FFN);
    ck_assert_uint_eq(info.source_vocabulary, TINY_VOCABULARY);
    ck_assert_uint_eq(info.output_pieces, TINY_VOCABULARY - 1);
    ck_assert_uint_eq(info.max_positions, TINY_POSITIONS);
    size_t parameters = 0, size;
    for (size_t i = 0; i + 1 < tiny.count; i++)
        parameters += (tiny.tensors[i].rows ? tiny.tensors[i].rows : 1) * tiny.tensors[i].cols;
    ck_assert_uint_eq(info.parameters, parameters);
    free(tiny_read(tiny.directory, "model.safetensors", &size));
    ck_assert_uint_eq(info.file_bytes, size);
    ck_assert_uint_gt(info.memory_bytes, 0);
    zhen_model_close(model);
    zhen_model_close(NULL);
}
END_TEST

START_TEST(test_weights_are_used_in_place)
{
    zhen_model *model = open_tiny();
    const base_map *map = &model->storage->file.map;
    const unsigned char *weight = (const unsigned char *)model->decoder[0].cross.query.weight.f32;
    ck_assert(weight > map->bytes && weight < map->bytes + map->size);
    ck_assert_mem_eq(weight,
                     tiny_find(&tiny, "model.decoder.layers.0.encoder_attn.q_proj.weight")->values,
                     TINY_D * TINY_D * sizeof(float));
    ck_assert_ptr_eq(model->source_embedding.f32, model->output.f32);
    ck_assert_ptr_null(model->encoder[0].cross.query.weight.f32);
    zhen_model_close(model);
}
END_TEST

START_TEST(test_misaligned_weights_are_copied)
{
    size_t size, length;
    unsigned char *image = tiny_read(tiny.directory, "model.safetensors", &size);
    /* One more space in the header moves all tensors to odd addresses. */
    unsigned char *moved = malloc(size + 1);
    ck_assert_ptr_nonnull(moved);
    length = 8 + image[0] + 256U * image[1];
    memcpy(moved, image, length);
    moved[length] = ' ';
    memcpy(moved + length + 1, image + length, size - length);
    ck_assert_uint_lt(moved[0], 255);
    moved[0]++;
    tiny_write(&tiny, "model.safetensors", moved, size + 1);
    free(image);
    free(moved);

    zhen_model *model = open_tiny();
    ck_assert_mem_eq(model->target_embedding.f32, tiny.tensors[0].values,
                     TINY_VOCABULARY * TINY_D * sizeof(float));
    ck_assert_uint_eq((uintptr_t)model->target_embedding.f32 % sizeof(float), 0);
    zhen_model_close(model);
}
END_TEST

START_TEST(test_optional_files_may_be_missing)
{
    remove_file("README.md");
    remove_file("tokenizer_config.json");
    remove_file("generation_config.json");
    tiny_drop(&tiny, "final_logits_bias");
    tiny_write_weights(&tiny);
    zhen_model *model = open_tiny();
    zhen_model_info info;
    zhen_model_get_info(model, &info);
    ck_assert_ptr_null(info.licence);
    ck_assert_ptr_null(info.source_language);
    ck_assert_uint_eq(info.output_pieces, TINY_VOCABULARY);
    ck_assert_float_eq(model->output_bias[11], 0);
    zhen_model_close(model);
}
END_TEST

/* ---- Models that transformers wrote --------------------------------------------------------- */

static const char *const fixtures[] = {"tied",    "untied",   "unshared", "unshared_untied",
                                       "float16", "bfloat16", "bare",     "copies"};

static void compare(const st_file *expected, const char *name, const float *values, size_t count)
{
    const st_tensor *tensor = st_find(expected, name);
    ck_assert_ptr_nonnull(tensor);
    ck_assert_uint_eq(tensor->bytes, count * sizeof *values);
    for (size_t i = 0; i < count; i++) {
        float value;
        memcpy(&value, tensor->data + i * sizeof value, sizeof value);
        ck_assert_msg(!memcmp(&value, &values[i], sizeof value), "%s[%zu]: %.9g is not %.9g", name,
                      i, (double)values[i], (double)value);
    }
}

static void compare_matrix(const st_file *expected, const char *name, const mdl_matrix *matrix)
{
    compare(expected, name, matrix->f32, matrix->rows * matrix->cols);
}

/* The fixtures have no tokeniser, so the weights are loaded without the rest of the model. */
static void load_fixture(const char *directory, zhen_model *model, mdl_storage *storage)
{
    char path[256];
    snprintf(path, sizeof path, "%s/model.safetensors", directory);
    *storage = (mdl_storage){0};
    *model = (zhen_model){.storage = storage};
    ck_assert_msg(
        !mdl_config_read(directory, &storage->memory, &model->config, &model->generation, &error),
        "%s", error.message);
    ck_assert_msg(!mdl_weights_load(model, path, &error), "%s", error.message);
}

START_TEST(test_reads_what_transformers_writes)
{
    char directory[128], path[256];
    snprintf(directory, sizeof directory, "tests/model/fixtures/%s", fixtures[_i]);
    zhen_model model;
    mdl_storage storage;
    load_fixture(directory, &model, &storage);
    st_file expected;
    snprintf(path, sizeof path, "%s/expected.safetensors", directory);
    ck_assert_msg(!st_open(path, &expected, &error), "%s", error.message);

    compare_matrix(&expected, "source", &model.source_embedding);
    compare_matrix(&expected, "target", &model.target_embedding);
    compare_matrix(&expected, "output", &model.output);
    compare(&expected, "output_bias", model.output_bias, model.config.decoder.vocabulary);
    compare(&expected, "positions", model.positions, (size_t)TINY_POSITIONS * TINY_D);
    compare_matrix(&expected, "cross_query", &model.decoder[1].cross.query.weight);
    compare(&expected, "cross_norm", model.decoder[1].cross.norm.weight, TINY_D);
    compare_matrix(&expected, "encoder_fc2", &model.encoder[0].fc2.weight);

    st_close(&expected);
    st_close(&storage.file);
    base_arena_free(&storage.memory);
}
END_TEST

START_TEST(test_positions_are_those_of_transformers)
{
    static const size_t rows[] = {0, 1, 2, 3, 100, 255, 511};
    static float table[512 * 256], odd[70 * 7];
    float sample[7 * 256];
    mdl_positions_fill(table, 512, 256);
    mdl_positions_fill(odd, 70, 7);
    for (size_t i = 0; i < 7; i++)
        memcpy(sample + i * 256, table + rows[i] * 256, 256 * sizeof *table);
    st_file expected;
    ck_assert(!st_open("tests/model/fixtures/positions.safetensors", &expected, &error));
    compare(&expected, "wide", sample, 7 * 256);
    compare(&expected, "odd", odd, 70 * 7);
    st_close(&expected);
}
END_TEST

START_TEST(test_positions_stay_exact)
{
    enum { POSITIONS = 65536, WIDTH = 4 };
    float *table = malloc(sizeof *table * POSITIONS * WIDTH);
    ck_assert_ptr_nonnull(table);
    mdl_positions_fill(table, POSITIONS, WIDTH);
    for (size_t p = 0; p < POSITIONS; p += 31) {
        ck_assert_double_eq_tol((double)table[p * WIDTH], sin((double)p), 1e-7);
        ck_assert_double_eq_tol((double)table[p * WIDTH + 3], cos((double)p / 100), 1e-7);
    }
    free(table);
}
END_TEST

START_TEST(test_half_precision_is_exact)
{
    st_file file;
    ck_assert(!st_open("tests/model/fixtures/halves.safetensors", &file, &error));
    const st_tensor *f16 = st_find(&file, "f16"), *bf16 = st_find(&file, "bf16");
    float *values = calloc(f16->bytes + bf16->bytes, sizeof *values);
    ck_assert_ptr_nonnull(values);
    uint16_t bits;
    for (size_t i = 0; i < f16->bytes / 2; i++) {
        memcpy(&bits, f16->data + 2 * i, 2);
        values[i] = mdl_float_of_f16(bits);
    }
    compare(&file, "f16_as_f32", values, f16->bytes / 2);
    for (size_t i = 0; i < bf16->bytes / 2; i++) {
        memcpy(&bits, bf16->data + 2 * i, 2);
        values[i] = mdl_float_of_bf16(bits);
    }
    compare(&file, "bf16_as_f32", values, bf16->bytes / 2);
    free(values);
    st_close(&file);
}
END_TEST

/* ---- Damaged weights ------------------------------------------------------------------------ */

static const char fc1[] = "model.encoder.layers.0.fc1.weight";

START_TEST(test_refuses_each_missing_tensor)
{
    for (size_t i = 0; i + 1 < TINY_TENSORS;
         i++) { /* final_logits_bias, the last, may be missing */
        static tiny_model damaged;
        char message[256];
        damaged = tiny;
        damaged.tensors[i] = damaged.tensors[--damaged.count];
        tiny_write_weights(&damaged);
        snprintf(message, sizeof message, "tensor '%s': is missing", tiny.tensors[i].name);
        expect_error(ZHEN_ERROR_FORMAT, message);
    }
}
END_TEST

START_TEST(test_refuses_superfluous_tensors)
{
    tiny_add(&tiny, "model.encoder.layers.1.fc1.weight", 2, 2);
    tiny_write_weights(&tiny);
    expect_error(ZHEN_ERROR_FORMAT,
                 "tensor 'model.encoder.layers.1.fc1.weight': is not part of the model");
}
END_TEST

START_TEST(test_refuses_wrong_shapes)
{
    tiny_tensor *tensor = tiny_find(&tiny, fc1);
    tensor->rows = TINY_D;
    tensor->cols = TINY_ENCODER_FFN;
    tiny_write_weights(&tiny);
    expect_error(ZHEN_ERROR_FORMAT, "tensor 'model.encoder.layers.0.fc1.weight': shape is (8, 16), "
                                    "config.json asks for (16, 8)");
    tensor->rows = 0;
    tensor->cols = TINY_D * TINY_ENCODER_FFN;
    tiny_write_weights(&tiny);
    expect_error(ZHEN_ERROR_FORMAT, "shape is (128), config.json asks for (16, 8)");
    tensor->rows = TINY_ENCODER_FFN;
    tensor->cols = TINY_D;
    tiny_find(&tiny, "final_logits_bias")->rows = 0;
    tiny_write_weights(&tiny);
    expect_error(ZHEN_ERROR_FORMAT, "tensor 'final_logits_bias': shape is (12), config.json asks "
                                    "for (1, 12)");
}
END_TEST

START_TEST(test_refuses_values_that_are_not_finite)
{
    static const float wrong[] = {NAN, INFINITY, -INFINITY};
    static const char *const names[] = {fc1, "model.shared.weight", "final_logits_bias",
                                        "model.decoder.layers.0.encoder_attn_layer_norm.bias"};
    for (size_t i = 0; i < 4; i++) {
        tiny_tensor *tensor = tiny_find(&tiny, names[i]);
        const size_t last = (tensor->rows ? tensor->rows : 1) * tensor->cols - 1;
        const float right = tensor->values[last];
        char message[256];
        tensor->values[last] = wrong[i % 3];
        tiny_write_weights(&tiny);
        snprintf(message, sizeof message, "tensor '%s': holds a value that is not finite",
                 names[i]);
        expect_error(ZHEN_ERROR_FORMAT, message);
        tensor->values[last] = right;
    }
    /* The largest float and the smallest are numbers like any other. */
    tiny_find(&tiny, fc1)->values[0] = 3.4028234e38F;
    tiny_find(&tiny, fc1)->values[1] = -1e-45F;
    tiny_write_weights(&tiny);
    zhen_model_close(open_tiny());
}
END_TEST

START_TEST(test_refuses_wrong_types)
{
    tiny_tensor *tensor = tiny_find(&tiny, fc1);
    strcpy(tensor->dtype, "I8");
    tiny_write_weights(&tiny);
    expect_error(ZHEN_ERROR_FORMAT, "fc1.weight': dtype I8, but config.json has no "
                                    "quantization_config");
    strcpy(tensor->dtype, "I32");
    tiny_write_weights(&tiny);
    expect_error(ZHEN_ERROR_FORMAT, "fc1.weight': dtype I32 where F32, F16 or BF16 is needed");
    strcpy(tensor->dtype, "F32");
    strcpy(tiny_find(&tiny, "model.encoder.layers.0.fc1.bias")->dtype, "I8");
    tiny_write_weights(&tiny);
    expect_error(ZHEN_ERROR_FORMAT, "fc1.bias': dtype I8 where F32, F16 or BF16 is needed");
}
END_TEST

START_TEST(test_refuses_floats_in_an_int8_model)
{
    tiny_edit_config(&tiny, "\"dropout\": 0.0",
                     "\"quantization_config\": {\"quant_method\": \"zhen-int8\"}");
    expect_error(ZHEN_ERROR_FORMAT, "tensor 'model.shared.weight': dtype F32, but config.json "
                                    "declares int8");
    strcpy(tiny.tensors[0].dtype, "I8");
    tiny_write_weights(&tiny);
    expect_error(ZHEN_ERROR_FORMAT, "tensor 'model.shared.weight.scale': is missing");
    tiny_tensor *scale = tiny_add(&tiny, "model.shared.weight.scale", 0, TINY_VOCABULARY);
    for (size_t i = 0; i < TINY_VOCABULARY; i++)
        scale->values[i] = 0.5F;
    scale->values[3] = 0;
    tiny_write_weights(&tiny);
    expect_error(ZHEN_ERROR_FORMAT, "shared.weight.scale': holds a scale that is not positive");
    scale->values[3] = NAN;
    tiny_write_weights(&tiny);
    expect_error(ZHEN_ERROR_FORMAT, "shared.weight.scale': holds a value that is not finite");
    scale->cols = TINY_VOCABULARY - 1;
    tiny_write_weights(&tiny);
    expect_error(ZHEN_ERROR_FORMAT, "shared.weight.scale': shape is (11)");
}
END_TEST

START_TEST(test_refuses_copies_that_differ)
{
    tiny_tensor *head = tiny_add(&tiny, "lm_head.weight", TINY_VOCABULARY, TINY_D);
    memcpy(head->values, tiny.tensors[0].values, sizeof head->values);
    tiny_write_weights(&tiny);
    zhen_model_close(open_tiny());
    head->values[5] += 1;
    tiny_write_weights(&tiny);
    expect_error(ZHEN_ERROR_FORMAT, "tensor 'lm_head.weight': differs from 'model.shared.weight'");
}
END_TEST

START_TEST(test_refuses_learned_positions)
{
    tiny_tensor *positions =
        tiny_add(&tiny, "model.decoder.embed_positions.weight", TINY_POSITIONS, TINY_D);
    mdl_positions_fill(positions->values, TINY_POSITIONS, TINY_D);
    tiny_write_weights(&tiny);
    zhen_model_close(open_tiny());
    positions->values[77] += 0.01F;
    tiny_write_weights(&tiny);
    expect_error(ZHEN_ERROR_FORMAT, "embed_positions.weight': these are not the sinusoidal");
    positions->rows = TINY_POSITIONS / 2;
    tiny_write_weights(&tiny);
    expect_error(ZHEN_ERROR_FORMAT, "embed_positions.weight': shape is (8, 8)");
}
END_TEST

/* ---- Damaged directories -------------------------------------------------------------------- */

START_TEST(test_says_what_to_do_about_other_weight_files)
{
    remove_file("model.safetensors");
    expect_error(ZHEN_ERROR_IO, "has no model.safetensors");
    tiny_write_text(&tiny, "pytorch_model.bin", "x");
    char command[256];
    snprintf(command, sizeof command, "python3 training/convert_bin.py %s", tiny.directory);
    expect_error(ZHEN_ERROR_UNSUPPORTED, command);
    tiny_write_text(&tiny, "model.safetensors.index.json", "{}");
    expect_error(ZHEN_ERROR_UNSUPPORTED, "weights in several files");
}
END_TEST

START_TEST(test_refuses_missing_files)
{
    static const char *const names[] = {"config.json", "vocab.json", "source.spm", "target.spm"};
    remove_file(names[_i]);
    expect_error(ZHEN_ERROR_IO, names[_i]);
}
END_TEST

START_TEST(test_refuses_broken_tokenizer_files)
{
    tiny_write_text(&tiny, "tokenizer_config.json", "{\"source_lang\": 1}");
    expect_error(ZHEN_ERROR_FORMAT, "tokenizer_config.json: source_lang: must be a string");
    tiny_write_text(&tiny, "tokenizer_config.json", "{}");
    tiny_write_text(&tiny, "vocab.json", "{}");
    expect_error(ZHEN_ERROR_FORMAT, "vocab.json");
    tiny_write_text(&tiny, "vocab.json", "{\"</s>\": 0, \"<unk>\": 12}");
    expect_error(ZHEN_ERROR_FORMAT, "vocab.json");
}
END_TEST

START_TEST(test_missing_directory_is_named)
{
    zhen_model *model;
    ck_assert_int_eq(zhen_model_open("/no/such/place", &model, &error), ZHEN_ERROR_IO);
    ck_assert_ptr_null(model);
    ck_assert_ptr_nonnull(strstr(error.message, "/no/such/place"));
    ck_assert_int_eq(zhen_model_open("/no/such/place", &model, NULL), ZHEN_ERROR_IO);
}
END_TEST

/* A model is opened or refused with words, whatever a few bytes of its file are changed to. */
START_TEST(test_survives_random_damage)
{
    uint32_t state = 521288629;
    size_t size;
    unsigned char *image = tiny_read(tiny.directory, "model.safetensors", &size);
    unsigned char *damaged = malloc(size);
    ck_assert_ptr_nonnull(damaged);
    const size_t header = 8 + image[0] + 256U * image[1];
    for (int round = 0; round < 1500; round++) {
        memcpy(damaged, image, size);
        for (uint32_t n = 1 + tiny_random(&state) % 4; n; n--)
            damaged[tiny_random(&state) % (round % 4 ? header : size)] =
                (unsigned char)tiny_random(&state);
        tiny_write(&tiny, "model.safetensors", damaged, size);
        zhen_model *model;
        error.message[0] = '\0';
        if (zhen_model_open(tiny.directory, &model, &error))
            ck_assert(error.message[0]);
        zhen_model_close(model);
    }
    free(image);
    free(damaged);
}
END_TEST

/* ---- The card ------------------------------------------------------------------------------- */

static const struct {
    const char *text, *licence;
} cards[] = {
    {"", NULL},
    {"# No front matter\nlicense: mit\n", NULL},
    {"---\nlicense: mit\n---\n", "mit"},
    {"---\r\nlanguage: zh\r\nlicense: \"cc-by-4.0\"\r\n---\r\n", "cc-by-4.0"},
    {"---\nlicense:   apache-2.0   # as the data\n---\n", "apache-2.0"},
    {"---\nlicense: 'a # b'\n---\n", "a # b"},
    {"---\nlicense:\n- mit\n- cc0-1.0\ntags: x\n---\n", "mit, cc0-1.0"},
    {"---\nlicense:\ntags: x\n---\n", NULL},
    {"---\nlicense_name: x\n---\nlicense: y\n", NULL},
    {"---\n  license: nested\n---\n", NULL},
    {"---\nlicense: a\x07z\n---\n", NULL},
    {"---\nlicense: a\xFFz\n---\n", NULL},
    {"---\nlicense: mit", "mit"},
};

START_TEST(test_reads_the_licence)
{
    base_arena arena = {0};
    const char *licence = mdl_card_value(cards[_i].text, strlen(cards[_i].text), "license", &arena);
    if (cards[_i].licence)
        ck_assert_str_eq(licence, cards[_i].licence);
    else
        ck_assert_ptr_null(licence);
    base_arena_free(&arena);
}
END_TEST

static TCase *valid_tests(void)
{
    TCase *tests = tcase_create("valid");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, test_opens_and_describes);
    tcase_add_test(tests, test_weights_are_used_in_place);
    tcase_add_test(tests, test_misaligned_weights_are_copied);
    tcase_add_test(tests, test_optional_files_may_be_missing);
    return tests;
}

static TCase *reference_tests(void)
{
    TCase *tests = tcase_create("reference");
    tcase_add_loop_test(tests, test_reads_what_transformers_writes, 0,
                        (int)(sizeof fixtures / sizeof fixtures[0]));
    tcase_add_test(tests, test_positions_are_those_of_transformers);
    tcase_add_test(tests, test_positions_stay_exact);
    tcase_add_test(tests, test_half_precision_is_exact);
    tcase_add_loop_test(tests, test_reads_the_licence, 0, (int)(sizeof cards / sizeof cards[0]));
    return tests;
}

static TCase *damage_tests(void)
{
    TCase *tests = tcase_create("damage");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, test_refuses_each_missing_tensor);
    tcase_add_test(tests, test_refuses_superfluous_tensors);
    tcase_add_test(tests, test_refuses_wrong_shapes);
    tcase_add_test(tests, test_refuses_values_that_are_not_finite);
    tcase_add_test(tests, test_refuses_wrong_types);
    tcase_add_test(tests, test_refuses_floats_in_an_int8_model);
    tcase_add_test(tests, test_refuses_copies_that_differ);
    tcase_add_test(tests, test_refuses_learned_positions);
    tcase_add_test(tests, test_says_what_to_do_about_other_weight_files);
    tcase_add_loop_test(tests, test_refuses_missing_files, 0, 4);
    tcase_add_test(tests, test_refuses_broken_tokenizer_files);
    tcase_add_test(tests, test_missing_directory_is_named);
    tcase_add_test(tests, test_survives_random_damage);
    tcase_set_timeout(tests, 0);
    return tests;
}

int main(void)
{
    Suite *suite = suite_create("model");
    suite_add_tcase(suite, valid_tests());
    suite_add_tcase(suite, reference_tests());
    suite_add_tcase(suite, damage_tests());
    return run_groups(suite);
}
