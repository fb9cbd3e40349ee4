/* The hidden file that an output grows in, .NAME.zhen-part beside it, until it is whole. */
#ifndef CLI_PARTIAL_H
#define CLI_PARTIAL_H

#include <stdbool.h>
#include <sys/stat.h>

typedef struct cli_partial {
    char *path; /* of the output, symbolic links resolved */
    char *name; /* of the hidden file; NULL: there is none */
    int mode;   /* that the output gets, or -1: as it was made */
} cli_partial;

static inline bool cli_same_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Opens it empty, and locked as long as it is open. The file at `path` is to be replaced, or made
 * if `present`, what stat says of it, is NULL. Returns -1 with errno set on failure: EWOULDBLOCK if
 * another run is at work on it. Free `partial` in any case. */
int cli_partial_open(cli_partial *partial, const char *path, const struct stat *present);
/* Gives a whole file (`keep`) its name, which it gets when its bytes are on the disk, not before;
 * removes any other. 0, or an errno. The lock lasts until the descriptor is closed. */
int cli_partial_end(const cli_partial *partial, int descriptor, bool keep);
void cli_partial_free(cli_partial *partial);

#endif
