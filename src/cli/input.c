#include "cli/input.h"

#include "cli/signals.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool cli_input_is_standard(const char *name)
{
    return !strcmp(name, "-");
}

int cli_input_open(const char *name)
{
    if (cli_input_is_standard(name))
        return STDIN_FILENO;
    int descriptor = open(name, O_RDONLY | O_CLOEXEC);
    struct stat status;
    if (descriptor >= 0 && !fstat(descriptor, &status) && S_ISDIR(status.st_mode)) {
        close(descriptor);
        errno = EISDIR;
        return -1;
    }
    return descriptor;
}

void cli_input_close(int descriptor)
{
    if (descriptor != STDIN_FILENO)
        close(descriptor);
}

bool cli_input_would_wait(int descriptor)
{
    struct pollfd request = {.fd = descriptor, .events = POLLIN};
    return poll(&request, 1, 0) == 0;
}

ssize_t cli_input_read(int descriptor, void *bytes, size_t size)
{
    struct pollfd ends[] = {{.fd = descriptor, .events = POLLIN},
                            {.fd = cli_signals_descriptor(), .events = POLLIN}};
    if (poll(ends, 2, -1) < 0)
        return -1;
    if (ends[1].revents) {
        errno = EINTR;
        return -1;
    }
    return read(descriptor, bytes, size);
}
