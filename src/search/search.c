#include "search/search.h"

#include "base/error.h"
#include "search/worker.h"

#include <string.h>

/* ---- Sentences come in ---------------------------------------------------------------------- */

/* A new sentence; NULL: none left. */
static search_sentence *new_sentence(search_worker *worker, const search_feed *feed,
                                     bool *exhausted)
{
    search_sentence *sentence = worker->idle[worker->idle_count - 1];
    if (*exhausted ||
        !feed->next(feed->context, &sentence->ids, &sentence->count, &sentence->tag)) {
        *exhausted = true;
        return NULL;
    }
    worker->idle_count--;
    sentence->extra = (search_extra){0};
    sentence->astray = false;
    sentence->attempt = SEARCH_FIRST;
    sentence->copies.count = 0;
    if (worker->options.guard)
        sentence->source_repeats = search_guard_repeats(sentence->ids, sentence->count);
    if (worker->options.guard && worker->options.tokenizer)
        search_copies_read(worker->options.tokenizer, sentence->ids, sentence->count,
                           &sentence->copies);
    return sentence;
}

/* A sentence that is to be encoded; NULL: none left. Those that wait for another attempt are taken
 * together, when no more can wait or no others are left: they need whole rows of logits, and so do
 * all steps that they are part of. */
static search_sentence *next_sentence(search_worker *worker, const search_feed *feed,
                                      bool *exhausted)
{
    worker->draining = worker->waiting_count > 0 && (worker->draining || worker->idle_count == 0);
    search_sentence *next = worker->draining ? NULL : new_sentence(worker, feed, exhausted);
    if (!next && worker->waiting_count > 0)
        next = worker->waiting[--worker->waiting_count];
    return next;
}

/* How many tokens a translation may have. What the user asks for at least, he gets. */
static size_t length_limit(const search_options *options, const search_sentence *source)
{
    size_t limit = search_guard_limit(source->count);
    if (limit <= options->min_new_tokens)
        limit = options->min_new_tokens + 1; /* </s> */
    return options->guard && limit < options->max_new_tokens ? limit : options->max_new_tokens;
}

/* Encodes the active sentences from number `first` on. On failure they are idle again. */
static zhen_status encode(search_worker *worker, size_t first, zhen_error *error)
{
    size_t count = worker->active_count - first;
    for (size_t i = 0; i < count; i++) {
        search_sentence *source = worker->active[first + i];
        size_t limit = length_limit(&worker->options, source);
        search_beam_start(&source->beam, limit);
        worker->sources[i] = (nn_source){.ids = source->ids,
                                         .count = source->count,
                                         .beams = worker->options.beams,
                                         .positions = limit};
    }
    zhen_status status =
        nn_encode(worker->nn, worker->sources, count, worker->encoded, NULL, error);
    for (size_t i = 0; i < count; i++) {
        if (status)
            worker->idle[worker->idle_count++] = worker->active[first + i];
        else
            worker->active[first + i]->state = worker->encoded[i];
    }
    if (status)
        worker->active_count = first;
    return status;
}

/* Fills the batch. */
static zhen_status refill(search_worker *worker, const search_feed *feed, bool *exhausted,
                          zhen_error *error)
{
    size_t first = worker->active_count;
    search_sentence *source;
    while (worker->active_count < worker->capacity &&
           (source = next_sentence(worker, feed, exhausted)))
        worker->active[worker->active_count++] = source;
    return worker->active_count > first ? encode(worker, first, error) : ZHEN_OK;
}

/* New sentences are encoded in groups: when a quarter of the batch is free, or all of it. */
static bool wants_refill(const search_worker *worker, bool exhausted)
{
    if (exhausted && worker->waiting_count == 0)
        return false;
    size_t free_places = worker->capacity - worker->active_count;
    return worker->active_count == 0 || 4 * free_places >= worker->capacity;
}

static void release(search_worker *worker, search_sentence *finished)
{
    nn_sentence_release(worker->nn, finished->state);
    finished->state = NULL;
}

/* ---- One step ------------------------------------------------------------------------------- */

/* Fills worker->history with the start token and the tokens of slot `slot`. */
static const int32_t *read_history(search_worker *worker, const search_beam *beam, size_t slot)
{
    worker->history[0] = worker->options.start_id;
    search_beam_history(beam, slot, worker->history + 1);
    return worker->history;
}

/* The token that transformers forces here, or -1. */
static int32_t forced_token(const search_options *options, const search_beam *beam)
{
    if (options->forced_eos_id >= 0 && beam->steps + 1 == beam->limit)
        return options->forced_eos_id;
    return beam->steps == 0 ? options->forced_bos_id : -1;
}

/* How many of a row's best outputs the search looks at. */
static size_t wanted(const search_options *options)
{
    return options->beams == 1 ? 1 : 2 * options->beams;
}

static bool wants_scores(const search_options *options)
{
    return options->beams > 1 || options->scores;
}

/* Must the network give the whole row for this hypothesis? Banned rows can be filtered out of the
 * best ones, unless the probabilities of the others are to be raised to make up for them. */
static bool needs_full_row(const search_worker *worker, const search_sentence *source,
                           size_t banned)
{
    const search_options *options = &worker->options;
    banned += worker->constraints.always_count;
    bool renormalised = options->beams == 1 ? options->scores : options->renormalize_logits;
    return worker->constraints.penalised || source->attempt == SEARCH_COPYING ||
           wanted(options) + banned > KN_TOP_MAX ||
           (banned > 0 && renormalised && source->attempt != SEARCH_NO_REPEATS);
}

/* Writes the rows of all active sentences for nn_step and what each must not say. Returns whether
 * any needs the whole row. */
static bool prepare_rows(search_worker *worker, size_t *count)
{
    bool full = false;
    size_t row = 0;
    for (size_t i = 0; i < worker->active_count; i++) {
        search_sentence *source = worker->active[i];
        const search_beam *beam = &source->beam;
        source->full_row = false;
        bool reads = search_constraints_need_history(&worker->constraints, &source->extra);
        for (size_t slot = 0; slot < beam->live; slot++, row++) {
            const int32_t *history = reads ? read_history(worker, beam, slot) : NULL;
            int32_t *rows = worker->banned_rows + row * worker->most_banned;
            size_t banned = search_constraints_forbid(&worker->constraints, &source->extra, history,
                                                      beam->steps, rows);
            worker->banned[row] = (search_banned){rows, banned};
            worker->rows[row] =
                (nn_row){.sentence = source->state,
                         .token = search_beam_token(beam, slot, worker->options.start_id),
                         .slot = (uint32_t)slot};
            source->full_row = source->full_row || needs_full_row(worker, source, banned);
        }
        full = full || source->full_row;
    }
    *count = row;
    return full;
}

/* Before the forbidden outputs are filtered out of a row's best. */
static void start_top(search_worker *worker, size_t row)
{
    kn_top_start(&worker->tops[row], wanted(&worker->options) + worker->constraints.always_count +
                                         worker->banned[row].count);
}

/* The best candidates of one sentence, whose rows begin with row `first`. `full`: there are whole
 * rows, although perhaps only its neighbours need them; what it becomes must not depend on that. */
static size_t gather(search_worker *worker, search_sentence *source, size_t first, bool full,
                     search_candidate *candidates)
{
    const search_options *options = &worker->options;
    const search_beam *beam = &source->beam;
    int32_t forced = forced_token(options, beam);
    if (forced >= 0)
        return search_select_forced(beam, forced, candidates);
    bool copying = source->attempt == SEARCH_COPYING;
    search_row_rules rules = {
        .kernels = worker->kernels,
        .constraints = &worker->constraints,
        .normalise = options->beams > 1 || (copying && options->scores),
        .renormalise = options->beams > 1 && options->renormalize_logits &&
                       source->attempt != SEARCH_NO_REPEATS,
        .want_sum = options->beams == 1 && options->scores && !copying,
        .copies = copying ? &source->copies : NULL,
        .speller = &worker->speller,
    };
    for (size_t slot = 0; slot < beam->live; slot++) {
        size_t row = first + slot;
        kn_top *top = &worker->tops[row];
        float *logits = worker->logits + row * nn_output_count(worker->network);
        if (!source->full_row) {
            if (full) {
                start_top(worker, row);
                nn_choose(worker->network, logits, top, wants_scores(options));
            }
            search_select_filter(&worker->constraints, worker->banned[row], top);
            continue;
        }
        const int32_t *history =
            worker->constraints.penalised || copying ? read_history(worker, beam, slot) : NULL;
        kn_top_start(top, wanted(options));
        float shift =
            search_select_row(&rules, history, beam->steps, worker->banned[row], logits, top);
        if (copying)
            search_beam_shift(&source->beam, slot, shift);
    }
    return search_select_merge(beam, worker->network, worker->tops + first, wants_scores(options),
                               wanted(options), candidates);
}

typedef struct alignment_request {
    search_worker *worker;
    const search_sentence *source;
} alignment_request;

/* The cache of a finished hypothesis is overwritten soon: keep its alignment now. */
static void keep_alignment(void *context, const search_finished *finished, size_t slot)
{
    alignment_request *request = context;
    uint32_t *seen = request->worker->seen;
    nn_sentence_alignment(request->source->state, slot, seen);
    memcpy(finished->alignment, seen, finished->length * sizeof *seen);
}

static bool holds_loop(search_worker *worker, const search_sentence *source, size_t slot)
{
    search_loop loop;
    const int32_t *history = read_history(worker, &source->beam, slot);
    return search_guard_loop(history + 1, source->beam.steps, source->source_repeats, &loop);
}

/* Do all running hypotheses repeat themselves endlessly? Whatever follows from them does, too: if
 * there is no sane finished one either, the search can as well end here. */
static bool is_astray(search_worker *worker, const search_sentence *source)
{
    const search_beam *beam = &source->beam;
    if (!worker->options.guard || source->attempt == SEARCH_NO_REPEATS ||
        beam->steps % SEARCH_GUARD_EVERY != 0)
        return false;
    for (size_t slot = 0; slot < beam->live; slot++) {
        if (!holds_loop(worker, source, slot))
            return false;
    }
    return !search_found_sane(worker, source);
}

/* Takes a sentence one step further; true when it is done. */
static bool advance(search_worker *worker, search_sentence *source, size_t first, bool full)
{
    search_candidate candidates[2 * SEARCH_BEAMS_MAX];
    search_beam *beam = &source->beam;
    size_t rows = beam->live;
    alignment_request request = {worker, source};
    search_beam_notice *notice = worker->options.alignment ? keep_alignment : NULL;
    size_t count = gather(worker, source, first, full, candidates);
    if (search_beam_advance(beam, &worker->options, candidates, count, notice, &request))
        return true;
    const uint32_t *parents = search_beam_parents(beam);
    bool moved = beam->live != rows;
    for (size_t slot = 0; slot < beam->live; slot++)
        moved = moved || parents[slot] != slot;
    if (moved)
        nn_sentence_reorder(source->state, parents, beam->live);
    source->astray = is_astray(worker, source);
    return source->astray;
}

static zhen_status step(search_worker *worker, const search_feed *feed)
{
    size_t rows;
    bool full = prepare_rows(worker, &rows);
    for (size_t row = 0; row < rows && !full; row++)
        start_top(worker, row);
    nn_step(worker->nn, worker->rows, rows, full ? worker->logits : NULL,
            full ? NULL : worker->tops, wants_scores(&worker->options));
    zhen_status status = ZHEN_OK;
    size_t first = 0;
    size_t kept = 0;
    for (size_t i = 0; i < worker->active_count; i++) {
        search_sentence *source = worker->active[i];
        size_t live = source->beam.live;
        bool is_done = !status && advance(worker, source, first, full);
        first += live;
        if (is_done) {
            release(worker, source);
            status = search_conclude(worker, source, feed);
        } else {
            worker->active[kept++] = source;
        }
    }
    worker->active_count = kept;
    return status;
}

/* Drops all sentences, so that the worker is ready for another run. */
static void abandon(search_worker *worker)
{
    while (worker->active_count > 0) {
        search_sentence *source = worker->active[--worker->active_count];
        release(worker, source);
        worker->idle[worker->idle_count++] = source;
    }
    while (worker->waiting_count > 0)
        worker->idle[worker->idle_count++] = worker->waiting[--worker->waiting_count];
}

zhen_status search_run(search_worker *worker, const search_feed *feed, zhen_error *error)
{
    bool exhausted = false;
    zhen_status status = ZHEN_OK;
    while (!status) {
        if (feed->cancelled && feed->cancelled(feed->context))
            status = base_fail(error, ZHEN_ERROR_CANCELLED, "translation was cancelled");
        else if (wants_refill(worker, exhausted))
            status = refill(worker, feed, &exhausted, error);
        if (status || worker->active_count == 0)
            break;
        status = step(worker, feed);
    }
    abandon(worker);
    return status;
}
