#include "cli/run.h"

#include "cli/progress.h"
#include "cli/report.h"
#include "cli/signals.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Windows start small, so that the first lines come out soon, and grow, so that batches are full.
 */
enum { WINDOW_LINES_FIRST = 64, WINDOW_LINES_MAX = 4096, WINDOW_BYTES = 1 << 20 };

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
    to->threads = from->threads;
    to->guard = from->guard;
}

bool cli_run_start(cli_run *run, const zhen_model *model, const cli_options *options)
{
    *run = (cli_run){.options = options};
    run->progress = !options->quiet && options->files && isatty(STDERR_FILENO);
    clock_gettime(CLOCK_MONOTONIC, &run->start);
    zhen_options settings;
    zhen_options_init(&settings, model);
    fill_options(options, &settings);
    zhen_error error;
    if (zhen_translator_create(model, &settings, &run->translator, &error)) {
        cli_error("%s", error.message);
        return false;
    }
    cli_signals_catch(run->translator);
    return true;
}

void cli_run_end(cli_run *run)
{
    cli_signals_forget();
    cli_progress_clear(run);
    if (run->options->verbose)
        cli_progress_summary(run);
    zhen_translator_free(run->translator);
    free(run->texts);
}

static bool collect_texts(cli_run *run, const cli_lines *lines)
{
    if (lines->count > run->text_capacity) {
        zhen_text *grown = realloc(run->texts, lines->count * sizeof *grown);
        if (!grown)
            return false;
        run->texts = grown;
        run->text_capacity = lines->count;
    }
    for (size_t i = 0; i < lines->count; i++)
        run->texts[i] = lines->lines[i].text;
    return true;
}

static void count(cli_run *run, const cli_line *line, const zhen_translation *translation)
{
    run->counts.lines += !line->continues;
    run->counts.sentences += translation->sentence_count;
    run->counts.source_tokens += translation->source_tokens;
    run->counts.target_tokens += translation->target_tokens;
}

/* Translates one window and writes it as a whole. */
static zhen_status run_window(cli_run *run, const cli_lines *lines, cli_writer *writer,
                              zhen_error *error)
{
    zhen_translations *done;
    zhen_status status = zhen_translate(run->translator, run->texts, lines->count, &done, error);
    if (status)
        return status;
    for (size_t i = 0; i < lines->count; i++) {
        const zhen_translation *translation = zhen_translations_get(done, i);
        cli_report(writer, run->options->style, &lines->lines[i], translation);
        count(run, &lines->lines[i], translation);
    }
    zhen_translations_free(done);
    cli_writer_flush(writer);
    return ZHEN_OK;
}

/* A byte order mark is no text: it goes out as it came. */
static void pass_byte_order_mark(cli_lines *lines, cli_writer *writer, cli_style style)
{
    zhen_text *first = &lines->lines[0].text;
    if (lines->lines[0].number != 1 || first->length < 3 || memcmp(first->bytes, "\xEF\xBB\xBF", 3))
        return;
    first->bytes += 3;
    first->length -= 3;
    if (style == CLI_PLAIN)
        cli_writer_string(writer, "\xEF\xBB\xBF");
}

static bool fail_window(const cli_lines *lines, const char *name, const zhen_error *error)
{
    if (error->status != ZHEN_ERROR_CANCELLED)
        cli_error("%s:%zu: %s", name, lines->lines[0].number, error->message);
    return false;
}

bool cli_run_lines(cli_run *run, cli_lines *lines, const char *name, cli_writer *writer)
{
    cli_window_limits limits = {WINDOW_LINES_FIRST, WINDOW_BYTES};
    int failure;
    bool first = true;
    while (!cli_signals_caught() && cli_lines_next(lines, &limits, &failure)) {
        if (first)
            pass_byte_order_mark(lines, writer, run->options->style);
        first = false;
        zhen_error error = {ZHEN_ERROR_MEMORY, "out of memory"};
        if (!collect_texts(run, lines) || run_window(run, lines, writer, &error))
            return fail_window(lines, name, &error);
        if (writer->failure)
            return false;
        cli_progress_show(run);
        if (limits.lines < WINDOW_LINES_MAX)
            limits.lines *= 2;
    }
    if (cli_signals_caught())
        return false;
    if (failure)
        cli_error("%s: %s", name, strerror(failure));
    return !failure;
}

/* Reports what the writer met. A reader that has gone away needs no message. */
static cli_exit close_writer(cli_writer *writer, const char *name, bool whole)
{
    bool written = cli_writer_close(writer, whole);
    if (!written && writer->failure != EPIPE)
        cli_error("%s: %s", name, strerror(writer->failure));
    return written && whole ? CLI_DONE : CLI_FAILED;
}

static cli_exit run_to_standard_output(cli_run *run, cli_lines *lines, const char *name)
{
    cli_writer writer;
    cli_writer_standard(&writer);
    bool whole = cli_run_lines(run, lines, name, &writer);
    cli_lines_free(lines);
    return close_writer(&writer, "standard output", whole);
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
    cli_lines lines;
    if (!cli_lines_start_texts(&lines, run->options->operands, run->options->operand_count)) {
        cli_error("out of memory");
        return CLI_FAILED;
    }
    return run_to_standard_output(run, &lines, "argument");
}

cli_exit cli_run_standard_input(cli_run *run)
{
    if (!run->options->quiet && isatty(STDIN_FILENO) && isatty(STDERR_FILENO))
        cli_error("reading lines from the terminal; Ctrl-D ends (zhen --help for more)");
    cli_lines lines;
    cli_lines_start(&lines, STDIN_FILENO);
    return run_to_standard_output(run, &lines, "standard input");
}
