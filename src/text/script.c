#include "text/script.h"

#include "text/utf8.h"

#include <utf8proc.h>

/* Scripts.txt of Unicode 17.0, ascending. Planes 2 and 3 are taken whole: all that will ever be
 * assigned there is ideographs. */
static const struct {
    int32_t first, last;
} han[] = {
    {0x2E80, 0x2E99},   {0x2E9B, 0x2EF3},   {0x2F00, 0x2FD5},   {0x3005, 0x3005},
    {0x3007, 0x3007},   {0x3021, 0x3029},   {0x3038, 0x303B},   {0x3400, 0x4DBF},
    {0x4E00, 0x9FFF},   {0xF900, 0xFA6D},   {0xFA70, 0xFAD9},   {0x16FE2, 0x16FE3},
    {0x16FF0, 0x16FF6}, {0x20000, 0x2FFFD}, {0x30000, 0x3FFFD},
};

bool text_is_han(int32_t character)
{
    if (character >= 0x4E00 && character <= 0x9FFF)
        return true;
    for (size_t i = 0; i < sizeof han / sizeof *han && character >= han[i].first; i++)
        if (character <= han[i].last)
            return true;
    return false;
}

bool text_has_han(const char *text, size_t length)
{
    for (size_t at = 0; at < length;) {
        int32_t character;
        at += text_decode(text + at, length - at, &character);
        if (text_is_han(character))
            return true;
    }
    return false;
}

bool text_is_blank(int32_t character)
{
    if (character <= ' ')
        return true;
    if (character < 0x7F || (character >= 0x3001 && character <= 0xD7FF))
        return false;
    if (character == 0x200B || character == 0xFEFF)
        return true;
    utf8proc_category_t category = utf8proc_category(character);
    return category == UTF8PROC_CATEGORY_ZS || category == UTF8PROC_CATEGORY_ZL ||
           category == UTF8PROC_CATEGORY_ZP || category == UTF8PROC_CATEGORY_CC;
}

bool text_is_separator(int32_t character)
{
    return character < ' ' || (character >= 0x7F && character <= 0x9F) || character == 0x2028 ||
           character == 0x2029;
}

bool text_is_content(int32_t character)
{
    if (character >= 0x3400 && character <= 0xD7FF)
        return true;
    switch (utf8proc_category(character)) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_NO:
    case UTF8PROC_CATEGORY_SM:
    case UTF8PROC_CATEGORY_SC:
    case UTF8PROC_CATEGORY_SK:
    case UTF8PROC_CATEGORY_SO:
    case UTF8PROC_CATEGORY_CN: /* assigned after utf8proc was built, or private, or rare Han */
    case UTF8PROC_CATEGORY_CO:
        return true;
    default:
        return false;
    }
}

/* Full-width forms stand in the order of ASCII, from U+FF01. */
static int32_t narrow(int32_t character)
{
    return character >= 0xFF01 && character <= 0xFF5E ? character - 0xFF01 + '!' : character;
}

bool text_is_digit(int32_t character)
{
    character = narrow(character);
    return character >= '0' && character <= '9';
}

bool text_is_latin(int32_t character)
{
    character = narrow(character);
    return (character >= 'A' && character <= 'Z') || (character >= 'a' && character <= 'z');
}
