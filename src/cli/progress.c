#include "cli/progress.h"

#include "cli/signals.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

/* The time left if the rest of the bytes goes like those done. */
static void show_time_left(const cli_counts *counts, double seconds)
{
    if (counts->bytes_done <= 0 || counts->bytes < counts->bytes_done)
        return;
    long left = (long)(seconds * (counts->bytes - counts->bytes_done) / counts->bytes_done);
    fprintf(stderr, ", %ld:%02ld:%02ld left", left / 3600, left / 60 % 60, left % 60);
}

void cli_progress_show(cli_run *run)
{
    enum { PER_SECOND = 5 };
    double seconds = seconds_since(&run->start);
    if (!run->progress || seconds - run->shown < 1.0 / PER_SECOND)
        return;
    run->shown = seconds;
    const cli_counts *counts = &run->counts;
    flockfile(stderr);
    fprintf(stderr, "\r\033[K%zu of %zu files, %zu sentences, %.0f sentences/s",
            counts->files_done + counts->files_failed + counts->files_skipped, counts->files,
            counts->sentences, rate(counts->sentences, seconds));
    show_time_left(counts, seconds);
    fflush(stderr);
    funlockfile(stderr);
}

/* What came of the files; for one file, or none, success needs no words. */
static void sum_up_files(const cli_run *run, double seconds)
{
    const cli_counts *counts = &run->counts;
    if (run->options->quiet || counts->files < 2 ||
        (!run->options->verbose && !isatty(STDERR_FILENO)))
        return;
    size_t finished = counts->files_done + counts->files_skipped;
    if (cli_signals_caught() && run->options->output) {
        fprintf(stderr, "zhen: stopped: %zu of %zu files are finished", finished, counts->files);
        if (!run->in_place)
            fprintf(stderr, "; the same command%s goes on with the rest",
                    run->options->resume ? "" : " with --resume");
        putc('\n', stderr);
        return;
    }
    fprintf(stderr, "zhen: %zu files translated", counts->files_done);
    if (counts->files_skipped)
        fprintf(stderr, ", %zu skipped", counts->files_skipped);
    if (counts->files_failed)
        fprintf(stderr, ", %zu failed", counts->files_failed);
    fprintf(stderr, ": %zu sentences in %.1f s (%.1f/s)\n", counts->sentences, seconds,
            rate(counts->sentences, seconds));
}

/* The most memory that this program has had, in MB; getrusage would begin with what the program
 * that started it had. 0 if unknown. */
static double peak_memory(void)
{
    FILE *status = fopen("/proc/self/status", "r");
    char line[256];
    double kilobytes = 0;
    while (status && fgets(line, sizeof line, status))
        if (!strncmp(line, "VmHWM:", 6))
            kilobytes = strtod(line + 6, NULL);
    if (status)
        fclose(status);
    return kilobytes / 1e3;
}

static void sum_up_speed(const cli_run *run, double seconds)
{
    fprintf(stderr,
            "zhen: %zu texts, %zu sentences, %zu source and %zu target tokens in %.2f s: "
            "%.0f target tokens/s, %.1f sentences/s, peak memory %.0f MB\n",
            run->counts.texts, run->counts.sentences, run->counts.source_tokens,
            run->counts.target_tokens, seconds, rate(run->counts.target_tokens, seconds),
            rate(run->counts.sentences, seconds), peak_memory());
}

void cli_progress_end(cli_run *run)
{
    double seconds = seconds_since(&run->start);
    if (run->progress)
        fputs("\r\033[K", stderr);
    sum_up_files(run, seconds);
    if (run->options->verbose)
        sum_up_speed(run, seconds);
}
