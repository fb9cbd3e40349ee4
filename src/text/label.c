#include "text/label.h"

#include "text/punctuation.h"
#include "text/script.h"
#include "text/utf8.h"

#include <string.h>
#include <utf8proc.h>

enum {
    LABEL_DIGITS = 3, /* no list is longer; 2008. is a year */
    ROMAN_LETTERS = 4,
    FIELD_NAME = 8,
    STRICT_FIELD_NAME = 6
};

/* ---- Bullets -------------------------------------------------------------------------------- */

typedef enum sign {
    SIGN_NONE,
    SIGN_SYMBOL, /* stands before a sentence wherever it begins one */
    SIGN_DASH    /* does so before a blank: - * +; else it belongs to what follows, as in -5 */
} sign;

bool text_is_emoji(int32_t character)
{
    return (character >= 0x1F000 && character < 0x20000) || character == 0x200D /* joiner */ ||
           character == 0x20E3 /* keycap */ || character == 0xFE0E || character == 0xFE0F ||
           (character >= 0xE0020 && character <= 0xE007F) /* tags */;
}

/* Symbols of Unicode that are no text: not ℃ or ㈱, which normalisation writes in letters, not the
 * radicals, not what stands for a broken character. */
static bool is_symbol(int32_t character)
{
    const utf8proc_property_t *property = utf8proc_get_property(character);
    return (property->category == UTF8PROC_CATEGORY_SO ||
            property->category == UTF8PROC_CATEGORY_SM) &&
           property->decomp_type == 0 && !text_is_han(character) && character != 0xFFFD;
}

static sign sign_of(int32_t character)
{
    if (character < 0x80)
        return character > ' ' && strchr("-*+<=>|~", (char)character) ? SIGN_DASH : SIGN_NONE;
    switch (character) {
    case 0xB1:   /* ± */
    case 0x2013: /* – */
    case 0x2014: /* — */
    case 0x2015: /* ― */
    case 0x2212: /* − */
    case 0x2500: /* ─ */
        return SIGN_DASH;
    case 0xA7:   /* § */
    case 0xB6:   /* ¶ */
    case 0xB7:   /* · */
    case 0x2020: /* † */
    case 0x2021: /* ‡ */
    case 0x2022: /* • */
    case 0x2023: /* ‣ */
    case 0x2027: /* ‧ */
    case 0x203B: /* ※ */
    case 0x2043: /* ⁃ */
    case 0x30FB: /* ・ */
        return SIGN_SYMBOL;
    default:
        break;
    }
    if (text_mark_of(character) != TEXT_MARK_NONE)
        return SIGN_NONE;
    /* Word processors put the bullets of the fonts Symbol and Wingdings here. */
    if (character >= 0xF000 && character <= 0xF0FF)
        return SIGN_SYMBOL;
    return text_is_emoji(character) || is_symbol(character) ? SIGN_SYMBOL : SIGN_NONE;
}

/* Signs with blanks between them. */
static size_t signs_end(const char *text, size_t length)
{
    size_t at = 0, end = 0, before = 0; /* the ends of what counts, and of the sign before */
    while (at < length) {
        int32_t character;
        size_t size = text_decode(text + at, length - at, &character);
        sign found = sign_of(character);
        if (text_is_separator(character))
            return before;
        if (character == 0x2500 && at > 0 && end == at) /* ├── of a tree */
            found = SIGN_SYMBOL;
        if (text_is_blank(character))
            end = before;
        else if (found == SIGN_NONE)
            return end;
        else
            before = at + size;
        if (found == SIGN_SYMBOL)
            end = before;
        at += size;
    }
    return before;
}

/* ---- List labels ---------------------------------------------------------------------------- */

static size_t digits_length(const char *text, size_t length)
{
    size_t count = 0;
    while (count < length && text[count] >= '0' && text[count] <= '9')
        count++;
    return count <= LABEL_DIGITS ? count : 0;
}

/* One letter, or a Roman number. */
static size_t letters_length(const char *text, size_t length)
{
    size_t count = 0;
    while (count < length && count <= ROMAN_LETTERS && strchr("IVXivx", text[count]) && text[count])
        count++;
    if (count >= 1 && count <= ROMAN_LETTERS)
        return count;
    return length && text_is_latin((unsigned char)text[0]);
}

/* The number that a sign says: ① ⑴ ⒈ ⓵ ❶ ➀ ➊; 0: it says none. */
static int circled_number(int32_t character)
{
    static const struct {
        int32_t first, last;
    } rows[] = {{0x2460, 0x2473}, {0x2474, 0x2487}, {0x2488, 0x249B}, {0x24F5, 0x24FE},
                {0x2776, 0x277F}, {0x2780, 0x2789}, {0x278A, 0x2793}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (character >= rows[i].first && character <= rows[i].last)
            return character - rows[i].first + 1;
    return 0;
}

static bool joins_numbers(int32_t character)
{
    switch (character) {
    case 0x548C: /* 和 */
    case 0x4E0E: /* 与 */
    case 0x8207: /* 與 */
    case 0x53CA: /* 及 */
    case 0x6216: /* 或 */
    case 0x81F3: /* 至 */
    case 0x5230: /* 到 */
        return true;
    default:
        return false;
    }
}

/* The circled number with which the text begins, and its end, if an item follows it; 0 if the text
 * only speaks of it: ①和②, ①②, ①、②, ①的. */
static int circled_label(const char *text, size_t length, size_t *end)
{
    int32_t character = 0, next = ' ';
    *end = length ? text_decode(text, length, &character) : 0;
    int number = circled_number(character);
    size_t at = *end;
    if (number == 0)
        return 0;
    while (at < length && text_is_blank(next) && !text_is_separator(next))
        at += text_decode(text + at, length - at, &next);
    if (text_is_blank(next) || text_mark_of(next) != TEXT_MARK_NONE || text_is_closer(next) ||
        circled_number(next) || next == 0x7684 /* 的 */)
        return 0;
    if (joins_numbers(next) && at < length)
        text_decode(text + at, length - at, &next);
    return circled_number(next) ? 0 : number;
}

/* A blank stands behind a label; a small letter needs none before Han. */
static size_t label_end(const char *text, size_t length)
{
    size_t circled;
    if (circled_label(text, length, &circled))
        return circled;
    size_t digits = digits_length(text, length);
    size_t end = digits ? digits : letters_length(text, length);
    if (end == 0 || end + 1 >= length || (text[end] != '.' && text[end] != ')'))
        return 0;
    int32_t next;
    text_decode(text + end + 1, length - end - 1, &next);
    bool small = text[0] >= 'a' && text[0] <= 'z';
    return next == ' ' || (small && text_is_han(next)) ? end + 1 : 0;
}

/* ---- Both ----------------------------------------------------------------------------------- */

/* Reads the first character that is not blank; 0 at the end of the line. */
static int32_t next_visible(const char *text, size_t length)
{
    int32_t character = 0;
    for (size_t at = 0; at < length;) {
        at += text_decode(text + at, length - at, &character);
        if (text_is_separator(character))
            return 0;
        if (!text_is_blank(character))
            return character;
    }
    return 0;
}

size_t text_lead_end(const char *text, size_t length)
{
    size_t end = signs_end(text, length);
    bool is_label = end == 0 && (end = label_end(text, length)) > 0;
    if (end == 0)
        return 0;
    int32_t next = next_visible(text + end, length - end);
    if (next == 0)
        return is_label ? 0 : end;
    /* ●。 and ★：推荐 */
    if (text_is_closer(next) ||
        (text_mark_of(next) != TEXT_MARK_NONE && sign_of(next) != SIGN_DASH))
        return 0;
    /* J. Smith */
    if (is_label && text_is_latin((unsigned char)text[0]) && text[end - 1] == '.' &&
        text_is_latin(next))
        return 0;
    return end;
}

bool text_begins_with_bullet(const char *text, size_t length)
{
    int32_t character = 0;
    if (length)
        text_decode(text, length, &character);
    return (character >= 0x25A0 && character <= 0x25FF) /* ■ ○ ▸ and other shapes */ ||
           (character >= 0x2610 && character <= 0x2612) /* ☐ ☑ ☒ */ || character == 0x2022 ||
           character == 0x2023 || character == 0x203B;
}

bool text_is_signs(const char *text, size_t length)
{
    int32_t character = 0;
    if (length)
        text_decode(text, length, &character);
    if (sign_of(character) != SIGN_SYMBOL)
        return false;
    size_t end = signs_end(text, length);
    return next_visible(text + end, length - end) == 0;
}

bool text_is_sign(int32_t character)
{
    return sign_of(character) != SIGN_NONE;
}

/* ---- Items and fields ----------------------------------------------------------------------- */

int text_item_place(const char *text, size_t length)
{
    int32_t character = 0;
    size_t at = 0, size = 0, digits = 0;
    int place = circled_label(text, length, &size);
    if (place)
        return TEXT_FIRST_CIRCLED - 1 + place;
    for (; at < length; at += size) {
        size = text_decode(text + at, length - at, &character);
        if (!text_is_digit(character) || ++digits > LABEL_DIGITS)
            break;
        place = 10 * place + (character & 0xF); /* in ASCII and in full width */
    }
    if (digits == 0 && length && text_is_latin(character)) {
        place = TEXT_FIRST_LETTER - 1 + (character & 0x1F);
        at += size;
    }
    if (place == 0 || at == length)
        return 0;
    at += text_decode(text + at, length - at, &character);
    if (!text_is_dot(character) && character != ')' && character != 0xFF09 /* ） */)
        return 0;
    if (at < length)
        text_decode(text + at, length - at, &character);
    return text_is_digit(character) || text_is_latin(character) ? 0 : place; /* 3.14, p.m. */
}

bool text_begins_field(const char *text, size_t length, bool strict)
{
    size_t most = strict ? STRICT_FIELD_NAME : FIELD_NAME, at = 0;
    for (size_t count = 0; count <= most && at < length; count++) {
        int32_t character;
        at += text_decode(text + at, length - at, &character);
        if (character == 0xFF1A /* ： */ || character == ':') /* but http:// and C:\ */
            return count > 1 && (at == length || !strchr("/\\", text[at]));
        bool fits = text_is_han(character) || (!strict && text_is_latin(character)) ||
                    (!strict && count > 0 && text_is_content(character));
        if (!fits)
            return false;
    }
    return false;
}
