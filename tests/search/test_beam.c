/* The hypotheses of one sentence: who stays, who wins, and what ties do. */
#include "search/beam.h"
#include "search/select.h"
#include "search/toy_case.h"
#include "search/toy_network.h"
#include "support/suite.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static base_arena arena;
static search_options options;
static search_beam beam;

static void set_up(void)
{
    toy_options(&options);
    options.beams = 2;
    options.length_penalty = 0.0;
    options.early_stopping = ZHEN_EARLY_STOPPING_NEVER;
    arena = (base_arena){0};
    ck_assert(search_beam_init(&beam, &arena, &options, 5));
    search_beam_start(&beam, 5);
}

static void tear_down(void)
{
    base_arena_free(&arena);
}

static bool advance(const search_candidate *candidates, size_t count)
{
    return search_beam_advance(&beam, &options, candidates, count, NULL, NULL);
}

/* After three steps. */
static void check_history(size_t slot, const int32_t expected[3])
{
    int32_t tokens[5] = {0};
    ck_assert_uint_eq(beam.steps, 3);
    search_beam_history(&beam, slot, tokens);
    for (size_t t = 0; t < 3; t++)
        ck_assert_int_eq(tokens[t], expected[t]);
}

START_TEST(histories_follow_parents)
{
    ck_assert(!advance((search_candidate[]){{-1, 0, 10}, {-2, 0, 11}, {-3, 0, 12}}, 3));
    ck_assert(!advance((search_candidate[]){{-2, 1, 20}, {-3, 0, 21}}, 2));
    ck_assert(!advance((search_candidate[]){{-3, 0, 30}, {-4, 0, 31}}, 2));
    ck_assert_uint_eq(beam.live, 2);
    check_history(0, (int32_t[]){11, 20, 30});
    check_history(1, (int32_t[]){11, 20, 31});
    ck_assert_uint_eq(search_beam_parents(&beam)[1], 0);
    ck_assert_int_eq(search_beam_token(&beam, 1, 99), 31);
    search_beam_start(&beam, 3);
    ck_assert_int_eq(search_beam_token(&beam, 0, 99), 99);
}
END_TEST

START_TEST(older_ones_win_ties)
{
    for (int32_t step = 1; step <= 3; step++) {
        /* One goes on, one ends, always with the same score. */
        ck_assert(!advance((search_candidate[]){{-0.5F, 0, 10}, {-1, 0, TOY_EOS}}, 2));
        ck_assert_uint_eq(beam.finished_count, step == 1 ? 1 : 2);
    }
    /* The list was full when the third came, and that was not better than its last. */
    ck_assert_uint_eq(beam.finished[0].length, 1);
    ck_assert_uint_eq(beam.finished[1].length, 2);
}
END_TEST

/* Only the best `beams` candidates may finish. */
START_TEST(late_ends_do_not_count)
{
    ck_assert(
        !advance((search_candidate[]){{-1, 0, 10}, {-2, 0, 11}, {-3, 0, TOY_EOS}, {-4, 0, 12}}, 4));
    ck_assert_uint_eq(beam.finished_count, 0);
    ck_assert_uint_eq(beam.live, 2);
}
END_TEST

START_TEST(the_limit_finishes_all)
{
    int32_t tokens[5];
    search_beam_start(&beam, 1);
    ck_assert(advance((search_candidate[]){{-1, 0, 10}, {-2, 0, TOY_EOS}, {-3, 0, 11}}, 3));
    ck_assert_uint_eq(beam.finished_count, 2);
    ck_assert_uint_eq(search_beam_finished(&beam, &beam.finished[0], TOY_EOS, tokens), 1);
    ck_assert_int_eq(tokens[0], 10);
    ck_assert_uint_eq(search_beam_finished(&beam, &beam.finished[1], TOY_EOS, tokens), 0);
}
END_TEST

/* Nothing may follow: what there is is the result. */
START_TEST(dead_ends_finish)
{
    int32_t tokens[5];
    ck_assert(!advance((search_candidate[]){{-1, 0, 10}, {-2, 0, 11}}, 2));
    ck_assert(!advance((search_candidate[]){{-2, 1, 20}, {-3, 0, 21}}, 2));
    ck_assert(advance(NULL, 0));
    ck_assert_uint_eq(beam.finished_count, 1);
    ck_assert_uint_eq(search_beam_finished(&beam, &beam.finished[0], TOY_EOS, tokens), 2);
    ck_assert(tokens[0] == 11 && tokens[1] == 20);
}
END_TEST

static void fill_top(kn_top *top, const float *values, const int32_t *rows, size_t count)
{
    kn_top_start(top, count);
    top->count = count;
    top->maximum = 0.0F;
    top->sum = 1.0;
    memcpy(top->values, values, count * sizeof *values);
    memcpy(top->indices, rows, count * sizeof *rows);
}

START_TEST(candidates_are_merged_in_order)
{
    static kn_top tops[2];
    search_candidate candidates[4];
    nn_network *network = toy_network_create(toy_hashed_logit);
    ck_assert(!advance((search_candidate[]){{-1, 0, 10}, {-2, 0, 11}}, 2));
    fill_top(&tops[0], (float[]){-2, -4, -8}, (int32_t[]){5, 3, 1}, 3);
    fill_top(&tops[1], (float[]){-1, -2}, (int32_t[]){7, 9}, 2);
    ck_assert_uint_eq(search_select_merge(&beam, network, tops, true, 4, candidates), 4);
    const uint32_t parents[] = {0, 1, 1, 0};
    const int32_t rows[] = {5, 7, 9, 3};
    const float scores[] = {-3, -3, -4, -5};
    for (size_t i = 0; i < 4; i++) {
        ck_assert_uint_eq(candidates[i].parent, parents[i]);
        ck_assert_int_eq(candidates[i].token, nn_output_token(network, (size_t)rows[i]));
        ck_assert(candidates[i].score == scores[i]);
    }
    tops[0].count = 0;
    ck_assert_uint_eq(search_select_merge(&beam, network, tops, true, 4, candidates), 2);
    nn_network_free(network);
}
END_TEST

START_TEST(forbidden_rows_are_filtered)
{
    static kn_top top;
    int32_t always[] = {4};
    const int32_t rows[] = {2, 8};
    const search_constraints constraints = {.always = always, .always_count = 1};
    fill_top(&top, (float[]){9, 8, 7, 6, -INFINITY}, (int32_t[]){4, 3, 2, 1, 0}, 5);
    search_select_filter(&constraints, (search_banned){rows, 2}, &top);
    ck_assert_uint_eq(top.count, 2);
    ck_assert(top.indices[0] == 3 && top.values[0] == 8.0F);
    ck_assert(top.indices[1] == 1 && top.values[1] == 6.0F);
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("beam");
    tcase_add_checked_fixture(cases, set_up, tear_down);
    tcase_add_test(cases, histories_follow_parents);
    tcase_add_test(cases, older_ones_win_ties);
    tcase_add_test(cases, late_ends_do_not_count);
    tcase_add_test(cases, the_limit_finishes_all);
    tcase_add_test(cases, dead_ends_finish);
    tcase_add_test(cases, candidates_are_merged_in_order);
    tcase_add_test(cases, forbidden_rows_are_filtered);
    return run_group("search_beam", cases);
}
