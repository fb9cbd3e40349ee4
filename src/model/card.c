#include "model/card.h"

#include "base/buffer.h"

#include <stdbool.h>
#include <string.h>
#include <utf8proc.h>

enum { CARD_LIMIT = 64 * 1024, VALUE_LIMIT = 200 };

/* A part of the card. */
typedef struct piece {
    const char *text;
    size_t length;
} piece;

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static piece trim(piece p)
{
    while (p.length && is_blank(p.text[0]))
        p = (piece){p.text + 1, p.length - 1};
    while (p.length && is_blank(p.text[p.length - 1]))
        p.length--;
    return p;
}

/* Cuts the first line off the rest; false at the end. */
static bool next_line(piece *rest, piece *line)
{
    if (!rest->length)
        return false;
    const char *newline = memchr(rest->text, '\n', rest->length);
    line->text = rest->text;
    line->length = newline ? (size_t)(newline - rest->text) : rest->length;
    const size_t taken = line->length + (newline ? 1 : 0);
    *rest = (piece){rest->text + taken, rest->length - taken};
    return true;
}

static bool is_fence(piece line)
{
    line = trim(line);
    return line.length == 3 && !memcmp(line.text, "---", 3);
}

/* Whether the line is "key: value". */
static bool has_key(piece line, const char *key, piece *value)
{
    const size_t length = strlen(key);
    if (line.length <= length || memcmp(line.text, key, length) != 0 || line.text[length] != ':')
        return false;
    *value = trim((piece){line.text + length + 1, line.length - length - 1});
    return true;
}

static piece unquote(piece p)
{
    if (p.length >= 2 && (p.text[0] == '"' || p.text[0] == '\'') &&
        p.text[p.length - 1] == p.text[0])
        return (piece){p.text + 1, p.length - 2};
    const char *comment = memmem(p.text, p.length, " #", 2);
    return comment ? trim((piece){p.text, (size_t)(comment - p.text)}) : p;
}

static bool is_printable_utf8(const char *text, size_t length)
{
    for (size_t i = 0; i < length;) {
        utf8proc_int32_t character;
        utf8proc_ssize_t bytes = utf8proc_iterate((const utf8proc_uint8_t *)text + i,
                                                  (utf8proc_ssize_t)(length - i), &character);
        if (bytes < 1 || utf8proc_category(character) == UTF8PROC_CATEGORY_CC)
            return false;
        i += (size_t)bytes;
    }
    return true;
}

/* Adds one item to the value; false when memory runs out. */
static bool append_item(base_buffer *value, piece item)
{
    item = unquote(item);
    if (!item.length)
        return true;
    return (!value->length || base_buffer_append_string(value, ", ")) &&
           base_buffer_append(value, item.text, item.length);
}

/* The value on the key's own line or, if that is empty, in the lines of "- item" below it. */
static bool collect(piece rest, piece own, base_buffer *value)
{
    if (own.length)
        return append_item(value, own);
    piece line;
    while (next_line(&rest, &line)) {
        line = trim(line);
        if (line.length < 2 || line.text[0] != '-' || !is_blank(line.text[1]))
            return true;
        if (!append_item(value, trim((piece){line.text + 1, line.length - 1})))
            return false;
    }
    return true;
}

const char *mdl_card_value(const void *bytes, size_t size, const char *key, base_arena *arena)
{
    piece rest = {bytes, size < CARD_LIMIT ? size : CARD_LIMIT}, line, own;
    if (!next_line(&rest, &line) || !is_fence(line))
        return NULL;
    while (next_line(&rest, &line) && !is_fence(line)) {
        if (!has_key(line, key, &own))
            continue;
        base_buffer value = {0};
        const char *copy = NULL;
        if (collect(rest, own, &value) && value.length && value.length <= VALUE_LIMIT &&
            is_printable_utf8(value.data, value.length))
            copy = base_arena_string(arena, value.data, value.length);
        base_buffer_free(&value);
        return copy;
    }
    return NULL;
}
