/* Translating streams of lines: the arguments, standard input, files. */
#ifndef CLI_RUN_H
#define CLI_RUN_H

#include "cli/cli.h"
#include "cli/lines.h"
#include "cli/writer.h"

#include <time.h>

/* What has been done so far, for progress and summary. */
typedef struct cli_counts {
    size_t lines, sentences, source_tokens, target_tokens;
} cli_counts;

typedef struct cli_run {
    const cli_options *options;
    zhen_translator *translator;
    cli_counts counts;
    struct timespec start;
    bool progress;    /* shown: standard error is a terminal and nobody asked for quiet */
    zhen_text *texts; /* of the current window */
    size_t text_capacity;
} cli_run;

/* The translator made from model and options; prints why if it cannot. */
bool cli_run_start(cli_run *run, const zhen_model *model, const cli_options *options);
/* Prints the summary if asked for; frees. */
void cli_run_end(cli_run *run);

/* Translates everything that `lines` gives to the writer. False after an error (printed) or a
 * signal; `name` is that of the input, for messages. A failure of the writer is left to its
 * owner. */
bool cli_run_lines(cli_run *run, cli_lines *lines, const char *name, cli_writer *writer);

/* The three kinds of input. */
cli_exit cli_run_arguments(cli_run *run);
cli_exit cli_run_standard_input(cli_run *run);
cli_exit cli_run_files(cli_run *run);

#endif
