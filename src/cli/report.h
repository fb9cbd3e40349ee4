/* How a translation is written: plain, n best, JSON, bilingual. */
#ifndef CLI_REPORT_H
#define CLI_REPORT_H

#include "cli/cli.h"
#include "cli/lines.h"
#include "cli/writer.h"

/* Writes the translation of one line with everything that belongs to it, its newline included. */
void cli_report(cli_writer *writer, cli_style style, const cli_line *line,
                const zhen_translation *translation);

#endif
