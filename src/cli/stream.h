/* Reads one input from beginning to end and gives its documents to a batch. */
#ifndef CLI_STREAM_H
#define CLI_STREAM_H

#include "cli/batch.h"

/* Whatever happens, the target is finished in the end, by the batch. */
void cli_stream_descriptor(cli_batch *batch, cli_target *target, int descriptor,
                           const zhen_document_options *options);
/* The same for texts in memory, a line each. */
void cli_stream_texts(cli_batch *batch, cli_target *target, char *const *texts, size_t count,
                      const zhen_document_options *options);

#endif
