#include "search/search.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/size.h"
#include "search/beam.h"
#include "search/constraint.h"
#include "search/guard.h"
#include "search/select.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Source tokens that are encoded side by side: enough to keep the matrix products busy, few enough
 * to stay in the second-level cache. */
enum { ENCODE_TOKENS = 512 };

/* A sentence in the batch, or waiting for its second try. */
typedef struct sentence {
    search_beam beam;
    nn_sentence *state;
    const int32_t *ids;
    size_t count, tag;
    size_t source_repeats; /* as search_guard_repeats; only with the guard */
    search_extra extra;
    bool astray; /* nothing but endless repetition was found */
    bool second_try;
} sentence;

struct search_worker {
    const nn_network *network;
    const kn_table *kernels;
    nn_worker *nn;
    base_arena arena;
    search_options options;
    search_constraints constraints;

    size_t capacity; /* sentences at most; each is in one of these three lists: */
    sentence **active, **idle, **waiting;
    size_t active_count, idle_count, waiting_count;
    sentence *sentences;

    nn_source *sources;    /* (capacity), for one call of nn_encode */
    nn_sentence **encoded; /* (capacity) */
    nn_row *rows;          /* (capacity * beams) each */
    kn_top *tops;
    search_banned *banned;
    int32_t *banned_rows; /* (capacity * beams, most_banned) */
    size_t most_banned;
    float *logits;                 /* (capacity * beams, outputs), touched only when needed */
    int32_t *history;              /* start token and tokens of one hypothesis */
    int32_t *tokens;               /* (beams, max_new_tokens), what `done` sees */
    uint32_t *seen;                /* (max_new_tokens), one alignment */
    search_hypothesis *hypotheses; /* (beams) */
};

void search_options_init(search_options *options, const mdl_config *config,
                         const mdl_generation *generation)
{
    size_t longest = generation->max_new_tokens;
    if (longest == 0)
        longest = generation->max_length > 1 ? generation->max_length - 1 : 1;
    size_t shortest = generation->min_new_tokens;
    if (shortest == 0 && generation->min_length > 0)
        shortest = generation->min_length - 1; /* which counts the start token */
    *options = (search_options){
        .beams = generation->num_beams,
        .returns = 1,
        .length_penalty = generation->length_penalty,
        .early_stopping = generation->early_stopping,
        .min_new_tokens = shortest,
        .max_new_tokens = longest,
        .no_repeat_ngram = generation->no_repeat_ngram,
        .repetition_penalty = generation->repetition_penalty,
        .renormalize_logits = generation->renormalize_logits,
        .forced_eos_id = generation->forced_eos_id,
        .forced_bos_id = generation->forced_bos_id,
        .bad_words = generation->bad_words,
        .bad_word_count = generation->bad_word_count,
        .guard = true,
        .start_id = config->decoder_start_id,
        .eos_id = config->eos_id,
        .max_positions = config->max_positions,
    };
}

/* ---- Memory --------------------------------------------------------------------------------- */

static zhen_status check_options(const search_options *options, zhen_error *error)
{
    if (options->beams < 1 || options->beams > SEARCH_BEAMS_MAX)
        return base_fail(error, ZHEN_ERROR_ARGUMENT, "beam must be 1 to %d, not %zu",
                         SEARCH_BEAMS_MAX, options->beams);
    if (options->returns < 1 || options->returns > options->beams)
        return base_fail(error, ZHEN_ERROR_ARGUMENT, "n-best must be 1 to the beam's %zu, not %zu",
                         options->beams, options->returns);
    if (options->max_new_tokens < 1 || options->max_positions < 1)
        return base_fail(error, ZHEN_ERROR_ARGUMENT, "max_new_tokens must be at least 1");
    if (!isfinite(options->length_penalty))
        return base_fail(error, ZHEN_ERROR_ARGUMENT, "length_penalty must be a number");
    if (!isfinite(options->repetition_penalty) || options->repetition_penalty <= 0.0)
        return base_fail(error, ZHEN_ERROR_ARGUMENT, "repetition_penalty must be above 0");
    return ZHEN_OK;
}

static void *take(search_worker *worker, bool *complete, size_t count, size_t size)
{
    void *memory = base_arena_calloc(&worker->arena, count, size);
    if (!memory)
        *complete = false;
    return memory;
}

/* Everything that the search will ever need is taken here. */
static bool take_memory(search_worker *worker)
{
    const search_options *options = &worker->options;
    size_t beams = options->beams;
    size_t steps = options->max_new_tokens;
    size_t rows = worker->capacity * beams;
    bool complete =
        search_constraints_init(&worker->constraints, &worker->arena, worker->network, options);
    worker->most_banned = search_constraints_most(&worker->constraints, steps, options->guard);
    worker->active = take(worker, &complete, worker->capacity, sizeof(sentence *));
    worker->idle = take(worker, &complete, worker->capacity, sizeof(sentence *));
    worker->waiting = take(worker, &complete, worker->capacity, sizeof(sentence *));
    worker->sentences = take(worker, &complete, worker->capacity, sizeof *worker->sentences);
    worker->sources = take(worker, &complete, worker->capacity, sizeof *worker->sources);
    worker->encoded = take(worker, &complete, worker->capacity, sizeof(nn_sentence *));
    worker->rows = take(worker, &complete, rows, sizeof *worker->rows);
    worker->tops = take(worker, &complete, rows, sizeof *worker->tops);
    worker->banned = take(worker, &complete, rows, sizeof *worker->banned);
    worker->banned_rows =
        take(worker, &complete, rows, worker->most_banned * sizeof *worker->banned_rows);
    worker->history = take(worker, &complete, steps + 1, sizeof *worker->history);
    worker->tokens = take(worker, &complete, steps, beams * sizeof *worker->tokens);
    worker->seen = take(worker, &complete, steps + 1, sizeof *worker->seen);
    worker->hypotheses = take(worker, &complete, beams, sizeof *worker->hypotheses);
    /* Not cleared, so that it costs nothing while no constraint needs it. */
    size_t outputs = nn_output_count(worker->network);
    size_t bytes;
    if (!complete || !base_multiply(rows, outputs, &bytes) ||
        !base_multiply(bytes, sizeof *worker->logits, &bytes))
        return false;
    worker->logits = base_arena_allocate(&worker->arena, bytes);
    for (size_t i = 0; i < worker->capacity; i++) {
        worker->idle[worker->idle_count++] = &worker->sentences[i];
        if (!search_beam_init(&worker->sentences[i].beam, &worker->arena, options, steps))
            return false;
    }
    return worker->logits;
}

zhen_status search_worker_create(const nn_network *network, const search_options *options,
                                 size_t batch_rows, search_worker **worker, zhen_error *error)
{
    *worker = NULL;
    zhen_status status = check_options(options, error);
    if (status)
        return status;
    search_worker *new_worker = calloc(1, sizeof *new_worker);
    if (!new_worker)
        return base_fail_memory(error);
    new_worker->network = network;
    new_worker->options = *options;
    if (options->max_new_tokens > options->max_positions)
        new_worker->options.max_new_tokens = options->max_positions;
    new_worker->capacity = batch_rows / options->beams ? batch_rows / options->beams : 1;
    nn_limits limits = {.rows = new_worker->capacity * options->beams,
                        .source_tokens = ENCODE_TOKENS,
                        .alignment = options->alignment};
    status = kn_select(getenv("ZHEN_ISA"), &new_worker->kernels, error);
    if (!status)
        status = nn_worker_create(network, &limits, &new_worker->nn, error);
    if (!status && !take_memory(new_worker))
        status = base_fail_memory(error);
    if (status) {
        search_worker_free(new_worker);
        return status;
    }
    *worker = new_worker;
    return ZHEN_OK;
}

void search_worker_free(search_worker *worker)
{
    if (!worker)
        return;
    nn_worker_free(worker->nn);
    base_arena_free(&worker->arena);
    free(worker);
}

/* ---- Sentences come in ------------------------------------------------------------------------
 */

/* A sentence that is to be encoded: first those that wait for their second try, then new ones.
 * NULL: none left or no room. */
static sentence *next_sentence(search_worker *worker, const search_feed *feed, bool *exhausted)
{
    if (worker->waiting_count > 0)
        return worker->waiting[--worker->waiting_count];
    if (*exhausted || worker->idle_count == 0)
        return NULL;
    sentence *new_sentence = worker->idle[worker->idle_count - 1];
    if (!feed->next(feed->context, &new_sentence->ids, &new_sentence->count, &new_sentence->tag)) {
        *exhausted = true;
        return NULL;
    }
    worker->idle_count--;
    new_sentence->extra = (search_extra){0};
    new_sentence->astray = false;
    new_sentence->second_try = false;
    if (worker->options.guard)
        new_sentence->source_repeats = search_guard_repeats(new_sentence->ids, new_sentence->count);
    return new_sentence;
}

/* How many tokens a translation may have. What the user asks for at least, he gets. */
static size_t length_limit(const search_options *options, const sentence *source)
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
        sentence *source = worker->active[first + i];
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
    sentence *source;
    while ((source = next_sentence(worker, feed, exhausted)))
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

static void release(search_worker *worker, sentence *finished)
{
    nn_sentence_release(worker->nn, finished->state);
    finished->state = NULL;
}

/* ---- Sentences go out -------------------------------------------------------------------------
 */

/* Cuts an endless repetition back to one occurrence, everything after it kept. */
static size_t cut_loops(const sentence *source, int32_t *tokens, uint32_t *alignment, size_t count)
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

static bool is_loop(const sentence *source, const search_hypothesis *hypothesis)
{
    search_loop loop;
    return search_guard_loop(hypothesis->tokens, hypothesis->count, source->source_repeats, &loop);
}

/* Would the guard let this translation pass? */
static bool is_sane(const sentence *source, const search_hypothesis *hypothesis)
{
    bool wordless = hypothesis->count == 0 && source->count > 1;
    return !wordless && !is_loop(source, hypothesis);
}

static search_hypothesis read_finished(search_worker *worker, const sentence *source, size_t i)
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
static size_t read_all_finished(search_worker *worker, const sentence *source, bool only_sane)
{
    size_t count = 0;
    for (size_t i = 0; i < source->beam.finished_count; i++) {
        worker->hypotheses[count] = read_finished(worker, source, i);
        count += !only_sane || is_sane(source, &worker->hypotheses[count]);
    }
    return count;
}

/* The second try brought nothing sane either (a source of a few odd pieces and a small model): the
 * best hypothesis that says something, once. */
static void make_sane(search_worker *worker, const sentence *source, size_t count)
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
static bool wants_second_try(search_worker *worker, const sentence *source)
{
    if (source->second_try)
        return false;
    if (source->astray)
        return true;
    search_hypothesis best = read_finished(worker, source, 0);
    return is_loop(source, &best) || read_all_finished(worker, source, true) == 0;
}

static void put_back(search_worker *worker, sentence *source)
{
    source->astray = false;
    source->second_try = true;
    source->extra = (search_extra){.no_repeat_ngram = SEARCH_GUARD_NGRAM, .never_empty = true};
    worker->waiting[worker->waiting_count++] = source;
}

/* Fills worker->hypotheses with what the caller is to get. */
static size_t choose(search_worker *worker, const sentence *source)
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

/* Hands a sentence that is done to the caller, or puts it back for a second try. */
static zhen_status conclude(search_worker *worker, sentence *source, const search_feed *feed)
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

/* ---- One step ---------------------------------------------------------------------------------
 */

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
static bool needs_full_row(const search_worker *worker, const sentence *source, size_t banned)
{
    const search_options *options = &worker->options;
    banned += worker->constraints.always_count;
    bool renormalised = options->beams == 1 ? options->scores : options->renormalize_logits;
    return worker->constraints.penalised || wanted(options) + banned > KN_TOP_MAX ||
           (banned > 0 && renormalised && !source->second_try);
}

/* Writes the rows of all active sentences for nn_step, what each must not say and how many of its
 * best outputs are wanted. Returns whether any needs the whole row. */
static bool prepare_rows(search_worker *worker, size_t *count)
{
    bool full = false;
    size_t row = 0;
    for (size_t i = 0; i < worker->active_count; i++) {
        const sentence *source = worker->active[i];
        const search_beam *beam = &source->beam;
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
            full = full || needs_full_row(worker, source, banned);
        }
    }
    *count = row;
    return full;
}

/* The best candidates of one sentence, whose rows begin with row `first`. */
static size_t gather(search_worker *worker, const sentence *source, size_t first, bool full,
                     search_candidate *candidates)
{
    const search_options *options = &worker->options;
    const search_beam *beam = &source->beam;
    int32_t forced = forced_token(options, beam);
    if (forced >= 0)
        return search_select_forced(beam, forced, candidates);
    search_row_rules rules = {
        .kernels = worker->kernels,
        .constraints = &worker->constraints,
        .normalise = options->beams > 1,
        .renormalise = options->beams > 1 && options->renormalize_logits && !source->second_try,
        .want_sum = options->beams == 1 && options->scores,
    };
    for (size_t slot = 0; slot < beam->live; slot++) {
        size_t row = first + slot;
        kn_top *top = &worker->tops[row];
        if (!full) {
            search_select_filter(&worker->constraints, worker->banned[row], top);
            continue;
        }
        const int32_t *history =
            worker->constraints.penalised ? read_history(worker, beam, slot) : NULL;
        kn_top_start(top, wanted(options));
        search_select_row(&rules, history, beam->steps, worker->banned[row],
                          worker->logits + row * nn_output_count(worker->network), top);
    }
    return search_select_merge(beam, worker->network, worker->tops + first, wants_scores(options),
                               wanted(options), candidates);
}

typedef struct alignment_request {
    search_worker *worker;
    const sentence *source;
} alignment_request;

/* The cache of a finished hypothesis is overwritten soon: keep its alignment now. */
static void keep_alignment(void *context, const search_finished *finished, size_t slot)
{
    alignment_request *request = context;
    uint32_t *seen = request->worker->seen;
    nn_sentence_alignment(request->source->state, slot, seen);
    memcpy(finished->alignment, seen, finished->length * sizeof *seen);
}

static bool holds_loop(search_worker *worker, const sentence *source, size_t slot)
{
    search_loop loop;
    const int32_t *history = read_history(worker, &source->beam, slot);
    return search_guard_loop(history + 1, source->beam.steps, source->source_repeats, &loop);
}

/* Do all running hypotheses repeat themselves endlessly? Whatever follows from them does, too: if
 * there is no sane finished one either, the search can as well end here. */
static bool is_astray(search_worker *worker, const sentence *source)
{
    const search_beam *beam = &source->beam;
    if (!worker->options.guard || source->second_try || beam->steps % SEARCH_GUARD_EVERY != 0)
        return false;
    for (size_t slot = 0; slot < beam->live; slot++) {
        if (!holds_loop(worker, source, slot))
            return false;
    }
    return read_all_finished(worker, source, true) == 0;
}

/* Takes a sentence one step further; true when it is done. */
static bool advance(search_worker *worker, sentence *source, size_t first, bool full)
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
        kn_top_start(&worker->tops[row], wanted(&worker->options) +
                                             worker->constraints.always_count +
                                             worker->banned[row].count);
    nn_step(worker->nn, worker->rows, rows, full ? worker->logits : NULL,
            full ? NULL : worker->tops, wants_scores(&worker->options));
    zhen_status status = ZHEN_OK;
    size_t first = 0;
    size_t kept = 0;
    for (size_t i = 0; i < worker->active_count; i++) {
        sentence *source = worker->active[i];
        size_t live = source->beam.live;
        bool is_done = !status && advance(worker, source, first, full);
        first += live;
        if (is_done) {
            release(worker, source);
            status = conclude(worker, source, feed);
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
        sentence *source = worker->active[--worker->active_count];
        release(worker, source);
        worker->idle[worker->idle_count++] = source;
    }
    while (worker->waiting_count > 0)
        worker->idle[worker->idle_count++] = worker->waiting[--worker->waiting_count];
}

void search_worker_set_team(search_worker *worker, base_team *team)
{
    nn_worker_set_team(worker->nn, team);
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
