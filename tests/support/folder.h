/* A fresh directory for a test, and small files in it. */
#ifndef TESTS_SUPPORT_FOLDER_H
#define TESTS_SUPPORT_FOLDER_H

#include <stddef.h>

/* Fixtures: the directory, and its end with all that is in it. */
void folder_make(void);
void folder_remove(void);

/* The path of something in the directory ("": of itself); the eight youngest can be in use. */
char *folder_path(const char *name);
/* These two take any path. The text that is read is free()d by the caller and ends in a zero byte;
 * NULL if there is no such file. */
void folder_write(const char *path, const char *text, size_t length);
char *folder_read(const char *path, size_t *length);
/* Asserts that the file has this text. */
void folder_expect(const char *path, const char *text);
/* How many entries a directory has, hidden ones too. */
size_t folder_count(const char *path);

#endif
