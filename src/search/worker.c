#include "search/worker.h"

#include "base/error.h"
#include "base/size.h"

#include <math.h>
#include <stdlib.h>

/* Source tokens that are encoded side by side: enough to keep the matrix products busy, few enough
 * to stay in the second-level cache. */
enum { ENCODE_TOKENS = 512 };

void search_options_init(search_options *options, const mdl_config *config,
                         const mdl_generation *generation)
{
    *options = (search_options){
        .beams = generation->num_beams,
        .returns = 1,
        .length_penalty = generation->length_penalty,
        .early_stopping = generation->early_stopping,
        .min_new_tokens = generation->min_new_tokens,
        .max_new_tokens = generation->max_new_tokens,
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
    if (options->tokenizer)
        complete = search_speller_init(&worker->speller, &worker->arena, options->tokenizer,
                                       worker->network) &&
                   complete;
    worker->most_banned = search_constraints_most(&worker->constraints, steps, options->guard);
    worker->active = take(worker, &complete, worker->capacity, sizeof(search_sentence *));
    size_t sentences = 2 * worker->capacity;
    worker->idle = take(worker, &complete, sentences, sizeof(search_sentence *));
    worker->waiting = take(worker, &complete, sentences, sizeof(search_sentence *));
    worker->sentences = take(worker, &complete, sentences, sizeof *worker->sentences);
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
    for (size_t i = 0; i < sentences; i++) {
        worker->idle[worker->idle_count++] = &worker->sentences[i];
        search_sentence *sentence = &worker->sentences[i];
        if (!search_beam_init(&sentence->beam, &worker->arena, options, steps) ||
            (options->tokenizer &&
             !search_beam_init(&sentence->first, &worker->arena, options, steps)))
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

void search_worker_set_team(search_worker *worker, base_team *team)
{
    nn_worker_set_team(worker->nn, team);
}
