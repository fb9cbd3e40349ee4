#include "search/toy_run.h"

#include <check.h>
#include <string.h>

void toy_run_add(toy_run *run, const int32_t *ids, size_t count)
{
    ck_assert_uint_lt(run->source_count, TOY_RUN_SOURCES);
    run->sources[run->source_count] = ids;
    run->counts[run->source_count++] = count;
}

static bool next(void *context, const int32_t **ids, size_t *count, size_t *tag)
{
    toy_run *run = context;
    ck_assert_uint_le(run->next, run->source_count); /* not asked again after the end */
    *tag = run->next++;
    if (*tag == run->source_count)
        return false;
    *ids = run->sources[*tag];
    *count = run->counts[*tag];
    return true;
}

static zhen_status done(void *context, size_t tag, const search_hypothesis *hypotheses,
                        size_t count)
{
    toy_run *run = context;
    toy_result *result = &run->results[tag];
    ck_assert_uint_ge(count, 1);
    ck_assert_uint_lt(tag, run->source_count);
    ck_assert_uint_le(hypotheses[0].count, TOY_RUN_TOKENS);
    memcpy(result->tokens, hypotheses[0].tokens, hypotheses[0].count * sizeof *result->tokens);
    result->count = hypotheses[0].count;
    result->score = hypotheses[0].score;
    result->complete = hypotheses[0].complete;
    result->hypotheses = count;
    result->times++;
    run->done++;
    return run->fail_at > 0 && run->done == run->fail_at ? ZHEN_ERROR_IO : ZHEN_OK;
}

static bool cancelled(void *context)
{
    const toy_run *run = context;
    return run->cancel_at > 0 && run->done >= run->cancel_at;
}

zhen_status toy_run_with(toy_run *run, search_worker *worker)
{
    search_feed feed = {.context = run, .next = next, .done = done, .cancelled = cancelled};
    run->next = 0;
    run->done = 0;
    for (size_t i = 0; i < run->source_count; i++)
        run->results[i].times = 0;
    return search_run(worker, &feed, &run->error);
}

zhen_status toy_run_all(toy_run *run, nn_network *network, const search_options *options,
                        size_t rows)
{
    search_worker *worker;
    zhen_status status = search_worker_create(network, options, rows, &worker, &run->error);
    if (!status)
        status = toy_run_with(run, worker);
    search_worker_free(worker);
    return status;
}
