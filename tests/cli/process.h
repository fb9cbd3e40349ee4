/* Runs the built program as a user's shell would and collects what it says. */
#ifndef TESTS_CLI_PROCESS_H
#define TESTS_CLI_PROCESS_H

#include "base/buffer.h"

#include <sys/types.h>

typedef struct program {
    pid_t id;
    int input, output, error; /* our ends of its pipes; -1: closed */
} program;

typedef struct result {
    int code;   /* exit status, or -1 if a signal ended it */
    int signal; /* that signal, or 0 */
    base_buffer output, error;
} result;

/* Starts $ZHEN_PROGRAM with the arguments (NULL at the end, the program's name left out). */
program process_start(char *const arguments[]);
/* Reads from the process' output until it holds `lines` newlines or ends. */
void process_read_lines(program *process, base_buffer *output, size_t lines);
void process_write(program *process, const char *bytes, size_t length);
/* Closes its input, reads all it says and waits for its end. */
result process_finish(program *process);
void outcome_free(result *outcome);

/* All in one: input may be NULL (empty). */
result process_run(const char *input, size_t length, char *const arguments[]);
/* Asserts that it succeeds and says nothing on standard error; returns its output, to be free()d.
 */
char *process_translate(const char *input, char *const arguments[]);
/* Asserts that it ends with this exit status, this in its message, and no output. */
void process_fail(int code, const char *message, char *const arguments[]);

#define ARGUMENTS(...) ((char *[]){__VA_ARGS__, NULL})
#define NO_ARGUMENTS ((char *[]){NULL})

#endif
