#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Cuts a UTF-8 string that snprintf truncated back to a whole number of characters. */
static void cut_partial_character(char *text)
{
    size_t end = strlen(text), start = end;
    while (start > 0 && ((unsigned char)text[start - 1] & 0xC0) == 0x80)
        start--;
    if (start == 0)
        return;
    unsigned char lead = (unsigned char)text[start - 1];
    size_t need = lead >= 0xF0 ? 3 : lead >= 0xE0 ? 2 : lead >= 0xC0 ? 1 : 0;
    if (end - start < need)
        text[start - 1] = '\0';
}

zhen_status base_fail(zhen_error *error, zhen_status status, const char *format, ...)
{
    if (!error)
        return status;
    error->status = status;
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(error->message, sizeof error->message, format, arguments);
    va_end(arguments);
    if (length < 0)
        error->message[0] = '\0';
    if (length >= (int)sizeof error->message)
        cut_partial_character(error->message);
    for (char *c = error->message; *c; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7F)
            *c = '?';
    return status;
}

zhen_status base_fail_errno(const char *path, const char *what, zhen_error *error)
{
    char reason[128];
    return base_fail(error, ZHEN_ERROR_IO, "%s: %s: %s", path, what,
                     strerror_r(errno, reason, sizeof reason));
}

zhen_status base_fail_memory(zhen_error *error)
{
    return base_fail(error, ZHEN_ERROR_MEMORY, "out of memory");
}
