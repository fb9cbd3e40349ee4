/* A progress line on the terminal and the summary of --verbose, both on standard error. */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include "cli/run.h"

void cli_progress_show(const cli_run *run);
void cli_progress_clear(const cli_run *run);
void cli_progress_summary(const cli_run *run);

#endif
