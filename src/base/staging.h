/* A directory that is built under a temporary name and then put in place whole, so that its path
 * shows the old directory or the new one, never a part, even if the program is killed. */
#ifndef BASE_STAGING_H
#define BASE_STAGING_H

#include "zhen.h"

typedef struct base_staging {
    char *target;    /* where it is to stand, symbolic links resolved */
    char *temporary; /* beside the target; write the files in here */
} base_staging;

/* Creates an empty directory beside `path`; end with base_staging_commit or base_staging_abort. */
zhen_status base_staging_begin(const char *path, base_staging *staging, zhen_error *error);
/* Puts the directory in place. An existing directory there is exchanged for it in one step and then
 * removed; it must hold no directories. Frees the staging in any case. */
zhen_status base_staging_commit(base_staging *staging, zhen_error *error);
/* Removes the temporary directory. */
void base_staging_abort(base_staging *staging);

#endif
