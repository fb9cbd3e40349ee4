#include "search/guard.h"

enum { LEAST_REPEATS = 4, LEAST_TOKENS = 20 };

size_t search_guard_limit(size_t source)
{
    return 3 * source + 48;
}

/* The end of the run, from `at` on, of tokens that equal the one `period` before them. */
static size_t run_end(const int32_t *tokens, size_t count, size_t period, size_t at)
{
    while (at < count && tokens[at] == tokens[at - period])
        at++;
    return at;
}

size_t search_guard_repeats(const int32_t *tokens, size_t count)
{
    size_t most = 1;
    for (size_t period = 1; period <= SEARCH_GUARD_PERIOD && period < count; period++) {
        for (size_t at = period; at < count; at++) {
            size_t end = run_end(tokens, count, period, at);
            size_t repeats = (end - at) / period + 1;
            if (repeats > most)
                most = repeats;
            at = end;
        }
    }
    return most;
}

static bool is_loop(const search_loop *loop, size_t source_repeats)
{
    size_t tokens = loop->end - loop->begin;
    size_t repeats = tokens / loop->period;
    return repeats >= LEAST_REPEATS && tokens >= LEAST_TOKENS && repeats > 2 * source_repeats;
}

bool search_guard_loop(const int32_t *tokens, size_t count, size_t source_repeats,
                       search_loop *loop)
{
    for (size_t period = 1; period <= SEARCH_GUARD_PERIOD && period < count; period++) {
        for (size_t at = period; at < count; at++) {
            size_t end = run_end(tokens, count, period, at);
            *loop = (search_loop){at - period, end, period};
            if (is_loop(loop, source_repeats))
                return true;
            at = end;
        }
    }
    return false;
}
