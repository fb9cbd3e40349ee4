/* What comes of a sentence whose search has ended: its translations, judged by the guard, or
 * another attempt. */
#include "search/worker.h"

#include <math.h>
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

/* The second attempt brought nothing sane either (a source of a few odd pieces and a small model):
 * the best hypothesis that says something, once. */
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
static bool went_wrong(search_worker *worker, const search_sentence *source)
{
    if (source->astray)
        return true;
    search_hypothesis best = read_finished(worker, source, 0);
    return is_loop(source, &best) || !search_found_sane(worker, source);
}

/* The words that the translation should have and has not. */
static size_t count_missing(search_worker *worker, const search_sentence *source)
{
    if (source->copies.count == 0 || read_all_finished(worker, source, true) == 0)
        return 0;
    return search_copies_missing(&source->copies, worker->options.tokenizer,
                                 worker->hypotheses[0].tokens, worker->hypotheses[0].count);
}

/* What the sentence is to be searched for once more; the attempt that it has had: no more. */
static search_attempt next_attempt(search_worker *worker, search_sentence *source)
{
    switch (source->attempt) {
    case SEARCH_FIRST:
        if (went_wrong(worker, source))
            return SEARCH_NO_REPEATS;
        source->missing = count_missing(worker, source);
        return source->missing > 0 ? SEARCH_COPYING : SEARCH_FIRST;
    case SEARCH_COPYING:
        if (went_wrong(worker, source) || count_missing(worker, source) >= source->missing)
            return SEARCH_AS_FIRST;
        return SEARCH_COPYING;
    default:
        return source->attempt;
    }
}

static void put_back(search_worker *worker, search_sentence *source, search_attempt attempt)
{
    bool no_repeats = attempt == SEARCH_NO_REPEATS;
    source->astray = false;
    source->attempt = attempt;
    source->extra = (search_extra){.no_repeat_ngram = no_repeats ? SEARCH_GUARD_NGRAM : 0,
                                   .never_empty = no_repeats};
    worker->waiting[worker->waiting_count++] = source;
}

/* Takes the bonuses out of the scores again. */
static void correct_scores(search_worker *worker, const search_sentence *source, size_t count)
{
    const search_options *options = &worker->options;
    for (size_t i = 0; i < count && (options->beams > 1 || options->scores); i++) {
        search_hypothesis *hypothesis = &worker->hypotheses[i];
        double bonus = search_copies_bonus(&source->copies, options->tokenizer, hypothesis->tokens,
                                           hypothesis->count);
        double length = (double)(hypothesis->count + hypothesis->complete);
        hypothesis->score -= bonus / pow(length, options->length_penalty);
    }
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
    search_attempt next =
        worker->options.guard && any ? next_attempt(worker, source) : source->attempt;
    if (next != source->attempt) {
        put_back(worker, source, next);
        return ZHEN_OK;
    }
    size_t count = choose(worker, source);
    if (source->attempt == SEARCH_COPYING)
        correct_scores(worker, source, count);
    worker->idle[worker->idle_count++] = source;
    return feed->done(feed->context, source->tag, worker->hypotheses, count);
}
