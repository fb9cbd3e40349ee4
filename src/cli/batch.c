#include "cli/batch.h"

#include "cli/grow.h"

#include <stdlib.h>

/* Documents that wait need up to twenty times their bytes. */
enum { ITEMS_MAX = 4096, SOURCE_MAX = 2 << 20 };

void cli_batch_start(cli_batch *batch, cli_worker *worker)
{
    *batch = (cli_batch){.worker = worker};
    cli_window_start(&batch->window);
}

void cli_batch_count(cli_batch *batch, size_t bytes)
{
    batch->source_bytes += bytes;
}

static bool collect_texts(cli_batch *batch, zhen_document *document)
{
    size_t count = zhen_document_count(document);
    if (!cli_grow((void **)&batch->texts, &batch->text_capacity, batch->text_count + count,
                  sizeof *batch->texts))
        return false;
    for (size_t i = 0; i < count; i++) {
        zhen_text text = zhen_document_text(document, i);
        batch->texts[batch->text_count++] = text;
        batch->text_bytes += text.length;
    }
    return true;
}

void cli_batch_add(cli_batch *batch, cli_target *target, zhen_document *document)
{
    if (!cli_grow((void **)&batch->items, &batch->capacity, batch->count + 1,
                  sizeof *batch->items) ||
        (document && !collect_texts(batch, document))) {
        cli_error("out of memory");
        target->failed = true;
        zhen_document_free(document);
        if (!document)
            cli_target_finish(target);
        return;
    }
    batch->items[batch->count++] = (cli_batch_item){document, target};
    if (cli_window_full(&batch->window, batch->text_count, batch->text_bytes) ||
        batch->count >= ITEMS_MAX || batch->source_bytes >= SOURCE_MAX)
        cli_batch_run(batch);
}

/* Puts the translations from `first` on into a document and the document into its target. */
static zhen_status write_document(cli_batch_item *item, const zhen_translations *translations,
                                  size_t first, zhen_error *error)
{
    zhen_status status = ZHEN_OK;
    for (size_t i = 0; i < zhen_document_count(item->document) && !status; i++)
        status = zhen_document_set(item->document, i,
                                   zhen_translations_get(translations, first + i), error);
    zhen_text output = {NULL, 0};
    if (!status)
        status = zhen_document_render(item->document, &output, error);
    if (!status)
        cli_target_put(item->target, output.bytes, output.length);
    return status;
}

/* Writes or finishes one item; returns how many texts it had. */
static size_t run_item(cli_batch *batch, cli_batch_item *item,
                       const zhen_translations *translations, size_t first)
{
    if (!item->document) {
        batch->failed |= !cli_target_finish(item->target);
        return 0;
    }
    size_t count = zhen_document_count(item->document);
    zhen_error error;
    if (!translations) {
        item->target->failed = true;
    } else if (!item->target->failed && write_document(item, translations, first, &error)) {
        cli_error("%s: %s", cli_target_name(item->target), error.message);
        item->target->failed = true;
    }
    zhen_document_free(item->document);
    return count;
}

void cli_batch_run(cli_batch *batch)
{
    if (!batch->count)
        return;
    zhen_translations *translations;
    cli_worker_translate(batch->worker, batch->texts, batch->text_count,
                         cli_target_name(batch->items[0].target), &translations);
    cli_run_count_bytes(batch->worker->run, batch->source_bytes);
    size_t first = 0;
    for (size_t i = 0; i < batch->count; i++)
        first += run_item(batch, &batch->items[i], translations, first);
    cli_batch_item *end = &batch->items[batch->count - 1];
    if (end->document) /* its target goes on */
        cli_target_flush(end->target);
    zhen_translations_free(translations);
    batch->count = batch->text_count = batch->text_bytes = batch->source_bytes = 0;
    cli_window_grow(&batch->window);
}

void cli_batch_end(cli_batch *batch)
{
    cli_batch_run(batch);
    free(batch->items);
    free(batch->texts);
}
