/* Batches of files: what is written, what is left behind, what a run that was stopped goes on with.
 * A tiny model keeps it quick. */
#include "process.h"
#include "support/folder.h"
#include "support/suite.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MODEL "-m", "tests/nn/fixtures/relu-tied", "--greedy", "--max-length=4", "-q", "-t", "1"

static void run(char *const arguments[])
{
    free(process_translate("", arguments));
}

static void sleep_microseconds(unsigned microseconds)
{
    nanosleep(&(struct timespec){0, 1000L * microseconds}, NULL);
}

static bool has_ended(pid_t id)
{
    siginfo_t ended = {0};
    return !waitid(P_PID, (id_t)id, &ended, WEXITED | WNOHANG | WNOWAIT) && ended.si_pid == id;
}

/* Runs a command of the shell in which $ZHEN is the program. */
static int shell(const char *command)
{
    setenv("ZHEN", getenv("ZHEN_PROGRAM"), 1);
    setenv("FOLDER", folder_path(""), 1);
    int status = system(command);
    ck_assert(WIFEXITED(status));
    return WEXITSTATUS(status);
}

START_TEST(files_are_translated_whole)
{
    char *a = folder_path("a.txt"), *b = folder_path("b.txt"), *both = folder_path("out");
    folder_write(a, "你好。\nx", strlen("你好。\nx"));
    folder_write(b, "plain\n", 6);
    char *first = process_translate("", ARGUMENTS(MODEL, "你好。"));
    char whole[256];
    snprintf(whole, sizeof whole, "%sxplain\n", first);
    char *out = process_translate("", ARGUMENTS(MODEL, "-i", a, b));
    ck_assert_str_eq(out, whole);
    run(ARGUMENTS(MODEL, "-o", both, a, b));
    folder_expect(folder_path("out/b.txt"), "plain\n");
    snprintf(whole, sizeof whole, "%sx", first);
    folder_expect(folder_path("out/a.txt"), whole);
    ck_assert_uint_eq(folder_count(both), 2);
    run(ARGUMENTS(MODEL, "-o", a, a)); /* in place */
    folder_expect(a, whole);
    free(out);
    free(first);
}
END_TEST

/* "-" is standard output, as it is standard input among the arguments. */
START_TEST(a_dash_is_standard_output)
{
    char *a = folder_path("a.txt");
    folder_write(a, "plain\n", 6);
    char *out = process_translate("", ARGUMENTS(MODEL, "-o", "-", a));
    ck_assert_str_eq(out, "plain\n");
    ck_assert_uint_eq(folder_count(folder_path("")), 1);
    free(out);
    process_fail(1, "a.txt: Not a directory", ARGUMENTS(MODEL, "-r", "-o", a, folder_path("")));
}
END_TEST

START_TEST(what_is_no_text_is_left_alone)
{
    char *report = folder_path("report.docx");
    folder_write(report, "PK\3\4\n\xE6\x88\x91", 8);
    process_fail(1, "report.docx: no text, but a ZIP archive",
                 ARGUMENTS(MODEL, "-o", report, report));
    folder_expect(report, "PK\3\4\n\xE6\x88\x91");
}
END_TEST

/* What the program says when it reads a table or JSON with an option. */
static void expect_note(char *option, char *file, const char *expected)
{
    result outcome =
        process_run(NULL, 0, ARGUMENTS("-m", "tests/nn/fixtures/relu-tied", option, "-i", file));
    ck_assert_int_eq(outcome.code, 0);
    ck_assert_str_eq(outcome.error.data, expected);
    outcome_free(&outcome);
}

START_TEST(names_that_are_not_there_are_told)
{
    char *table = folder_path("a.csv"), *records = folder_path("a.jsonl"), expected[512];
    folder_write(table, "a,b\nc,d\n", 8);
    folder_write(records, "{\"a\":\"x\"}\n{\"b\":[\"y\"]}\n", 22);
    expect_note("--column=b,a", table, "");
    snprintf(expected, sizeof expected, "zhen: note: %s has no text that ' c' names\n", table);
    expect_note("--column=b, c", table, expected);
    expect_note("--json-path=a,b[*]", records, "");
    snprintf(expected, sizeof expected,
             "zhen: note: %s has no text that 'c.d' names\nzhen: note: %s has no text that '$..e' "
             "names\n",
             records, records);
    expect_note("--json-path=c.d, b, $..e", records, expected);
    free(process_translate("", ARGUMENTS(MODEL, "--json-path=c", "-i", records))); /* -q */
}
END_TEST

/* Both outputs go to one terminal; returns what it gets. */
static char *run_on_terminal(char *const arguments[])
{
    static char text[4096];
    int master = posix_openpt(O_RDWR | O_NOCTTY);
    ck_assert(master >= 0 && !grantpt(master) && !unlockpt(master));
    int terminal = open(ptsname(master), O_RDWR | O_NOCTTY);
    ck_assert_int_ge(terminal, 0);
    pid_t id = fork();
    if (id == 0) {
        dup2(terminal, STDOUT_FILENO);
        dup2(terminal, STDERR_FILENO);
        execv(getenv("ZHEN_PROGRAM"), arguments);
        _exit(127);
    }
    close(terminal);
    size_t length = 0;
    for (ssize_t got; (got = read(master, text + length, sizeof text - 1 - length)) > 0;)
        length += (size_t)got;
    text[length] = '\0';
    close(master);
    int status;
    ck_assert(waitpid(id, &status, 0) == id && WIFEXITED(status) && !WEXITSTATUS(status));
    return text;
}

START_TEST(progress_keeps_out_of_the_output)
{
    char *in = folder_path("in.txt"), *out = folder_path("out.txt");
    folder_write(in, "plain\n", 6);
    static char model[] = "tests/nn/fixtures/relu-tied";
    ck_assert_str_eq(run_on_terminal(ARGUMENTS("zhen", "-m", model, "-i", in)), "plain\r\n");
    ck_assert_str_eq(run_on_terminal(ARGUMENTS("zhen", "-m", model, "-o", out, in)), "\r\033[K");
}
END_TEST

START_TEST(a_tree_can_be_translated_in_place)
{
    char *tree = folder_path("tree"), *file = folder_path("tree/a.txt");
    ck_assert(!mkdir(tree, 0777));
    folder_write(file, "你好。\n", strlen("你好。\n"));
    char *translated = process_translate("", ARGUMENTS(MODEL, "你好。"));
    run(ARGUMENTS(MODEL, "-r", "-o", tree, tree));
    folder_expect(file, translated);
    ck_assert_uint_eq(folder_count(tree), 1);
    process_fail(2, "tree/a.txt' would replace its input",
                 ARGUMENTS(MODEL, "-r", "--resume", "-o", tree, tree));
    free(translated);
}
END_TEST

START_TEST(a_link_to_a_tree_is_followed)
{
    char *out = folder_path("out"), *link = folder_path("link");
    ck_assert(!mkdir(folder_path("tree"), 0777) && !symlink("tree", link));
    folder_write(folder_path("tree/a.txt"), "plain\n", 6);
    run(ARGUMENTS(MODEL, "-r", "-o", out, link));
    folder_expect(folder_path("out/a.txt"), "plain\n");
}
END_TEST

START_TEST(standard_input_is_never_finished)
{
    ck_assert_int_eq(
        shell("cd $FOLDER && mkdir o && touch ./- && sleep 0.01 && touch o/stdin.txt &&"
              " echo plain | $ZHEN --resume -o o/ -"),
        0);
    folder_expect(folder_path("o/stdin.txt"), "plain\n");
}
END_TEST

START_TEST(records_do_not_take_markup_for_text)
{
    char *page = folder_path("page.html");
    const char html[] = "<p>a &amp; <b>b</b></p>\n<p>c</p>\n";
    folder_write(page, html, sizeof html - 1);
    char *pairs = process_translate("", ARGUMENTS(MODEL, "--bilingual", "-i", page));
    char *same = process_translate("", ARGUMENTS(MODEL, "--bilingual", "-f", "html", "-i", page));
    ck_assert_str_eq(pairs, same);
    ck_assert_ptr_null(strstr(pairs, "<p>"));
    free(same);
    free(pairs);
    process_fail(1, "page.html: --json and --nbest work line by line",
                 ARGUMENTS(MODEL, "--json", "-i", page));
    free(process_translate("", ARGUMENTS(MODEL, "--json", "-f", "text", "-i", page)));
    process_fail(1, "page.html: html cannot hold two languages",
                 ARGUMENTS(MODEL, "--bilingual=interleaved", "-i", page));
}
END_TEST

START_TEST(one_bad_file_does_not_stop_the_rest)
{
    char *good = folder_path("good.txt"), *missing = folder_path("missing.txt");
    folder_write(good, "good\n", 5);
    result outcome = process_run(NULL, 0, ARGUMENTS("-o", folder_path("out"), missing, good));
    ck_assert_int_eq(outcome.code, 1);
    ck_assert_ptr_nonnull(strstr(outcome.error.data, "missing.txt: No such file"));
    folder_expect(folder_path("out/good.txt"), "good\n");
    ck_assert_uint_eq(folder_count(folder_path("out")), 1);
    outcome_free(&outcome);
}
END_TEST

START_TEST(modes_and_links_are_kept)
{
    struct stat status;
    char *in = folder_path("in.txt"), *out = folder_path("out.txt"), *link = folder_path("link");
    folder_write(in, "text\n", 5);
    mode_t mask = umask(027);
    run(ARGUMENTS(MODEL, "-o", out, in));
    umask(mask);
    ck_assert(!stat(out, &status) && (status.st_mode & 07777) == 0640);
    ck_assert(!chmod(out, 0604) && !symlink("out.txt", link));
    folder_write(in, "other\n", 6);
    run(ARGUMENTS(MODEL, "-o", link, in));
    folder_expect(out, "other\n");
    ck_assert(!lstat(link, &status) && S_ISLNK(status.st_mode));
    ck_assert(!stat(out, &status) && (status.st_mode & 07777) == 0604);
    ck_assert_uint_eq(folder_count(folder_path("")), 3);
}
END_TEST

START_TEST(a_link_to_nothing_is_followed)
{
    struct stat status;
    char *in = folder_path("in.txt"), *link = folder_path("link");
    folder_write(in, "text\n", 5);
    ck_assert(!mkdir(folder_path("sub"), 0777) && !symlink("sub/second", link));
    ck_assert(!symlink("out.txt", folder_path("sub/second")));
    run(ARGUMENTS(MODEL, "-o", link, in));
    folder_expect(folder_path("sub/out.txt"), "text\n");
    ck_assert(!lstat(link, &status) && S_ISLNK(status.st_mode));
    ck_assert_uint_eq(folder_count(folder_path("sub")), 2);
}
END_TEST

START_TEST(a_redirected_stream_is_not_replaced)
{
    folder_write(folder_path("in.txt"), "plain\n", 6);
    folder_write(folder_path("log"), "before\n", 7);
    ck_assert_int_eq(shell("$ZHEN -o /dev/stdout $FOLDER/in.txt >> $FOLDER/log"), 0);
    folder_expect(folder_path("log"), "before\nplain\n");
}
END_TEST

/* Starts a run that has begun to write `out`, and waits for more of its input. */
static program start_writing(char *out, int *writer)
{
    char *fifo = folder_path("fifo.txt"), *folder = folder_path("");
    ck_assert_int_eq(mkfifo(fifo, 0600), 0);
    size_t before = folder_count(folder);
    program process = process_start(ARGUMENTS(MODEL, "-o", out, fifo));
    *writer = open(fifo, O_WRONLY);
    ck_assert_int_eq(write(*writer, "text\n", 5), 5);
    while (folder_count(folder) == before && !has_ended(process.id))
        sleep_microseconds(200);
    return process;
}

static void finish_writing(program *process, int writer)
{
    close(writer);
    result outcome = process_finish(process);
    ck_assert_int_eq(outcome.code, 0);
    outcome_free(&outcome);
}

/* A run that is killed must leave something that the next can write to. */
START_TEST(an_output_is_read_only_in_the_end)
{
    struct stat status;
    char *out = folder_path("out.txt");
    folder_write(out, "old\n", 4);
    ck_assert(!chmod(out, 0444));
    int writer;
    program process = start_writing(out, &writer);
    ck_assert(!stat(folder_path(".out.txt.zhen-part"), &status));
    ck_assert_int_eq(status.st_mode & 07777, 0644);
    finish_writing(&process, writer);
    folder_expect(out, "text\n");
    ck_assert(!stat(out, &status) && (status.st_mode & 07777) == 0444);
}
END_TEST

START_TEST(long_names_are_told_apart)
{
    char name[256];
    memset(name, 'x', 255);
    name[255] = '\0';
    char *in = folder_path("in.txt"), *first = folder_path(name);
    name[254] = 'y';
    char *second = folder_path(name);
    folder_write(in, "other\n", 6);
    int writer;
    program process = start_writing(first, &writer);
    run(ARGUMENTS(MODEL, "-o", second, in));
    finish_writing(&process, writer);
    folder_expect(first, "text\n");
    folder_expect(second, "other\n");
}
END_TEST

START_TEST(devices_are_written_to)
{
    char *in = folder_path("in.txt"), *fifo = folder_path("fifo");
    folder_write(in, "text\n", 5);
    ck_assert_int_eq(mkfifo(fifo, 0600), 0);
    program process = process_start(ARGUMENTS(MODEL, "-o", fifo, in));
    char got[16] = "";
    int reader = open(fifo, O_RDONLY);
    for (ssize_t more = 1, at = 0; more > 0; at += more)
        more = read(reader, got + at, sizeof got - 1 - (size_t)at);
    close(reader);
    ck_assert_str_eq(got, "text\n");
    result outcome = process_finish(&process);
    ck_assert_int_eq(outcome.code, 0);
    outcome_free(&outcome);
}
END_TEST

/* ---- A full disk -------------------------------------------------------------------------- */

static void expect_one_line(const char *path, const char *words)
{
    size_t length;
    char *text = folder_read(path, &length);
    ck_assert_msg(strstr(text, words) != NULL, "'%s' does not say '%s'", text, words);
    ck_assert_ptr_eq(strchr(text, '\n'), text + length - 1);
    free(text);
}

START_TEST(full_disk_is_reported)
{
    ck_assert_int_eq(shell("echo plain | $ZHEN > /dev/full 2> $FOLDER/error"), 1);
    expect_one_line(folder_path("error"), "No space left");
    folder_write(folder_path("in.txt"), "plain\n", 6);
    ck_assert_int_eq(shell("$ZHEN -o /dev/full $FOLDER/in.txt 2> $FOLDER/error"), 1);
    expect_one_line(folder_path("error"), "No space left");
}
END_TEST

/* A file that may not grow beyond 64 KiB stands for a disk without room. */
START_TEST(full_disk_leaves_no_partial_file)
{
    ck_assert_int_eq(mkdir(folder_path("out"), 0700), 0);
    folder_write(folder_path("out/in.txt"), "before\n", 7);
    ck_assert_int_eq(shell("yes 'some words that pass through' | head -40000 > $FOLDER/in.txt;"
                           "ulimit -f 128;"
                           "exec $ZHEN -o $FOLDER/out/ $FOLDER/in.txt 2> $FOLDER/error"),
                     1);
    expect_one_line(folder_path("error"), "out/in.txt: File too large");
    folder_expect(folder_path("out/in.txt"), "before\n");
    ck_assert_uint_eq(folder_count(folder_path("out")), 1);
}
END_TEST

/* ---- Runs that are stopped ---------------------------------------------------------------- */

START_TEST(interrupt_leaves_no_partial_file)
{
    char *fifo = folder_path("in.txt");
    ck_assert_int_eq(mkfifo(fifo, 0600), 0);
    ck_assert_int_eq(mkdir(folder_path("out"), 0700), 0);
    program process = process_start(ARGUMENTS(MODEL, "-o", folder_path("out/"), fifo));
    int writer = open(fifo, O_WRONLY); /* returns when the program has opened its end */
    ck_assert_int_eq(write(writer, "text\n", 5), 5);
    kill(process.id, SIGTERM);
    result outcome = process_finish(&process);
    close(writer);
    ck_assert_int_eq(outcome.signal, SIGTERM);
    ck_assert_uint_eq(folder_count(folder_path("out")), 0);
    outcome_free(&outcome);
}
END_TEST

/* Interrupts a batch into `directory` and looks for what it says then. */
static void expect_advice(char *directory, const char *words)
{
    char *fifo = folder_path("in.txt"), *other = folder_path("other.txt");
    program process = process_start(
        ARGUMENTS("-m", "tests/nn/fixtures/relu-tied", "-v", "-o", directory, fifo, other));
    int writer = open(fifo, O_WRONLY);
    kill(process.id, SIGINT);
    result outcome = process_finish(&process);
    close(writer);
    ck_assert_int_eq(outcome.signal, SIGINT);
    ck_assert_msg(strstr(outcome.error.data, words), "%s", outcome.error.data);
    ck_assert_ptr_null(strstr(outcome.error.data, "failed"));
    outcome_free(&outcome);
}

START_TEST(interrupt_says_how_to_go_on)
{
    ck_assert_int_eq(mkfifo(folder_path("in.txt"), 0600), 0);
    folder_write(folder_path("other.txt"), "text\n", 5);
    expect_advice(folder_path("out/"), "zhen: stopped: 0 of 2 files are finished; "
                                       "the same command with --resume goes on with the rest\n");
    expect_advice(folder_path(""), "zhen: stopped: 0 of 2 files are finished\n"); /* in place */
}
END_TEST

START_TEST(what_a_killed_run_left_is_used)
{
    char *in = folder_path("in.txt"), *out = folder_path("out.txt");
    char *partial = folder_path(".out.txt.zhen-part");
    folder_write(in, "text\n", 5);
    folder_write(partial, "half of a much longer text", 26);
    int other = open(partial, O_WRONLY); /* a run that is still at it */
    ck_assert_int_eq(flock(other, LOCK_EX), 0);
    process_fail(1, "out.txt: another zhen is writing it", ARGUMENTS(MODEL, "-o", out, in));
    ck_assert_uint_eq(folder_count(folder_path("")), 2);
    close(other);
    run(ARGUMENTS(MODEL, "-o", out, in));
    folder_expect(out, "text\n");
    ck_assert_uint_eq(folder_count(folder_path("")), 2);
}
END_TEST

START_TEST(a_trap_under_the_partial_name_is_refused)
{
    char *in = folder_path("in.txt"), *out = folder_path("out.txt");
    char *precious = folder_path("precious"), *partial = folder_path(".out.txt.zhen-part");
    folder_write(in, "text\n", 5);
    folder_write(precious, "precious\n", 9);
    ck_assert_int_eq(symlink(precious, partial), 0);
    process_fail(1, "out.txt: ", ARGUMENTS(MODEL, "-o", out, in));
    ck_assert(!unlink(partial) && !link(precious, partial));
    process_fail(1, "out.txt: File exists", ARGUMENTS(MODEL, "-o", out, in));
    folder_expect(precious, "precious\n");
}
END_TEST

enum { FILES = 32, KILLS = 12 };

/* tree/0/00.txt and so on: most small, some of several windows of lines. */
static char *name_of(const char *tree, int file)
{
    char name[64];
    snprintf(name, sizeof name, "%s/%d/%02d.txt", tree, file % 4, file);
    return folder_path(name);
}

static void make_tree(void)
{
    static const char *const sentences[] = {"我爱水课。", "他不爱水。", "你好，我是水。"};
    ck_assert_int_eq(mkdir(folder_path("in"), 0700), 0);
    for (int i = 0; i < 4; i++) {
        char name[16];
        snprintf(name, sizeof name, "in/%d", i);
        ck_assert_int_eq(mkdir(folder_path(name), 0700), 0);
    }
    for (int i = 0; i < FILES; i++) {
        FILE *file = fopen(name_of("in", i), "w");
        ck_assert_ptr_nonnull(file);
        int lines = i % 4 == 3 ? 9000 : 20 + i;
        for (int line = 0; line < lines; line++)
            fprintf(file, "%d: some words that make this line long %s\n", line,
                    line % 5 ? "" : sentences[line / 5 % 3]);
        fclose(file);
    }
}

/* Every output that is there must be what an undisturbed run gives; returns how many are there. */
static int check_outputs(void)
{
    int there = 0;
    for (int i = 0; i < FILES; i++) {
        size_t length, expected_length;
        char *text = folder_read(name_of("out", i), &length);
        char *expected = folder_read(name_of("whole", i), &expected_length);
        ck_assert(!text || (length == expected_length && !memcmp(text, expected, length)));
        there += text != NULL;
        free(text);
        free(expected);
    }
    return there;
}

static int count_outputs(void)
{
    int there = 0;
    for (int i = 0; i < FILES; i++)
        there += !access(name_of("out", i), F_OK);
    return there;
}

static unsigned next_random(unsigned *state, unsigned limit)
{
    *state = *state * 1664525u + 1013904223u;
    return (*state >> 8) % limit;
}

static program start_batch(void)
{
    return process_start(ARGUMENTS(MODEL, "-r", "--jobs=2", "--resume", "-o", folder_path("out"),
                                   folder_path("in")));
}

/* Waits until the run has finished one or two more files, or has just begun, then a moment; then
 * kills it. */
static void kill_batch(unsigned *state, int before)
{
    program process = start_batch();
    int wanted = before + (int)next_random(state, 3);
    if (wanted == before)
        sleep_microseconds(next_random(state, 50000));
    while (count_outputs() < wanted && !has_ended(process.id))
        sleep_microseconds(200);
    sleep_microseconds(next_random(state, 5000));
    kill(process.id, SIGKILL);
    result outcome = process_finish(&process);
    ck_assert(outcome.signal == SIGKILL || outcome.code == 0);
    outcome_free(&outcome);
}

START_TEST(killed_runs_go_on)
{
    make_tree();
    run(ARGUMENTS(MODEL, "-r", "-o", folder_path("whole"), folder_path("in")));
    unsigned state = 6;
    for (int i = 0, there = 0; i < KILLS && there < FILES; i++) {
        kill_batch(&state, there);
        there = check_outputs();
    }
    program process = start_batch();
    result outcome = process_finish(&process);
    ck_assert_int_eq(outcome.code, 0);
    outcome_free(&outcome);
    ck_assert_int_eq(check_outputs(), FILES);
    for (int i = 0; i < 4; i++) {
        char name[16];
        snprintf(name, sizeof name, "out/%d", i);
        ck_assert_uint_eq(folder_count(folder_path(name)), FILES / 4); /* nothing but outputs */
    }
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        files_are_translated_whole,
        a_dash_is_standard_output,
        what_is_no_text_is_left_alone,
        names_that_are_not_there_are_told,
        progress_keeps_out_of_the_output,
        a_tree_can_be_translated_in_place,
        a_link_to_a_tree_is_followed,
        standard_input_is_never_finished,
        records_do_not_take_markup_for_text,
        one_bad_file_does_not_stop_the_rest,
        modes_and_links_are_kept,
        a_link_to_nothing_is_followed,
        a_redirected_stream_is_not_replaced,
        an_output_is_read_only_in_the_end,
        long_names_are_told_apart,
        devices_are_written_to,
        full_disk_is_reported,
        full_disk_leaves_no_partial_file,
        interrupt_leaves_no_partial_file,
        interrupt_says_how_to_go_on,
        what_a_killed_run_left_is_used,
        a_trap_under_the_partial_name_is_refused,
        killed_runs_go_on,
    };
    return run_suite_with("cli_files", tests, sizeof tests / sizeof *tests, folder_make,
                          folder_remove);
}
