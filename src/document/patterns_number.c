#include "document/patterns.h"

/*
 * Numbers and names of things, which a model copies with a digit too many or too few: addresses of
 * machines, telephone and account numbers, serial numbers, identifiers. Quantities, dates, times
 * and years are not among them: those are translated.
 */
enum {
    LONG_NUMBER = 7,   /* digits in a row, commas aside: 13800138000, 1,234,567 */
    LONG_NUMBERS = 10, /* digits of groups: 138-0013-8000, 138 0013 8000 */
    LONG_CODE = 5,     /* digits of a code of letters and digits: AB12345 */
    LONGEST_UNIT = 4,  /* letters: 12345km is a quantity */
    PORT_DIGITS = 5,
    LONGEST_GROUP = 4, /* digits between blanks */
    MOST_GROUPS = 8
};

/* Letters, digits and underscores, joined by single marks: a-b_c.1:2. */
typedef struct token {
    size_t end;
    size_t digits, letters, tail; /* tail: letters at the end */
    size_t run;                   /* the longest row of digits */
    size_t joints, hyphens, dots; /* joints: marks of all kinds but commas */
    bool hex;                     /* all letters are hexadecimal digits */
    bool underscore;              /* before a letter or digit */
} token;

static bool is_token_byte(char c)
{
    return doc_is_alnum(c) || c == '_';
}

/* A comma before a group of three digits: 1,234,567. */
static bool is_thousands_comma(const char *text, size_t length, size_t at)
{
    for (size_t i = 1; i <= 3; i++)
        if (!doc_is_digit(doc_at_or_zero(text, length, at + i)))
            return false;
    return text[at] == ',' && !doc_is_alnum(doc_at_or_zero(text, length, at + 4));
}

/* Whether no more digits stand at `at` than the number of a port has: localhost:8080. */
static bool is_port(const char *text, size_t length, size_t at)
{
    size_t digits = 0;
    while (digits <= PORT_DIGITS && doc_is_digit(doc_at_or_zero(text, length, at + digits)))
        digits++;
    return digits > 0 && digits <= PORT_DIGITS &&
           !is_token_byte(doc_at_or_zero(text, length, at + digits));
}

/* Whether the word that ends at `end` is hexadecimal: 00:1A, not QQ:1234567. */
static bool is_hex_before(const char *text, size_t end)
{
    size_t begin = end;
    while (begin > 0 && doc_hex_value(text[begin - 1]) >= 0)
        begin--;
    return begin == 0 || !is_token_byte(text[begin - 1]);
}

/* Whether a token goes on to the left of `at`: each is read once, from its beginning. */
static bool is_inside_token(const char *text, size_t length, size_t at)
{
    if (at == 0 || is_token_byte(text[at - 1]))
        return at > 0;
    if (at == 1)
        return false;
    char mark = text[at - 1], before = text[at - 2];
    if (mark == ':' && is_token_byte(before))
        return is_hex_before(text, at - 1) || is_port(text, length, at);
    return (doc_is_one_of(mark, ".:-") && (is_token_byte(before) || before == ':')) ||
           (doc_is_digit(before) && is_thousands_comma(text, length, at - 1));
}

/* The length of the mark at `at` if the token goes on behind it: one byte, two in fe80::1. A name
 * and its value (QQ:1234567) are two tokens. */
static size_t joint(const char *text, size_t length, size_t at)
{
    size_t bytes = doc_starts_with(text, length, at, "::") ? 2 : 1;
    if (bytes == 1 && text[at] == ':' && !is_hex_before(text, at) && !is_port(text, length, at + 1))
        return 0;
    bool goes_on =
        doc_is_one_of(text[at], ".:-") && is_token_byte(doc_at_or_zero(text, length, at + bytes));
    return goes_on ? bytes : 0;
}

static void add_byte(token *t, char c, char next)
{
    if (doc_is_digit(c)) {
        t->digits++;
        t->tail = 0;
    } else if (c == '_') {
        t->underscore = t->underscore || doc_is_alnum(next);
        t->hex = false;
        t->tail = 0;
    } else {
        t->letters++;
        t->tail++;
        t->hex = t->hex && doc_is_one_of(c, "abcdefABCDEF");
    }
}

static token read_token(const char *text, size_t length, size_t at)
{
    token t = {.end = at, .hex = true};
    size_t run = 0;
    while (t.end < length) {
        char c = text[t.end];
        if (is_token_byte(c)) {
            add_byte(&t, c, doc_at_or_zero(text, length, t.end + 1));
            run = doc_is_digit(c) ? run + 1 : 0;
            t.run = run > t.run ? run : t.run;
            t.end++;
            continue;
        }
        if (run && is_thousands_comma(text, length, t.end)) {
            t.end++;
            continue;
        }
        size_t bytes = joint(text, length, t.end);
        if (!bytes)
            break;
        t.joints += bytes;
        t.hyphens += c == '-';
        t.dots += c == '.';
        t.end += bytes;
        t.tail = run = 0;
    }
    return t;
}

/* get_user_name, get_user_name(), main(). */
static size_t match_identifier(const char *text, size_t length, size_t at, const token *t)
{
    bool call = !doc_is_digit(text[at]) && doc_starts_with(text, length, t->end, "()");
    if (!t->letters || !(t->underscore || call))
        return 0;
    return t->end + (call ? 2 : 0) - at;
}

/* Whether the number is that of a section or a version: 第3.1.2.1节. */
static bool is_section(const char *text, size_t length, size_t begin, size_t end)
{
    static const char *const words[] = {"节", "節", "章", "条", "條", "版", "款", "项", "項"};
    const size_t size = sizeof "第" - 1;
    if (begin >= size && memcmp(text + begin - size, "第", size) == 0)
        return true;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (end < length && doc_starts_with(text, length, end, words[i]))
            return true;
    return false;
}

/* 192.168.1.1, 192.168.1.1:8080, 10.0.0.0/8; at most 18 bytes are looked at. */
static size_t match_ipv4(const char *text, size_t length, size_t at)
{
    size_t end = at;
    for (int part = 0; part < 4; part++) {
        unsigned value = 0;
        size_t begin = end += part > 0;
        for (; end < length && end - begin < 3 && doc_is_digit(text[end]); end++)
            value = 10 * value + (unsigned)(text[end] - '0');
        char next = doc_at_or_zero(text, length, end);
        if (end == begin || value > 255 || (part < 3 && next != '.'))
            return 0;
    }
    char next = doc_at_or_zero(text, length, end);
    if (is_section(text, length, at, end) || is_token_byte(next) ||
        (next == '.' && is_token_byte(doc_at_or_zero(text, length, end + 1))))
        return 0;
    size_t digits = 0;
    if (doc_is_one_of(next, ":/"))
        while (digits < 6 && doc_is_digit(doc_at_or_zero(text, length, end + 1 + digits)))
            digits++;
    return end - at + (digits > 0 && digits < 6 ? 1 + digits : 0);
}

/* 138 0013 8000: groups of two to four digits between single blanks. */
static size_t match_spaced(const char *text, size_t length, size_t at)
{
    size_t end = at, digits = 0, groups = 0;
    if (at > 1 && text[at - 1] == ' ' && doc_is_digit(text[at - 2]))
        return 0;
    while (groups < MOST_GROUPS) {
        size_t size = 0;
        while (size <= LONGEST_GROUP && doc_is_digit(doc_at_or_zero(text, length, end + size)))
            size++;
        if (size < 2 || size > LONGEST_GROUP)
            return 0;
        digits += size;
        groups++;
        end += size;
        if (doc_at_or_zero(text, length, end) != ' ' ||
            !doc_is_digit(doc_at_or_zero(text, length, end + 1))) {
            bool ends = !is_token_byte(doc_at_or_zero(text, length, end));
            return ends && groups >= 3 && digits >= LONG_NUMBERS ? end - at : 0;
        }
        end++;
    }
    return 0;
}

bool doc_is_counted(const char *text, size_t length, size_t end)
{
    static const char *const words[] = {"十", "百", "千", "万", "亿", "萬", "億", "年", "月"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (end < length && doc_starts_with(text, length, end, words[i]))
            return true;
    return false;
}

static bool is_long(const char *text, size_t at, const token *t)
{
    bool quantity = doc_is_digit(text[at]) && t->tail == t->letters && t->tail <= LONGEST_UNIT;
    if (t->run >= LONG_NUMBER)
        return true;
    if (t->letters && t->digits >= LONG_CODE && !quantity)
        return true;
    if (!t->letters && t->hyphens == t->joints && t->digits >= LONG_NUMBERS)
        return true;
    /* MAC addresses, IPv6, UUIDs. */
    return t->hex && !t->dots && t->digits && t->joints >= (t->letters ? 2 : 4);
}

size_t doc_match_number(const char *text, size_t length, size_t at)
{
    size_t sign = text[at] == '+';
    if (is_inside_token(text, length, at) ||
        !is_token_byte(doc_at_or_zero(text, length, at + sign)))
        return 0;
    size_t begin = at + sign, bytes = match_ipv4(text, length, begin);
    token t = read_token(text, length, begin);
    if (!bytes)
        bytes = match_identifier(text, length, begin, &t);
    if (bytes)
        return sign + bytes;
    bytes = is_long(text, begin, &t) ? t.end - begin : match_spaced(text, length, begin);
    return bytes && !doc_is_counted(text, length, begin + bytes) ? sign + bytes : 0;
}
