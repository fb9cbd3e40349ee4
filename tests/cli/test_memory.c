/* Memory stays bounded, however long the input: a run over twice as much needs hardly more. A tiny
 * model keeps it quick. */
#include "support/folder.h"
#include "support/suite.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

/* Kilobytes. Each run's own memory, in which addresses freed are not kept from use by a sanitizer.
 */
static long peak_of(const char *options, const char *input)
{
    char command[1024];
    snprintf(
        command, sizeof command,
        "ASAN_OPTIONS=quarantine_size_mb=0:$ASAN_OPTIONS exec %s -m tests/nn/fixtures/relu-tied "
        "--greedy --max-length=2 -q -t 1 %s < %s > /dev/null",
        getenv("ZHEN_PROGRAM"), options, input);
    ck_assert_int_eq(system(command), 0);
    struct rusage usage;
    getrusage(RUSAGE_CHILDREN, &usage);
    return usage.ru_maxrss; /* the most of all runs so far */
}

/* Sentences that are all different, so that what is kept of them fills up, and lines that pass. */
static char *make_lines(const char *name, int sentences, int lines)
{
    unsigned state = 5;
    char *path = folder_path(name);
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    for (int i = 0; i < lines; i++) {
        fprintf(file, i < sentences ? "我爱" : "{\"line\": \"passes\"}");
        for (int letter = 0; letter < 160 && i < sentences; letter++) {
            state = state * 1664525u + 1013904223u;
            fputc("bcdfghjklmnpqrst"[state >> 28], file);
        }
        fprintf(file, i < sentences ? "。\n" : " %d\n", i);
    }
    fclose(file);
    return path;
}

/* `slack` kilobytes more for the longer input are no sign of growth. */
static void expect_bounded(const char *options, const char *once, const char *twice, long slack)
{
    long first = peak_of(options, once), second = peak_of(options, twice);
    ck_assert_msg(second - first < slack, "%ld KB, then %ld KB", first, second);
}

START_TEST(lines_are_forgotten)
{
    expect_bounded("", make_lines("once", 8000, 60000), make_lines("twice", 16000, 180000), 12000);
}
END_TEST

START_TEST(records_are_forgotten)
{
    char *once = make_lines("once", 0, 30000), *twice = make_lines("twice", 0, 90000);
    expect_bounded("--json", once, twice, 6000);
    expect_bounded("--json --encoding=GB18030", once, twice, 6000);
    expect_bounded("--format=csv", once, twice, 6000);
}
END_TEST

static char *make_long_line(const char *name, int parts)
{
    char *path = folder_path(name);
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    for (int i = 0; i < parts; i++)
        fputs(i % 100 ? "some words without Chinese. " : "我爱水课。", file);
    fclose(file);
    return path;
}

START_TEST(a_huge_line_is_taken_in_parts)
{
    char *once = make_long_line("once", 75000), *twice = make_long_line("twice", 150000);
    expect_bounded("", once, twice, 20000); /* 2 MB, 4 MB */
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        lines_are_forgotten,
        records_are_forgotten,
        a_huge_line_is_taken_in_parts,
    };
    return run_suite_with("cli_memory", tests, sizeof tests / sizeof *tests, folder_make,
                          folder_remove);
}
