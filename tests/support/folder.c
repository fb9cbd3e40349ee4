#include "support/folder.h"

#include <check.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char directory[64];

void folder_make(void)
{
    strcpy(directory, "/tmp/zhen-test-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(directory));
}

void folder_remove(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", directory);
    ck_assert_int_eq(system(command), 0);
}

char *folder_path(const char *name)
{
    static char paths[8][512];
    static unsigned next;
    char *path = paths[next++ % 8];
    snprintf(path, sizeof paths[0], "%s%s%s", directory, *name ? "/" : "", name);
    return path;
}

void folder_write(const char *path, const char *text, size_t length)
{
    FILE *file = fopen(path, "wb");
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(text, 1, length, file), length);
    ck_assert_int_eq(fclose(file), 0);
}

char *folder_read(const char *path, size_t *length)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        return NULL;
    char *text = NULL;
    size_t capacity = 0, got;
    *length = 0;
    do {
        if (*length + 1 >= capacity)
            text = realloc(text, capacity = 2 * capacity + 4096);
        ck_assert_ptr_nonnull(text);
        got = fread(text + *length, 1, capacity - *length - 1, file);
        *length += got;
    } while (got);
    fclose(file);
    text[*length] = '\0';
    return text;
}

void folder_expect(const char *path, const char *text)
{
    size_t length;
    char *found = folder_read(path, &length);
    ck_assert_msg(found != NULL, "%s is missing", path);
    ck_assert_str_eq(found, text);
    free(found);
}

size_t folder_count(const char *path)
{
    DIR *entries = opendir(path);
    ck_assert_ptr_nonnull(entries);
    size_t count = 0;
    for (const struct dirent *entry; (entry = readdir(entries));)
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(entries);
    return count;
}
