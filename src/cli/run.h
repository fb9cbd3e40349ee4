/* One run of the program: the model, what has been done so far, and the workers that do it. */
#ifndef CLI_RUN_H
#define CLI_RUN_H

#include "cli/cli.h"

#include <pthread.h>
#include <time.h>

/* What has been done so far, for progress and summary. */
typedef struct cli_counts {
    size_t texts, sentences, source_tokens, target_tokens;
    size_t files, files_done, files_failed, files_skipped;
    double bytes, bytes_done; /* of the files, as far as known */
} cli_counts;

typedef struct cli_run {
    const cli_options *options;
    const zhen_model *model;
    struct timespec start;
    bool in_place;        /* outputs replace inputs, so that the run cannot be resumed */
    bool progress;        /* shown: standard error is a terminal and nobody asked for quiet */
    pthread_mutex_t lock; /* of all below */
    cli_counts counts;
    double shown; /* seconds at which progress was last shown */
} cli_run;

void cli_run_start(cli_run *run, const zhen_model *model, const cli_options *options);
void cli_run_end(cli_run *run);

/* What one thread translates with. */
typedef struct cli_worker {
    cli_run *run;
    zhen_translator *translator;
} cli_worker;

/* threads: of the translator, 0: one for each core. Prints why if it fails. */
bool cli_worker_start(cli_worker *worker, cli_run *run, unsigned threads);
void cli_worker_end(cli_worker *worker);
/* zhen_translate, counted; *translations is NULL after a failure, which is printed unless it was a
 * signal's doing. `name`: of the input, for the message. */
bool cli_worker_translate(cli_worker *worker, const zhen_text *texts, size_t count,
                          const char *name, zhen_translations **translations);

/* So many bytes of the files have been translated. */
void cli_run_count_bytes(cli_run *run, size_t size);

/* The three kinds of input. */
cli_exit cli_run_arguments(cli_run *run);
cli_exit cli_run_standard_input(cli_run *run);
cli_exit cli_run_files(cli_run *run);

#endif
