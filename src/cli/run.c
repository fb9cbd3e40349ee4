#include "cli/run.h"

#include "cli/progress.h"
#include "cli/signals.h"

#include <unistd.h>

static void fill_options(const cli_options *from, zhen_options *to)
{
    to->nbest = from->nbest;
    if (from->has_beam)
        to->beam = from->beam;
    if (to->beam < to->nbest)
        to->beam = to->nbest;
    if (from->has_length_penalty)
        to->length_penalty = from->length_penalty;
    if (from->max_length)
        to->max_new_tokens = from->max_length;
    to->guard = from->guard;
    to->scores = from->style == CLI_NBEST || from->style == CLI_JSON;
    to->alignment = true; /* puts markup and protected words at their places */
}

void cli_run_start(cli_run *run, const zhen_model *model, const cli_options *options)
{
    *run = (cli_run){.options = options, .model = model};
    /* Not in between the lines of an output on the same screen. */
    run->progress = !options->quiet && options->files && isatty(STDERR_FILENO) &&
                    (options->output || !isatty(STDOUT_FILENO));
    pthread_mutex_init(&run->lock, NULL);
    clock_gettime(CLOCK_MONOTONIC, &run->start);
    cli_signals_catch();
}

void cli_run_end(cli_run *run)
{
    pthread_mutex_destroy(&run->lock);
}

bool cli_worker_start(cli_worker *worker, cli_run *run, unsigned threads)
{
    *worker = (cli_worker){.run = run};
    zhen_options settings;
    zhen_options_init(&settings, run->model);
    fill_options(run->options, &settings);
    if (threads)
        settings.threads = threads;
    zhen_error error;
    if (zhen_translator_create(run->model, &settings, &worker->translator, &error)) {
        cli_error("%s", error.message);
        return false;
    }
    cli_signals_watch(worker->translator);
    return true;
}

void cli_worker_end(cli_worker *worker)
{
    if (worker->translator)
        cli_signals_forget(worker->translator);
    zhen_translator_free(worker->translator);
}

static void count(cli_run *run, const zhen_translations *translations)
{
    pthread_mutex_lock(&run->lock);
    for (size_t i = 0; i < zhen_translations_count(translations); i++) {
        const zhen_translation *translation = zhen_translations_get(translations, i);
        run->counts.texts++;
        run->counts.sentences += translation->sentence_count;
        run->counts.source_tokens += translation->source_tokens;
        run->counts.target_tokens += translation->target_tokens;
    }
    pthread_mutex_unlock(&run->lock);
}

void cli_run_count_bytes(cli_run *run, size_t size)
{
    pthread_mutex_lock(&run->lock);
    run->counts.bytes_done += (double)size;
    cli_progress_show(run);
    pthread_mutex_unlock(&run->lock);
}

bool cli_worker_translate(cli_worker *worker, const zhen_text *texts, size_t count_of_texts,
                          const char *name, zhen_translations **translations)
{
    zhen_error error;
    *translations = NULL;
    if (!zhen_translate(worker->translator, texts, count_of_texts, translations, &error)) {
        count(worker->run, *translations);
        return true;
    }
    if (error.status != ZHEN_ERROR_CANCELLED)
        cli_error("%s: %s", name, error.message);
    return false;
}
