#include "zhen.h"

#include <string.h>
#include <strings.h>

typedef struct format_name {
    zhen_format format;
    const char *name; /* of the format, or an extension of its files */
    bool is_extension;
} format_name;

/* The first name of a format is the one it is called by. */
static const format_name names[] = {
    {ZHEN_FORMAT_TEXT, "text", false},     {ZHEN_FORMAT_TEXT, "txt", true},
    {ZHEN_FORMAT_TEXT, "plain", false},    {ZHEN_FORMAT_MARKDOWN, "markdown", true},
    {ZHEN_FORMAT_MARKDOWN, "md", true},    {ZHEN_FORMAT_MARKDOWN, "mkd", true},
    {ZHEN_FORMAT_MARKDOWN, "mdown", true}, {ZHEN_FORMAT_HTML, "html", true},
    {ZHEN_FORMAT_HTML, "htm", true},       {ZHEN_FORMAT_XHTML, "xhtml", true},
    {ZHEN_FORMAT_XHTML, "xht", true},      {ZHEN_FORMAT_SRT, "srt", true},
    {ZHEN_FORMAT_SRT, "subrip", false},    {ZHEN_FORMAT_VTT, "vtt", true},
    {ZHEN_FORMAT_VTT, "webvtt", false},    {ZHEN_FORMAT_PO, "po", true},
    {ZHEN_FORMAT_PO, "pot", true},         {ZHEN_FORMAT_PO, "gettext", false},
    {ZHEN_FORMAT_JSON, "json", true},      {ZHEN_FORMAT_JSONL, "jsonl", true},
    {ZHEN_FORMAT_JSONL, "ndjson", true},   {ZHEN_FORMAT_CSV, "csv", true},
    {ZHEN_FORMAT_TSV, "tsv", true},        {ZHEN_FORMAT_TSV, "tab", true},
    {ZHEN_FORMAT_XLIFF, "xliff", true},    {ZHEN_FORMAT_XLIFF, "xlf", true},
};
enum { NAMES = sizeof names / sizeof *names };

bool zhen_format_from_name(const char *name, zhen_format *format)
{
    for (size_t i = 0; i < NAMES; i++)
        if (strcasecmp(names[i].name, name) == 0) {
            *format = names[i].format;
            return true;
        }
    return false;
}

bool zhen_format_from_path(const char *path, zhen_format *format)
{
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    const char *dot = strrchr(base, '.');
    for (size_t i = 0; dot && i < NAMES; i++)
        if (names[i].is_extension && strcasecmp(names[i].name, dot + 1) == 0) {
            *format = names[i].format;
            return true;
        }
    return false;
}

const char *zhen_format_name(zhen_format format)
{
    for (size_t i = 0; i < NAMES; i++)
        if (names[i].format == format)
            return names[i].name;
    return "unknown";
}
