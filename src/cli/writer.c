#include "cli/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FLUSH_SIZE = 256 * 1024 };

void cli_writer_standard(cli_writer *writer)
{
    *writer = (cli_writer){.descriptor = STDOUT_FILENO};
}

/* Standard output or error, if that is the file, else -1. Under a name such as /dev/stdout, a file
 * that the shell has opened, perhaps to append to it, must not be replaced. */
static int find_stream(const struct stat *file)
{
    for (int stream = STDOUT_FILENO; stream <= STDERR_FILENO; stream++) {
        struct stat status;
        if (!fstat(stream, &status) && cli_same_file(&status, file))
            return stream;
    }
    return -1;
}

static bool start_partial(cli_writer *writer, const char *path, const struct stat *present)
{
    writer->descriptor = cli_partial_open(&writer->partial, path, present);
    return writer->descriptor >= 0;
}

static bool start(cli_writer *writer, const char *path)
{
    struct stat status;
    if (stat(path, &status))
        return errno == ENOENT && start_partial(writer, path, NULL);
    int stream = S_ISREG(status.st_mode) ? find_stream(&status) : -1;
    if (S_ISREG(status.st_mode) && stream < 0)
        return start_partial(writer, path, &status);
    writer->descriptor = stream < 0 ? open(path, O_WRONLY | O_CLOEXEC)
                                    : fcntl(stream, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    return writer->descriptor >= 0;
}

bool cli_writer_file(cli_writer *writer, const char *path)
{
    *writer = (cli_writer){.descriptor = -1};
    if (start(writer, path))
        return true;
    int failure = errno;
    cli_writer_close(writer, false);
    errno = failure;
    return false;
}

static void write_out(cli_writer *writer, const char *bytes, size_t length)
{
    while (length && !writer->failure) {
        ssize_t written = write(writer->descriptor, bytes, length);
        if (written >= 0) {
            bytes += written;
            length -= (size_t)written;
        } else if (errno != EINTR) {
            writer->failure = errno;
        }
    }
}

bool cli_writer_flush(cli_writer *writer)
{
    write_out(writer, writer->bytes, writer->length);
    writer->length = 0;
    return !writer->failure;
}

static bool reserve(cli_writer *writer, size_t extra)
{
    if (writer->capacity - writer->length >= extra)
        return true;
    size_t capacity = writer->length + extra + FLUSH_SIZE;
    char *grown = realloc(writer->bytes, capacity);
    if (!grown) {
        writer->failure = ENOMEM;
        return false;
    }
    writer->bytes = grown;
    writer->capacity = capacity;
    return true;
}

void cli_writer_put(cli_writer *writer, const void *bytes, size_t length)
{
    if (writer->failure || !length || !reserve(writer, length))
        return;
    memcpy(writer->bytes + writer->length, bytes, length);
    writer->length += length;
    if (writer->length >= FLUSH_SIZE)
        cli_writer_flush(writer);
}

const char *cli_writer_reason(int failure)
{
    return failure == EWOULDBLOCK ? "another zhen is writing it" : strerror(failure);
}

bool cli_writer_close(cli_writer *writer, bool keep)
{
    cli_writer_flush(writer);
    if (writer->partial.name && writer->descriptor >= 0) {
        int failure =
            cli_partial_end(&writer->partial, writer->descriptor, keep && !writer->failure);
        writer->failure = writer->failure ? writer->failure : failure;
    }
    bool own = writer->descriptor >= 0 && writer->descriptor != STDOUT_FILENO;
    if (own && close(writer->descriptor) && !writer->failure)
        writer->failure = errno;
    free(writer->bytes);
    cli_partial_free(&writer->partial);
    int failure = writer->failure;
    *writer = (cli_writer){.descriptor = -1, .failure = failure};
    return !failure;
}
