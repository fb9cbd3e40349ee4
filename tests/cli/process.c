#include "process.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void become_program(const int in[2], const int out[2], const int err[2],
                           char *const arguments[])
{
    enum { MOST = 64 };
    char *all[MOST] = {getenv("ZHEN_PROGRAM")};
    for (size_t i = 0; arguments[i]; i++)
        all[i + 1] = arguments[i];
    dup2(in[0], STDIN_FILENO);
    dup2(out[1], STDOUT_FILENO);
    dup2(err[1], STDERR_FILENO);
    signal(SIGPIPE, SIG_DFL);
    execv(all[0], all);
    _exit(127);
}

program process_start(char *const arguments[])
{
    int in[2], out[2], err[2];
    ck_assert_ptr_nonnull(getenv("ZHEN_PROGRAM"));
    ck_assert(!pipe2(in, O_CLOEXEC) && !pipe2(out, O_CLOEXEC) && !pipe2(err, O_CLOEXEC));
    signal(SIGPIPE, SIG_IGN);
    pid_t id = fork();
    ck_assert(id >= 0);
    if (id == 0)
        become_program(in, out, err, arguments);
    close(in[0]);
    close(out[1]);
    close(err[1]);
    return (program){id, in[1], out[0], err[0]};
}

void process_write(program *process, const char *bytes, size_t length)
{
    while (length) {
        ssize_t written = write(process->input, bytes, length);
        ck_assert(written > 0);
        bytes += written;
        length -= (size_t)written;
    }
}

/* Appends what is there; false at the end. */
static bool drain(int descriptor, base_buffer *to)
{
    char bytes[65536];
    ssize_t got = read(descriptor, bytes, sizeof bytes);
    if (got > 0)
        ck_assert(base_buffer_append(to, bytes, (size_t)got));
    return got > 0;
}

static size_t count_lines(const base_buffer *text)
{
    size_t lines = 0;
    for (size_t i = 0; i < text->length; i++)
        lines += text->data[i] == '\n';
    return lines;
}

void process_read_lines(program *process, base_buffer *output, size_t lines)
{
    while (count_lines(output) < lines && drain(process->output, output))
        ;
}

static void close_end(int *descriptor)
{
    if (*descriptor >= 0)
        close(*descriptor);
    *descriptor = -1;
}

/* Feeds the rest of the input and collects both outputs at the same time, so that no pipe blocks.
 */
static void converse(program *process, const char *input, size_t length, result *outcome)
{
    fcntl(process->input, F_SETFL, O_NONBLOCK);
    while (process->output >= 0 || process->error >= 0) {
        if (!length)
            close_end(&process->input);
        struct pollfd ends[] = {{process->output, POLLIN, 0},
                                {process->error, POLLIN, 0},
                                {process->input, POLLOUT, 0}};
        ck_assert(poll(ends, 3, -1) > 0);
        if (ends[0].revents && !drain(process->output, &outcome->output))
            close_end(&process->output);
        if (ends[1].revents && !drain(process->error, &outcome->error))
            close_end(&process->error);
        if (process->input >= 0 && ends[2].revents) {
            ssize_t written = write(process->input, input, length);
            if (written < 0 && errno != EAGAIN)
                length = 0; /* it does not want to read any more */
            if (written > 0) {
                input += written;
                length -= (size_t)written;
            }
        }
    }
}

static result finish(program *process, const char *input, size_t length)
{
    result outcome = {0};
    ck_assert(base_buffer_reserve(&outcome.output, 0) && base_buffer_reserve(&outcome.error, 0));
    converse(process, input, length, &outcome);
    close_end(&process->input);
    int status;
    ck_assert(waitpid(process->id, &status, 0) == process->id);
    outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    outcome.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    return outcome;
}

result process_finish(program *process)
{
    return finish(process, NULL, 0);
}

result process_run(const char *input, size_t length, char *const arguments[])
{
    program process = process_start(arguments);
    return finish(&process, input, length);
}

void outcome_free(result *outcome)
{
    base_buffer_free(&outcome->output);
    base_buffer_free(&outcome->error);
}

char *process_translate(const char *input, char *const arguments[])
{
    result outcome = process_run(input, strlen(input), arguments);
    ck_assert_msg(outcome.code == 0, "exit %d, signal %d: %s", outcome.code, outcome.signal,
                  outcome.error.data);
    ck_assert_str_eq(outcome.error.data, "");
    base_buffer_free(&outcome.error);
    return outcome.output.data;
}

void process_fail(int code, const char *message, char *const arguments[])
{
    result outcome = process_run(NULL, 0, arguments);
    ck_assert_msg(outcome.code == code, "exit %d instead of %d: %s", outcome.code, code,
                  outcome.error.data);
    ck_assert_msg(strstr(outcome.error.data, message) != NULL, "'%s' does not say '%s'",
                  outcome.error.data, message);
    ck_assert_str_eq(outcome.output.data, "");
    outcome_free(&outcome);
}
