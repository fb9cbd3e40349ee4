/* zhen -i FILE... and zhen -o OUT FILE...: several files, several at a time. */
#include "cli/input.h"
#include "cli/list.h"
#include "cli/progress.h"
#include "cli/records.h"
#include "cli/run.h"
#include "cli/signals.h"
#include "cli/stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What the jobs share. */
typedef struct cli_queue {
    cli_run *run;
    cli_list *list;
    size_t next;          /* under run->lock */
    cli_writer *standard; /* where files without an output go */
    unsigned threads;     /* of each job's translator; 0: one for each core */
    bool broken;          /* a job could not start */
} cli_queue;

/* An output at least as new as its input is finished, for outputs appear whole or not at all. */
static bool is_finished(const cli_file *file)
{
    struct stat input, output;
    if (cli_input_is_standard(file->input) || stat(file->input, &input) ||
        stat(file->output, &output) || !S_ISREG(output.st_mode))
        return false;
    return output.st_mtim.tv_sec != input.st_mtim.tv_sec
               ? output.st_mtim.tv_sec > input.st_mtim.tv_sec
               : output.st_mtim.tv_nsec >= input.st_mtim.tv_nsec;
}

/* The next file that is to be translated, or NULL. */
static cli_file *next_file(cli_queue *queue)
{
    cli_run *run = queue->run;
    cli_file *file = NULL;
    pthread_mutex_lock(&run->lock);
    bool stop = cli_signals_caught() ||
                (run->options->stop_at_failure && run->counts.files_failed) ||
                (queue->standard && queue->standard->failure);
    while (!file && !stop && queue->next < queue->list->count) {
        file = &queue->list->files[queue->next++];
        if (run->options->resume && is_finished(file)) {
            file->state = CLI_FILE_SKIPPED; /* NOLINT(clang-analyzer-core.NullDereference) */
            run->counts.files_skipped++;
            run->counts.bytes -= file->bytes;
            file = NULL;
        }
    }
    pthread_mutex_unlock(&run->lock);
    return file;
}

/* Records are about lines of text; a file whose extension names another format has none. Its pairs
 * are those of the document's texts. */
static void translate_as(cli_batch *batch, cli_target *target, int descriptor,
                         const zhen_document_options *document)
{
    cli_style style = target->run->options->style;
    bool text = document->format == ZHEN_FORMAT_TEXT;
    if (style == CLI_DOCUMENT || (style == CLI_PAIRS && !text)) {
        cli_stream_descriptor(batch, target, descriptor, document);
    } else if (text) {
        cli_records_descriptor(batch->worker, target, descriptor);
    } else {
        cli_error("%s: --json and --nbest work line by line, on text; --format=text reads it so",
                  cli_target_name(target));
        target->failed = true;
        cli_target_finish(target);
    }
}

static void translate_file(cli_queue *queue, cli_batch *batch, cli_file *file)
{
    const cli_options *options = queue->run->options;
    cli_target *target = cli_target_create(queue->run, file, queue->standard);
    if (!target) {
        file->state = CLI_FILE_FAILED;
        return;
    }
    int descriptor = cli_input_open(file->input);
    if (descriptor < 0) {
        cli_error("%s: %s", file->input, strerror(errno));
        target->failed = true;
        cli_target_finish(target);
        return;
    }
    zhen_document_options document = options->document;
    document.format = cli_list_format(options, file->input);
    translate_as(batch, target, descriptor, &document);
    cli_input_close(descriptor);
}

static void *work(void *context)
{
    cli_queue *queue = context;
    cli_worker worker;
    if (!cli_worker_start(&worker, queue->run, queue->threads)) {
        queue->broken = true;
    } else {
        cli_batch batch;
        cli_batch_start(&batch, &worker);
        for (cli_file *file; (file = next_file(queue));) {
            translate_file(queue, &batch, file);
            if (queue->run->options->stop_at_failure)
                cli_batch_run(&batch); /* to know at once whether it failed */
        }
        cli_batch_end(&batch);
    }
    cli_worker_end(&worker);
    return NULL;
}

/* The threads that the translators have in all are shared out among the jobs. */
static unsigned threads_of_each(const cli_run *run, unsigned jobs)
{
    unsigned threads = run->options->threads;
    if (jobs == 1)
        return threads;
    if (!threads) {
        zhen_options defaults;
        zhen_options_init(&defaults, run->model);
        threads = defaults.threads;
    }
    return threads > jobs ? threads / jobs : 1;
}

static void run_jobs(cli_queue *queue, unsigned jobs)
{
    pthread_t others[256];
    unsigned started = 0;
    queue->threads = threads_of_each(queue->run, jobs);
    while (started + 1 < jobs && !pthread_create(&others[started], NULL, work, queue))
        started++;
    work(queue);
    for (unsigned i = 0; i < started; i++)
        pthread_join(others[i], NULL);
}

static void list_failures(const cli_list *list, const cli_counts *counts)
{
    if (list->count < 2 || !counts->files_failed)
        return;
    cli_error("%zu of %zu files failed:", counts->files_failed, list->count);
    for (size_t i = 0; i < list->count; i++)
        if (list->files[i].state == CLI_FILE_FAILED)
            cli_error("  %s", list->files[i].input);
}

/* Ends the run's standard output; a reader that has gone away needs no message. */
static bool close_standard(cli_writer *writer)
{
    bool written = cli_writer_close(writer, true);
    if (!written && writer->failure != EPIPE)
        cli_error("standard output: %s", strerror(writer->failure));
    return written;
}

static cli_exit run_list(cli_run *run, cli_list *list)
{
    const cli_options *options = run->options;
    cli_writer standard;
    cli_writer_standard(&standard);
    run->in_place = list->in_place;
    run->counts.files = list->count;
    for (size_t i = 0; i < list->count; i++)
        run->counts.bytes += list->files[i].bytes;
    cli_queue queue = {.run = run, .list = list, .standard = options->output ? NULL : &standard};
    size_t jobs = options->jobs < list->count ? options->jobs : list->count;
    run_jobs(&queue, jobs ? (unsigned)jobs : 1);
    bool written = close_standard(&standard);
    if (queue.broken)
        return CLI_MODEL;
    bool all = run->counts.files_done + run->counts.files_skipped == list->count;
    return all && written && !list->incomplete ? CLI_DONE : CLI_FAILED;
}

cli_exit cli_run_files(cli_run *run)
{
    cli_list list;
    cli_exit code = cli_list_make(run->options, &list);
    if (code == CLI_DONE) {
        code = run_list(run, &list);
        cli_progress_end(run);
        list_failures(&list, &run->counts);
    }
    cli_list_free(&list);
    return code;
}

/* Arguments and standard input: one target, standard output. */
typedef void (*cli_source)(cli_batch *batch, cli_target *target);

static cli_exit run_single(cli_run *run, cli_source source)
{
    cli_worker worker;
    if (!cli_worker_start(&worker, run, run->options->threads))
        return CLI_MODEL;
    cli_writer standard;
    cli_writer_standard(&standard);
    cli_target *target = cli_target_create(run, NULL, &standard);
    cli_batch batch;
    cli_batch_start(&batch, &worker);
    if (target)
        source(&batch, target);
    cli_batch_end(&batch);
    cli_worker_end(&worker);
    cli_progress_end(run);
    bool written = close_standard(&standard);
    return target && !batch.failed && written ? CLI_DONE : CLI_FAILED;
}

static void from_arguments(cli_batch *batch, cli_target *target)
{
    const cli_options *options = target->run->options;
    zhen_document_options document = options->document;
    document.encoding = "UTF-8"; /* arguments are too short to guess */
    if (options->style == CLI_DOCUMENT)
        cli_stream_texts(batch, target, options->operands, options->operand_count, &document);
    else
        batch->failed |=
            !cli_records_texts(batch->worker, target, options->operands, options->operand_count);
}

static void from_standard_input(cli_batch *batch, cli_target *target)
{
    const cli_options *options = target->run->options;
    if (options->style == CLI_DOCUMENT)
        cli_stream_descriptor(batch, target, STDIN_FILENO, &options->document);
    else
        batch->failed |= !cli_records_descriptor(batch->worker, target, STDIN_FILENO);
}

/* Somebody who types `zhen notes.txt` may have meant the file. */
static void hint_at_files(const cli_options *options)
{
    for (size_t i = 0; i < options->operand_count && !options->quiet; i++)
        if (!access(options->operands[i], F_OK))
            cli_error("note: '%s' is a file; zhen -i translates what is in it",
                      options->operands[i]);
}

cli_exit cli_run_arguments(cli_run *run)
{
    hint_at_files(run->options);
    return run_single(run, from_arguments);
}

cli_exit cli_run_standard_input(cli_run *run)
{
    if (!run->options->quiet && isatty(STDIN_FILENO) && isatty(STDERR_FILENO))
        cli_error("reading from the terminal; Ctrl-D ends (zhen --help for more)");
    return run_single(run, from_standard_input);
}
