#include "search/toy_check.h"

#include <check.h>
#include <math.h>

/* Feeds the sources of a case and compares what comes back. */
typedef struct checker {
    const toy_case *toy;
    toy_look *look;
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
    ck_assert_msg(same, "source %zu: other tokens, score %.9g, not %.9g\n%s", tag,
                  hypothesis->score, expected->score, toy->line);
    ck_assert_msg(hypothesis->complete == expected->complete, "source %zu: complete\n%s", tag,
                  toy->line);
    ck_assert_msg(fabs(hypothesis->score - expected->score) < 2e-5 * (1 + fabs(expected->score)),
                  "source %zu: score %.9g, not %.9g\n%s", tag, hypothesis->score, expected->score,
                  toy->line);
}

static void compare_alignment(const checker *check, const toy_source *source,
                              const search_hypothesis *hypothesis)
{
    int32_t history[TOY_TOKENS + 1] = {check->toy->options.start_id};
    ck_assert_ptr_nonnull(hypothesis->alignment);
    for (size_t i = 0; i < hypothesis->count; i++) {
        ck_assert_uint_eq(hypothesis->alignment[i], check->look(source, history, i));
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
        if (check->look)
            compare_alignment(check, source, &hypotheses[i]);
        else
            ck_assert_ptr_null(hypotheses[i].alignment);
    }
    return ZHEN_OK;
}

void toy_check(const toy_case *toy, search_worker *worker, toy_look *look)
{
    zhen_error error;
    checker check = {.toy = toy, .look = look};
    search_feed feed = {.context = &check, .next = next, .done = done};
    zhen_status status = search_run(worker, &feed, &error);
    ck_assert_msg(!status, "%s\n%s", error.message, toy->line);
    ck_assert_uint_eq(check.done, toy->source_count);
}
