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

static void check_mended(const char *from, const char *before, const char *after)
{
    base_buffer text = {0};
    const zhen_text source = {from, strlen(from)};
    zhen_span all = {0, strlen(before)};
    ck_assert(base_buffer_append_string(&text, before));
    ck_assert(base_buffer_reserve(&text, 0));
    ck_assert(translate_mend(&text, &all, 1, &source));
    ck_assert_str_eq(text.data, after);
    ck_assert_uint_eq(text.length, strlen(after));
    ck_assert_uint_eq(all.begin, 0);
    ck_assert_uint_le(all.end, text.length);
    base_buffer_free(&text);
}

START_TEST(takes_broken_characters_out)
{
    check_mended("好", "\uFFFD\uFFFD Good \uFFFD.", "Good .");
    check_mended("好", "a\uFFFDb \uFFFD c", "ab c");
    check_mended("好", "\uFFFD", "");
    check_mended("\uFFFD好", "\uFFFD Good", "\uFFFD Good");
}
END_TEST

START_TEST(mends_speech_of_several_sentences)
{
    /* It goes on. */
    check_mended("他说：“我不知道。", "He said: \"I don't know.\"", "He said: \"I don't know.");
    check_mended("他说：“我不知道。", "He said: \"I don't know. \"", "He said: \"I don't know.");
    check_mended("「好。", "\"Good.\"", "\"Good.");
    check_mended("他说：“好。", "He said: \"Good.", "He said: \"Good.");
    check_mended("他说：“", "He said: \"", "He said: \"");
    /* It comes from before. */
    check_mended("你去问他吧。”", "Ask him. \"", "Ask him.\"");
    check_mended("你去问他吧。”", "Ask him.", "Ask him.\"");
    check_mended("你去问他吧。”", "\"Ask him.\"", "Ask him.\"");
    check_mended("你去问他吧。”", "\"Ask him.", "Ask him.\"");
    check_mended("好！”他走了。", "\"Good!\" He left.", "Good!\" He left.");
    check_mended("好！”他走了。", "Good! He left.", "Good! He left.");
    check_mended("好。”", "", "");
    check_mended("好。”", "\"", "\"");
    /* Both, or neither. */
    check_mended("好。”他说，“走！", "Good.\" He said, \"Go!", "Good.\" He said, \"Go!");
    check_mended("“好。”他说。", "\"Good.\" He said.", "\"Good.\" He said.");
    check_mended("他说“好”。", "He said \"good. \"", "He said \"good.\"");
    check_mended("5”", "5 \"", "5\"");
    check_mended("他说：", "He said: \"", "He said: \"");
}
END_TEST

START_TEST(moves_spans_with_a_mark)
{
    base_buffer text = {0};
    zhen_span spans[] = {{0, 1}, {1, 4}, {4, 8}, {8, 9}};
    const zhen_text source = {"问他。”", strlen("问他。”")};
    ck_assert(base_buffer_append_string(&text, "\"Ask him\""));
    ck_assert(translate_mend(&text, spans, 4, &source));
    ck_assert_str_eq(text.data, "Ask him\"");
    const zhen_span expected[] = {{0, 0}, {0, 3}, {3, 7}, {7, 8}};
    for (size_t i = 0; i < 4; i++) {
        ck_assert_uint_eq(spans[i].begin, expected[i].begin);
        ck_assert_uint_eq(spans[i].end, expected[i].end);
    }
    base_buffer_free(&text);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {tidies_spaces, moves_spans_along, takes_broken_characters_out,
                                  mends_speech_of_several_sentences, moves_spans_with_a_mark};
    return run_suite("translate_finish", tests, sizeof tests / sizeof *tests);
}
