/* Which outputs a network has. */
#include "nn/linear.h"
#include "nn/nn.h"
#include "nn/synthetic.h"
#include "support/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const synthetic_shape SHAPE = {.d_model = 12,
                                      .encoder = {1, 2, 20, 30},
                                      .decoder = {1, 3, 16, 40},
                                      .activation = MDL_GELU,
                                      .max_positions = 20};

static nn_network *create(const zhen_model *model)
{
    zhen_error error;
    nn_network *network;
    ck_assert_msg(nn_network_create(model, NULL, 1, &network, &error) == ZHEN_OK, "%s",
                  error.message);
    return network;
}

/* Checks that tokens ascend and that row and token lead to each other. */
static void check_outputs(const nn_network *network, const zhen_model *model, size_t expected)
{
    ck_assert_uint_eq(nn_output_count(network), expected);
    for (size_t row = 0; row < expected; row++) {
        int32_t token = nn_output_token(network, row);
        ck_assert(nn_output_row(network, token) == (ptrdiff_t)row);
        ck_assert(row == 0 || nn_output_token(network, row - 1) < token);
        ck_assert(model->output_bias[token] > -1e4F);
    }
    size_t found = 0;
    for (int32_t token = 0; token < 40; token++)
        found += nn_output_row(network, token) >= 0;
    ck_assert_uint_eq(found, expected);
    ck_assert_int_eq(nn_output_row(network, -1), -1);
    ck_assert_int_eq(nn_output_row(network, 40), -1);
}

static void check_shape(size_t banned_from, size_t banned_step, size_t expected)
{
    synthetic_shape shape = SHAPE;
    shape.banned_from = banned_from;
    shape.banned_step = banned_step;
    zhen_model *model = synthetic_model(&shape, 1);
    zhen_model *int8 = synthetic_int8(model);
    const zhen_model *models[] = {model, int8};
    for (size_t i = 0; i < 2; i++) {
        nn_network *network = create(models[i]);
        check_outputs(network, model, expected);
        ck_assert_uint_gt(nn_network_memory(network), 0);
        nn_network_free(network);
    }
    synthetic_free(int8);
    synthetic_free(model);
}

START_TEST(all_pieces_can_be_produced)
{
    check_shape(0, 0, 40);
}
END_TEST

START_TEST(a_prefix_can_be_produced)
{
    check_shape(25, 0, 25);
    check_shape(1, 0, 1);
}
END_TEST

START_TEST(scattered_pieces_can_be_produced)
{
    check_shape(0, 3, 26);
    check_shape(20, 7, 17);
}
END_TEST

START_TEST(a_model_without_output_bias_has_all)
{
    zhen_model *model = synthetic_model(&SHAPE, 1);
    model->output_bias = NULL;
    nn_network *network = create(model);
    ck_assert_uint_eq(nn_output_count(network), 40);
    nn_network_free(network);
    synthetic_free(model);
}
END_TEST

START_TEST(a_model_that_produces_nothing_is_refused)
{
    synthetic_shape shape = SHAPE;
    shape.banned_step = 1;
    zhen_model *model = synthetic_model(&shape, 1);
    zhen_error error;
    nn_network *network;
    ck_assert_int_eq(nn_network_create(model, NULL, 1, &network, &error), ZHEN_ERROR_FORMAT);
    ck_assert_ptr_nonnull(strstr(error.message, "final_logits_bias"));
    ck_assert_ptr_null(network);
    nn_network_free(network);
    synthetic_free(model);
}
END_TEST

START_TEST(an_unknown_instruction_set_is_refused)
{
    zhen_model *model = synthetic_model(&SHAPE, 1);
    zhen_error error;
    nn_network *network;
    ck_assert_int_eq(nn_network_create(model, "abacus", 1, &network, &error),
                     ZHEN_ERROR_UNSUPPORTED);
    ck_assert_ptr_null(network);
    synthetic_free(model);
}
END_TEST

static bool process_has_openblas(void)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    ck_assert_ptr_nonnull(maps);
    char line[4096];
    bool found = false;
    while (fgets(line, sizeof line, maps))
        found = found || strstr(line, KN_BLAS_LIBRARY) || strstr(line, "openblas");
    fclose(maps);
    return found;
}

START_TEST(openblas_is_loaded_for_float_weights_alone)
{
    zhen_model *model = synthetic_model(&SHAPE, 1);
    zhen_model *int8 = synthetic_int8(model);
    nn_network_free(create(int8));
    ck_assert(!process_has_openblas());
    nn_network_free(create(model));
    ck_assert(process_has_openblas());
    synthetic_free(int8);
    synthetic_free(model);
}
END_TEST

/* Part by part a float layer gives what it gives as a whole, activation and all. */
START_TEST(a_range_of_outputs_is_part_of_all)
{
    enum { IN = 4, OUT = 2 * NN_LINEAR_STEP + 6, ROWS = 2 };
    float weight[OUT * IN], bias[OUT], x[ROWS * IN], whole[ROWS * OUT], parts[ROWS * OUT];
    for (size_t i = 0; i < OUT * IN; i++)
        weight[i] = (float)((int)(i * 7 % 11) - 5);
    for (size_t i = 0; i < OUT; i++)
        bias[i] = (float)((int)(i % 5) - 2);
    for (size_t i = 0; i < ROWS * IN; i++)
        x[i] = (float)((int)(i % 3) - 1);
    const mdl_linear layer = {{.rows = OUT, .cols = IN, .f32 = weight}, bias};
    const mdl_linear *layers[] = {&layer};
    const kn_table *table;
    nn_linear linear;
    base_arena arena = {0};
    ck_assert_int_eq(kn_select(NULL, &table, NULL), ZHEN_OK);
    ck_assert(nn_linear_create(&linear, layers, 1, &arena));
    nn_input input = {.x = x, .rows = ROWS, .cols = IN};
    nn_linear_apply(&linear, table, &input, KN_RELU, whole, OUT);
    for (size_t begin = 0; begin < OUT; begin += NN_LINEAR_STEP) {
        size_t end = begin + NN_LINEAR_STEP < OUT ? begin + NN_LINEAR_STEP : OUT;
        nn_linear_apply_range(&linear, table, &input, begin, end, KN_RELU, parts + begin, OUT);
    }
    for (size_t i = 0; i < ROWS * OUT; i++)
        ck_assert_msg(whole[i] == parts[i], "%zu: %g, %g", i, (double)whole[i], (double)parts[i]);
    base_arena_free(&arena);
}
END_TEST

int main(void)
{
    TCase *outputs = tcase_create("outputs");
    tcase_add_test(outputs, all_pieces_can_be_produced);
    tcase_add_test(outputs, a_prefix_can_be_produced);
    tcase_add_test(outputs, scattered_pieces_can_be_produced);
    tcase_add_test(outputs, a_model_without_output_bias_has_all);
    tcase_add_test(outputs, a_model_that_produces_nothing_is_refused);
    tcase_add_test(outputs, an_unknown_instruction_set_is_refused);
    tcase_add_test(outputs, openblas_is_loaded_for_float_weights_alone);
    tcase_add_test(outputs, a_range_of_outputs_is_part_of_all);
    return run_group("nn_network", outputs);
}
