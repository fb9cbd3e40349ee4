/* --json, --nbest, --bilingual on text: a record, or several, for each line. */
#ifndef CLI_RECORDS_H
#define CLI_RECORDS_H

#include "cli/target.h"

/* Both finish the target; true if it is done. */
bool cli_records_descriptor(cli_worker *worker, cli_target *target, int descriptor);
/* Texts in memory, which are UTF-8, a line each. */
bool cli_records_texts(cli_worker *worker, cli_target *target, char *const *texts, size_t count);

#endif
