/* The stream of sentences: batches, refills, errors, limits. */
#include "search/toy_case.h"
#include "search/toy_run.h"
#include "support/suite.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static nn_network *network;
static search_options options;
static toy_run *run;
static int32_t ids[TOY_RUN_SOURCES][12];

/* A hundred sentences of 2 to 11 tokens. */
static void set_up(void)
{
    network = toy_network_create(toy_hashed_logit);
    toy_options(&options);
    run = calloc(1, sizeof *run);
    ck_assert_ptr_nonnull(run);
    for (size_t i = 0; i < 100; i++) {
        size_t count = 2 + i * 7 % 10;
        for (size_t t = 0; t + 1 < count; t++)
            ids[i][t] = (int32_t)(1 + (i * 31 + t * 17) % 50);
        ids[i][count - 1] = TOY_EOS;
        toy_run_add(run, ids[i], count);
    }
}

static void tear_down(void)
{
    ck_assert_uint_eq(toy_network_alive(network), 0);
    nn_network_free(network);
    free(run);
}

static void check_same(const toy_run *other)
{
    for (size_t i = 0; i < run->source_count; i++) {
        const toy_result *a = &run->results[i];
        const toy_result *b = &other->results[i];
        ck_assert_uint_eq(a->times, 1);
        ck_assert_uint_eq(a->count, b->count);
        ck_assert_mem_eq(a->tokens, b->tokens, a->count * sizeof *a->tokens);
        ck_assert(a->score == b->score);
    }
}

/* What a sentence becomes does not depend on its neighbours. */
START_TEST(batches_do_not_matter)
{
    toy_run *alone = malloc(sizeof *alone);
    ck_assert_ptr_nonnull(alone);
    /* short sentences, which must not end yet, need whole rows; their neighbours do not */
    options.min_new_tokens = _i ? 3 : 0;
    options.renormalize_logits = _i;
    for (options.beams = 1; options.beams <= 4; options.beams += 3) {
        ck_assert_int_eq(toy_run_all(run, network, &options, 1), ZHEN_OK);
        *alone = *run;
        for (size_t sentences = 2; sentences < 200; sentences *= 8) {
            size_t rows = sentences * options.beams + 1; /* the odd row stays unused */
            ck_assert_int_eq(toy_run_all(run, network, &options, rows), ZHEN_OK);
            check_same(alone);
        }
    }
    free(alone);
}
END_TEST

START_TEST(refills_in_groups)
{
    ck_assert_int_eq(toy_run_all(run, network, &options, 16), ZHEN_OK);
    /* Each call of nn_encode but the last takes 4 sentences at least, ... */
    ck_assert_uint_le(toy_network_encodes(network), 1 + 100 / 4);
    /* ... and the batch is never less than three quarters full until the feed is empty. */
    size_t tokens = 0;
    for (size_t i = 0; i < 100; i++)
        tokens += run->results[i].count + run->results[i].complete;
    ck_assert_uint_eq(toy_network_rows(network), tokens);
    ck_assert_uint_le(toy_network_steps(network), tokens / 12 + options.max_new_tokens);
}
END_TEST

START_TEST(full_rows_only_when_needed)
{
    static const int32_t word[] = {4};
    static const int32_t long_word[] = {4, 6};
    const mdl_bad_word words[] = {{word, 1}, {long_word, 2}};
    ck_assert_int_eq(toy_run_all(run, network, &options, 16), ZHEN_OK);
    options.beams = 4;
    options.renormalize_logits = true;
    ck_assert_int_eq(toy_run_all(run, network, &options, 16), ZHEN_OK);
    options.renormalize_logits = false;
    options.bad_words = words;
    options.bad_word_count = 2;
    options.min_new_tokens = 2;
    options.no_repeat_ngram = 3;
    ck_assert_int_eq(toy_run_all(run, network, &options, 16), ZHEN_OK);
    ck_assert_uint_eq(toy_network_full_rows(network), 0);
    options.renormalize_logits = true;
    ck_assert_int_eq(toy_run_all(run, network, &options, 16), ZHEN_OK);
    ck_assert_uint_gt(toy_network_full_rows(network), 0);
}
END_TEST

/* Without scores greedy search finds the same. */
START_TEST(scores_are_an_option)
{
    ck_assert_int_eq(toy_run_all(run, network, &options, 16), ZHEN_OK);
    toy_run *scored = malloc(sizeof *scored);
    ck_assert_ptr_nonnull(scored);
    *scored = *run;
    options.scores = false;
    ck_assert_int_eq(toy_run_all(run, network, &options, 16), ZHEN_OK);
    for (size_t i = 0; i < 100; i++) {
        ck_assert(scored->results[i].score < 0.0);
        ck_assert(run->results[i].score == 0.0);
        scored->results[i].score = 0.0;
    }
    check_same(scored);
    free(scored);
}
END_TEST

START_TEST(nothing_to_do)
{
    run->source_count = 0;
    ck_assert_int_eq(toy_run_all(run, network, &options, 16), ZHEN_OK);
    ck_assert_uint_eq(toy_network_encodes(network), 0);
}
END_TEST

/* After any failure nothing is left behind, and the worker works as before. */
static void check_recovery(search_worker *worker)
{
    ck_assert_uint_eq(toy_network_alive(network), 0);
    run->fail_at = 0;
    run->cancel_at = 0;
    toy_network_fail_after(network, 1000000);
    ck_assert_int_eq(toy_run_with(run, worker), ZHEN_OK);
    ck_assert_uint_eq(run->done, 100);
    search_worker_free(worker);
}

START_TEST(caller_stops)
{
    search_worker *worker;
    ck_assert_int_eq(search_worker_create(network, &options, 16, &worker, NULL), ZHEN_OK);
    run->fail_at = (size_t)_i;
    ck_assert_int_eq(toy_run_with(run, worker), ZHEN_ERROR_IO);
    ck_assert_uint_eq(run->done, (size_t)_i);
    check_recovery(worker);
}
END_TEST

START_TEST(cancelled)
{
    search_worker *worker;
    ck_assert_int_eq(search_worker_create(network, &options, 16, &worker, NULL), ZHEN_OK);
    run->cancel_at = 20;
    ck_assert_int_eq(toy_run_with(run, worker), ZHEN_ERROR_CANCELLED);
    ck_assert_int_eq(run->error.status, ZHEN_ERROR_CANCELLED);
    ck_assert_uint_lt(run->done, 40);
    check_recovery(worker);
}
END_TEST

START_TEST(encoder_fails)
{
    search_worker *worker;
    ck_assert_int_eq(search_worker_create(network, &options, 16, &worker, NULL), ZHEN_OK);
    toy_network_fail_after(network, (size_t)_i);
    ck_assert_int_eq(toy_run_with(run, worker), ZHEN_ERROR_MEMORY);
    ck_assert_str_eq(run->error.message, "the toy fails as told");
    check_recovery(worker);
}
END_TEST

static void check_refused(const char *message)
{
    search_worker *worker;
    zhen_error error;
    zhen_status status = search_worker_create(network, &options, 16, &worker, &error);
    ck_assert_int_eq(status, ZHEN_ERROR_ARGUMENT);
    ck_assert_ptr_null(worker);
    ck_assert_msg(strstr(error.message, message) != NULL, "%s", error.message);
    toy_options(&options);
}

START_TEST(options_are_checked)
{
    options.beams = 0;
    check_refused("beam must be 1 to 24");
    options.beams = SEARCH_BEAMS_MAX + 1;
    check_refused("beam must be 1 to 24");
    options.returns = 2;
    check_refused("n-best");
    options.returns = 0;
    check_refused("n-best");
    options.max_new_tokens = 0;
    check_refused("max_new_tokens");
    options.length_penalty = NAN;
    check_refused("length_penalty");
    options.repetition_penalty = 0.0;
    check_refused("repetition_penalty");
    options.repetition_penalty = INFINITY;
    check_refused("repetition_penalty");
}
END_TEST

/* The model's positions bound everything else. */
START_TEST(positions_bound_the_length)
{
    options.max_new_tokens = SIZE_MAX;
    options.max_positions = 9;
    options.min_new_tokens = 100;
    ck_assert_int_eq(toy_run_all(run, network, &options, 16), ZHEN_OK);
    for (size_t i = 0; i < 100; i++) {
        ck_assert_uint_eq(run->results[i].count, 9);
        ck_assert(!run->results[i].complete);
    }
}
END_TEST

static float no_number(uint32_t seed, const int32_t *history, size_t steps, int32_t token)
{
    (void)seed;
    (void)history;
    (void)token;
    return steps < 2 ? (float)token : NAN;
}

/* A broken network ends a sentence, not the program. */
START_TEST(not_a_number)
{
    nn_network_free(network);
    network = toy_network_create(no_number);
    options.repetition_penalty = _i / 2 ? 1.5 : 1.0;
    options.beams = _i % 2 ? 4 : 1;
    options.scores = false;
    ck_assert_int_eq(toy_run_all(run, network, &options, 16), ZHEN_OK);
    for (size_t i = 0; i < 100; i++)
        ck_assert_uint_le(run->results[i].count, 2);
}
END_TEST

START_TEST(options_of_a_model)
{
    static const mdl_bad_word word = {0};
    const mdl_config config = {.decoder_start_id = 7, .eos_id = 3, .max_positions = 99};
    mdl_generation generation = {.num_beams = 6,
                                 .max_new_tokens = 49,
                                 .min_new_tokens = 4,
                                 .length_penalty = 0.5,
                                 .repetition_penalty = 1.25,
                                 .early_stopping = ZHEN_EARLY_STOPPING_TRUE,
                                 .no_repeat_ngram = 2,
                                 .renormalize_logits = true,
                                 .forced_eos_id = 3,
                                 .forced_bos_id = -1,
                                 .bad_words = &word,
                                 .bad_word_count = 1};
    search_options_init(&options, &config, &generation);
    ck_assert_uint_eq(options.beams, 6);
    ck_assert_uint_eq(options.returns, 1);
    ck_assert_uint_eq(options.max_new_tokens, 49);
    ck_assert_uint_eq(options.min_new_tokens, 4);
    ck_assert_uint_eq(options.max_positions, 99);
    ck_assert_uint_eq(options.no_repeat_ngram, 2);
    ck_assert(options.length_penalty == 0.5 && options.repetition_penalty == 1.25);
    ck_assert(options.renormalize_logits && options.guard && !options.alignment);
    ck_assert_int_eq(options.early_stopping, ZHEN_EARLY_STOPPING_TRUE);
    ck_assert(options.forced_eos_id == 3 && options.forced_bos_id == -1);
    ck_assert(options.start_id == 7 && options.eos_id == 3);
    ck_assert(options.bad_words == &word && options.bad_word_count == 1);
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("stream");
    tcase_set_timeout(cases, 0);
    tcase_add_checked_fixture(cases, set_up, tear_down);
    tcase_add_loop_test(cases, batches_do_not_matter, 0, 2);
    tcase_add_test(cases, refills_in_groups);
    tcase_add_test(cases, full_rows_only_when_needed);
    tcase_add_test(cases, scores_are_an_option);
    tcase_add_test(cases, nothing_to_do);
    tcase_add_loop_test(cases, caller_stops, 1, 4);
    tcase_add_test(cases, cancelled);
    tcase_add_loop_test(cases, encoder_fails, 0, 3);
    tcase_add_test(cases, options_are_checked);
    tcase_add_test(cases, positions_bound_the_length);
    tcase_add_loop_test(cases, not_a_number, 0, 4);
    tcase_add_test(cases, options_of_a_model);
    return run_group("search", cases);
}
