#include "document/entity.h"

#include "document/patterns.h"

#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

/* The references that prose is full of; all others stay as they are. */
static const struct {
    const char *name, *text;
} named[] = {
    {"amp", "&"},    {"lt", "<"},    {"gt", ">"},    {"quot", "\""}, {"apos", "'"},
    {"hellip", "…"}, {"mdash", "—"}, {"ndash", "–"}, {"ldquo", "“"}, {"rdquo", "”"},
    {"lsquo", "‘"},  {"rsquo", "’"}, {"laquo", "«"}, {"raquo", "»"}, {"middot", "·"},
    {"times", "×"},  {"deg", "°"},   {"bull", "•"},  {"yen", "¥"},   {"euro", "€"},
};

static const char *const blanks[] = {"nbsp", "ensp", "emsp", "thinsp"};

static bool is_name(const char *text, size_t length, const char *name)
{
    return strlen(name) == length && memcmp(text, name, length) == 0;
}

/* Names that HTML reads without a semicolon, too (HTML, 13.5), which old pages are full of. */
static const char unclosed[] =
    " AElig AMP Aacute Acirc Agrave Aring Atilde Auml COPY Ccedil ETH Eacute Ecirc Egrave Euml GT "
    "Iacute Icirc Igrave Iuml LT Ntilde Oacute Ocirc Ograve Oslash Otilde Ouml QUOT REG THORN "
    "Uacute Ucirc Ugrave Uuml Yacute aacute acirc acute aelig agrave amp aring atilde auml brvbar "
    "ccedil cedil cent copy curren deg divide eacute ecirc egrave eth euml frac12 frac14 frac34 gt "
    "iacute icirc iexcl igrave iquest iuml laquo lt macr micro middot nbsp not ntilde oacute ocirc "
    "ograve ordf ordm oslash otilde ouml para plusmn pound quot raquo reg sect shy sup1 sup2 sup3 "
    "szlig thorn times uacute ucirc ugrave uml uuml yacute yen yuml ";

enum { LONGEST_NAME = 32 };

static bool is_unclosed_name(const char *name, size_t length)
{
    char padded[LONGEST_NAME + 2] = " ";
    memcpy(padded + 1, name, length);
    padded[length + 1] = ' ';
    return memmem(unclosed, sizeof unclosed - 1, padded, length + 2);
}

/* How many of the `length` letters and digits behind & (or &#) are a reference though no semicolon
 * follows. One that an equals sign follows is a part of an address: ?a=1&copy=2. */
static size_t unclosed_length(const char *text, size_t length, bool numeric)
{
    size_t letters = length, digits = 0;
    while (digits < length && doc_is_digit(text[digits]))
        digits++;
    while (letters > 0 && doc_is_digit(text[letters - 1]))
        letters--;
    if (numeric)
        return digits == length ? length : 0;
    return is_unclosed_name(text, length) ? length : is_unclosed_name(text, letters) ? letters : 0;
}

/* Length of the reference at `at`, with its semicolon if it has one; 0: there is none. */
static size_t reference_length(const char *text, size_t at, size_t end)
{
    size_t i = at + 1;
    if (i < end && text[i] == '#')
        i++;
    size_t begin = i;
    while (i < end && i - begin < LONGEST_NAME && doc_is_alnum(text[i]))
        i++;
    char next = i < end ? text[i] : '\0';
    if (i > begin && next == ';')
        return i + 1 - at;
    size_t length =
        next == '=' || next == '_' ? 0 : unclosed_length(text + begin, i - begin, begin > at + 1);
    return length ? begin + length - at : 0;
}

/* The character of &#8212 or &#x2014, 0 if it is none. */
static int32_t numeric_character(const char *text, size_t length)
{
    char digits[12];
    bool hex = length > 3 && (text[2] == 'x' || text[2] == 'X');
    size_t begin = hex ? 3 : 2, count = length - begin;
    if (count == 0 || count >= sizeof digits)
        return 0;
    memcpy(digits, text + begin, count);
    digits[count] = '\0';
    char *end;
    unsigned long value = strtoul(digits, &end, hex ? 16 : 10);
    return *end || value > 0x10FFFF || (value >= 0xD800 && value < 0xE000) ? 0 : (int32_t)value;
}

static bool is_fixed_blank(int32_t c)
{
    return c == 0xA0 || (c >= 0x2002 && c <= 0x200A) || c == 0x202F || c == 0x3000;
}

/* A reference that stays as it is. It gets the semicolon that it lacks: a letter may come behind it
 * in the translation. */
static bool add_point(doc_flow *flow, base_arena *arena, const char *source, doc_event *point)
{
    size_t length = point->raw.end - point->raw.begin;
    point->kind = DOC_EVENT_POINT;
    if (source[point->raw.end - 1] != ';') {
        char *literal = base_arena_allocate(arena, length + 1);
        if (!literal)
            return false;
        memcpy(literal, source + point->raw.begin, length);
        literal[length] = ';';
        point->literal = literal;
        point->literal_length = length + 1;
    }
    return doc_flow_add(flow, point);
}

static bool add_blank(doc_flow *flow, base_arena *arena, const char *source, zhen_span raw)
{
    return add_point(flow, arena, source, &(doc_event){.flags = DOC_BLANK, .raw = raw});
}

/* What the reference says is not known: where plain text is asked for, it is shown itself. */
static bool add_unknown(doc_flow *flow, base_arena *arena, const char *source, zhen_span raw)
{
    return add_point(
        flow, arena, source,
        &(doc_event){.raw = raw, .text = source + raw.begin, .text_length = raw.end - raw.begin});
}

static bool add_numeric(doc_flow *flow, base_arena *arena, const char *source, zhen_span raw)
{
    size_t closed = source[raw.end - 1] == ';';
    int32_t character = numeric_character(source + raw.begin, raw.end - raw.begin - closed);
    if (is_fixed_blank(character))
        return add_blank(flow, arena, source, raw);
    if (character < 0x20)
        return add_unknown(flow, arena, source, raw);
    utf8proc_uint8_t bytes[4];
    size_t length = (size_t)utf8proc_encode_char(character, bytes);
    const char *text = base_arena_string(arena, (const char *)bytes, length);
    return text && doc_flow_add_spelled(flow, raw, text, length);
}

static bool add_reference(doc_flow *flow, base_arena *arena, const char *source, zhen_span raw)
{
    const char *name = source + raw.begin + 1;
    size_t length = raw.end - raw.begin - 1 - (source[raw.end - 1] == ';');
    if (*name == '#')
        return add_numeric(flow, arena, source, raw);
    for (size_t i = 0; i < sizeof blanks / sizeof *blanks; i++)
        if (is_name(name, length, blanks[i]))
            return add_blank(flow, arena, source, raw);
    for (size_t i = 0; i < sizeof named / sizeof *named; i++)
        if (is_name(name, length, named[i].name))
            return doc_flow_add_spelled(flow, raw, named[i].text, strlen(named[i].text));
    return add_unknown(flow, arena, source, raw);
}

bool doc_entity_add_text(doc_flow *flow, base_arena *arena, const char *source, zhen_span raw)
{
    size_t plain = raw.begin;
    for (size_t at = raw.begin; at < raw.end;) {
        size_t length = source[at] == '&' ? reference_length(source, at, raw.end) : 0;
        if (length == 0) {
            at++;
            continue;
        }
        if (!doc_flow_add_text(flow, source, (zhen_span){plain, at}) ||
            !add_reference(flow, arena, source, (zhen_span){at, at + length}))
            return false;
        plain = at += length;
    }
    return doc_flow_add_text(flow, source, (zhen_span){plain, raw.end});
}
