/* The public side of the pipeline: settings, and one call from texts to translations. */
#include "base/error.h"
#include "model/weights.h"
#include "nn/nn.h"
#include "search/search.h"
#include "translate/assemble.h"
#include "translate/cores.h"
#include "translate/crew.h"
#include "translate/plan.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>

enum {
    THREADS_MAX = 1024,
    MEMORY_BYTES = 4 * 1024 * 1024 /* translated pieces kept from call to call */
};

struct zhen_translator {
    const zhen_model *model;
    zhen_options options;
    nn_network *network;
    translate_crew *crew;
    translate_memory memory;
    atomic_bool cancel;
};

void zhen_options_init(zhen_options *options, const zhen_model *model)
{
    search_options defaults;
    search_options_init(&defaults, &model->config, &model->generation);
    *options = (zhen_options){
        .threads = (unsigned)translate_cores(),
        .beam = (unsigned)defaults.beams,
        .nbest = 1,
        .length_penalty = defaults.length_penalty,
        .early_stopping = defaults.early_stopping,
        .min_new_tokens = defaults.min_new_tokens,
        .max_new_tokens = defaults.max_new_tokens,
        .no_repeat_ngram = defaults.no_repeat_ngram,
        .repetition_penalty = defaults.repetition_penalty,
        .scores = true,
        .guard = true,
        .alignment = false,
    };
}

static zhen_status check_options(const zhen_options *options, zhen_error *error)
{
    const zhen_status bad = ZHEN_ERROR_ARGUMENT;
    if (options->threads > THREADS_MAX)
        return base_fail(error, bad, "threads: %u is more than %d", options->threads, THREADS_MAX);
    if (options->beam < 1 || options->beam > SEARCH_BEAMS_MAX)
        return base_fail(error, bad, "beam: %u is not between 1 and %d", options->beam,
                         SEARCH_BEAMS_MAX);
    if (options->nbest < 1 || options->nbest > options->beam)
        return base_fail(error, bad, "nbest: %u is not between 1 and the beam, %u", options->nbest,
                         options->beam);
    if (!isfinite(options->length_penalty))
        return base_fail(error, bad, "length_penalty: is not a number");
    if (!isfinite(options->repetition_penalty) || options->repetition_penalty <= 0)
        return base_fail(error, bad, "repetition_penalty: is not a number above 0");
    if ((unsigned)options->early_stopping > ZHEN_EARLY_STOPPING_NEVER)
        return base_fail(error, bad, "early_stopping: there is no kind %d",
                         (int)options->early_stopping);
    if (options->max_new_tokens == 1)
        return base_fail(error, bad, "max_new_tokens: 1 leaves no room beside </s>");
    if (options->max_new_tokens && options->min_new_tokens > options->max_new_tokens)
        return base_fail(error, bad, "min_new_tokens: %zu is more than max_new_tokens, %zu",
                         options->min_new_tokens, options->max_new_tokens);
    return ZHEN_OK;
}

static search_options search_settings(const zhen_model *model, const zhen_options *options)
{
    search_options settings;
    search_options_init(&settings, &model->config, &model->generation);
    settings.beams = options->beam;
    settings.returns = options->nbest;
    settings.length_penalty = options->length_penalty;
    settings.early_stopping = options->early_stopping;
    settings.min_new_tokens = options->min_new_tokens;
    settings.max_new_tokens =
        options->max_new_tokens ? options->max_new_tokens : model->config.max_positions;
    settings.no_repeat_ngram = options->no_repeat_ngram;
    settings.repetition_penalty = options->repetition_penalty;
    settings.scores = options->scores;
    settings.alignment = options->alignment;
    settings.guard = options->guard;
    settings.tokenizer = model->tokenizer;
    return settings;
}

zhen_status zhen_translator_create(const zhen_model *model, const zhen_options *options,
                                   zhen_translator **translator, zhen_error *error)
{
    *translator = NULL;
    zhen_status status = check_options(options, error);
    if (status)
        return status;
    zhen_translator *made = calloc(1, sizeof *made);
    if (!made)
        return base_fail_memory(error);
    made->model = model;
    made->options = *options;
    atomic_init(&made->cancel, false);
    search_options settings = search_settings(model, options);
    size_t threads = options->threads ? options->threads : translate_cores();
    status = nn_network_create(model, getenv("ZHEN_ISA"), threads, &made->network, error);
    if (!status && model->config.int8) /* all of its layers were packed */
        mdl_weights_rest(model);
    if (!status)
        status = translate_crew_create(model, made->network, &settings, threads, &made->cancel,
                                       &made->crew, error);
    if (status) {
        zhen_translator_free(made);
        return status;
    }
    *translator = made;
    return ZHEN_OK;
}

void zhen_translator_free(zhen_translator *translator)
{
    if (!translator)
        return;
    translate_crew_free(translator->crew);
    nn_network_free(translator->network);
    translate_memory_free(&translator->memory);
    free(translator);
}

void zhen_translator_cancel(zhen_translator *translator)
{
    atomic_store(&translator->cancel, true);
}

zhen_status zhen_translate(zhen_translator *translator, const zhen_text *texts, size_t count,
                           zhen_translations **translations, zhen_error *error)
{
    *translations = NULL;
    if (atomic_load(&translator->cancel))
        return base_fail(error, ZHEN_ERROR_CANCELLED, "cancelled");
    translate_plan plan;
    translate_plan_init(&plan, translator->model, &translator->memory,
                        translator->options.alignment);
    zhen_status status = translate_plan_texts(&plan, texts, count, error);
    if (!status)
        status = translate_crew_run(translator->crew, plan.queue, plan.queue_count, error);
    if (!status)
        status = translate_assemble(&plan, translator->options.nbest, translations, error);
    translate_plan_free(&plan);
    translate_memory_settle(&translator->memory, MEMORY_BYTES);
    return status;
}
