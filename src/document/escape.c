#include "document/escape.h"

#include "document/patterns.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Writes what `spell` gives for each byte that it gives something for, and other bytes as they
 * are. All special characters are ASCII. */
typedef const char *(*spelling)(char c);

static bool escape_bytes(base_buffer *out, const char *text, size_t length, spelling spell)
{
    size_t plain = 0;
    for (size_t i = 0; i < length; i++) {
        const char *special = spell(text[i]);
        if (!special)
            continue;
        if (!base_buffer_append(out, text + plain, i - plain) ||
            !base_buffer_append_string(out, special))
            return false;
        plain = i + 1;
    }
    return base_buffer_append(out, text + plain, length - plain);
}

bool doc_escape_none(base_buffer *out, const char *text, size_t length)
{
    return base_buffer_append(out, text, length);
}

/* ---- Markup --------------------------------------------------------------------------------- */

/* Control characters are not allowed in XML at all. */
static const char *spell_markup(char c)
{
    switch (c) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    default:
        return (unsigned char)c < 0x20 && c != '\n' && c != '\r' && c != '\t' ? " " : NULL;
    }
}

static const char *spell_attribute(char c)
{
    return c == '"'                 ? "&quot;"
           : c == '\''              ? "&#39;"
           : c == '\n' || c == '\r' ? " "
                                    : spell_markup(c);
}

bool doc_escape_markup(base_buffer *out, const char *text, size_t length)
{
    return escape_bytes(out, text, length, spell_markup);
}

bool doc_escape_cdata(base_buffer *out, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        bool ends =
            text[i] == '>' && out->length >= 2 && memcmp(out->data + out->length - 2, "]]", 2) == 0;
        const char *special = (unsigned char)text[i] < 0x20 ? spell_markup(text[i]) : NULL;
        if ((ends && !base_buffer_append_byte(out, ' ')) ||
            !base_buffer_append_byte(out, special ? *special : text[i]))
            return false;
    }
    return true;
}

bool doc_escape_attribute(base_buffer *out, const char *text, size_t length)
{
    return escape_bytes(out, text, length, spell_attribute);
}

/* ---- Quoted strings ---------------------------------------------------------------------------
 */

static const char *spell_backslash(char c)
{
    switch (c) {
    case '"':
        return "\\\"";
    case '\\':
        return "\\\\";
    case '\n':
        return "\\n";
    case '\r':
        return "\\r";
    case '\t':
        return "\\t";
    case '\b':
        return "\\b";
    case '\f':
        return "\\f";
    default:
        return NULL;
    }
}

bool doc_escape_json(base_buffer *out, const char *text, size_t length)
{
    size_t plain = 0;
    for (size_t i = 0; i < length; i++) {
        char code[8];
        const char *special = spell_backslash(text[i]);
        if (!special && (unsigned char)text[i] < 0x20) {
            (void)snprintf(code, sizeof code, "\\u%04x", (unsigned)(unsigned char)text[i]);
            special = code;
        }
        if (!special)
            continue;
        if (!base_buffer_append(out, text + plain, i - plain) ||
            !base_buffer_append_string(out, special))
            return false;
        plain = i + 1;
    }
    return base_buffer_append(out, text + plain, length - plain);
}

bool doc_escape_po(base_buffer *out, const char *text, size_t length)
{
    return escape_bytes(out, text, length, spell_backslash);
}

static const char *spell_csv(char c)
{
    return c == '"' ? "\"\"" : NULL;
}

bool doc_escape_csv_quoted(base_buffer *out, const char *text, size_t length)
{
    return escape_bytes(out, text, length, spell_csv);
}

/* ---- Markdown ------------------------------------------------------------------------------- */

/* What is beyond an edge (before the text too, for i - 1 wraps around) counts as a blank. */
static char char_or_blank(const char *text, size_t length, size_t i)
{
    if (i >= length)
        return ' ';
    return text[i];
}

/* Whether the character at i would be markup. An underscore inside a word, an ampersand that begins
 * no character reference and an asterisk between blanks are text as they are. */
static bool is_markdown(const char *text, size_t length, size_t i)
{
    char before = char_or_blank(text, length, i - 1), after = char_or_blank(text, length, i + 1);
    switch (text[i]) {
    case '\\':
    case '`':
    case '[':
    case ']':
    case '<':
    case '~':
        return true;
    case '*': /* at an edge, what comes next to it is not known */
        return i == 0 || i + 1 == length || before != ' ' || after != ' ';
    case '_':
        return !doc_is_alnum(before) || !doc_is_alnum(after);
    case '&':
        return doc_is_alnum(after) || after == '#';
    default:
        return false;
    }
}

/* How many bytes at the start of a block would make it a heading, quotation, list or rule, and
 * which of them takes the backslash; 0 if none. */
static size_t block_marker(const char *text, size_t length, size_t *escape)
{
    size_t digits = 0;
    while (digits < length && digits < 10 && text[digits] >= '0' && text[digits] <= '9')
        digits++;
    char first = char_or_blank(text, length, digits);
    *escape = digits;
    if (digits)
        return digits < 10 && (first == '.' || first == ')') ? digits + 1 : 0;
    char second = char_or_blank(text, length, 1);
    if (first == '-' || first == '+' || first == '*' || first == '=')
        return second == ' ' || second == first;
    return first == '#' || first == '>';
}

typedef enum markdown_place { AT_BLOCK, INSIDE, IN_CELL, IN_QUOTES } markdown_place;

static bool escape_markdown(base_buffer *out, const char *text, size_t length, markdown_place place)
{
    size_t plain = 0, marker = SIZE_MAX;
    if (place == AT_BLOCK && out->length == 0 && !block_marker(text, length, &marker))
        marker = SIZE_MAX;
    for (size_t i = 0; i < length; i++) {
        bool quote = place == IN_QUOTES && text[i] == '"';
        if (i != marker && !quote && !is_markdown(text, length, i) &&
            !(place == IN_CELL && text[i] == '|'))
            continue;
        if (!base_buffer_append(out, text + plain, i - plain) ||
            !base_buffer_append_byte(out, quote ? '\'' : '\\'))
            return false;
        plain = quote ? i + 1 : i;
    }
    return base_buffer_append(out, text + plain, length - plain);
}

bool doc_escape_markdown(base_buffer *out, const char *text, size_t length)
{
    return escape_markdown(out, text, length, AT_BLOCK);
}

bool doc_escape_markdown_inner(base_buffer *out, const char *text, size_t length)
{
    return escape_markdown(out, text, length, INSIDE);
}

bool doc_escape_markdown_cell(base_buffer *out, const char *text, size_t length)
{
    return escape_markdown(out, text, length, IN_CELL);
}

bool doc_escape_markdown_quoted(base_buffer *out, const char *text, size_t length)
{
    return escape_markdown(out, text, length, IN_QUOTES);
}
