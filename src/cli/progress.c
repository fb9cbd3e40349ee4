#include "cli/progress.h"

#include <stdio.h>
#include <sys/resource.h>

static double seconds_since(const struct timespec *start)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - start->tv_sec) + 1e-9 * (double)(now.tv_nsec - start->tv_nsec);
}

static double rate(size_t count, double seconds)
{
    return seconds > 0 ? (double)count / seconds : 0;
}

void cli_progress_show(const cli_run *run)
{
    if (!run->progress)
        return;
    double seconds = seconds_since(&run->start);
    fprintf(stderr, "\r\033[K%zu lines, %zu sentences, %.0f sentences/s", run->counts.lines,
            run->counts.sentences, rate(run->counts.sentences, seconds));
    fflush(stderr);
}

void cli_progress_clear(const cli_run *run)
{
    if (run->progress)
        fputs("\r\033[K", stderr);
}

void cli_progress_summary(const cli_run *run)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    double seconds = seconds_since(&run->start);
    fprintf(stderr,
            "zhen: %zu lines, %zu sentences, %zu source and %zu target tokens in %.2f s: "
            "%.0f target tokens/s, %.1f sentences/s, peak memory %.0f MB\n",
            run->counts.lines, run->counts.sentences, run->counts.source_tokens,
            run->counts.target_tokens, seconds, rate(run->counts.target_tokens, seconds),
            rate(run->counts.sentences, seconds), (double)usage.ru_maxrss / 1e3);
}
