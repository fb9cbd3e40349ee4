/* The search finds what transformers' generate finds, whatever the options. */
#include "search/toy_check.h"
#include "search/toy_network.h"
#include "support/suite.h"

#include <stdlib.h>

static uint32_t look(const toy_source *source, const int32_t *history, size_t steps)
{
    return toy_attention(toy_seed(source->ids, source->count), history, steps, source->count);
}

static void check_case(const toy_case *toy, size_t sentences)
{
    nn_network *network = toy_network_create(toy_hashed_logit);
    search_worker *worker;
    zhen_error error;
    zhen_status status = search_worker_create(network, &toy->options,
                                              sentences * toy->options.beams, &worker, &error);
    ck_assert_msg(!status, "%s", error.message);
    toy_check(toy, worker, toy->options.alignment ? look : NULL);
    ck_assert_uint_eq(toy_network_alive(network), 0);
    search_worker_free(worker);
    nn_network_free(network);
}

/* With `sentences` side by side at most. */
static size_t check_all(size_t sentences, bool alignment)
{
    FILE *file = fopen("tests/search/toy.txt", "r");
    ck_assert_ptr_nonnull(file);
    toy_case *toy = malloc(sizeof *toy);
    ck_assert_ptr_nonnull(toy);
    size_t cases = 0;
    while (toy_case_read(file, toy)) {
        toy->options.alignment = alignment;
        check_case(toy, sentences);
        cases++;
    }
    free(toy);
    (void)fclose(file);
    return cases;
}

START_TEST(agrees_one_by_one)
{
    ck_assert_uint_gt(check_all(1, false), 100);
}
END_TEST

START_TEST(agrees_in_one_batch)
{
    ck_assert_uint_gt(check_all(TOY_SOURCES, false), 100);
}
END_TEST

/* Three side by side, so that sentences come and go. */
START_TEST(keeps_alignments)
{
    ck_assert_uint_gt(check_all(3, true), 100);
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("toy.txt");
    tcase_set_timeout(cases, 0);
    tcase_add_test(cases, agrees_one_by_one);
    tcase_add_test(cases, agrees_in_one_batch);
    tcase_add_test(cases, keeps_alignments);
    return run_group("search_generate", cases);
}
