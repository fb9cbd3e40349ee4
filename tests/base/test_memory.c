/* Arenas, buffers, checked sizes and error messages. */
#include "base/arena.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/pages.h"
#include "base/size.h"
#include "support/suite.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

START_TEST(test_arena_gives_aligned_separate_memory)
{
    static const size_t sizes[] = {0, 1, 63, 64, 65, 1000, 65000, 70000, 3, 200000, 7};
    enum { COUNT = sizeof sizes / sizeof sizes[0] };
    unsigned char *blocks[COUNT];
    base_arena arena = {0};
    size_t total = 0;
    for (size_t i = 0; i < COUNT; i++) {
        blocks[i] = base_arena_allocate(&arena, sizes[i]);
        ck_assert_ptr_nonnull(blocks[i]);
        ck_assert_uint_eq((uintptr_t)blocks[i] % 64, 0);
        memset(blocks[i], (int)i, sizes[i]);
        total += sizes[i];
    }
    for (size_t i = 0; i < COUNT; i++)
        for (size_t j = 0; j < sizes[i]; j++)
            ck_assert_uint_eq(blocks[i][j], i);
    ck_assert_uint_ge(base_arena_size(&arena), total);
    base_arena_free(&arena);
    ck_assert_uint_eq(base_arena_size(&arena), 0);
}
END_TEST

START_TEST(test_arena_refuses_impossible_sizes)
{
    base_arena arena = {0};
    ck_assert_ptr_null(base_arena_allocate(&arena, SIZE_MAX));
    ck_assert_ptr_null(base_arena_allocate(&arena, SIZE_MAX - 63));
    ck_assert_ptr_null(base_arena_calloc(&arena, SIZE_MAX / 2, 3));
    const unsigned char *zeros = base_arena_calloc(&arena, 100, 3);
    for (size_t i = 0; i < 300; i++)
        ck_assert_uint_eq(zeros[i], 0);
    ck_assert_str_eq(base_arena_string(&arena, "abcdef", 3), "abc");
    ck_assert_str_eq(base_arena_string(&arena, NULL, 0), "");
    base_arena_free(&arena);
}
END_TEST

START_TEST(test_pages_of_all_sizes_are_aligned_and_usable)
{
    static const size_t sizes[] = {0, 1, 65, 100000, (2 << 20) - 1, 2 << 20, (4 << 20) + 1};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        unsigned char *bytes = base_pages_allocate(sizes[i]);
        ck_assert_ptr_nonnull(bytes);
        ck_assert_uint_eq((uintptr_t)bytes % 64, 0);
        memset(bytes, 1, sizes[i]);
        free(bytes);
    }
    ck_assert_ptr_null(base_pages_allocate(SIZE_MAX));
}
END_TEST

START_TEST(test_buffer_grows_and_ends_in_zero)
{
    base_buffer buffer = {0};
    base_buffer_clear(&buffer);
    for (int i = 0; i < 1000; i++) {
        ck_assert(base_buffer_append_string(&buffer, "ab"));
        ck_assert(base_buffer_append_byte(&buffer, '\0'));
        ck_assert(base_buffer_append(&buffer, NULL, 0));
    }
    ck_assert_uint_eq(buffer.length, 3000);
    ck_assert_mem_eq(buffer.data + 2997, "ab\0", 4);
    const size_t capacity = buffer.capacity;
    base_buffer_clear(&buffer);
    ck_assert_uint_eq(buffer.length, 0);
    ck_assert_uint_eq(buffer.capacity, capacity);
    ck_assert_str_eq(buffer.data, "");
    ck_assert(!base_buffer_reserve(&buffer, SIZE_MAX));
    ck_assert_uint_eq(buffer.capacity, capacity);
    base_buffer_free(&buffer);
    ck_assert_ptr_null(buffer.data);
}
END_TEST

START_TEST(test_grow_refuses_overflow)
{
    int *items = NULL;
    size_t capacity = 0;
    ck_assert(base_grow((void **)&items, &capacity, 3, sizeof *items));
    ck_assert_uint_ge(capacity, 3);
    ck_assert(!base_grow((void **)&items, &capacity, SIZE_MAX / 2, sizeof *items));
    ck_assert(!base_grow((void **)&items, &capacity, SIZE_MAX, sizeof *items));
    ck_assert_ptr_nonnull(items);
    free(items);
}
END_TEST

START_TEST(test_sizes_are_checked)
{
    size_t result = 42;
    ck_assert(base_add(1, 2, &result) && result == 3);
    ck_assert(base_multiply(6, 7, &result) && result == 42);
    ck_assert(!base_add(SIZE_MAX, 1, &result));
    ck_assert(!base_multiply(SIZE_MAX / 2 + 1, 2, &result));
    ck_assert_uint_eq(result, 42);
    ck_assert_uint_eq(base_round_up(0, 64), 0);
    ck_assert_uint_eq(base_round_up(65, 64), 128);
}
END_TEST

START_TEST(test_messages_are_one_clean_line)
{
    zhen_error error;
    ck_assert_int_eq(base_fail(&error, ZHEN_ERROR_IO, "a\nb\x1B[31m%d", 7), ZHEN_ERROR_IO);
    ck_assert_int_eq(error.status, ZHEN_ERROR_IO);
    ck_assert_str_eq(error.message, "a?b?[31m7");
    ck_assert_int_eq(base_fail(NULL, ZHEN_ERROR_FORMAT, "x"), ZHEN_ERROR_FORMAT);
    ck_assert_int_eq(base_fail_memory(&error), ZHEN_ERROR_MEMORY);
    ck_assert_str_eq(error.message, "out of memory");
}
END_TEST

START_TEST(test_long_messages_are_cut_between_characters)
{
    static const char *const characters[] = {"a", "\xC3\xA9", "\xE6\x88\x91", "\xF0\x9F\x98\x80"};
    for (size_t kind = 0; kind < 4; kind++)
        for (size_t shift = 0; shift < 4; shift++) {
            char text[4096] = "";
            const size_t width = strlen(characters[kind]);
            memset(text, '-', shift);
            for (size_t i = 0; i < 600; i++)
                memcpy(text + shift + i * width, characters[kind], width);
            zhen_error error;
            ck_assert(base_fail(&error, ZHEN_ERROR_IO, "%s", text));
            const size_t length = strlen(error.message);
            ck_assert_uint_gt(length, sizeof error.message - 5);
            ck_assert_uint_eq((length - shift) % width, 0);
        }
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("memory");
    tcase_add_test(tests, test_arena_gives_aligned_separate_memory);
    tcase_add_test(tests, test_arena_refuses_impossible_sizes);
    tcase_add_test(tests, test_pages_of_all_sizes_are_aligned_and_usable);
    tcase_add_test(tests, test_buffer_grows_and_ends_in_zero);
    tcase_add_test(tests, test_grow_refuses_overflow);
    tcase_add_test(tests, test_sizes_are_checked);
    tcase_add_test(tests, test_messages_are_one_clean_line);
    tcase_add_test(tests, test_long_messages_are_cut_between_characters);
    return run_group("base memory", tests);
}
