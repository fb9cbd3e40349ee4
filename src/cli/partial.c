#include "cli/partial.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

enum { ATTEMPTS = 100 };

static const char suffix[] = ".zhen-part";

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
    return !fstat(descriptor, &file) && !lstat(path, &named) && cli_same_file(&file, &named);
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

/* The kernel applies the umask to a new file: to read it here, it would have to be changed under
 * the other threads. Until it is finished it can be written to, or a later run could not take it
 * over. */
int cli_partial_open(cli_partial *partial, const char *path, const struct stat *present)
{
    *partial = (cli_partial){.mode = present ? (int)(present->st_mode & 07777) : -1};
    partial->path = present ? realpath(path, NULL) : resolve_absent(path); /* a link stays a link */
    partial->name = partial->path ? partial_name(partial->path) : NULL;
    if (!partial->name)
        return -1;
    mode_t mode = (present ? (mode_t)partial->mode : 0666) | S_IWUSR;
    int descriptor = lock_partial(partial->name, mode);
    if (descriptor < 0 || !present || !fchmod(descriptor, mode))
        return descriptor;
    int failure = errno;
    unlink(partial->name);
    close(descriptor);
    errno = failure;
    return -1;
}

int cli_partial_end(const cli_partial *partial, int descriptor, bool keep)
{
    int failure = 0;
    if (keep && ((partial->mode >= 0 && fchmod(descriptor, (mode_t)partial->mode)) ||
                 fsync(descriptor) || rename(partial->name, partial->path)))
        failure = errno;
    if (!keep || failure)
        unlink(partial->name);
    return failure;
}

void cli_partial_free(cli_partial *partial)
{
    free(partial->path);
    free(partial->name);
    *partial = (cli_partial){0};
}
