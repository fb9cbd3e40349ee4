/* Where translations go: standard output, or a file that appears whole or not at all. */
#ifndef CLI_WRITER_H
#define CLI_WRITER_H

#include "cli/partial.h"

#include <stddef.h>

typedef struct cli_writer {
    int descriptor;
    char *bytes;
    size_t length, capacity;
    cli_partial partial; /* of a file that is to appear whole */
    int failure;         /* errno of the first write that failed, 0: none */
} cli_writer;

void cli_writer_standard(cli_writer *writer);
/* Writes to a hidden file beside `path`, .NAME.zhen-part, which becomes `path` in the end; what is
 * no regular file (a device, a pipe), or is the standard output or error of this process, is
 * written to as it is. False with errno set on failure. */
bool cli_writer_file(cli_writer *writer, const char *path);
/* What to say about an errno that cli_writer_file has set. */
const char *cli_writer_reason(int failure);

/* Appends to the buffer; a failure is kept in `failure` and later calls do nothing. */
void cli_writer_put(cli_writer *writer, const void *bytes, size_t length);
/* Hands the buffer to the system; false after a failure. */
bool cli_writer_flush(cli_writer *writer);
/* Flushes, syncs a file to disk and gives it its name if `keep`, else removes it. Frees. False with
 * `failure` set when the output is not whole. */
bool cli_writer_close(cli_writer *writer, bool keep);

#endif
