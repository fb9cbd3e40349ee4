#include "cli/cli.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* Length of the control character at the beginning of the text, or 0: C0, DEL, or C1 in UTF-8. */
static size_t control_length(const unsigned char *text)
{
    if (text[0] < 0x20 || text[0] == 0x7f)
        return 1;
    return text[0] == 0xc2 && text[1] >= 0x80 && text[1] < 0xa0 ? 2 : 0;
}

/* What a file's name, or a model's, may hold could move the cursor or break the line: control
 * characters are written as \xHH. */
static void put_visible(const char *message)
{
    const unsigned char *at = (const unsigned char *)message;
    while (*at) {
        size_t length = control_length(at);
        if (length == 0)
            putc(*at++, stderr);
        for (; length; length--)
            fprintf(stderr, "\\x%02x", *at++);
    }
}

void cli_error(const char *format, ...)
{
    char *message = NULL;
    va_list arguments;
    va_start(arguments, format);
    bool is_made = vasprintf(&message, format, arguments) >= 0;
    va_end(arguments);
    flockfile(stderr);
    fputs("zhen: ", stderr);
    put_visible(is_made ? message : "out of memory");
    putc('\n', stderr);
    funlockfile(stderr);
    if (is_made)
        free(message);
}
