/* Search and network together find what transformers finds, on tiny random Marian models. */
#include "search/toy_check.h"

#include "model/model.h"
#include "support/suite.h"

#include <stdlib.h>

static void check_case(toy_case *toy)
{
    zhen_error error;
    char directory[64];
    zhen_model *model;
    nn_network *network;
    search_worker *worker;
    (void)snprintf(directory, sizeof directory, "tests/nn/fixtures/%s", toy->model);
    ck_assert_msg(!zhen_model_open(directory, &model, &error), "%s", error.message);
    toy->options.start_id = model->config.decoder_start_id;
    toy->options.eos_id = model->config.eos_id;
    toy->options.max_positions = model->config.max_positions;
    ck_assert_msg(!nn_network_create(model, NULL, 1, &network, &error), "%s", error.message);
    ck_assert_msg(!search_worker_create(network, &toy->options, 8, &worker, &error), "%s",
                  error.message);
    toy_check(toy, worker, NULL);
    search_worker_free(worker);
    nn_network_free(network);
    zhen_model_close(model);
}

START_TEST(agrees_with_transformers)
{
    FILE *file = fopen("tests/search/marian.txt", "r");
    toy_case *toy = malloc(sizeof *toy);
    ck_assert_ptr_nonnull(file);
    ck_assert_ptr_nonnull(toy);
    size_t cases = 0;
    for (; toy_case_read(file, toy); cases++)
        check_case(toy);
    ck_assert_uint_ge(cases, 18);
    free(toy);
    (void)fclose(file);
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("marian.txt");
    tcase_set_timeout(cases, 0);
    tcase_add_test(cases, agrees_with_transformers);
    return run_group("search_marian", cases);
}
