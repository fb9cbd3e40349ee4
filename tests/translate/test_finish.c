#include "translate/finish.h"

#include "support/suite.h"

#include <string.h>

static void check_tidy(const char *before, const char *after)
{
    base_buffer text = {0};
    ck_assert(base_buffer_append_string(&text, before));
    ck_assert(base_buffer_reserve(&text, 0));
    ck_assert(translate_tidy(&text, NULL, 0));
    ck_assert_str_eq(text.data, after);
    ck_assert_uint_eq(text.length, strlen(after));
    base_buffer_free(&text);
}

START_TEST(tidies_spaces)
{
    check_tidy("", "");
    check_tidy(" ", "");
    check_tidy("   ", "");
    check_tidy("a b", "a b");
    check_tidy(" a", "a");
    check_tidy("a  ", "a");
    check_tidy("  a   b c  ", "a b c");
}
END_TEST

START_TEST(moves_spans_along)
{
    base_buffer text = {0};
    zhen_span spans[] = {{0, 2}, {2, 4}, {4, 7}, {7, 7}, {7, 9}};
    ck_assert(base_buffer_append_string(&text, " a  bb   "));
    ck_assert(translate_tidy(&text, spans, 5));
    ck_assert_str_eq(text.data, "a bb");
    const zhen_span expected[] = {{0, 1}, {1, 2}, {2, 4}, {4, 4}, {4, 4}};
    for (size_t i = 0; i < 5; i++) {
        ck_assert_uint_eq(spans[i].begin, expected[i].begin);
        ck_assert_uint_eq(spans[i].end, expected[i].end);
    }
    base_buffer_free(&text);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {tidies_spaces, moves_spans_along};
    return run_suite("translate_finish", tests, sizeof tests / sizeof *tests);
}
