#include "cli/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
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

static bool is_same(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* FNV-1a, which tells names apart whose beginning is the same. */
static uint32_t hash(const char *name)
{
    uint32_t sum = 2166136261u;
    for (; *name; name++)
        sum = (sum ^ (unsigned char)*name) * 16777619u;
    return sum;
}

/* The hidden file beside `path` that its output grows in: always the same one, so that what a
 * killed run leaves behind is found and used by the next. Of names that are as long as the file
 * system allows, a hash stands for the end. */
static char *partial_name(const char *path)
{
    enum { MOST = NAME_MAX - (int)sizeof suffix }; /* a dot takes the place of the final zero */
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    int directory = (int)(name - path), length;
    char *partial;
    if (strlen(name) <= MOST)
        length = asprintf(&partial, "%.*s.%s%s", directory, path, name, suffix);
    else
        length = asprintf(&partial, "%.*s.%.*s~%08" PRIx32 "%s", directory, path, MOST - 9, name,
                          hash(name), suffix);
    return length < 0 ? NULL : partial;
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
    return !fstat(descriptor, &file) && !lstat(path, &named) && is_same(&file, &named);
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

/* Where a file is made that is not there: at `path`, or where the symbolic links there lead to.
 * Allocated. */
static char *resolve_absent(const char *path)
{
    char *end = strdup(path), target[PATH_MAX];
    ssize_t length;
    while (end && (length = readlink(end, target, sizeof target)) > 0) {
        const char *slash = target[0] == '/' ? NULL : strrchr(end, '/');
        int directory = slash ? (int)(slash + 1 - end) : 0;
        char *next;
        if (asprintf(&next, "%.*s%.*s", directory, end, (int)length, target) < 0)
            next = NULL;
        free(end);
        end = next;
    }
    return end;
}

/* The file at `path` is to be replaced, or made if `present` is NULL. The kernel applies the umask
 * to a new file: to read it here, it would have to be changed under the other threads. Until it is
 * finished it can be written to, or a later run could not take it over. */
static bool start_partial(cli_writer *writer, const char *path, const struct stat *present)
{
    writer->path = present ? realpath(path, NULL) : resolve_absent(path); /* a link stays a link */
    writer->partial = writer->path ? partial_name(writer->path) : NULL;
    if (!writer->partial)
        return false;
    mode_t mode = present ? present->st_mode & 07777 : 0666;
    writer->mode = present ? (int)mode : -1;
    writer->descriptor = lock_partial(writer->partial, mode | S_IWUSR);
    return writer->descriptor >= 0 && (!present || !fchmod(writer->descriptor, mode | S_IWUSR));
}

/* Standard output or error, if that is the file, else -1. Under a name such as /dev/stdout, a file
 * that the shell has opened, perhaps to append to it, must not be replaced. */
static int find_stream(const struct stat *file)
{
    for (int stream = STDOUT_FILENO; stream <= STDERR_FILENO; stream++) {
        struct stat status;
        if (!fstat(stream, &status) && is_same(&status, file))
            return stream;
    }
    return -1;
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

void cli_writer_string(cli_writer *writer, const char *text)
{
    cli_writer_put(writer, text, strlen(text));
}

/* Gives a whole file its name, which it gets when its bytes are on the disk, not before. The lock
 * lasts until it is closed. */
static void end_partial(cli_writer *writer, bool keep)
{
    if (keep && !writer->failure &&
        ((writer->mode >= 0 && fchmod(writer->descriptor, (mode_t)writer->mode)) ||
         fsync(writer->descriptor) || rename(writer->partial, writer->path)))
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
