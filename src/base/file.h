/* Files read as a whole and files written whole or not at all. */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include "zhen.h"

#include <stdbool.h>

/* A file mapped read-only and shared; `bytes` is NULL when the file is empty. */
typedef struct base_map {
    const unsigned char *bytes;
    size_t size;
} base_map;

/* Fails on directories, devices and pipes as on missing files. The mapping is as safe as the file:
 * one that is cut short while it is mapped raises SIGBUS, as with every mmap. */
zhen_status base_map_open(const char *path, base_map *map, zhen_error *error);
/* Takes the bytes out of this process's memory; what is read again comes back. */
void base_map_rest(const base_map *map);
void base_map_close(base_map *map);

/* directory + "/" + name, allocated; NULL when memory runs out. Free with free(). */
char *base_path_join(const char *directory, const char *name);
bool base_path_exists(const char *path);
/* A name beside `path` for something that is to be renamed to it, another one for each attempt. */
char *base_path_temporary(const char *path, unsigned attempt);

/* Writes a file under a temporary name beside `path`, flushes it to disk and renames it, so that
 * `path` holds the old content or the new, never a part. */
zhen_status base_file_write(const char *path, const void *bytes, size_t size, zhen_error *error);

#endif
