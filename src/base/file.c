#include "base/file.h"

#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ATTEMPTS = 100 }; /* at a temporary name that nobody has */

static zhen_status map_descriptor(int descriptor, const char *path, base_map *map,
                                  zhen_error *error)
{
    struct stat status;
    if (fstat(descriptor, &status))
        return base_fail_errno(path, "cannot be examined", error);
    if (!S_ISREG(status.st_mode))
        return base_fail(error, ZHEN_ERROR_IO, "%s: not a regular file", path);
    *map = (base_map){0};
    if (status.st_size == 0)
        return ZHEN_OK;
    void *bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_SHARED, descriptor, 0);
    if (bytes == MAP_FAILED)
        return base_fail_errno(path, "cannot be mapped", error);
    map->bytes = bytes;
    map->size = (size_t)status.st_size;
    return ZHEN_OK;
}

zhen_status base_map_open(const char *path, base_map *map, zhen_error *error)
{
    /* O_NONBLOCK: opening a pipe that nobody writes to must fail, not wait. */
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0)
        return base_fail_errno(path, "cannot be opened", error);
    zhen_status status = map_descriptor(descriptor, path, map, error);
    close(descriptor);
    return status;
}

void base_map_rest(const base_map *map)
{
    if (map->bytes)
        (void)madvise((void *)map->bytes, map->size, MADV_DONTNEED);
}

void base_map_close(base_map *map)
{
    if (map->bytes)
        munmap((void *)map->bytes, map->size);
    *map = (base_map){0};
}

char *base_path_join(const char *directory, const char *name)
{
    size_t length = strlen(directory);
    const char *separator = length && directory[length - 1] == '/' ? "" : "/";
    char *path;
    return asprintf(&path, "%s%s%s", directory, separator, name) < 0 ? NULL : path;
}

bool base_path_exists(const char *path)
{
    return access(path, F_OK) == 0;
}

static bool write_all(int descriptor, const char *bytes, size_t size)
{
    while (size) {
        ssize_t written = write(descriptor, bytes, size);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return false;
        bytes += written;
        size -= (size_t)written;
    }
    return true;
}

char *base_path_temporary(const char *path, unsigned attempt)
{
    char *temporary;
    if (asprintf(&temporary, "%s.%ld-%u.tmp", path, (long)getpid(), attempt) < 0)
        return NULL;
    return temporary;
}

/* Opens a new file beside `path`. Unlike mkstemp's its mode obeys the umask, which a library must
 * not read, since reading it means changing it under the other threads. */
static int open_temporary(const char *path, char **temporary)
{
    int descriptor = -1;
    for (unsigned attempt = 0; descriptor < 0 && attempt < ATTEMPTS; attempt++) {
        free(*temporary);
        *temporary = base_path_temporary(path, attempt);
        if (!*temporary)
            return -1;
        descriptor = open(*temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (descriptor < 0 && errno != EEXIST)
            break;
    }
    return descriptor;
}

zhen_status base_file_write(const char *path, const void *bytes, size_t size, zhen_error *error)
{
    char *temporary = NULL;
    int descriptor = open_temporary(path, &temporary);
    if (!temporary)
        return base_fail_memory(error);
    zhen_status status = ZHEN_OK;
    if (descriptor < 0)
        status = base_fail_errno(path, "cannot be created", error);
    else if (!write_all(descriptor, bytes, size) || fsync(descriptor))
        status = base_fail_errno(path, "cannot be written", error);
    if (descriptor >= 0 && close(descriptor) && !status)
        status = base_fail_errno(path, "cannot be written", error);
    if (!status && rename(temporary, path))
        status = base_fail_errno(path, "cannot be put in place", error);
    if (status && descriptor >= 0)
        unlink(temporary);
    free(temporary);
    return status;
}
