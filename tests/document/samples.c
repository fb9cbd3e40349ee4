#include "document/samples.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

const sample samples[] = {
    {"plain.txt", ZHEN_FORMAT_TEXT},      {"wrapped.txt", ZHEN_FORMAT_TEXT},
    {"guide.md", ZHEN_FORMAT_MARKDOWN},   {"page.html", ZHEN_FORMAT_HTML},
    {"broken.html", ZHEN_FORMAT_HTML},    {"page.xhtml", ZHEN_FORMAT_XHTML},
    {"film.srt", ZHEN_FORMAT_SRT},        {"film.vtt", ZHEN_FORMAT_VTT},
    {"program.po", ZHEN_FORMAT_PO},       {"strings.json", ZHEN_FORMAT_JSON},
    {"records.jsonl", ZHEN_FORMAT_JSONL}, {"table.csv", ZHEN_FORMAT_CSV},
    {"table.tsv", ZHEN_FORMAT_TSV},       {"old.xliff", ZHEN_FORMAT_XLIFF},
    {"new.xliff", ZHEN_FORMAT_XLIFF},
};
const size_t sample_count = sizeof samples / sizeof *samples;

char *sample_read(const sample *s, size_t *size)
{
    char path[256];
    snprintf(path, sizeof path, "tests/document/samples/%s", s->path);
    FILE *file = fopen(path, "rb");
    ck_assert_msg(file != NULL, "%s is missing", path);
    char *bytes = malloc(1 << 20);
    *size = fread(bytes, 1, 1 << 20, file);
    fclose(file);
    return bytes;
}
