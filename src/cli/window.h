/* How much is translated at once: little at first, so that the first results come soon, then more,
 * up to a bound, so that memory stays bounded. */
#ifndef CLI_WINDOW_H
#define CLI_WINDOW_H

#include <stdbool.h>
#include <stddef.h>

typedef struct cli_window {
    size_t texts; /* that fill it now */
} cli_window;

void cli_window_start(cli_window *window);
/* Whether so many texts, of so many bytes in all, fill it. */
bool cli_window_full(const cli_window *window, size_t texts, size_t bytes);
void cli_window_grow(cli_window *window);

#endif
