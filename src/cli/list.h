/* Which files are to be translated, and where each goes. */
#ifndef CLI_LIST_H
#define CLI_LIST_H

#include "cli/target.h"

typedef struct cli_list {
    cli_file *files;
    size_t count, capacity;
    bool incomplete; /* something could not be read (printed) */
    bool in_place;   /* some output replaces its input */
} cli_list;

/* Lists the operands, with -r what is in directories, and makes the output directories. Returns
 * CLI_DONE, or what to end with after an error (printed). */
cli_exit cli_list_make(const cli_options *options, cli_list *list);
void cli_list_free(cli_list *list);

/* The format that a file is read in. */
zhen_format cli_list_format(const cli_options *options, const char *input);

#endif
