#include "cli/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FLUSH_SIZE = 256 * 1024 };

void cli_writer_standard(cli_writer *writer)
{
    *writer = (cli_writer){.descriptor = STDOUT_FILENO};
}

/* mkstemp makes files private: give them the mode of the file that is replaced, or of a new one. */
static bool set_mode(int descriptor, const char *path)
{
    struct stat status;
    if (!stat(path, &status))
        return !fchmod(descriptor, status.st_mode & 07777);
    mode_t mask = umask(0);
    umask(mask);
    return !fchmod(descriptor, 0666 & ~mask);
}

bool cli_writer_file(cli_writer *writer, const char *path)
{
    *writer = (cli_writer){.descriptor = -1, .path = strdup(path)};
    if (!writer->path || asprintf(&writer->temporary, "%s.XXXXXX", path) < 0) {
        writer->temporary = NULL;
        errno = ENOMEM;
    } else {
        writer->descriptor = mkostemp(writer->temporary, O_CLOEXEC);
    }
    if (writer->descriptor >= 0 && set_mode(writer->descriptor, path))
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

void cli_writer_string(cli_writer *writer, const char *text)
{
    cli_writer_put(writer, text, strlen(text));
}

bool cli_writer_close(cli_writer *writer, bool keep)
{
    cli_writer_flush(writer);
    if (writer->temporary && writer->descriptor >= 0) {
        if (keep && !writer->failure && fsync(writer->descriptor))
            writer->failure = errno;
        if (close(writer->descriptor) && !writer->failure)
            writer->failure = errno;
        keep = keep && !writer->failure;
        if (keep && rename(writer->temporary, writer->path)) {
            writer->failure = errno;
            keep = false;
        }
        if (!keep)
            unlink(writer->temporary);
    }
    free(writer->bytes);
    free(writer->path);
    free(writer->temporary);
    int failure = writer->failure;
    *writer = (cli_writer){.descriptor = -1, .failure = failure};
    return !failure;
}
