#include "support/suite.h"
#include "text/cut.h"

#include "text/random_text.h"
#include "text/utf8.h"

#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

/* The text before | must be the first part when the whole is cut within `limit` bytes. */
static const struct {
    const char *pattern;
    size_t limit;
} cases[] = {
    {"我爱水课|", 12},
    {"我爱水课|", 100},
    {"我爱水课，|他也爱水课", 27},
    {"一二三，四五六，|七八九十", 30},
    {"他说：“好，”|然后走了", 24},
    {"一二三四：|五六七八九十", 24},
    {"他来了——|后来又走了很远", 27},
    {"价格是1,000元，|时间是9:30开始", 36},
    {"价格是一千块 |1,000元整", 25},
    {"苹果、香蕉、|橘子西红柿", 21},
    {"苹果和香蕉 |hello world", 20},
    {"苹果和香蕉 hello| world", 21},
    {"很好|（的）的的的的", 9},
    {"很好的|（的的的的的", 15},
    {"没有标点的|一句话", 17},
    {"我用|helloworld123写", 11},
    {"abcdefgh|ijklm", 8},
    {"一，二三四五六七八九|十一二三四五", 30}, /* not in the first quarter */
    {"e\u0301|e\u0301", 4},
    {"👨‍👩‍👧|👨‍👩‍👧", 30},
    {"👨‍|👩‍👧", 8}, /* a cluster longer than the limit */
    {"我|爱", 1},               /* a character longer than the limit */
};

START_TEST(cuts_at_the_best_place)
{
    const char *bar = strchr(cases[_i].pattern, '|');
    size_t expected = (size_t)(bar - cases[_i].pattern);
    base_buffer text = {0};
    ck_assert(base_buffer_append(&text, cases[_i].pattern, expected));
    ck_assert(base_buffer_append_string(&text, bar + 1));
    size_t found = text_cut(text.data, text.length, cases[_i].limit);
    ck_assert_msg(found == expected, "%s was cut after %zu bytes", cases[_i].pattern, found);
    base_buffer_free(&text);
}
END_TEST

static bool is_cluster_boundary(const char *text, size_t length, size_t place)
{
    int32_t before, after, state = 0;
    bool boundary = true;
    for (size_t at = text_decode(text, length, &before); at <= place; before = after) {
        if (at == length)
            return true;
        size_t size = text_decode(text + at, length - at, &after);
        boundary = utf8proc_grapheme_break_stateful(before, after, &state);
        if (at == place)
            return boundary;
        at += size;
    }
    return false;
}

START_TEST(cuts_anything_without_loss)
{
    uint64_t state = 424242;
    base_buffer text = {0};
    for (int round = 0; round < 5000; round++) {
        random_text(&state, 40, &text);
        size_t limit = random_next(&state) % 60, at = 0;
        while (at < text.length) {
            size_t rest = text.length - at, part = text_cut(text.data + at, rest, limit);
            ck_assert(part > 0 && part <= rest);
            ck_assert(text_is_valid(text.data + at, part));
            if (part <= limit && limit >= 40) /* no cluster of these texts has 40 bytes */
                ck_assert(is_cluster_boundary(text.data + at, rest, part));
            if (part > limit) /* only a single character may be too long */
                ck_assert(limit < 4 && part <= 4);
            at += part;
        }
    }
    base_buffer_free(&text);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("cut");
    tcase_set_timeout(tests, 0);
    tcase_add_loop_test(tests, cuts_at_the_best_place, 0, sizeof cases / sizeof *cases);
    tcase_add_test(tests, cuts_anything_without_loss);
    return run_group("text_cut", tests);
}
