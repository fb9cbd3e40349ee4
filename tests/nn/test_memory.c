/* Every allocation of the network, the worker and the caches fails once, and nothing is lost. */
#include "nn/nn.h"
#include "nn/synthetic.h"
#include "support/allocations.h"
#include "support/suite.h"

#include <stdlib.h>

static const synthetic_shape SHAPE = {.d_model = 16,
                                      .encoder = {1, 2, 20, 30},
                                      .decoder = {2, 2, 20, 40},
                                      .max_positions = 80,
                                      .banned_step = 5};

/* Makes everything, decodes a little and frees everything. Clears *kept when a step allocates or a
 * failed nn_encode leaves a sentence behind. (Check's own assertions allocate: none in here.) */
static zhen_status run(const zhen_model *model, bool *kept)
{
    static const int32_t ids[70] = {1, 2, 3};
    const nn_source sources[] = {{.ids = ids, .count = 5, .beams = 2, .positions = 20},
                                 {.ids = ids, .count = 70, .beams = 1, .positions = 9}};
    const nn_limits limits = {.rows = 3, .source_tokens = 20, .alignment = true};
    nn_network *network;
    nn_worker *worker;
    nn_sentence *sentences[2];
    zhen_status status = nn_network_create(model, NULL, 1, &network, NULL);
    if (status)
        return status;
    status = nn_worker_create(network, &limits, &worker, NULL);
    if (!status) {
        status = nn_encode(worker, sources, 2, sentences, NULL, NULL);
        *kept = *kept && (!status || (!sentences[0] && !sentences[1]));
        for (size_t t = 0; t < 9 && !status; t++) {
            const nn_row rows[] = {{sentences[0], 1, 0}, {sentences[1], 2, 0}};
            kn_top tops[2];
            kn_top_start(&tops[0], 2);
            kn_top_start(&tops[1], 2);
            const long before = allocations;
            nn_step(worker, rows, 2, NULL, tops, true);
            nn_sentence_reorder(sentences[0], (const uint32_t[]){0, 0}, 2);
            *kept = *kept && allocations == before;
        }
        for (size_t i = 0; i < 2 && !status; i++)
            nn_sentence_release(worker, sentences[i]);
    }
    nn_worker_free(worker);
    nn_network_free(network);
    return status;
}

/* Runs with each allocation failing in turn, up to the run that needs no more. */
static void check_failures(const zhen_model *model)
{
    zhen_status status = ZHEN_ERROR_MEMORY;
    long tried = 0;
    bool kept = true;
    while (status == ZHEN_ERROR_MEMORY) {
        fail_allocation(tried++);
        status = run(model, &kept);
    }
    fail_no_allocation();
    ck_assert_int_eq(status, ZHEN_OK);
    ck_assert(kept);
    ck_assert_int_gt(tried, 10);
}

START_TEST(running_out_of_memory_is_an_error_and_loses_nothing)
{
    zhen_model *model = synthetic_model(&SHAPE, 1);
    zhen_model *int8 = synthetic_int8(model);
    check_failures(model);
    check_failures(int8);
    synthetic_free(int8);
    synthetic_free(model);
}
END_TEST

int main(void)
{
    TCase *all = tcase_create("memory");
    tcase_add_test(all, running_out_of_memory_is_an_error_and_loses_nothing);
    return run_group("nn_memory", all);
}
