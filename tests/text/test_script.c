#include "support/suite.h"
#include "text/script.h"

#include <stdlib.h>
#include <string.h>

START_TEST(han_is_the_script)
{
    static const int32_t han[] = {
        0x2E80, 0x2F00, 0x3005, 0x3007, 0x3021,  0x303B,  0x3400,  0x4DBF,  0x4E00,  0x9FFF,
        0xF900, 0xFA6D, 0xFAD9, 0x6C34, 0x20000, 0x2A6DF, 0x2B740, 0x2F800, 0x30000, 0x323AF,
    };
    static const int32_t other[] = {
        'a',    '1',    0xE9,   0x2E7F, 0x3000, 0x3001, 0x3002, 0x3042, 0x30A2,  0x30FC, 0x3105,
        0x31C0, 0x32A3, 0x4DC0, 0xA000, 0xAC00, 0xFF01, 0xFF21, 0xFFFD, 0x1F600, 0xE000, 0x10FFFF,
    };
    for (size_t i = 0; i < sizeof han / sizeof *han; i++)
        ck_assert_msg(text_is_han(han[i]), "U+%04X", (unsigned)han[i]);
    for (size_t i = 0; i < sizeof other / sizeof *other; i++)
        ck_assert_msg(!text_is_han(other[i]), "U+%04X", (unsigned)other[i]);
}
END_TEST

START_TEST(text_with_han)
{
    static const char *const with[] = {"我", "a 我", "々", "〇", "ひらがなと漢字", "𠀀", "\xFF我"};
    static const char *const without[] = {"",       "abc",      "ひらがな カタカナー",
                                          "한국어", "ㄅㄆㄇ",   "。！？",
                                          "😀",      "\xE6\x88", "ＡＢＣ１"};
    for (size_t i = 0; i < sizeof with / sizeof *with; i++)
        ck_assert_msg(text_has_han(with[i], strlen(with[i])), "%s", with[i]);
    for (size_t i = 0; i < sizeof without / sizeof *without; i++)
        ck_assert_msg(!text_has_han(without[i], strlen(without[i])), "%s", without[i]);
}
END_TEST

START_TEST(blanks_and_separators)
{
    static const int32_t separators[] = {0,    '\t', '\n', '\v',   '\f',  '\r',
                                         0x1B, 0x7F, 0x85, 0x2028, 0x2029};
    static const int32_t blanks[] = {' ',    0xA0,   0x1680, 0x2003, 0x202F,
                                     0x205F, 0x3000, 0x200B, 0xFEFF};
    static const int32_t neither[] = {'a', '_', 0xAD, 0x3001, 0x6C34, 0x200D, 0xFFFD};
    for (size_t i = 0; i < sizeof separators / sizeof *separators; i++)
        ck_assert(text_is_separator(separators[i]) && text_is_blank(separators[i]));
    for (size_t i = 0; i < sizeof blanks / sizeof *blanks; i++)
        ck_assert(text_is_blank(blanks[i]) && !text_is_separator(blanks[i]));
    for (size_t i = 0; i < sizeof neither / sizeof *neither; i++)
        ck_assert(!text_is_blank(neither[i]) && !text_is_separator(neither[i]));
}
END_TEST

START_TEST(classes_of_characters)
{
    ck_assert(text_is_digit('0') && text_is_digit(0xFF19) && !text_is_digit(0x0661));
    ck_assert(text_is_latin('z') && text_is_latin(0xFF21) && !text_is_latin(0xE9));
    ck_assert(text_is_content('a') && text_is_content(0x6C34) && text_is_content(0x1F600));
    ck_assert(text_is_content(0x301) && text_is_content('$') && text_is_content(0xE000));
    ck_assert(!text_is_content('.') && !text_is_content(' ') && !text_is_content(0x201C));
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("script");
    tcase_add_test(tests, han_is_the_script);
    tcase_add_test(tests, text_with_han);
    tcase_add_test(tests, blanks_and_separators);
    tcase_add_test(tests, classes_of_characters);
    return run_group("text_script", tests);
}
