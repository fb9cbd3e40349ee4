/* What the guard notices, and what it makes of models gone astray. */
#include "search/guard.h"
#include "search/toy_case.h"
#include "search/toy_run.h"
#include "support/suite.h"

#include <stdlib.h>

/* ---- Finding loops
 * ------------------------------------------------------------------------------- */

/* 1, 2, 3, ... and then `period` tokens `repeats` times and `rest` more of them. */
static size_t write_loop(int32_t *tokens, size_t before, size_t period, size_t repeats, size_t rest)
{
    size_t count = 0;
    while (count < before) {
        tokens[count] = (int32_t)count + 1;
        count++;
    }
    for (size_t i = 0; i < period * repeats + rest; i++)
        tokens[count++] = (int32_t)(1000 + i % period);
    return count;
}

static bool found(const int32_t *tokens, size_t count, size_t source_repeats)
{
    search_loop loop;
    return search_guard_loop(tokens, count, source_repeats, &loop);
}

START_TEST(loops_have_a_least_size)
{
    int32_t tokens[200];
    for (size_t period = 1; period <= SEARCH_GUARD_PERIOD; period++) {
        size_t least = (20 + period - 1) / period > 4 ? (20 + period - 1) / period : 4;
        size_t count = write_loop(tokens, 7, period, least, 0);
        search_loop loop;
        ck_assert(search_guard_loop(tokens, count, 1, &loop));
        ck_assert_uint_eq(loop.begin, 7);
        ck_assert_uint_eq(loop.end, count);
        ck_assert_uint_eq(loop.period, period);
        bool shorter = period * least - 1 >= 20 && (period * least - 1) / period >= 4;
        ck_assert(found(tokens, count - 1, 1) == shorter);
    }
    size_t count = write_loop(tokens, 0, SEARCH_GUARD_PERIOD + 1, 5, 0);
    ck_assert(!found(tokens, count, 1));
    ck_assert(!found(tokens, 0, 1));
    ck_assert(!found(tokens, 1, 1));
}
END_TEST

START_TEST(sources_may_repeat)
{
    int32_t tokens[200];
    size_t count = write_loop(tokens, 3, 2, 12, 0);
    ck_assert_uint_eq(search_guard_repeats(tokens, count), 12);
    ck_assert(found(tokens, count, 1));
    ck_assert(found(tokens, count, 5));
    ck_assert(!found(tokens, count, 6));
    ck_assert_uint_eq(search_guard_repeats(tokens, 0), 1);
    ck_assert_uint_eq(search_guard_repeats(tokens, 3), 1);
    ck_assert_uint_eq(search_guard_repeats(tokens, 7), 2);
}
END_TEST

START_TEST(loops_may_be_over)
{
    int32_t tokens[200];
    search_loop loop;
    size_t count = write_loop(tokens, 2, 3, 8, 0);
    for (int32_t i = 0; i < 5; i++)
        tokens[count++] = 500 + i;
    ck_assert(search_guard_loop(tokens, count, 1, &loop));
    ck_assert_uint_eq(loop.end, count - 5);
    ck_assert(!found(tokens, 2 + 19, 1));
}
END_TEST

START_TEST(length_has_a_limit)
{
    ck_assert_uint_eq(search_guard_limit(1), 51);
    ck_assert_uint_eq(search_guard_limit(100), 348);
}
END_TEST

/* ---- Models gone astray
 * -------------------------------------------------------------------------- */

enum { SAY = 3 }; /* what the scripted models say is 3, 4, 6, 7, ...: what can be produced */

static nn_network *network;
static search_options options;
static toy_run *run;
static const int32_t source[] = {7, 5, 9, 11, TOY_EOS};
static const int32_t laughter[] = {7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, TOY_EOS};

static void set_up(void)
{
    toy_options(&options);
    options.max_new_tokens = 200;
    options.guard = true;
    run = calloc(1, sizeof *run);
    ck_assert_ptr_nonnull(run);
}

static void tear_down(void)
{
    ck_assert_uint_eq(toy_network_alive(network), 0);
    nn_network_free(network);
    free(run);
}

static const toy_result *search(toy_logit *logit, const int32_t *ids, size_t count)
{
    network = toy_network_create(logit);
    toy_run_add(run, ids, count);
    ck_assert_int_eq(toy_run_all(run, network, &options, 16), ZHEN_OK);
    ck_assert_uint_eq(run->results[0].times, 1);
    return &run->results[0];
}

static const toy_result *search_plain(toy_logit *logit)
{
    return search(logit, source, sizeof source / sizeof *source);
}

static bool any_loop(const toy_result *result)
{
    return found(result->tokens, result->count, 1);
}

/* Says three words, then 3 4 6 3 4 6 for ever; where that is forbidden, ends. */
static float stuck(uint32_t seed, const int32_t *history, size_t steps, int32_t token)
{
    static const int32_t loop[] = {3, 4, 6};
    static const int32_t start[] = {9, 10, 12};
    (void)seed;
    (void)history;
    if (token == (steps < 3 ? start[steps] : loop[steps % 3]))
        return 9.0F;
    return token == TOY_EOS ? 5.0F : -(float)token / 64.0F;
}

START_TEST(endless_repetition_is_broken_off)
{
    options.beams = _i % 2 ? 4 : 1;
    options.renormalize_logits = _i / 2;
    const toy_result *result = search_plain(stuck);
    ck_assert(!any_loop(result));
    ck_assert(result->complete);
    ck_assert_uint_ge(result->count, 6); /* the three words, the loop once */
    ck_assert_int_eq(result->tokens[2], 12);
    ck_assert_uint_le(result->count, 24);
    ck_assert_uint_eq(toy_network_encodes(network), 2);
    /* It was noticed soon, not at the limit. */
    ck_assert_uint_le(toy_network_steps(network), 50);
}
END_TEST

START_TEST(without_guard_it_goes_on)
{
    options.guard = false;
    const toy_result *result = search_plain(stuck);
    ck_assert_uint_eq(result->count, 200);
    ck_assert(any_loop(result));
}
END_TEST

/* Says one word eighteen times, then ends. */
static float laughs(uint32_t seed, const int32_t *history, size_t steps, int32_t token)
{
    (void)seed;
    (void)history;
    if (token == (steps < 22 ? SAY : TOY_EOS))
        return 9.0F;
    return -(float)token / 64.0F;
}

START_TEST(laughter_stays)
{
    options.beams = (size_t)_i;
    const toy_result *result = search(laughs, laughter, sizeof laughter / sizeof *laughter);
    ck_assert_uint_eq(result->count, 22);
    ck_assert_uint_eq(toy_network_encodes(network), 1);
}
END_TEST

/* Never ends and never repeats itself. */
static float rambles(uint32_t seed, const int32_t *history, size_t steps, int32_t token)
{
    return token == TOY_EOS ? -1000.0F
                            : toy_hashed_logit(seed + (uint32_t)steps, history, steps, token);
}

START_TEST(length_is_bounded)
{
    options.beams = (size_t)_i;
    const toy_result *result = search_plain(rambles);
    ck_assert_uint_eq(result->count, search_guard_limit(sizeof source / sizeof *source));
    ck_assert(!result->complete);
    ck_assert_uint_eq(toy_network_encodes(network), 1);
}
END_TEST

START_TEST(length_asked_for_is_given)
{
    options.min_new_tokens = 100;
    const toy_result *result = search_plain(rambles);
    ck_assert_uint_eq(result->count, 101);
}
END_TEST

/* Would rather say nothing, but knows a word. */
static float shy(uint32_t seed, const int32_t *history, size_t steps, int32_t token)
{
    (void)seed;
    (void)history;
    if (token == TOY_EOS)
        return 9.0F;
    return steps == 0 && token == SAY ? 8.0F : -9.0F;
}

START_TEST(never_empty)
{
    options.beams = (size_t)_i;
    options.forced_eos_id = TOY_EOS;
    const toy_result *result = search_plain(shy);
    ck_assert_uint_eq(result->count, 1);
    ck_assert_int_eq(result->tokens[0], SAY);
    ck_assert(result->complete);
    /* Beam search has the second best at hand, greedy search tries again. */
    ck_assert_uint_eq(toy_network_encodes(network), _i == 1 ? 2 : 1);
}
END_TEST

START_TEST(nothing_stays_nothing)
{
    static const int32_t empty[] = {TOY_EOS};
    options.beams = (size_t)_i;
    const toy_result *result = search(shy, empty, 1);
    ck_assert_uint_eq(result->count, 0);
    ck_assert_uint_eq(toy_network_encodes(network), 1);
}
END_TEST

/* The same loop at any price: with four-grams forbidden it says three words, then others. */
static float wild(uint32_t seed, const int32_t *history, size_t steps, int32_t token)
{
    (void)seed;
    (void)history;
    (void)steps;
    return token == SAY ? 20.0F : -40.0F - (float)token;
}

/* Even a second try that fails gives something short. */
START_TEST(hopeless_models_stop_too)
{
    options.beams = (size_t)_i;
    const toy_result *result = search_plain(wild);
    ck_assert_uint_ge(result->count, 1);
    ck_assert(!any_loop(result));
    ck_assert_uint_le(toy_network_encodes(network), 2);
}
END_TEST

/* Where every word is forbidden the guard cannot help, but the search ends. */
START_TEST(everything_is_forbidden)
{
    static int32_t all[TOY_VOCABULARY];
    static mdl_bad_word words[TOY_VOCABULARY];
    for (int32_t i = 0; i < TOY_VOCABULARY; i++) {
        all[i] = i;
        words[i] = (mdl_bad_word){&all[i], 1};
    }
    options.bad_words = words;
    options.bad_word_count = TOY_VOCABULARY;
    options.min_new_tokens = _i / 2 ? 3 : 0;
    options.beams = _i % 2 ? 4 : 1;
    const toy_result *result = search_plain(toy_hashed_logit);
    ck_assert_uint_eq(result->count, 0);
    ck_assert_uint_eq(result->hypotheses, 1);
}
END_TEST

/* ---- Everything else stays as it is
 * ---------------------------------------------------------------- */

START_TEST(normal_output_is_untouched)
{
    FILE *file = fopen("tests/search/toy.txt", "r");
    toy_case *toy = malloc(sizeof *toy);
    ck_assert_ptr_nonnull(file);
    ck_assert_ptr_nonnull(toy);
    network = toy_network_create(toy_hashed_logit);
    size_t compared = 0;
    while (toy_case_read(file, toy)) {
        toy->options.guard = true;
        *run = (toy_run){0};
        for (size_t i = 0; i < toy->source_count; i++)
            toy_run_add(run, toy->sources[i].ids, toy->sources[i].count);
        ck_assert_int_eq(toy_run_all(run, network, &toy->options, 16), ZHEN_OK);
        for (size_t i = 0; i < toy->source_count; i++) {
            const toy_expected *expected = &toy->sources[i].expected[0];
            if (expected->count == 0 || any_loop(&run->results[i]))
                continue;
            ck_assert_uint_eq(run->results[i].count, expected->count);
            ck_assert_mem_eq(run->results[i].tokens, expected->tokens,
                             expected->count * sizeof *expected->tokens);
            compared++;
        }
    }
    ck_assert_uint_gt(compared, 300);
    free(toy);
    (void)fclose(file);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("search_guard");
    TCase *loops = tcase_create("loops");
    tcase_add_test(loops, loops_have_a_least_size);
    tcase_add_test(loops, sources_may_repeat);
    tcase_add_test(loops, loops_may_be_over);
    tcase_add_test(loops, length_has_a_limit);
    suite_add_tcase(suite, loops);
    TCase *models = tcase_create("models");
    tcase_set_timeout(models, 0);
    tcase_add_checked_fixture(models, set_up, tear_down);
    tcase_add_loop_test(models, endless_repetition_is_broken_off, 0, 4);
    tcase_add_test(models, without_guard_it_goes_on);
    tcase_add_loop_test(models, laughter_stays, 1, 3);
    tcase_add_loop_test(models, length_is_bounded, 1, 3);
    tcase_add_test(models, length_asked_for_is_given);
    tcase_add_loop_test(models, never_empty, 1, 3);
    tcase_add_loop_test(models, nothing_stays_nothing, 1, 3);
    tcase_add_loop_test(models, hopeless_models_stop_too, 1, 3);
    tcase_add_loop_test(models, everything_is_forbidden, 0, 4);
    tcase_add_test(models, normal_output_is_untouched);
    suite_add_tcase(suite, models);
    return run_groups(suite);
}
