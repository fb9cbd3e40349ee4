#include "translate/memory.h"

#include "support/suite.h"

#include <stdio.h>
#include <string.h>

static void translate(translate_entry *entry, const char *text)
{
    entry->versions = calloc(1, sizeof *entry->versions);
    entry->versions[0] = (translate_version){strdup(text), strlen(text), -1, 1};
    entry->version_count = 1;
}

static translate_entry *add(translate_memory *memory, unsigned number)
{
    char text[16];
    int length = snprintf(text, sizeof text, "piece %u", number);
    ck_assert_ptr_null(translate_memory_find(memory, text, (size_t)length));
    translate_entry *entry = translate_memory_add(memory, text, (size_t)length);
    ck_assert_ptr_nonnull(entry);
    ck_assert_ptr_eq(translate_memory_find(memory, text, (size_t)length), entry);
    return entry;
}

static bool holds(const translate_memory *memory, unsigned number)
{
    char text[16];
    int length = snprintf(text, sizeof text, "piece %u", number);
    return translate_memory_find(memory, text, (size_t)length) != NULL;
}

START_TEST(finds_what_was_added)
{
    translate_memory memory = {0};
    ck_assert_ptr_null(translate_memory_find(&memory, "x", 1));
    for (unsigned i = 0; i < 1000; i++)
        translate(add(&memory, i), "text");
    ck_assert_ptr_nonnull(translate_memory_add(&memory, "a\0b", 3));
    ck_assert_ptr_null(translate_memory_find(&memory, "a\0c", 3));
    ck_assert_ptr_null(translate_memory_find(&memory, "a", 1));
    ck_assert_ptr_nonnull(translate_memory_find(&memory, "a\0b", 3));
    for (unsigned i = 0; i < 1000; i++)
        ck_assert(holds(&memory, i));
    translate_memory_free(&memory);
}
END_TEST

START_TEST(forgets_what_was_not_translated)
{
    translate_memory memory = {0};
    for (unsigned i = 0; i < 200; i++) {
        translate_entry *entry = add(&memory, i);
        if (i % 3 == 1)
            translate(entry, "text");
    }
    translate_memory_settle(&memory, SIZE_MAX);
    for (unsigned i = 0; i < 200; i++)
        ck_assert(holds(&memory, i) == (i % 3 == 1));
    /* Nothing but untranslated ones, at both ends and alone. */
    add(&memory, 1000);
    translate_memory_settle(&memory, SIZE_MAX);
    ck_assert(!holds(&memory, 1000) && holds(&memory, 199 - 199 % 3 + 1 - 3));
    translate_memory_settle(&memory, 0);
    ck_assert_uint_eq(memory.count, 0);
    ck_assert_uint_eq(memory.bytes, 0);
    translate(add(&memory, 5), "text");
    ck_assert(holds(&memory, 5));
    translate_memory_free(&memory);
}
END_TEST

START_TEST(forgets_the_oldest_first)
{
    translate_memory memory = {0};
    size_t limit = 0;
    for (unsigned call = 0; call < 50; call++) {
        for (unsigned i = 0; i < 10; i++)
            translate(add(&memory, call * 10 + i), "text");
        translate_memory_settle(&memory, call == 0 ? SIZE_MAX : limit);
        if (call == 0)
            limit = memory.bytes * 3;
        ck_assert_uint_le(memory.bytes, limit);
        ck_assert_uint_le(memory.count, 31);
        ck_assert(holds(&memory, call * 10 + 9) && holds(&memory, call * 10));
        ck_assert(call < 4 || !holds(&memory, call * 10 - 35));
    }
    translate_memory_free(&memory);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {finds_what_was_added, forgets_what_was_not_translated,
                                  forgets_the_oldest_first};
    return run_suite("translate_memory", tests, sizeof tests / sizeof *tests);
}
