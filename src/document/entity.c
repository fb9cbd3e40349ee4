#include "document/entity.h"

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

/* Length of the reference at `at`, from & to ; or 0. */
static size_t reference_length(const char *text, size_t at, size_t end)
{
    size_t i = at + 1;
    if (i < end && text[i] == '#')
        i++;
    size_t begin = i;
    while (i < end && i - begin < 32 &&
           ((text[i] >= '0' && text[i] <= '9') || (text[i] >= 'a' && text[i] <= 'z') ||
            (text[i] >= 'A' && text[i] <= 'Z')))
        i++;
    return i > begin && i < end && text[i] == ';' ? i + 1 - at : 0;
}

/* The character of &#8212; or &#x2014;, 0 if it is none. */
static int32_t numeric_character(const char *text, size_t length)
{
    char digits[12];
    bool hex = length > 3 && (text[2] == 'x' || text[2] == 'X');
    size_t begin = hex ? 3 : 2, count = length - 1 - begin;
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

static bool add_blank(doc_flow *flow, zhen_span raw)
{
    return doc_flow_add(flow,
                        &(doc_event){.kind = DOC_EVENT_POINT, .flags = DOC_BLANK, .raw = raw});
}

/* What the reference says is not known: where plain text is asked for, it is shown itself. */
static bool add_unknown(doc_flow *flow, const char *source, zhen_span raw)
{
    return doc_flow_add(flow, &(doc_event){.kind = DOC_EVENT_POINT,
                                           .raw = raw,
                                           .text = source + raw.begin,
                                           .text_length = raw.end - raw.begin});
}

static bool add_numeric(doc_flow *flow, base_arena *arena, const char *source, zhen_span raw)
{
    int32_t character = numeric_character(source + raw.begin, raw.end - raw.begin);
    if (is_fixed_blank(character))
        return add_blank(flow, raw);
    if (character < 0x20)
        return add_unknown(flow, source, raw);
    utf8proc_uint8_t bytes[4];
    size_t length = (size_t)utf8proc_encode_char(character, bytes);
    const char *text = base_arena_string(arena, (const char *)bytes, length);
    return text && doc_flow_add_spelled(flow, raw, text, length);
}

static bool add_reference(doc_flow *flow, base_arena *arena, const char *source, zhen_span raw)
{
    const char *name = source + raw.begin + 1;
    size_t length = raw.end - raw.begin - 2;
    if (*name == '#')
        return add_numeric(flow, arena, source, raw);
    for (size_t i = 0; i < sizeof blanks / sizeof *blanks; i++)
        if (is_name(name, length, blanks[i]))
            return add_blank(flow, raw);
    for (size_t i = 0; i < sizeof named / sizeof *named; i++)
        if (is_name(name, length, named[i].name))
            return doc_flow_add_spelled(flow, raw, named[i].text, strlen(named[i].text));
    return add_unknown(flow, source, raw);
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
