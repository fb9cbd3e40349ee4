/* What comes of a sentence whose search has ended: its translations, judged by the guard, or a
 * second try. */
#include "search/worker.h"

#include <string.h>

/* Cuts an endless repetition back to one occurrence, everything after it kept. */
static size_t cut_loops(const search_sentence *source, int32_t *tokens, uint32_t *alignment,
                        size_t count)
{
    search_loop loop;
    while (search_guard_loop(tokens, count, source->source_repeats, &loop)) {
        size_t keep = loop.begin + loop.period;
        size_t rest = count - loop.end;
        memmove(tokens + keep, tokens + loop.end, rest * sizeof *tokens);
        if (alignment)
            memmove(alignment + keep, alignment + loop.end, rest * sizeof *alignment);
        count = keep + rest;
    }
    return count;
}

static bool is_loop(const search_sentence *source, const search_hypothesis *hypothesis)
{
    search_loop loop;
    return search_guard_loop(hypothesis->tokens, hypothesis->count, source->source_repeats, &loop);
}

/* Would the guard let this translation pass? */
static bool is_sane(const search_sentence *source, const search_hypothesis *hypothesis)
{
    bool wordless = hypothesis->count == 0 && source->count > 1;
    return !wordless && !is_loop(source, hypothesis);
}

static search_hypothesis read_finished(search_worker *worker, const search_sentence *source,
                                       size_t i)
{
    const search_finished *finished = &source->beam.finished[i];
    int32_t *tokens = worker->tokens + i * worker->options.max_new_tokens;
    return (search_hypothesis){
        .tokens = tokens,
        .count = search_beam_finished(&source->beam, finished, worker->options.eos_id, tokens),
        .score = finished->score,
        .complete = finished->last == worker->options.eos_id,
        .alignment = finished->alignment,
    };
}

/* Fills worker->hypotheses with the finished ones, or the sane among them, best first. */
static size_t read_all_finished(search_worker *worker, const search_sentence *source,
                                bool only_sane)
{
    size_t count = 0;
    for (size_t i = 0; i < source->beam.finished_count; i++) {
        worker->hypotheses[count] = read_finished(worker, source, i);
        count += !only_sane || is_sane(source, &worker->hypotheses[count]);
    }
    return count;
}

bool search_found_sane(search_worker *worker, const search_sentence *source)
{
    return read_all_finished(worker, source, true) > 0;
}

/* The second try brought nothing sane either (a source of a few odd pieces and a small model): the
 * best hypothesis that says something, once. */
static void make_sane(search_worker *worker, const search_sentence *source, size_t count)
{
    size_t steps = worker->options.max_new_tokens;
    size_t i = 0;
    while (i + 1 < count && worker->hypotheses[i].count == 0)
        i++;
    search_hypothesis best = worker->hypotheses[i];
    size_t cut = cut_loops(source, worker->tokens + i * steps, source->beam.finished[i].alignment,
                           best.count);
    best.complete = best.complete && cut == best.count;
    best.count = cut;
    worker->hypotheses[0] = best;
}

/* A translation that repeats itself is better made anew; instead of an empty one the next best
 * will do. */
static bool wants_second_try(search_worker *worker, const search_sentence *source)
{
    if (source->second_try)
        return false;
    if (source->astray)
        return true;
    search_hypothesis best = read_finished(worker, source, 0);
    return is_loop(source, &best) || !search_found_sane(worker, source);
}

static void put_back(search_worker *worker, search_sentence *source)
{
    source->astray = false;
    source->second_try = true;
    source->extra = (search_extra){.no_repeat_ngram = SEARCH_GUARD_NGRAM, .never_empty = true};
    worker->waiting[worker->waiting_count++] = source;
}

/* Fills worker->hypotheses with what the caller is to get. */
static size_t choose(search_worker *worker, const search_sentence *source)
{
    size_t count = read_all_finished(worker, source, worker->options.guard);
    if (count == 0 && source->beam.finished_count > 0) {
        read_all_finished(worker, source, false);
        make_sane(worker, source, source->beam.finished_count);
        count = 1;
    }
    if (count == 0) /* every first token is banned */
        worker->hypotheses[count++] = (search_hypothesis){.tokens = worker->tokens};
    return count < worker->options.returns ? count : worker->options.returns;
}

zhen_status search_conclude(search_worker *worker, search_sentence *source, const search_feed *feed)
{
    bool any = source->astray || source->beam.finished_count > 0;
    if (worker->options.guard && any && wants_second_try(worker, source)) {
        put_back(worker, source);
        return ZHEN_OK;
    }
    size_t count = choose(worker, source);
    worker->idle[worker->idle_count++] = source;
    return feed->done(feed->context, source->tag, worker->hypotheses, count);
}
