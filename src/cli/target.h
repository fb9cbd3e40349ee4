/* Where the translation of one file goes: standard output or a file of its own. */
#ifndef CLI_TARGET_H
#define CLI_TARGET_H

#include "cli/run.h"
#include "cli/writer.h"

typedef enum cli_state { CLI_WAITING, CLI_FILE_DONE, CLI_FILE_FAILED, CLI_FILE_SKIPPED } cli_state;

/* One file to translate. */
typedef struct cli_file {
    char *input;  /* path, or "-" */
    char *output; /* path, or NULL: standard output */
    double bytes; /* size of the input, 0 if unknown */
    cli_state state;
} cli_file;

typedef struct cli_target {
    cli_run *run;
    cli_file *file;     /* NULL for arguments and standard input */
    cli_writer *writer; /* NULL until something is written to a file */
    cli_writer own;     /* what it points to then */
    bool failed;        /* reading, translating or writing: the file will not be kept */
} cli_target;

/* standard: the writer of standard output, for targets that go there. */
cli_target *cli_target_create(cli_run *run, cli_file *file, cli_writer *standard);
/* The name of the input, for messages. */
const char *cli_target_name(const cli_target *target);
void cli_target_put(cli_target *target, const char *bytes, size_t length);
/* Hands what was put to the system. */
void cli_target_flush(cli_target *target);
/* Keeps a whole file, removes a failed one, counts it, frees. True if the file is done. */
bool cli_target_finish(cli_target *target);

#endif
