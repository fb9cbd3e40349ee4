#include "text/punctuation.h"

#include <stddef.h>

text_mark text_mark_of(int32_t character)
{
    switch (character) {
    case 0x3002: /* 。 */
    case 0xFF01: /* ！ */
    case 0xFF1F: /* ？ */
    case 0xFF1B: /* ； */
    case 0xFF61: /* ｡ */
    case 0x203C: /* ‼ */
    case 0x2047: /* ⁇ */
    case 0x2048: /* ⁈ */
    case 0x2049: /* ⁉ */
    case 0xFE54: /* ﹔ */
    case 0xFE56: /* ﹖ */
    case 0xFE57: /* ﹗ */
        return TEXT_MARK_STOP;
    case '.':
    case '!':
    case '?':
    case ';':
    case 0xFF0E: /* ． */
    case 0xFE52: /* ﹒ */
        return TEXT_MARK_LATIN;
    case 0x2026: /* … */
    case 0x22EF: /* ⋯ */
    case 0x2025: /* ‥ */
        return TEXT_MARK_ELLIPSIS;
    case ',':
    case ':':
    case 0xFF0C: /* ， */
    case 0x3001: /* 、 */
    case 0xFF1A: /* ： */
    case 0xFE50: /* ﹐ */
    case 0xFE51: /* ﹑ */
    case 0xFE55: /* ﹕ */
    case 0xFF64: /* ､ */
    case 0x2014: /* — */
    case 0x2015: /* ― */
    case 0x2500: /* ─, often typed for a dash */
        return TEXT_MARK_COMMA;
    default:
        return TEXT_MARK_NONE;
    }
}

bool text_is_dot(int32_t character)
{
    return character == '.' || character == 0xFF0E || character == 0xFE52;
}

static const struct {
    int32_t opener, closer;
} pairs[] = {
    {'(', ')'},       {'[', ']'},       {'{', '}'},       {0x2018, 0x2019}, {0x201C, 0x201D},
    {0xAB, 0xBB},     {0x3008, 0x3009}, {0x300A, 0x300B}, {0x300C, 0x300D}, {0x300E, 0x300F},
    {0x3010, 0x3011}, {0x3014, 0x3015}, {0x3016, 0x3017}, {0x301D, 0x301E}, {0xFE41, 0xFE42},
    {0xFE43, 0xFE44}, {0xFF08, 0xFF09}, {0xFF3B, 0xFF3D}, {0xFF5B, 0xFF5D}, {0xFF62, 0xFF63},
};

int32_t text_closer_of(int32_t opener)
{
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (pairs[i].opener == opener)
            return pairs[i].closer;
    return 0;
}

bool text_is_closer(int32_t character)
{
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (pairs[i].closer == character)
            return true;
    return false;
}

bool text_is_speech_opener(int32_t character)
{
    switch (character) {
    case 0x2018: /* ‘ */
    case 0x201C: /* “ */
    case 0x300C: /* 「 */
    case 0x300E: /* 『 */
    case 0x301D: /* 〝 */
    case 0xFE41: /* ﹁ */
    case 0xFE43: /* ﹃ */
    case 0xFF62: /* ｢ */
        return true;
    default:
        return false;
    }
}
