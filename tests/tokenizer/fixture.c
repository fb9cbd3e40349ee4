#include "tokenizer/fixture.h"

#include "base/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *const fixture_variants[] = {
    "unigram",          "unigram_bytes", "unigram_user",   "unigram_suffix",
    "unigram_identity", "unigram_plain", "unigram_unused", "bpe",
    "bpe_bytes",        "bpe_user",      "bpe_suffix",     "bpe_unused",
};
const int fixture_variant_count = sizeof fixture_variants / sizeof *fixture_variants;

const char *fixture_path(const char *name, const char *suffix)
{
    static char path[256];
    (void)snprintf(path, sizeof path, "%s%s%s", FIXTURES, name, suffix);
    return path;
}

void fixture_read(const char *name, const char *suffix, base_buffer *bytes)
{
    zhen_error error;
    base_map map;
    *bytes = (base_buffer){0};
    if (base_map_open(fixture_path(name, suffix), &map, &error) ||
        !base_buffer_append(bytes, map.bytes, map.size)) {
        (void)fprintf(stderr, "%s\n", error.message);
        exit(1);
    }
    base_map_close(&map);
}

bool fixture_next(fixture_line *line)
{
    if (line->next >= line->text->length)
        return false;
    line->start = line->text->data + line->next;
    const char *end = memchr(line->start, '\n', line->text->length - line->next);
    line->length = end ? (size_t)(end - line->start) : line->text->length - line->next;
    line->next += line->length + 1;
    line->number++;
    return true;
}

const char *fixture_temporary(const void *bytes, size_t length)
{
    static const char template[] = "/tmp/zhen-test-XXXXXX";
    static char path[sizeof template];
    memcpy(path, template, sizeof template);
    int descriptor = mkstemp(path);
    if (descriptor < 0 || write(descriptor, bytes, length) != (ssize_t)length) {
        perror(path);
        exit(1);
    }
    close(descriptor);
    return path;
}
