/* A progress line on the terminal, and the summary at the end, both on standard error. */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include "cli/run.h"

/* Shows the counts, a few times a second at most. The caller holds run->lock. */
void cli_progress_show(cli_run *run);
/* Takes the progress line away and prints the summary. */
void cli_progress_end(cli_run *run);

#endif
