#include "support/suite.h"
#include "text/utf8.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t read_hex(const char *hex, char *bytes)
{
    size_t length = 0;
    unsigned byte;
    for (; sscanf(hex, "%2x", &byte) == 1; hex += 2)
        bytes[length++] = (char)byte;
    return length;
}

/* The bytes come from a block of their exact size, so that the sanitizers see a read beyond. */
static void check_repair(const char *raw, size_t length, const char *expected,
                         size_t expected_length)
{
    char *bytes = malloc(length);
    memcpy(bytes, raw, length);
    size_t *origin = malloc((3 * length + 1) * sizeof *origin);
    base_buffer out = {0};
    ck_assert(text_repair(bytes, length, &out, origin));
    ck_assert_uint_eq(out.length, expected_length);
    ck_assert_mem_eq(out.data, expected, expected_length);
    ck_assert(text_is_valid(out.data, out.length));
    ck_assert(text_is_valid(bytes, length) ==
              (length == expected_length && memcmp(bytes, expected, length) == 0));
    ck_assert_uint_eq(origin[out.length], length);
    for (size_t i = 0; i < out.length; i++) {
        ck_assert(origin[i] <= origin[i + 1] && origin[i] < length);
        ck_assert(out.data[i] == bytes[origin[i]] || memchr("\xEF\xBF\xBD", out.data[i], 3));
    }
    base_buffer_free(&out);
    free(origin);
    free(bytes);
}

START_TEST(repairs_as_python_does)
{
    FILE *file = fopen("tests/text/repair.tsv", "r");
    ck_assert_ptr_nonnull(file);
    char line[256], raw[64], expected[192];
    size_t lines = 0;
    for (; fgets(line, sizeof line, file); lines++) {
        char *tab = strchr(line, '\t');
        ck_assert_ptr_nonnull(tab);
        *tab = '\0';
        size_t length = read_hex(line, raw);
        check_repair(raw, length, expected, read_hex(tab + 1, expected));
    }
    fclose(file);
    ck_assert_uint_gt(lines, 900);
}
END_TEST

START_TEST(repairs_nothing_and_zero_bytes)
{
    base_buffer out = {0};
    size_t origin[1] = {99};
    ck_assert(text_repair("", 0, &out, origin));
    ck_assert_str_eq(out.data, "");
    ck_assert_uint_eq(origin[0], 0);
    ck_assert(text_is_valid("", 0));
    check_repair("a\0b", 3, "a\0b", 3);
    ck_assert(text_repair("\xFF", 1, &out, NULL));
    ck_assert_str_eq(out.data, "\xEF\xBF\xBD");
    base_buffer_free(&out);
}
END_TEST

START_TEST(decodes_in_both_directions)
{
    const char *text = "aé水𠀀\xEF\xBF\xBD";
    const int32_t expected[] = {'a', 0xE9, 0x6C34, 0x20000, 0xFFFD};
    size_t length = strlen(text), at = 0;
    int32_t character;
    for (size_t i = 0; i < 5; i++) {
        at += text_decode(text + at, length - at, &character);
        ck_assert_int_eq(character, expected[i]);
    }
    ck_assert_uint_eq(at, length);
    for (size_t i = 5; i-- > 0;) {
        at -= text_decode_before(text, 0, at, &character);
        ck_assert_int_eq(character, expected[i]);
    }
    ck_assert_uint_eq(at, 0);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("utf8");
    tcase_add_test(tests, repairs_as_python_does);
    tcase_add_test(tests, repairs_nothing_and_zero_bytes);
    tcase_add_test(tests, decodes_in_both_directions);
    return run_group("text_utf8", tests);
}
