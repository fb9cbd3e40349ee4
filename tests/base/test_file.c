/* Files and directories that are read whole and written whole or not at all. */
#include "base/file.h"
#include "base/staging.h"
#include "support/suite.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char directory[128];
static zhen_error error;

static char *in(const char *name)
{
    char *path = base_path_join(directory, name);
    ck_assert_ptr_nonnull(path);
    return path;
}

static void setup(void)
{
    const char *base = getenv("TMPDIR");
    snprintf(directory, sizeof directory, "%s/zhen-base-XXXXXX",
             base && strlen(base) < 64 ? base : "/tmp");
    ck_assert_ptr_nonnull(mkdtemp(directory));
    error = (zhen_error){0};
}

static void teardown(void)
{
    char command[256];
    snprintf(command, sizeof command, "rm -rf '%s'", directory);
    ck_assert_int_eq(system(command), 0);
}

static size_t count_entries(const char *path)
{
    DIR *stream = opendir(path);
    ck_assert_ptr_nonnull(stream);
    size_t count = 0;
    while (readdir(stream))
        count++;
    closedir(stream);
    return count - 2;
}

static void expect_content(const char *path, const char *text)
{
    base_map map;
    ck_assert_msg(!base_map_open(path, &map, &error), "%s", error.message);
    ck_assert_uint_eq(map.size, strlen(text));
    ck_assert_mem_eq(map.bytes, text, map.size);
    base_map_rest(&map);
    ck_assert_mem_eq(map.bytes, text, map.size);
    base_map_close(&map);
}

START_TEST(test_paths_are_joined)
{
    static const char *const cases[][3] = {
        {"a", "b", "a/b"}, {"a/", "b", "a/b"}, {"", "b", "/b"}, {"/", "b", "/b"}};
    for (size_t i = 0; i < 4; i++) {
        char *path = base_path_join(cases[i][0], cases[i][1]);
        ck_assert_str_eq(path, cases[i][2]);
        free(path);
    }
}
END_TEST

START_TEST(test_writes_and_replaces)
{
    char *path = in("file");
    ck_assert(!base_path_exists(path));
    ck_assert_msg(!base_file_write(path, "one", 3, &error), "%s", error.message);
    expect_content(path, "one");
    ck_assert_msg(!base_file_write(path, "other", 5, &error), "%s", error.message);
    expect_content(path, "other");
    ck_assert_uint_eq(count_entries(directory), 1);
    free(path);
}
END_TEST

START_TEST(test_new_files_obey_the_umask)
{
    char *path = in("file");
    const mode_t before = umask(027);
    ck_assert(!base_file_write(path, "x", 1, &error));
    umask(before);
    struct stat about;
    ck_assert_int_eq(stat(path, &about), 0);
    ck_assert_uint_eq(about.st_mode & 0777U, 0640);
    free(path);
}
END_TEST

START_TEST(test_stale_temporary_files_do_no_harm)
{
    char *path = in("file"), *stale = base_path_temporary(path, 0);
    ck_assert(!base_file_write(stale, "stale", 5, &error));
    ck_assert_msg(!base_file_write(path, "new", 3, &error), "%s", error.message);
    expect_content(path, "new");
    expect_content(stale, "stale");
    free(path);
    free(stale);
}
END_TEST

START_TEST(test_failed_writes_leave_nothing)
{
    char *path = in("no/such/file"), *occupied = in("folder");
    ck_assert_int_eq(base_file_write(path, "x", 1, &error), ZHEN_ERROR_IO);
    ck_assert_ptr_nonnull(strstr(error.message, "no/such/file: cannot be created: "));
    ck_assert_int_eq(mkdir(occupied, 0777), 0);
    ck_assert_int_eq(base_file_write(occupied, "x", 1, &error), ZHEN_ERROR_IO);
    ck_assert_ptr_nonnull(strstr(error.message, "folder: cannot be put in place: "));
    ck_assert_uint_eq(count_entries(directory), 1);
    free(path);
    free(occupied);
}
END_TEST

START_TEST(test_only_regular_files_are_mapped)
{
    char *pipe_path = in("pipe"), *empty = in("empty");
    base_map map;
    ck_assert_int_eq(base_map_open(directory, &map, &error), ZHEN_ERROR_IO);
    ck_assert_ptr_nonnull(strstr(error.message, "not a regular file"));
    ck_assert_int_eq(mkfifo(pipe_path, 0666), 0);
    ck_assert_int_eq(base_map_open(pipe_path, &map, &error), ZHEN_ERROR_IO);
    ck_assert_int_eq(base_map_open("/no/such/file", &map, NULL), ZHEN_ERROR_IO);
    ck_assert(!base_file_write(empty, "", 0, &error));
    ck_assert(!base_map_open(empty, &map, &error));
    ck_assert_ptr_null(map.bytes);
    ck_assert_uint_eq(map.size, 0);
    base_map_rest(&map);
    base_map_close(&map);
    free(pipe_path);
    free(empty);
}
END_TEST

/* Builds a directory with one file at `path`. */
static zhen_status stage(const char *path, const char *text)
{
    base_staging staging;
    zhen_status status = base_staging_begin(path, &staging, &error);
    if (status)
        return status;
    char *file = base_path_join(staging.temporary, "file");
    ck_assert(!base_file_write(file, text, strlen(text), &error));
    free(file);
    return base_staging_commit(&staging, &error);
}

START_TEST(test_directory_is_put_in_place_and_exchanged)
{
    char *target = in("target/"), *file = in("target/file"), *old = in("target/old");
    ck_assert_msg(!stage(target, "one"), "%s", error.message);
    expect_content(file, "one");
    ck_assert(!base_file_write(old, "old", 3, &error));
    ck_assert_msg(!stage(target, "two"), "%s", error.message);
    expect_content(file, "two");
    ck_assert(!base_path_exists(old));
    ck_assert_uint_eq(count_entries(directory), 1);
    free(target);
    free(file);
    free(old);
}
END_TEST

START_TEST(test_directory_that_cannot_be_put_in_place)
{
    char *target = in("file"), *missing = in("no/such/target");
    ck_assert(!base_file_write(target, "x", 1, &error));
    ck_assert_int_eq(stage(target, "one"), ZHEN_ERROR_IO);
    ck_assert_ptr_nonnull(strstr(error.message, "cannot be put in place"));
    expect_content(target, "x");
    ck_assert_int_eq(stage(missing, "one"), ZHEN_ERROR_IO);
    ck_assert_uint_eq(count_entries(directory), 1);
    free(target);
    free(missing);
}
END_TEST

START_TEST(test_aborted_directory_leaves_nothing)
{
    char *target = in("target");
    base_staging staging;
    ck_assert(!base_staging_begin(target, &staging, &error));
    ck_assert_uint_eq(count_entries(directory), 1);
    base_staging_abort(&staging);
    ck_assert_uint_eq(count_entries(directory), 0);
    free(target);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("file");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, test_paths_are_joined);
    tcase_add_test(tests, test_writes_and_replaces);
    tcase_add_test(tests, test_new_files_obey_the_umask);
    tcase_add_test(tests, test_stale_temporary_files_do_no_harm);
    tcase_add_test(tests, test_failed_writes_leave_nothing);
    tcase_add_test(tests, test_only_regular_files_are_mapped);
    tcase_add_test(tests, test_directory_is_put_in_place_and_exchanged);
    tcase_add_test(tests, test_directory_that_cannot_be_put_in_place);
    tcase_add_test(tests, test_aborted_directory_leaves_nothing);
    return run_group("base file", tests);
}
