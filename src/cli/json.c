#include "cli/json.h"

#include <stdio.h>
#include <string.h>

/* The length of the UTF-8 sequence that text begins with; 0 if it is ill-formed (Unicode 15, table
 * 3-7). */
static size_t sequence_length(const unsigned char *text, size_t length)
{
    static const struct {
        unsigned char first, last, low, high; /* lead bytes, range of the second byte */
        size_t length;
    } forms[] = {
        {0x00, 0x7F, 0x00, 0x00, 1}, {0xC2, 0xDF, 0x80, 0xBF, 2}, {0xE0, 0xE0, 0xA0, 0xBF, 3},
        {0xE1, 0xEC, 0x80, 0xBF, 3}, {0xED, 0xED, 0x80, 0x9F, 3}, {0xEE, 0xEF, 0x80, 0xBF, 3},
        {0xF0, 0xF0, 0x90, 0xBF, 4}, {0xF1, 0xF3, 0x80, 0xBF, 4}, {0xF4, 0xF4, 0x80, 0x8F, 4}};
    size_t form = 0, count = sizeof forms / sizeof *forms;
    while (form < count && !(text[0] >= forms[form].first && text[0] <= forms[form].last))
        form++;
    if (form == count || forms[form].length > length)
        return 0;
    if (forms[form].length > 1 && (text[1] < forms[form].low || text[1] > forms[form].high))
        return 0;
    for (size_t i = 2; i < forms[form].length; i++)
        if ((text[i] & 0xC0) != 0x80)
            return 0;
    return forms[form].length;
}

void cli_json_raw(cli_target *target, const char *text)
{
    cli_target_put(target, text, strlen(text));
}

void cli_json_string(cli_target *target, const char *text, size_t length)
{
    cli_json_raw(target, "\"");
    for (size_t i = 0; i < length;) {
        unsigned char c = (unsigned char)text[i];
        size_t size = sequence_length((const unsigned char *)text + i, length - i);
        char escape[8];
        if (size == 0) {
            cli_json_raw(target, "\xEF\xBF\xBD");
        } else if (c == '"' || c == '\\') {
            snprintf(escape, sizeof escape, "\\%c", c);
            cli_json_raw(target, escape);
        } else if (c < 0x20 || c == 0x7F) {
            snprintf(escape, sizeof escape, "\\u%04x", c);
            cli_json_raw(target, escape);
        } else {
            cli_target_put(target, text + i, size);
        }
        i += size ? size : 1;
    }
    cli_json_raw(target, "\"");
}

void cli_json_number(cli_target *target, double number)
{
    char text[32];
    snprintf(text, sizeof text, "%.4f", number);
    cli_json_raw(target, text);
}
