#include "document/samples.h"

#include "support/folder.h"

#include <check.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

static sample samples[4096];
static int count;

static const char *directory(void)
{
    const char *named = getenv("ZHEN_SAMPLES");
    return named ? named : "tests/document/samples";
}

int samples_list(void)
{
    struct dirent **entries;
    int found = scandir(directory(), &entries, NULL, alphasort);
    if (found < 0) { /* Check's assertions are for tests only */
        perror(directory());
        exit(EXIT_FAILURE);
    }
    for (int i = 0; i < found; i++) {
        sample *s = &samples[count];
        snprintf(s->name, sizeof s->name, "%s", entries[i]->d_name);
        if (zhen_format_from_path(s->name, &s->format) &&
            (size_t)count + 1 < sizeof samples / sizeof *samples)
            count++;
        free(entries[i]);
    }
    free(entries);
    return count;
}

const sample *sample_at(int index)
{
    return &samples[index];
}

char *sample_read(const sample *s, size_t *size)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", directory(), s->name);
    char *bytes = folder_read(path, size);
    ck_assert_msg(bytes != NULL, "%s is missing", path);
    return bytes;
}
