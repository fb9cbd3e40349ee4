/* Reads lines of UTF-8 in windows: as many as are there, never waiting for more once there are
 * some.
 */
#ifndef CLI_LINES_H
#define CLI_LINES_H

#include "cli/decode.h"
#include "cli/window.h"

typedef struct cli_line {
    zhen_text text; /* without its newline, which may be \r\n */
    size_t offset;  /* of the text in the window's bytes */
    size_t number;  /* in the file, from 1 */
    bool continues; /* the next line of the window or the next window goes on with this one */
} cli_line;

typedef struct cli_lines {
    cli_target *target;
    int descriptor;
    cli_decoder decoder;
    char *bytes; /* [begin, scanned): searched for newlines, no newline; [scanned, end): not yet */
    size_t begin, scanned, end, capacity;
    size_t read; /* bytes, before they were decoded, since the window before */
    size_t number;
    bool at_end, continued;
    int failure;     /* errno of a read that failed after whole lines, which are handed out first */
    cli_line *lines; /* the window; its texts point into bytes */
    size_t count, line_capacity;
} cli_lines;

/* Longer lines are cut at a sentence's end and read as several lines with `continues` set, so that
 * memory stays bounded whatever the input. */
enum { CLI_LINE_MAX = 1 << 20 };

/* All that can fail print why and make the target a failed one. */
void cli_lines_start(cli_lines *lines, cli_target *target, int descriptor);
/* The lines of texts in memory, which are UTF-8, each ended by a newline. */
void cli_lines_start_texts(cli_lines *lines, cli_target *target, char *const *texts, size_t count);
/* Fills the window; false at the end of the input, on a failure, or if a signal interrupts the wait
 * (a failure without words). */
bool cli_lines_next(cli_lines *lines, const cli_window *window);
void cli_lines_free(cli_lines *lines);

#endif
