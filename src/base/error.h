/* Errors are values: a function that can fail returns zhen_status and describes the failure. */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

#include "zhen.h"

/* Fills `error` (NULL is fine) with the status and a printf-formatted message and returns the
 * status, so that a failure is one statement: return base_fail(error, ZHEN_ERROR_IO, "..."). A
 * message that is too long is cut at a character's boundary; newlines and control characters,
 * which a hostile file may have put into a name, become '?'. */
__attribute__((format(printf, 3, 4))) zhen_status base_fail(zhen_error *error, zhen_status status,
                                                            const char *format, ...);

/* "PATH: WHAT: reason", the reason being that of errno: an operation on a file has failed. */
zhen_status base_fail_errno(const char *path, const char *what, zhen_error *error);

/* Out of memory. */
zhen_status base_fail_memory(zhen_error *error);

#endif
