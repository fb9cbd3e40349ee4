/* Documents, or chunks of them, that wait to be translated together, whatever files they are from.
 */
#ifndef CLI_BATCH_H
#define CLI_BATCH_H

#include "cli/target.h"
#include "cli/window.h"

/* A document of a target; NULL says that the target is finished. */
typedef struct cli_batch_item {
    zhen_document *document;
    cli_target *target;
} cli_batch_item;

typedef struct cli_batch {
    cli_worker *worker;
    cli_batch_item *items;
    size_t count, capacity;
    zhen_text *texts;
    size_t text_count, text_capacity, text_bytes;
    size_t source_bytes; /* of the documents, texts or not */
    cli_window window;   /* what makes a full batch */
    bool failed;         /* some target was */
} cli_batch;

void cli_batch_start(cli_batch *batch, cli_worker *worker);
/* Says that so many bytes have been read for the documents that will be added. */
void cli_batch_count(cli_batch *batch, size_t bytes);
/* Takes over a document, or the end of a target; runs the batch when it is full. */
void cli_batch_add(cli_batch *batch, cli_target *target, zhen_document *document);
/* Translates what waits, writes it, finishes targets. */
void cli_batch_run(cli_batch *batch);
/* Runs what waits and frees. */
void cli_batch_end(cli_batch *batch);

#endif
