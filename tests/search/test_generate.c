/* The search finds what transformers' generate finds, whatever the options. */
#include "search/toy_case.h"
#include "search/toy_network.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

/* Feeds the sources of a case and compares what comes back. */
typedef struct checker {
    const toy_case *toy;
    size_t next, done;
} checker;

static bool next(void *context, const int32_t **ids, size_t *count, size_t *tag)
{
    checker *check = context;
    if (check->next == check->toy->source_count)
        return false;
    *ids = check->toy->sources[check->next].ids;
    *count = check->toy->sources[check->next].count;
    *tag = check->next++;
    return true;
}

static void compare(const toy_case *toy, size_t tag, const toy_expected *expected,
                    const search_hypothesis *hypothesis)
{
    bool same = hypothesis->count == expected->count;
    for (size_t i = 0; same && i < expected->count; i++)
        same = hypothesis->tokens[i] == expected->tokens[i];
    ck_assert_msg(same, "source %zu: other tokens\n%s", tag, toy->line);
    ck_assert_msg(hypothesis->complete == expected->complete, "source %zu: complete\n%s", tag,
                  toy->line);
    ck_assert_msg(fabs(hypothesis->score - expected->score) < 1e-5 * (1 + fabs(expected->score)),
                  "source %zu: score %.9g, not %.9g\n%s", tag, hypothesis->score, expected->score,
                  toy->line);
}

static void compare_alignment(const toy_source *source, const search_hypothesis *hypothesis)
{
    int32_t history[TOY_TOKENS + 1] = {TOY_PAD};
    uint32_t seed = toy_seed(source->ids, source->count);
    ck_assert_ptr_nonnull(hypothesis->alignment);
    for (size_t i = 0; i < hypothesis->count; i++) {
        ck_assert_uint_eq(hypothesis->alignment[i], toy_attention(seed, history, i, source->count));
        history[i + 1] = hypothesis->tokens[i];
    }
}

static zhen_status done(void *context, size_t tag, const search_hypothesis *hypotheses,
                        size_t count)
{
    checker *check = context;
    const toy_source *source = &check->toy->sources[tag];
    check->done++;
    ck_assert_msg(count == source->expected_count, "source %zu: %zu hypotheses, not %zu\n%s", tag,
                  count, source->expected_count, check->toy->line);
    for (size_t i = 0; i < count; i++) {
        compare(check->toy, tag, &source->expected[i], &hypotheses[i]);
        if (check->toy->options.alignment)
            compare_alignment(source, &hypotheses[i]);
        else
            ck_assert_ptr_null(hypotheses[i].alignment);
    }
    return ZHEN_OK;
}

static void check_case(const toy_case *toy, size_t sentences)
{
    nn_network *network = toy_network_create(toy_hashed_logit);
    search_worker *worker;
    zhen_error error;
    zhen_status status = search_worker_create(network, &toy->options,
                                              sentences * toy->options.beams, &worker, &error);
    ck_assert_msg(!status, "%s", error.message);
    for (int run = 0; run < 2; run++) { /* a worker can be used again */
        checker check = {.toy = toy};
        search_feed feed = {.context = &check, .next = next, .done = done};
        ck_assert_int_eq(search_run(worker, &feed, &error), ZHEN_OK);
        ck_assert_uint_eq(check.done, toy->source_count);
    }
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
    fclose(file);
    return cases;
}

START_TEST(agrees_with_transformers)
{
    ck_assert_uint_gt(check_all((size_t)_i, false), 100);
}
END_TEST

START_TEST(keeps_alignments)
{
    ck_assert_uint_gt(check_all(3, true), 100);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("search_generate");
    TCase *cases = tcase_create("toy.txt");
    tcase_set_timeout(cases, 0);
    tcase_add_loop_test(cases, agrees_with_transformers, 1, 7);
    tcase_add_test(cases, keeps_alignments);
    suite_add_tcase(suite, cases);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
