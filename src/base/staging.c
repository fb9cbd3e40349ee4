#include "base/staging.h"

#include "base/error.h"
#include "base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ATTEMPTS = 100 };

/* The path to rename to: of an existing directory its real one, since renaming to a symbolic link
 * would replace the link; of a new one the path without slashes at the end. */
static char *resolve(const char *path)
{
    char *real = realpath(path, NULL);
    if (real || errno == ENOMEM)
        return real;
    char *copy = strdup(path);
    for (size_t end = copy ? strlen(copy) : 0; end > 1 && copy[end - 1] == '/'; end--)
        copy[end - 1] = '\0';
    return copy;
}

/* Removes a directory of files; what cannot be removed stays under its temporary name. */
static void remove_directory(const char *path)
{
    DIR *directory = opendir(path);
    if (!directory)
        return;
    for (const struct dirent *entry; (entry = readdir(directory));)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            unlinkat(dirfd(directory), entry->d_name, 0);
    closedir(directory);
    rmdir(path);
}

static void release(base_staging *staging)
{
    free(staging->target);
    free(staging->temporary);
    *staging = (base_staging){0};
}

static zhen_status make_temporary(base_staging *staging, zhen_error *error)
{
    for (unsigned attempt = 0; attempt < ATTEMPTS; attempt++) {
        free(staging->temporary);
        staging->temporary = base_path_temporary(staging->target, attempt);
        if (!staging->temporary)
            return base_fail_memory(error);
        if (!mkdir(staging->temporary, 0777))
            return ZHEN_OK;
        if (errno != EEXIST)
            break;
    }
    return base_fail_errno(staging->target, "cannot be created", error);
}

zhen_status base_staging_begin(const char *path, base_staging *staging, zhen_error *error)
{
    *staging = (base_staging){.target = resolve(path)};
    if (!staging->target)
        return base_fail_memory(error);
    zhen_status status = make_temporary(staging, error);
    if (status)
        release(staging);
    return status;
}

/* Not every file system can exchange two directories in one step; on those the old one goes to a
 * temporary name first, and for an instant nothing is there. */
static bool exchange_in_two_steps(const base_staging *staging)
{
    char *aside = base_path_temporary(staging->target, ATTEMPTS);
    bool done = aside && !rename(staging->target, aside);
    if (done && rename(staging->temporary, staging->target)) {
        int reason = errno;
        (void)rename(aside, staging->target);
        errno = reason;
        done = false;
    }
    if (done)
        remove_directory(aside);
    free(aside);
    return done;
}

static bool put_in_place(const base_staging *staging)
{
    if (!rename(staging->temporary, staging->target))
        return true;
    if (errno != ENOTEMPTY && errno != EEXIST)
        return false;
    if (!renameat2(AT_FDCWD, staging->temporary, AT_FDCWD, staging->target, RENAME_EXCHANGE)) {
        remove_directory(staging->temporary);
        return true;
    }
    return (errno == EINVAL || errno == ENOSYS) && exchange_in_two_steps(staging);
}

zhen_status base_staging_commit(base_staging *staging, zhen_error *error)
{
    if (put_in_place(staging)) {
        release(staging);
        return ZHEN_OK;
    }
    zhen_status status = base_fail_errno(staging->target, "cannot be put in place", error);
    base_staging_abort(staging);
    return status;
}

void base_staging_abort(base_staging *staging)
{
    if (staging->temporary)
        remove_directory(staging->temporary);
    release(staging);
}
