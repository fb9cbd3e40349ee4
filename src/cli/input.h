/* Descriptors that text is read from. */
#ifndef CLI_INPUT_H
#define CLI_INPUT_H

#include <stdbool.h>
#include <sys/types.h>

/* Opens a file for reading, or standard input for "-"; -1 with errno set on failure, EISDIR for a
 * directory. */
int cli_input_open(const char *name);
void cli_input_close(int descriptor);
bool cli_input_is_standard(const char *name);
/* Whether a read would have to wait for the one who writes. */
bool cli_input_would_wait(int descriptor);
/* read(2), but a signal always ends the wait: -1 with EINTR. */
ssize_t cli_input_read(int descriptor, void *bytes, size_t size);

#endif
