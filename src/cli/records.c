#include "cli/records.h"

#include "cli/lines.h"
#include "cli/report.h"
#include "cli/signals.h"
#include "cli/window.h"

#include <stdlib.h>
#include <string.h>

/* A window of lines, each made a document so that protected words come out as they went in. */
typedef struct record_window {
    cli_worker *worker;
    cli_target *target;
    zhen_document **documents; /* of the window's lines; NULL where a line is empty */
    zhen_text *texts;
    size_t text_count;
} record_window;

static zhen_status make_document(const record_window *window, const cli_line *line,
                                 zhen_document **document, zhen_error *error)
{
    zhen_document_options options = window->worker->run->options->document;
    options.format = ZHEN_FORMAT_TEXT;
    options.bilingual = ZHEN_BILINGUAL_NONE;
    options.name = cli_target_name(window->target);
    options.encoding = "UTF-8"; /* lines have been decoded */
    zhen_reader *reader;
    *document = NULL;
    zhen_status status = zhen_reader_create(&options, &reader, error);
    if (status)
        return status;
    status = zhen_reader_feed(reader, line->text.bytes, line->text.length, error);
    if (!status)
        status = zhen_reader_finish(reader, error);
    if (!status)
        status = zhen_reader_next(reader, true, document, error);
    zhen_reader_free(reader);
    return status;
}

static bool fail(const record_window *window, const cli_line *line, const zhen_error *error)
{
    cli_error("%s:%zu: %s", cli_target_name(window->target), line->number, error->message);
    window->target->failed = true;
    return false;
}

static bool out_of_memory(const record_window *window, const cli_line *line)
{
    zhen_error error = {ZHEN_ERROR_MEMORY, "out of memory"};
    return fail(window, line, &error);
}

static bool collect(record_window *window, const cli_lines *lines)
{
    size_t count = 0;
    for (size_t i = 0; i < lines->count; i++) {
        zhen_error error;
        if (make_document(window, &lines->lines[i], &window->documents[i], &error))
            return fail(window, &lines->lines[i], &error);
        if (window->documents[i])
            count += zhen_document_count(window->documents[i]);
    }
    window->texts = calloc(count + 1, sizeof *window->texts);
    if (!window->texts)
        return out_of_memory(window, lines->lines);
    for (size_t i = 0; i < lines->count; i++)
        for (size_t j = 0; window->documents[i] && j < zhen_document_count(window->documents[i]);
             j++)
            window->texts[window->text_count++] = zhen_document_text(window->documents[i], j);
    return true;
}

static bool write_records(const record_window *window, const cli_lines *lines,
                          const zhen_translations *translations)
{
    size_t first = 0;
    for (size_t i = 0; i < lines->count; i++) {
        cli_record record = {&lines->lines[i], window->documents[i], translations, first};
        zhen_error error;
        if (cli_report(window->target, window->worker->run->options->style, &record, &error))
            return fail(window, &lines->lines[i], &error);
        if (record.document)
            first += zhen_document_count(record.document);
    }
    cli_target_flush(window->target);
    cli_run_count_bytes(window->worker->run, lines->read);
    return true;
}

static void run_window(cli_worker *worker, cli_target *target, const cli_lines *lines)
{
    record_window window = {.worker = worker, .target = target};
    window.documents = calloc(lines->count, sizeof *window.documents);
    zhen_translations *translations = NULL;
    bool good = window.documents ? collect(&window, lines) : out_of_memory(&window, lines->lines);
    good = good &&
           cli_worker_translate(worker, window.texts, window.text_count, cli_target_name(target),
                                &translations) &&
           write_records(&window, lines, translations);
    zhen_translations_free(translations);
    for (size_t i = 0; i < lines->count && window.documents; i++)
        zhen_document_free(window.documents[i]);
    free(window.documents);
    free(window.texts);
    target->failed |= !good;
}

/* A byte order mark is no text. */
static void drop_byte_order_mark(cli_lines *lines)
{
    zhen_text *first = &lines->lines[0].text;
    if (lines->lines[0].number != 1 || first->length < 3 || memcmp(first->bytes, "\xEF\xBB\xBF", 3))
        return;
    first->bytes += 3;
    first->length -= 3;
}

/* Takes over the lines, whose beginning may have failed. */
static bool run_lines(cli_worker *worker, cli_target *target, cli_lines *lines)
{
    cli_window window;
    cli_window_start(&window);
    while (!target->failed && !cli_signals_caught() && cli_lines_next(lines, &window)) {
        drop_byte_order_mark(lines);
        run_window(worker, target, lines);
        cli_window_grow(&window);
    }
    target->failed |= cli_signals_caught();
    cli_lines_free(lines);
    return cli_target_finish(target);
}

bool cli_records_descriptor(cli_worker *worker, cli_target *target, int descriptor)
{
    cli_lines lines;
    cli_lines_start(&lines, target, descriptor);
    return run_lines(worker, target, &lines);
}

bool cli_records_texts(cli_worker *worker, cli_target *target, char *const *texts, size_t count)
{
    cli_lines lines;
    cli_lines_start_texts(&lines, target, texts, count);
    return run_lines(worker, target, &lines);
}
