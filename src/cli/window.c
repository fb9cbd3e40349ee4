#include "cli/window.h"

enum { TEXTS_FIRST = 64, TEXTS_MAX = 4096, BYTES_MAX = 1 << 20 };

void cli_window_start(cli_window *window)
{
    window->texts = TEXTS_FIRST;
}

bool cli_window_full(const cli_window *window, size_t texts, size_t bytes)
{
    return texts >= window->texts || bytes >= BYTES_MAX;
}

void cli_window_grow(cli_window *window)
{
    if (window->texts < TEXTS_MAX)
        window->texts *= 2;
}
