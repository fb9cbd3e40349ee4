/* A zhen_reader that reads the input of a target, and says on standard error what goes wrong. */
#ifndef CLI_READER_H
#define CLI_READER_H

#include "cli/target.h"

typedef struct cli_reader {
    cli_target *target;
    zhen_reader *reader;
    bool told_encoding;
} cli_reader;

/* All that can fail print why and make the target a failed one. The options need no name. */
bool cli_reader_start(cli_reader *reader, cli_target *target, const zhen_document_options *options);
bool cli_reader_feed(cli_reader *reader, const char *bytes, size_t size);
bool cli_reader_finish(cli_reader *reader);
/* zhen_reader_next; says once in which encoding the input is read, if that was found out and is not
 * what one expects. */
bool cli_reader_next(cli_reader *reader, bool flush, zhen_document **document);
/* Says what the options name and the input, which has been read to its end, has not. */
void cli_reader_tell_missing(const cli_reader *reader);
/* Frees; may be called twice. */
void cli_reader_end(cli_reader *reader);

#endif
