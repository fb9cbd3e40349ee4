/* What is known about the translation of a line, and how it is written: n best, JSON, pairs. */
#ifndef CLI_REPORT_H
#define CLI_REPORT_H

#include "cli/cli.h"
#include "cli/lines.h"
#include "cli/target.h"

typedef struct cli_record {
    const cli_line *line;
    /* The line as a document, and the translations of its texts from `first` on; NULL if the line
     * holds nothing. */
    zhen_document *document;
    const zhen_translations *translations;
    size_t first;
} cli_record;

/* Writes everything that belongs to the line, its newline included. */
zhen_status cli_report(cli_target *target, cli_style style, const cli_record *record,
                       zhen_error *error);

#endif
