/* Every allocation of a search fails once, and nothing is lost; the token loop allocates nothing.
 */
#include "nn/synthetic.h"
#include "search/search.h"
#include "support/allocations.h"
#include "support/suite.h"

#include <stdlib.h>

enum { SENTENCES = 9 };

static const synthetic_shape SHAPE = {.d_model = 16,
                                      .encoder = {1, 2, 20, 30},
                                      .decoder = {1, 2, 20, 40},
                                      .max_positions = 60,
                                      .banned_step = 5};

static const int32_t IDS[] = {4, 8, 3, 9, 7, 5, 6, 2, 11, 0};

/* Watches the allocations of each step. */
typedef struct watch {
    size_t next, done;
    bool fed;    /* sentences came in during this step */
    long before; /* allocations when it began; -1: no step began */
    size_t steps, allocating_steps;
} watch;

static bool next(void *context, const int32_t **ids, size_t *count, size_t *tag)
{
    watch *watching = context;
    watching->fed = true;
    *tag = watching->next++;
    *ids = IDS + *tag;
    *count = sizeof IDS / sizeof *IDS - *tag;
    return *tag < SENTENCES;
}

static zhen_status done(void *context, size_t tag, const search_hypothesis *hypotheses,
                        size_t count)
{
    watch *watching = context;
    (void)tag;
    (void)hypotheses;
    (void)count;
    watching->done++;
    return ZHEN_OK;
}

static bool begin_step(void *context)
{
    watch *watching = context;
    if (watching->before >= 0 && !watching->fed) {
        watching->steps++;
        watching->allocating_steps += allocations != watching->before;
    }
    watching->before = allocations;
    watching->fed = false;
    return false;
}

static search_options all_options(void)
{
    static const int32_t word[] = {3, 4};
    static const mdl_bad_word words[] = {{word, 1}, {word, 2}};
    return (search_options){.beams = 3,
                            .returns = 3,
                            .length_penalty = 1.0,
                            .max_new_tokens = 30,
                            .min_new_tokens = 2,
                            .no_repeat_ngram = 3,
                            .repetition_penalty = 1.2,
                            .renormalize_logits = true,
                            .forced_eos_id = 0,
                            .forced_bos_id = -1,
                            .bad_words = words,
                            .bad_word_count = 2,
                            .alignment = true,
                            .start_id = 39,
                            .max_positions = 60};
}

/* A search with one worker from beginning to end. */
static zhen_status run(const nn_network *network, bool guard, watch *watching)
{
    search_options options = all_options();
    search_worker *worker;
    options.guard = guard;
    *watching = (watch){.before = -1};
    zhen_status status = search_worker_create(network, &options, 6, &worker, NULL);
    if (status)
        return status;
    const search_feed feed = {
        .context = watching, .next = next, .done = done, .cancelled = begin_step};
    status = search_run(worker, &feed, NULL);
    search_worker_free(worker);
    return status;
}

static zhen_model *model;
static nn_network *network;

static void set_up(void)
{
    model = synthetic_model(&SHAPE, 3);
    ck_assert_int_eq(nn_network_create(model, NULL, 1, &network, NULL), ZHEN_OK);
}

static void tear_down(void)
{
    nn_network_free(network);
    synthetic_free(model);
}

START_TEST(every_allocation_fails_once)
{
    watch watching;
    allocations = 0;
    zhen_status status = run(network, true, &watching);
    const long total = allocations;
    ck_assert_int_eq(status, ZHEN_OK);
    ck_assert_uint_eq(watching.done, SENTENCES);
    for (long i = 0; i < total; i++) {
        fail_allocation(i);
        status = run(network, true, &watching);
        fail_no_allocation();
        ck_assert_msg(status == ZHEN_ERROR_MEMORY, "allocation %ld: status %d", i, (int)status);
    }
}
END_TEST

START_TEST(steps_allocate_nothing)
{
    watch watching;
    ck_assert_int_eq(run(network, false, &watching), ZHEN_OK);
    ck_assert_uint_gt(watching.steps, 20);
    ck_assert_uint_eq(watching.allocating_steps, 0);
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("memory");
    tcase_set_timeout(cases, 0);
    tcase_add_checked_fixture(cases, set_up, tear_down);
    tcase_add_test(cases, every_allocation_fails_once);
    tcase_add_test(cases, steps_allocate_nothing);
    return run_group("search_memory", cases);
}
