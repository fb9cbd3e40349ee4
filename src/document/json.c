/*
 * JSON (RFC 8259) and JSON Lines: string values are translated, member names and everything else
 * stay. The scanner checks the grammar on the way, for a document that is no JSON should not come
 * out half translated.
 */
#include "base/error.h"
#include "document/document.h"
#include "document/escape.h"
#include "document/json_path.h"
#include "document/patterns.h"
#include "document/protect.h"

#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

enum { MAX_DEPTH = 512 };

typedef struct scanner {
    zhen_document *document;
    const char *text;
    size_t at, length;
    doc_json_path path; /* where in the document the scanner is */
    zhen_error *error;
} scanner;

static zhen_status fail(const scanner *s, const char *what)
{
    return doc_fail_at(s->document, s->at, s->error, "not JSON: %s", what);
}

static char peek(const scanner *s)
{
    if (s->at >= s->length)
        return '\0';
    return s->text[s->at];
}

static void skip_blanks(scanner *s)
{
    while (s->at < s->length && strchr(" \t\r\n", s->text[s->at]) && s->text[s->at])
        s->at++;
}

/* ---- Strings ------------------------------------------------------------------------------ */

/* Reads the four digits of \uXXXX at `at`; -1 if they are none. */
static int32_t read_hex(const scanner *s, size_t at)
{
    int32_t value = 0;
    if (at + 4 > s->length)
        return -1;
    for (size_t i = 0; i < 4; i++) {
        int digit = doc_hex_value(s->text[at + i]);
        if (digit < 0)
            return -1;
        value = value * 16 + digit;
    }
    return value;
}

/* The escape sequence at s->at; `bytes` is its length, `out` the text. */
static bool read_escape(const scanner *s, size_t *bytes, char out[4], size_t *length)
{
    static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
    char c = '\0';
    if (s->at + 1 < s->length)
        c = s->text[s->at + 1];
    const char *found = c ? strchr(names, c) : NULL;
    if (found) {
        out[0] = values[found - names];
        *bytes = 2;
        *length = 1;
        return true;
    }
    int32_t unit = c == 'u' ? read_hex(s, s->at + 2) : -1;
    if (unit < 0)
        return false;
    *bytes = 6;
    if (unit >= 0xD800 && unit < 0xDC00 && s->at + 7 < s->length && s->text[s->at + 6] == '\\' &&
        s->text[s->at + 7] == 'u') {
        int32_t low = read_hex(s, s->at + 8);
        if (low >= 0xDC00 && low < 0xE000) {
            unit = 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00);
            *bytes = 12;
        }
    }
    /* Half a surrogate pair means nothing. */
    bool half = unit >= 0xD800 && unit < 0xE000;
    *length = (size_t)utf8proc_encode_char(half ? 0xFFFD : unit, (utf8proc_uint8_t *)out);
    return true;
}

/* Adds an escape to the flow: line ends and tabs cut the text, the rest are its characters. */
static bool add_escape(scanner *s, size_t bytes, const char *text, size_t length)
{
    doc_flow *flow = &s->document->flow;
    zhen_span raw = {s->at, s->at + bytes};
    if (length == 1 && strchr("\n\r\t", text[0]) && text[0])
        return doc_flow_add(flow, &(doc_event){.kind = DOC_EVENT_BREAK, .raw = raw});
    const char *copy = base_arena_string(&s->document->arena, text, length);
    return copy && doc_flow_add_spelled(flow, raw, copy, length);
}

/* Reads a string; `translate`: its content becomes units. `content` gets its bytes. */
static zhen_status read_string(scanner *s, bool translate, zhen_span *content)
{
    doc_flow *flow = &s->document->flow;
    size_t begin = ++s->at, plain = begin;
    bool ok = true;
    while (ok && peek(s) != '"') {
        if (s->at >= s->length)
            return fail(s, "a string does not end");
        if ((unsigned char)peek(s) < 0x20)
            return fail(s, "a control character in a string");
        if (peek(s) != '\\') {
            s->at++;
            continue;
        }
        char text[4];
        size_t bytes, length;
        if (!read_escape(s, &bytes, text, &length))
            return fail(s, "an unknown escape in a string");
        if (translate)
            ok = doc_flow_add_text(flow, s->text, (zhen_span){plain, s->at}) &&
                 add_escape(s, bytes, text, length);
        s->at += bytes;
        plain = s->at;
    }
    *content = (zhen_span){begin, s->at};
    if (ok && translate)
        ok = doc_flow_add_text(flow, s->text, (zhen_span){plain, s->at}) &&
             doc_finish_in_place(s->document);
    s->at++;
    return ok ? ZHEN_OK : base_fail_memory(s->error);
}

/* ---- Values ------------------------------------------------------------------------------- */

static zhen_status read_number(scanner *s)
{
    size_t begin = s->at;
    if (peek(s) == '-')
        s->at++;
    if (peek(s) == '0')
        s->at++;
    else
        while (peek(s) >= '0' && peek(s) <= '9')
            s->at++;
    if (s->at == begin || s->text[s->at - 1] == '-')
        return fail(s, "a value is expected");
    if (peek(s) == '.') {
        size_t point = s->at++;
        while (peek(s) >= '0' && peek(s) <= '9')
            s->at++;
        if (s->at == point + 1)
            return fail(s, "digits are expected");
    }
    if (peek(s) == 'e' || peek(s) == 'E') {
        s->at++;
        if (peek(s) == '+' || peek(s) == '-')
            s->at++;
        size_t digits = s->at;
        while (peek(s) >= '0' && peek(s) <= '9')
            s->at++;
        if (s->at == digits)
            return fail(s, "digits are expected");
    }
    return ZHEN_OK;
}

static zhen_status read_scalar(scanner *s)
{
    static const char *const words[] = {"true", "false", "null"};
    if (peek(s) == '"') {
        zhen_span content;
        return read_string(s, doc_json_path_matches(&s->path), &content);
    }
    for (size_t i = 0; i < 3; i++) {
        size_t length = strlen(words[i]);
        if (s->length - s->at >= length && memcmp(s->text + s->at, words[i], length) == 0) {
            s->at += length;
            return ZHEN_OK;
        }
    }
    return read_number(s);
}

/* Names are compared as they read, not as they are spelled: "\\u6807" is 标. An escape is longer
 * than its character, and the name has been found to be well-formed. */
static bool keep_name(scanner *s, zhen_span name)
{
    const char *spelled = s->text + name.begin;
    size_t size = name.end - name.begin, length = 0;
    if (!memchr(spelled, '\\', size)) {
        doc_json_path_name(&s->path, spelled, size);
        return true;
    }
    char *read = base_arena_allocate(&s->document->arena, size);
    if (!read)
        return false;
    scanner inside = *s;
    for (inside.at = name.begin; inside.at < name.end;) {
        size_t spelled_bytes = 1, bytes = 1;
        char character[4] = {peek(&inside)};
        if (peek(&inside) == '\\')
            (void)read_escape(&inside, &spelled_bytes, character, &bytes);
        memcpy(read + length, character, bytes);
        length += bytes;
        inside.at += spelled_bytes;
    }
    doc_json_path_name(&s->path, read, length);
    return true;
}

/* The name of a member and its colon. */
static zhen_status read_name(scanner *s)
{
    zhen_span name;
    skip_blanks(s);
    if (peek(s) != '"')
        return fail(s, "a member's name is expected");
    zhen_status status = read_string(s, false, &name);
    if (status)
        return status;
    skip_blanks(s);
    if (peek(s) != ':')
        return fail(s, "a colon is expected");
    s->at++;
    return keep_name(s, name) ? ZHEN_OK : base_fail_memory(s->error);
}

/* After a value: closes what ends here, or goes on to the next element. `more`: a value follows. */
static zhen_status read_after(scanner *s, bool *more)
{
    *more = false;
    while (s->path.depth > 0) {
        bool object = doc_json_path_in_object(&s->path);
        skip_blanks(s);
        char c = peek(s);
        if (c == ',') {
            s->at++;
            *more = true;
            if (object)
                return read_name(s);
            doc_json_path_next(&s->path);
            return ZHEN_OK;
        }
        if (c != (object ? '}' : ']'))
            return fail(s, object ? "a comma or } is expected" : "a comma or ] is expected");
        s->at++;
        doc_json_path_leave(&s->path);
    }
    return ZHEN_OK;
}

/* The beginning of an object or array; `empty`: it ends at once. */
static zhen_status read_opening(scanner *s, bool *empty)
{
    bool object = s->text[s->at++] == '{';
    if (s->path.depth == MAX_DEPTH)
        return fail(s, "nested too deeply");
    if (!doc_json_path_enter(&s->path, object))
        return base_fail_memory(s->error);
    skip_blanks(s);
    *empty = peek(s) == (object ? '}' : ']');
    return !*empty && object ? read_name(s) : ZHEN_OK;
}

/* A whole value, without recursion. */
static zhen_status read_value(scanner *s)
{
    for (bool more = true; more;) {
        zhen_status status;
        skip_blanks(s);
        if (peek(s) == '{' || peek(s) == '[') {
            bool empty = false;
            status = read_opening(s, &empty);
            if (!status && !empty)
                continue;
        } else {
            status = read_scalar(s);
        }
        if (!status)
            status = read_after(s, &more);
        if (status)
            return status;
    }
    return ZHEN_OK;
}

static zhen_status read_document(scanner *s)
{
    bool lines = s->document->options.format == ZHEN_FORMAT_JSONL;
    for (size_t values = 0;; values++) {
        skip_blanks(s);
        if (s->at == s->length)
            return values || lines ? ZHEN_OK : fail(s, "a value is expected");
        if (values && !lines)
            return fail(s, "something follows the value");
        size_t begin = s->at;
        zhen_status status = read_value(s);
        if (status)
            return status;
        if (lines && memchr(s->text + begin, '\n', s->at - begin))
            return fail(s, "a record goes across lines");
    }
}

zhen_status doc_parse_json(zhen_document *document, zhen_error *error)
{
    scanner s = {.document = document,
                 .text = document->source.data,
                 .at = document->body,
                 .length = document->source.length,
                 .error = error};
    document->flow.escape = doc_escape_json;
    document->flow.protect = DOC_PROTECT_ALL;
    zhen_status status = doc_json_path_open(&s.path, document->options.json_path, error);
    if (!status)
        status = read_document(&s);
    if (!status && document->options.json_path && !doc_json_path_report(&s.path, document->wishes))
        status = base_fail_memory(error);
    doc_json_path_close(&s.path);
    return status;
}
