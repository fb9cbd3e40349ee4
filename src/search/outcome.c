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

/* What favours have done to a score, length penalty included: no probability. */
static double favours(const search_worker *worker, const search_sentence *source,
                      const search_finished *finished, const int32_t *tokens, size_t count)
{
    const search_options *options = &worker->options;
    bool scored = options->beams > 1 || options->scores;
    if (source->attempt != SEARCH_COPYING || !scored)
        return 0.0;
    double bonus = search_copies_bonus(&source->copies, options->tokenizer, tokens, count);
    return (bonus - search_beam_shifted(&source->beam, finished)) /
           pow((double)finished->length, options->length_penalty);
}

static search_hypothesis read_finished(search_worker *worker, const search_sentence *source,
                                       size_t i)
{
    const search_finished *finished = &source->beam.finished[i];
    int32_t *tokens = worker->tokens + i * worker->options.max_new_tokens;
    size_t count = search_beam_finished(&source->beam, finished, worker->options.eos_id, tokens);
    return (search_hypothesis){
        .tokens = tokens,
        .count = count,
        .score = finished->score - favours(worker, source, finished, tokens, count),
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

static void swap_beams(search_sentence *source)
{
    search_beam beam = source->beam;
    source->beam = source->first;
    source->first = beam;
}

/* The translation that the caller would get, what it makes of the words to be copied. */
static search_copied judge(search_worker *worker, const search_sentence *source, size_t *length)
{
    *length = 0;
    if (source->copies.count == 0 || read_all_finished(worker, source, true) == 0)
        return (search_copied){0};
    const search_hypothesis *best = &worker->hypotheses[0];
    *length = best->count;
    return search_copies_judge(&source->copies, worker->options.tokenizer, best->tokens,
                               best->count);
}

/* Whether the attempt at copying words has brought more of them, said once each, and has not left
 * out a third of the sentence for them. */
static bool has_copied(search_worker *worker, search_sentence *source)
{
    size_t length, first_length;
    if (went_wrong(worker, source))
        return false;
    search_copied now = judge(worker, source, &length);
    swap_beams(source);
    search_copied first = judge(worker, source, &first_length);
    swap_beams(source);
    return now.missing < first.missing &&
           now.missing + now.surplus < first.missing + first.surplus &&
           3 * length >= 2 * first_length;
}

/* What the sentence is to be searched for once more; the attempt that it has had: no more. */
static search_attempt next_attempt(search_worker *worker, search_sentence *source)
{
    size_t length;
    if (source->attempt != SEARCH_FIRST)
        return source->attempt;
    if (went_wrong(worker, source))
        return SEARCH_NO_REPEATS;
    return judge(worker, source, &length).missing > 0 ? SEARCH_COPYING : SEARCH_FIRST;
}

static void put_back(search_worker *worker, search_sentence *source, search_attempt attempt)
{
    bool no_repeats = attempt == SEARCH_NO_REPEATS;
    if (attempt == SEARCH_COPYING)
        swap_beams(source);
    source->astray = false;
    source->attempt = attempt;
    source->extra = (search_extra){.no_repeat_ngram = no_repeats ? SEARCH_GUARD_NGRAM : 0,
                                   .never_empty = no_repeats};
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
    search_attempt next =
        worker->options.guard && any ? next_attempt(worker, source) : source->attempt;
    if (next != source->attempt) {
        put_back(worker, source, next);
        return ZHEN_OK;
    }
    if (source->attempt == SEARCH_COPYING && !(any && has_copied(worker, source))) {
        swap_beams(source);
        source->attempt = SEARCH_FIRST;
    }
    size_t count = choose(worker, source);
    worker->idle[worker->idle_count++] = source;
    return feed->done(feed->context, source->tag, worker->hypotheses, count);
}
