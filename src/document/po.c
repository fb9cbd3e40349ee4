/*
 * gettext PO catalogues: an empty msgstr gets the translation of its msgid, plural forms that of
 * msgid_plural, and the entry the flag "fuzzy", for nobody has looked at it yet. Entries that are
 * translated, obsolete (#~) or without Chinese stay as they are, and so does every other byte.
 */
#include "base/error.h"
#include "document/document.h"
#include "document/escape.h"
#include "document/protect.h"

#include <stdint.h>
#include <string.h>

/* A keyword's string: one or more quoted parts, on one or more lines. */
typedef struct string {
    zhen_span parts; /* from the first quote to behind the last one; empty: there is no string */
    bool empty;      /* it says nothing */
} string;

/* An entry while it is read. */
typedef struct entry {
    size_t begin;      /* of its first line that is not a comment, SIZE_MAX before that */
    zhen_span flags;   /* of its line "#, ...", without the line end; empty if there is none */
    bool fuzzy;        /* it is so already */
    size_t flag_block; /* that makes it so, SIZE_MAX: none yet */
    string id, plural;
} entry;

typedef struct scanner {
    zhen_document *document;
    const char *text;
    size_t at, length;
    entry current;
    zhen_error *error;
} scanner;

static zhen_status fail(const scanner *s, const char *what)
{
    return doc_fail_at(s->document, s->at, s->error, "not PO: %s", what);
}

static size_t line_end(const scanner *s, size_t at)
{
    const char *end = memchr(s->text + at, '\n', s->length - at);
    return end ? (size_t)(end - s->text) : s->length;
}

static void skip_blanks(scanner *s)
{
    while (s->at < s->length && (s->text[s->at] == ' ' || s->text[s->at] == '\t' ||
                                 s->text[s->at] == '\r' || s->text[s->at] == '\n'))
        s->at++;
}

static bool starts_with(const scanner *s, const char *word)
{
    size_t length = strlen(word);
    return s->length - s->at >= length && memcmp(s->text + s->at, word, length) == 0;
}

/* ---- Strings ------------------------------------------------------------------------------ */

/* Reads the quoted parts that follow a keyword. */
static zhen_status read_string(scanner *s, string *found)
{
    skip_blanks(s);
    *found = (string){{s->at, s->at}, true};
    while (s->at < s->length && s->text[s->at] == '"') {
        size_t begin = ++s->at;
        while (s->at < s->length && s->text[s->at] != '"' && s->text[s->at] != '\n')
            s->at += s->text[s->at] == '\\' && s->at + 1 < s->length ? 2 : 1;
        if (s->at >= s->length || s->text[s->at] != '"')
            return fail(s, "a string does not end");
        found->empty = found->empty && s->at == begin;
        found->parts.end = ++s->at;
        skip_blanks(s);
    }
    if (found->parts.begin == found->parts.end)
        return fail(s, "a string is expected");
    return ZHEN_OK;
}

/* The character that a backslash and `c` stand for; 0: none that we know, the two stay. */
static char unescape(char c)
{
    static const char names[] = "\"\\nrt", values[] = "\"\\\n\r\t";
    const char *found = c ? strchr(names, c) : NULL;
    if (!found)
        return '\0';
    return values[found - names];
}

/* Adds the escape at `at`: line ends cut the text, for they are where they are on purpose, and so
 * do tabs, which set off the keys of a menu's entry. */
static bool add_escape(zhen_document *document, size_t at)
{
    const char *text = document->source.data;
    zhen_span raw = {at, at + 2};
    char c = unescape(text[at + 1]);
    if (c == '\n' || c == '\t')
        return doc_flow_add(&document->flow, &(doc_event){.kind = DOC_EVENT_BREAK, .raw = raw});
    if (!c)
        return doc_flow_add(&document->flow, &(doc_event){.kind = DOC_EVENT_POINT, .raw = raw});
    const char *copy = base_arena_string(&document->arena, &c, 1);
    return copy && doc_flow_add_spelled(&document->flow, raw, copy, 1);
}

/* Adds the text of a string to the document's flow. */
static bool add_string(zhen_document *document, const string *s)
{
    const char *text = document->source.data;
    for (size_t at = s->parts.begin; at < s->parts.end;) {
        if (text[at] != '"') {
            at++;
            continue;
        }
        size_t plain = ++at;
        while (text[at] != '"') {
            if (text[at] != '\\') {
                at++;
                continue;
            }
            if (!doc_flow_add_text(&document->flow, text, (zhen_span){plain, at}) ||
                !add_escape(document, at))
                return false;
            plain = at += 2;
        }
        if (!doc_flow_add_text(&document->flow, text, (zhen_span){plain, at}))
            return false;
        at++;
    }
    return true;
}

/* ---- Entries ------------------------------------------------------------------------------ */

/* "fuzzy" goes before the other flags, or on a line of its own before the first keyword. */
static bool add_flag(scanner *s)
{
    entry *e = &s->current;
    zhen_document *d = s->document;
    if (e->fuzzy || e->flag_block != SIZE_MAX)
        return true;
    e->flag_block = d->block_count;
    bool has_line = e->flags.begin < e->flags.end;
    size_t at = has_line ? e->flags.begin + 2 : e->begin;
    if (!doc_begin_block(d, (zhen_span){at, at}, DOC_WHEN_UNITS))
        return false;
    if (has_line)
        return doc_add_literal(d, " fuzzy,", 7);
    size_t end = line_end(s, e->begin);
    bool crlf = end > e->begin && s->text[end - 1] == '\r';
    return doc_add_literal(d, crlf ? "#, fuzzy\r\n" : "#, fuzzy\n", crlf ? 10 : 9);
}

/* How the line before `at` ends: a msgstr has at least its msgid before it. */
static const char *line_end_before(const base_buffer *output, size_t at)
{
    const char *end = memrchr(output->data, '\n', at);
    return end && end > output->data && end[-1] == '\r' ? "\r\n" : "\n";
}

/* Breaks what was written behind each \n, as gettext's own tools do:
 *     ""
 *     "first line\n"
 *     "second line"                                                                       */
static bool break_lines(base_buffer *output, size_t begin)
{
    base_buffer lines = {0};
    const char *text = output->data, *line_end = line_end_before(output, begin);
    bool ok = true;
    size_t from = begin;
    for (size_t i = begin + 1; ok && i + 2 < output->length; i++) {
        if (text[i] != '\\')
            continue;
        i++;
        if (text[i] != 'n' || i + 2 >= output->length)
            continue;
        ok = (lines.length || (base_buffer_append_string(&lines, "\"\"") &&
                               base_buffer_append_string(&lines, line_end))) &&
             base_buffer_append(&lines, text + from, i + 1 - from) &&
             base_buffer_append_byte(&lines, '"') && base_buffer_append_string(&lines, line_end) &&
             base_buffer_append_byte(&lines, '"');
        from = i + 1;
    }
    if (ok && lines.length) {
        ok = base_buffer_append(&lines, text + from, output->length - from);
        output->length = begin;
        ok = ok && base_buffer_append(output, lines.data, lines.length);
    }
    base_buffer_free(&lines);
    return ok;
}

/* Fills an empty msgstr with the translation of `from`. */
static zhen_status fill(scanner *s, const string *from, const string *into)
{
    zhen_document *d = s->document;
    size_t first_unit = d->units.count;
    bool ok = add_flag(s) && doc_begin_block(d, into->parts, DOC_WHEN_UNITS);
    if (ok)
        d->blocks[d->block_count - 1].finish = break_lines;
    ok = ok && doc_add_literal(d, "\"", 1) && add_string(d, from) && doc_add_flow(d) &&
         doc_add_literal(d, "\"", 1);
    if (!ok)
        return base_fail_memory(s->error);
    if (s->current.flag_block != SIZE_MAX) {
        /* The flag's block comes first in the file but watches the units that follow. */
        doc_block *flag = &d->blocks[s->current.flag_block];
        if (flag->unit_count == 0)
            flag->first_unit = first_unit;
        flag->unit_count = d->units.count - flag->first_unit;
    }
    return ZHEN_OK;
}

/* The header, which is the entry whose msgid is empty, says the encoding and the language. */
static zhen_status redeclare(scanner *s, zhen_span header)
{
    static const char name[] = "\"Language: ";
    zhen_document *d = s->document;
    const char *found =
        memmem(s->text + header.begin, header.end - header.begin, name, sizeof name - 1);
    bool ok = doc_redeclare(d, header, "UTF-8");
    if (ok && found) {
        zhen_span language = {(size_t)(found - s->text) + sizeof name - 1, 0};
        language.end = language.begin + strcspn(s->text + language.begin, "\\\"\n");
        ok = doc_change_language(d, language);
    }
    return ok ? ZHEN_OK : base_fail_memory(s->error);
}

static zhen_status read_msgstr(scanner *s)
{
    bool plural_form = false;
    skip_blanks(s);
    if (s->at < s->length && s->text[s->at] == '[') {
        plural_form = s->at + 1 < s->length && s->text[s->at + 1] != '0';
        while (s->at < s->length && s->text[s->at] != ']' && s->text[s->at] != '\n')
            s->at++;
        s->at += s->at < s->length;
    }
    string str;
    zhen_status status = read_string(s, &str);
    const entry *e = &s->current;
    if (!status && e->id.empty)
        return redeclare(s, str.parts);
    if (status || !str.empty)
        return status;
    return fill(s, plural_form && !e->plural.empty ? &e->plural : &e->id, &str);
}

static void begin_entry(scanner *s)
{
    s->current = (entry){.begin = SIZE_MAX, .flag_block = SIZE_MAX};
    s->current.id.empty = s->current.plural.empty = true;
}

static zhen_status read_keyword(scanner *s)
{
    entry *e = &s->current;
    string ignored;
    if (starts_with(s, "msgid_plural")) {
        s->at += strlen("msgid_plural");
        return read_string(s, &e->plural);
    }
    if (starts_with(s, "msgctxt")) {
        s->at += strlen("msgctxt");
        return read_string(s, &ignored);
    }
    if (starts_with(s, "msgid")) {
        s->at += strlen("msgid");
        return read_string(s, &e->id);
    }
    if (starts_with(s, "msgstr")) {
        s->at += strlen("msgstr");
        return read_msgstr(s);
    }
    return fail(s, "msgid or msgstr is expected");
}

static void read_comment(scanner *s)
{
    entry *e = &s->current;
    size_t end = line_end(s, s->at);
    if (starts_with(s, "#,")) {
        e->flags = (zhen_span){s->at, end};
        e->fuzzy = e->fuzzy || memmem(s->text + s->at, end - s->at, "fuzzy", 5) != NULL;
    }
    s->at = end;
}

zhen_status doc_parse_po(zhen_document *document, zhen_error *error)
{
    scanner s = {.document = document,
                 .text = document->source.data,
                 .at = document->body,
                 .length = document->source.length,
                 .error = error};
    document->flow.escape = doc_escape_po;
    document->flow.scattered = true;
    document->flow.protect = DOC_PROTECT_ALL;
    bool was_msgstr = true; /* behind an entry's last msgstr the next entry begins */
    for (skip_blanks(&s); s.at < s.length; skip_blanks(&s)) {
        bool is_msgstr = starts_with(&s, "msgstr"), is_comment = s.text[s.at] == '#';
        if (was_msgstr && !is_msgstr)
            begin_entry(&s);
        was_msgstr = is_msgstr;
        /* The previous msgid of a fuzzy entry (#|) comes after the flags. */
        if ((!is_comment || starts_with(&s, "#|")) && s.current.begin == SIZE_MAX)
            s.current.begin = s.at;
        zhen_status status = ZHEN_OK;
        if (is_comment)
            read_comment(&s);
        else
            status = read_keyword(&s);
        if (status)
            return status;
    }
    return ZHEN_OK;
}
