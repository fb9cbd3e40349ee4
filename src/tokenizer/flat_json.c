#include "tokenizer/flat_json.h"

#include <string.h>
#include <utf8proc.h>

tok_flat_json tok_flat_start(const char *text, size_t size)
{
    return (tok_flat_json){.at = text, .end = text + size};
}

static void skip_space(tok_flat_json *json)
{
    while (json->at < json->end &&
           (*json->at == ' ' || *json->at == '\n' || *json->at == '\r' || *json->at == '\t'))
        json->at++;
}

/* Space, the character `c`, and space. */
static bool skip(tok_flat_json *json, char c)
{
    skip_space(json);
    if (json->at == json->end || *json->at != c)
        return false;
    json->at++;
    skip_space(json);
    return true;
}

/* Four hexadecimal digits. */
static bool read_hex(tok_flat_json *json, int32_t *value)
{
    if (json->end - json->at < 4)
        return false;
    *value = 0;
    for (int i = 0; i < 4; i++) {
        const char c = *json->at++, low = (char)(c | 0x20);
        if (c >= '0' && c <= '9')
            *value = *value * 16 + (c - '0');
        else if (low >= 'a' && low <= 'f')
            *value = *value * 16 + (low - 'a' + 10);
        else
            return false;
    }
    return true;
}

/* What follows "\u": a character, or the halves of one beyond U+FFFF. */
static bool read_character(tok_flat_json *json, int32_t *character)
{
    if (!read_hex(json, character))
        return false;
    if (*character < 0xD800 || *character > 0xDBFF)
        return *character != 0 && (*character < 0xDC00 || *character > 0xDFFF);
    int32_t low;
    if (json->end - json->at < 2 || json->at[0] != '\\' || json->at[1] != 'u')
        return false;
    json->at += 2;
    if (!read_hex(json, &low) || low < 0xDC00 || low > 0xDFFF)
        return false;
    *character = 0x10000 + ((*character - 0xD800) << 10) + (low - 0xDC00);
    return true;
}

/* What follows a backslash; those that stand for control characters are not for pieces. */
static bool read_escape(tok_flat_json *json, char **out)
{
    if (json->at == json->end)
        return false;
    const char c = *json->at++;
    int32_t character;
    if (c == '"' || c == '\\' || c == '/') {
        *(*out)++ = c;
        return true;
    }
    if (c != 'u' || !read_character(json, &character))
        return false;
    *out += utf8proc_encode_char(character, (utf8proc_uint8_t *)*out);
    return true;
}

/* The string that begins here, quotes and all. */
static bool read_string(tok_flat_json *json, char *name, size_t *length)
{
    if (json->at == json->end || *json->at++ != '"')
        return false;
    char *out = name;
    while (json->at < json->end && (unsigned char)*json->at >= ' ') {
        const char c = *json->at++;
        if (c == '"') {
            *length = (size_t)(out - name);
            return *length > 0;
        }
        if (c != '\\')
            *out++ = c;
        else if (!read_escape(json, &out))
            return false;
    }
    return false;
}

/* Digits without a sign, a fraction, an exponent or zeros in front. */
static bool read_number(tok_flat_json *json, int32_t *number)
{
    const char *begin = json->at;
    int64_t value = 0;
    while (json->at < json->end && *json->at >= '0' && *json->at <= '9' && value <= INT32_MAX)
        value = value * 10 + (*json->at++ - '0');
    if (json->at == begin || value > INT32_MAX || (*begin == '0' && json->at - begin > 1))
        return false;
    *number = (int32_t)value;
    return true;
}

tok_flat_result tok_flat_next(tok_flat_json *json, char *name, size_t *length, int32_t *number)
{
    const bool first = !json->begun;
    json->begun = true;
    if (first && !skip(json, '{'))
        return TOK_FLAT_OTHER;
    if (skip(json, '}'))
        return json->at == json->end ? TOK_FLAT_END : TOK_FLAT_OTHER;
    if (!first && !skip(json, ','))
        return TOK_FLAT_OTHER;
    if (!read_string(json, name, length) || !skip(json, ':') || !read_number(json, number))
        return TOK_FLAT_OTHER;
    return TOK_FLAT_PAIR;
}
