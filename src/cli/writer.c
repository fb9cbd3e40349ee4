#include "cli/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FLUSH_SIZE = 256 * 1024, ATTEMPTS = 100 };

static const char suffix[] = ".zhen-part";

void cli_writer_standard(cli_writer *writer)
{
    *writer = (cli_writer){.descriptor = STDOUT_FILENO};
}

/* The hidden file beside `path` that its output grows in: always the same one, so that what a
 * killed run leaves behind is found and used by the next. Names that are as long as the file system
 * allows are cut. */
static char *partial_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    int most = NAME_MAX - (int)sizeof suffix; /* a dot takes the place of the final zero */
    char *partial;
    return asprintf(&partial, "%.*s.%.*s%s", (int)(name - path), path, most, name, suffix) < 0
               ? NULL
               : partial;
}

/* Opens the partial file, which another run may have left. Names that can be guessed are dangerous
 * in directories that others can write to: nothing but a plain file of this user will do. */
static int open_partial(const char *partial, mode_t mode)
{
    int descriptor = open(partial, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (descriptor >= 0 || errno != EEXIST)
        return descriptor;
    descriptor = open(partial, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct stat status;
    if (descriptor >= 0 && (fstat(descriptor, &status) || !S_ISREG(status.st_mode) ||
                            status.st_uid != geteuid() || status.st_nlink > 1)) {
        close(descriptor);
        descriptor = -1;
        errno = EEXIST;
    }
    return descriptor;
}

/* Whether the file still has its name: its writer may have finished since it was opened. */
static bool is_named(int descriptor, const char *path)
{
    struct stat file, named;
    return !fstat(descriptor, &file) && !lstat(path, &named) && file.st_dev == named.st_dev &&
           file.st_ino == named.st_ino;
}

/* The partial file, empty and locked for as long as it is open, or -1 with errno set: EWOULDBLOCK
 * if another run is at work on it. A file system that has no locks must do without. */
static int lock_partial(const char *partial, mode_t mode)
{
    for (unsigned attempt = 0; attempt < ATTEMPTS; attempt++) {
        int descriptor = open_partial(partial, mode);
        if (descriptor < 0 && errno != ENOENT)
            return -1;
        if (descriptor < 0)
            continue;
        bool busy = flock(descriptor, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK;
        if (!busy && is_named(descriptor, partial) && !ftruncate(descriptor, 0))
            return descriptor;
        close(descriptor);
        if (busy) {
            errno = EWOULDBLOCK;
            return -1;
        }
    }
    return -1;
}

/* The file at `path` is to be replaced, or made if `present` is NULL. The kernel applies the umask
 * to a new file: to read it here, it would have to be changed under the other threads. */
static bool start_partial(cli_writer *writer, const char *path, const struct stat *present)
{
    writer->path = present ? realpath(path, NULL) : strdup(path); /* a link stays a link */
    writer->partial = writer->path ? partial_name(writer->path) : NULL;
    if (!writer->partial)
        return false;
    mode_t mode = present ? present->st_mode & 07777 : 0666;
    writer->descriptor = lock_partial(writer->partial, mode);
    return writer->descriptor >= 0 && (!present || !fchmod(writer->descriptor, mode));
}

bool cli_writer_file(cli_writer *writer, const char *path)
{
    *writer = (cli_writer){.descriptor = -1};
    struct stat status;
    bool present = !stat(path, &status), good;
    if (present && !S_ISREG(status.st_mode)) {
        writer->descriptor = open(path, O_WRONLY | O_CLOEXEC);
        good = writer->descriptor >= 0;
    } else {
        good = start_partial(writer, path, present ? &status : NULL);
    }
    if (good)
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

/* Gives a whole file its name, which it gets when its bytes are on the disk, not before. The lock
 * lasts until it is closed. */
static void end_partial(cli_writer *writer, bool keep)
{
    if (keep && !writer->failure &&
        (fsync(writer->descriptor) || rename(writer->partial, writer->path)))
        writer->failure = errno;
    if (!keep || writer->failure)
        unlink(writer->partial);
}

const char *cli_writer_reason(int failure)
{
    return failure == EWOULDBLOCK ? "another zhen is writing it" : strerror(failure);
}

bool cli_writer_close(cli_writer *writer, bool keep)
{
    cli_writer_flush(writer);
    if (writer->partial && writer->descriptor >= 0)
        end_partial(writer, keep);
    bool own = writer->descriptor >= 0 && writer->descriptor != STDOUT_FILENO;
    if (own && close(writer->descriptor) && !writer->failure)
        writer->failure = errno;
    free(writer->bytes);
    free(writer->path);
    free(writer->partial);
    int failure = writer->failure;
    *writer = (cli_writer){.descriptor = -1, .failure = failure};
    return !failure;
}
