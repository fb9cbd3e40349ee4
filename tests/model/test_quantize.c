/* The int8 form: its numbers, its bytes, and the directory it is written to. */
#include "model/int8.h"
#include "model/model.h"
#include "model/tiny.h"
#include "support/suite.h"

#include <dirent.h>
#include <float.h>
#include <glob.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static tiny_model tiny;
static char out[256], list[4096];
static zhen_error error;

static void setup(void)
{
    tiny_create(&tiny);
    snprintf(out, sizeof out, "%s-int8", tiny.directory);
    error = (zhen_error){0};
}

static void teardown(void)
{
    tiny_remove(&tiny);
    tiny_remove_path(out);
}

static void quantize(void)
{
    ck_assert_msg(!zhen_model_quantize(tiny.directory, out, &error), "%s", error.message);
}

static void expect_error(zhen_status status, const char *from, const char *to, const char *message)
{
    ck_assert_int_eq(zhen_model_quantize(from, to, &error), status);
    ck_assert_msg(strstr(error.message, message) != NULL, "\"%s\" is not in \"%s\"", message,
                  error.message);
}

static void put_in(const char *directory, const char *name, const char *text)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fputs(text, file);
    fclose(file);
}

static bool exists_in(const char *directory, const char *name)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    return access(path, F_OK) == 0;
}

/* How many names beside the model begin with its name: itself, its int8 form and anything that was
 * left over. */
static size_t count_beside(void)
{
    const char *slash = strrchr(tiny.directory, '/');
    char parent[256];
    snprintf(parent, sizeof parent, "%.*s", (int)(slash - tiny.directory), tiny.directory);
    DIR *directory = opendir(parent);
    ck_assert_ptr_nonnull(directory);
    size_t count = 0;
    for (const struct dirent *entry; (entry = readdir(directory));)
        count += !strncmp(entry->d_name, slash + 1, strlen(slash + 1));
    closedir(directory);
    return count;
}

/* ---- Numbers -------------------------------------------------------------------------------- */

START_TEST(test_row_is_scaled_to_127)
{
    const float row[] = {0.5F, -2, 1, 2};
    int8_t values[4];
    const float scale = mdl_int8_quantize_row(row, 4, values);
    ck_assert_float_eq(scale, 2.0F / 127);
    ck_assert_int_eq(values[0], 32); /* 31.75 */
    ck_assert_int_eq(values[1], -127);
    ck_assert_int_eq(values[2], 64); /* 63.5, to even */
    ck_assert_int_eq(values[3], 127);
}
END_TEST

START_TEST(test_halves_round_to_even)
{
    const float row[] = {127, 0.5F, 1.5F, 2.5F, -0.5F, -1.5F};
    const int8_t expected[] = {127, 0, 2, 2, 0, -2};
    int8_t values[6];
    ck_assert_float_eq(mdl_int8_quantize_row(row, 6, values), 1);
    ck_assert_mem_eq(values, expected, sizeof values);
}
END_TEST

START_TEST(test_extreme_rows)
{
    const float zeros[] = {0, -0.0F}, tiny_row[] = {1e-40F, -1e-38F}, huge[] = {FLT_MAX, -FLT_MAX};
    int8_t values[2] = {1, 1};
    ck_assert_float_eq(mdl_int8_quantize_row(zeros, 2, values), 1);
    ck_assert(!values[0] && !values[1]);
    ck_assert_float_eq(mdl_int8_quantize_row(tiny_row, 2, values), 1);
    ck_assert(!values[0] && !values[1]);
    ck_assert(isfinite(mdl_int8_quantize_row(huge, 2, values)));
    ck_assert(values[0] == 127 && values[1] == -127);
}
END_TEST

static void compare_matrix(const mdl_matrix *matrix, const char *name)
{
    const tiny_tensor *tensor = tiny_find(&tiny, name);
    ck_assert_uint_eq(matrix->rows, tensor->rows);
    ck_assert_uint_eq(matrix->cols, tensor->cols);
    ck_assert_ptr_null(matrix->f32);
    for (size_t r = 0; r < matrix->rows; r++)
        for (size_t c = 0; c < matrix->cols; c++) {
            const float value = (float)matrix->s8[r * matrix->cols + c] * matrix->scale[r];
            ck_assert_float_eq_tol(value, tensor->values[r * matrix->cols + c],
                                   matrix->scale[r] * 0.5001F);
        }
}

START_TEST(test_quantised_model_opens)
{
    memset(tiny.tensors[0].values + TINY_D, 0, TINY_D * sizeof(float)); /* a row of zeros */
    tiny_write_weights(&tiny);
    quantize();
    zhen_model *model;
    ck_assert_msg(!zhen_model_open(out, &model, &error), "%s", error.message);
    zhen_model_info info;
    zhen_model_get_info(model, &info);
    ck_assert(model->config.int8);
    ck_assert_str_eq(info.weight_type, "int8");
    ck_assert_str_eq(info.licence, "cc0-1.0");
    ck_assert_uint_eq(info.output_pieces, TINY_VOCABULARY - 1);
    compare_matrix(&model->source_embedding, "model.shared.weight");
    compare_matrix(&model->output, "model.shared.weight");
    compare_matrix(&model->encoder[0].fc2.weight, "model.encoder.layers.0.fc2.weight");
    compare_matrix(&model->decoder[0].cross.output.weight,
                   "model.decoder.layers.0.encoder_attn.out_proj.weight");
    ck_assert_mem_eq(
        model->decoder[0].cross.norm.bias,
        tiny_find(&tiny, "model.decoder.layers.0.encoder_attn_layer_norm.bias")->values,
        TINY_D * sizeof(float));
    ck_assert_mem_eq(model->output_bias, tiny_find(&tiny, "final_logits_bias")->values,
                     TINY_VOCABULARY * sizeof(float));
    zhen_model_close(model);
}
END_TEST

START_TEST(test_untied_tables_are_quantised)
{
    tiny_edit_config(&tiny, "\"dropout\": 0.0", "\"tie_word_embeddings\": false");
    strcpy(tiny.tensors[0].name, "model.encoder.embed_tokens.weight");
    tiny_add(&tiny, "model.decoder.embed_tokens.weight", TINY_VOCABULARY, TINY_D);
    tiny_add(&tiny, "lm_head.weight", TINY_VOCABULARY, TINY_D);
    tiny_write_weights(&tiny);
    quantize();
    zhen_model *model;
    ck_assert_msg(!zhen_model_open(out, &model, &error), "%s", error.message);
    compare_matrix(&model->source_embedding, "model.encoder.embed_tokens.weight");
    compare_matrix(&model->target_embedding, "model.decoder.embed_tokens.weight");
    compare_matrix(&model->output, "lm_head.weight");
    zhen_model_close(model);
}
END_TEST

/* ---- Files ---------------------------------------------------------------------------------- */

START_TEST(test_config_is_kept_but_for_the_declaration)
{
    size_t size;
    quantize();
    char *text = (char *)tiny_read(out, "config.json", &size);
    const size_t kept = strlen(tiny_config) - strlen("\n}\n");
    ck_assert_int_eq(strncmp(text, tiny_config, kept), 0);
    ck_assert_str_eq(text + kept, ",\n"
                                  "  \"quantization_config\": {\n"
                                  "    \"quant_method\": \"zhen-int8\",\n"
                                  "    \"bits\": 8,\n"
                                  "    \"scheme\": \"symmetric\",\n"
                                  "    \"granularity\": \"output row\",\n"
                                  "    \"scale_suffix\": \".scale\"\n"
                                  "  }\n"
                                  "}\n");
    free(text);
}
END_TEST

START_TEST(test_other_files_are_copied)
{
    static const char *const copied[] = {
        "generation_config.json", "vocab.json", "source.spm", "target.spm",
        "tokenizer_config.json",  "README.md",  "notes.txt"};
    put_in(tiny.directory, "notes.txt", "anything else, too\n");
    put_in(tiny.directory, "pytorch_model.bin", "old weights");
    put_in(tiny.directory, ".hidden", "x");
    char path[512];
    snprintf(path, sizeof path, "%s/folder", tiny.directory);
    ck_assert_int_eq(mkdir(path, 0777), 0);
    quantize();
    for (size_t i = 0; i < sizeof copied / sizeof copied[0]; i++) {
        size_t before_size, after_size;
        unsigned char *before = tiny_read(tiny.directory, copied[i], &before_size);
        unsigned char *after = tiny_read(out, copied[i], &after_size);
        ck_assert_uint_eq(before_size, after_size);
        ck_assert_mem_eq(before, after, before_size);
        free(before);
        free(after);
    }
    ck_assert(!exists_in(out, "pytorch_model.bin"));
    ck_assert(!exists_in(out, ".hidden"));
    ck_assert(!exists_in(out, "folder"));
    ck_assert_uint_eq(count_beside(), 2);
}
END_TEST

START_TEST(test_output_is_deterministic)
{
    size_t first_size, second_size;
    quantize();
    unsigned char *first = tiny_read(out, "model.safetensors", &first_size);
    quantize();
    unsigned char *second = tiny_read(out, "model.safetensors", &second_size);
    ck_assert_uint_eq(first_size, second_size);
    ck_assert_mem_eq(first, second, first_size);
    ck_assert_uint_eq(count_beside(), 2);
    free(first);
    free(second);
}
END_TEST

/* ---- The directory -------------------------------------------------------------------------- */

START_TEST(test_replaces_an_old_model_and_an_empty_directory)
{
    ck_assert_int_eq(mkdir(out, 0777), 0);
    quantize();
    put_in(out, "config.json", "{}");
    put_in(out, "target_vocab.json", "{}");
    strcat(out, "//");
    quantize();
    ck_assert(!exists_in(out, "target_vocab.json"));
    zhen_model *model;
    ck_assert_msg(!zhen_model_open(out, &model, &error), "%s", error.message);
    zhen_model_close(model);
    ck_assert_uint_eq(count_beside(), 2);
}
END_TEST

START_TEST(test_replaces_what_a_link_shows)
{
    char link[256];
    snprintf(link, sizeof link, "%s-link", tiny.directory);
    quantize();
    ck_assert_int_eq(symlink(out, link), 0);
    put_in(out, "config.json", "{}");
    ck_assert_msg(!zhen_model_quantize(tiny.directory, link, &error), "%s", error.message);
    struct stat about;
    ck_assert_int_eq(lstat(link, &about), 0);
    ck_assert(S_ISLNK(about.st_mode));
    size_t size;
    unsigned char *config = tiny_read(out, "config.json", &size);
    ck_assert_uint_gt(size, 2);
    free(config);
    ck_assert_int_eq(unlink(link), 0);
}
END_TEST

START_TEST(test_never_replaces_anything_else)
{
    expect_error(ZHEN_ERROR_ARGUMENT, tiny.directory, tiny.directory, "is the model itself");
    ck_assert_int_eq(mkdir(out, 0777), 0);
    put_in(out, "thesis.tex", "years of work");
    expect_error(ZHEN_ERROR_ARGUMENT, tiny.directory, out, "holds 'thesis.tex'");
    ck_assert(exists_in(out, "thesis.tex"));
    tiny_remove_path(out);
    snprintf(list, sizeof list, "%s/config.json", tiny.directory);
    expect_error(ZHEN_ERROR_ARGUMENT, tiny.directory, list, "is no readable directory");
    snprintf(list, sizeof list, "%s/no/such", tiny.directory);
    expect_error(ZHEN_ERROR_IO, tiny.directory, list, "cannot be created");
    expect_error(ZHEN_ERROR_IO, "/no/such", out, "/no/such");
    ck_assert_uint_eq(count_beside(), 1);
}
END_TEST

START_TEST(test_refuses_models_that_cannot_be_quantised)
{
    char again[300];
    quantize();
    snprintf(again, sizeof again, "%s-again", out);
    expect_error(ZHEN_ERROR_ARGUMENT, out, again, "is int8 already");
    tiny_edit_config(&tiny, "\"dropout\": 0.0", "\"quantization_config\": null");
    expect_error(ZHEN_ERROR_UNSUPPORTED, tiny.directory, again, "quantization_config");
    tiny_find(&tiny, "model.encoder.layers.0.fc1.bias")->values[0] = NAN;
    tiny_write_weights(&tiny);
    expect_error(ZHEN_ERROR_FORMAT, tiny.directory, again, "fc1.bias': holds a value that is not");
    ck_assert_uint_eq(count_beside(), 2);
}
END_TEST

static void remove_leftovers(void)
{
    char pattern[300];
    glob_t found;
    snprintf(pattern, sizeof pattern, "%s.*.tmp", out);
    if (!glob(pattern, 0, NULL, &found)) {
        for (size_t i = 0; i < found.gl_pathc; i++)
            tiny_remove_path(found.gl_pathv[i]);
        globfree(&found);
    }
}

/* A child replaces the model again and again and is killed at some moment of it: what stands at the
 * path is always a whole model. */
START_TEST(test_a_killed_process_leaves_a_whole_model)
{
    uint32_t state = 362436069;
    quantize();
    for (int round = 0; round < 20; round++) {
        const pid_t child = fork();
        ck_assert_int_ge(child, 0);
        if (!child)
            for (;;)
                zhen_model_quantize(tiny.directory, out, NULL);
        usleep(1000 + tiny_random(&state) % 20000);
        ck_assert_int_eq(kill(child, SIGKILL), 0);
        ck_assert_int_eq(waitpid(child, NULL, 0), child);
        zhen_model *model;
        ck_assert_msg(!zhen_model_open(out, &model, &error), "%s", error.message);
        zhen_model_close(model);
        remove_leftovers();
    }
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("quantize");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, test_row_is_scaled_to_127);
    tcase_add_test(tests, test_halves_round_to_even);
    tcase_add_test(tests, test_extreme_rows);
    tcase_add_test(tests, test_quantised_model_opens);
    tcase_add_test(tests, test_untied_tables_are_quantised);
    tcase_add_test(tests, test_config_is_kept_but_for_the_declaration);
    tcase_add_test(tests, test_other_files_are_copied);
    tcase_add_test(tests, test_output_is_deterministic);
    tcase_add_test(tests, test_replaces_an_old_model_and_an_empty_directory);
    tcase_add_test(tests, test_replaces_what_a_link_shows);
    tcase_add_test(tests, test_never_replaces_anything_else);
    tcase_add_test(tests, test_refuses_models_that_cannot_be_quantised);
    tcase_add_test(tests, test_a_killed_process_leaves_a_whole_model);
    tcase_set_timeout(tests, 0);
    return run_group("model quantize", tests);
}
