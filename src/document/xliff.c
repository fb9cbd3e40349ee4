/*
 * XLIFF 1.2 and 2.0: the target of a unit (1.2) or segment (2.0) whose target is missing, empty or
 * still a copy of its source gets the translation of the source, inline elements included. All
 * other bytes stay.
 */
#include "base/error.h"
#include "document/document.h"
#include "document/entity.h"
#include "document/escape.h"
#include "document/markup.h"
#include "document/protect.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct reading {
    zhen_document *document;
    doc_tags tags;
    bool old;         /* version 1 */
    bool *translated; /* of each element that is open: whether what is in it is to be translated */
    size_t depth, capacity;
} reading;

/* Indices of tokens. */
typedef struct range {
    size_t open, close;
} range;

/* ---- Tokens ------------------------------------------------------------------------------- */

/* Whether the element is `name`, in whatever namespace prefix. */
static bool is(const reading *r, size_t at, const char *name)
{
    doc_tag tag = r->tags.items[at];
    const char *text = r->document->source.data;
    const char *colon = memchr(text + tag.name.begin, ':', tag.name.end - tag.name.begin);
    if (colon)
        tag.name.begin = (size_t)(colon - text) + 1;
    return doc_tag_is(r->document, &tag, name);
}

static bool opens(const reading *r, size_t at, const char *name)
{
    return r->tags.items[at].kind == DOC_TOKEN_OPEN && is(r, at, name);
}

/* The token that closes the element opened at `open`. XML is well-formed, so there is one. */
static size_t find_close(const reading *r, size_t open)
{
    size_t depth = 0, at = open;
    for (; at + 1 < r->tags.count; at++) {
        depth += r->tags.items[at].kind == DOC_TOKEN_OPEN;
        if (r->tags.items[at].kind == DOC_TOKEN_CLOSE && --depth == 0)
            break;
    }
    return at;
}

static zhen_span content_of(const reading *r, range element)
{
    return (zhen_span){r->tags.items[element.open].raw.end, r->tags.items[element.close].raw.begin};
}

static bool has_value(const reading *r, size_t at, const char *attribute, const char *value)
{
    doc_attribute a;
    if (!doc_find_attribute(r->document, &r->tags.items[at], attribute, &a))
        return false;
    size_t length = a.value.end - a.value.begin;
    return strlen(value) == length &&
           memcmp(r->document->source.data + a.value.begin, value, length) == 0;
}

/* ---- Inline elements ------------------------------------------------------------------------ */

static bool add_mark(reading *r, doc_event_kind kind, zhen_span raw, zhen_span key)
{
    const char *text = r->document->source.data;
    doc_event event = {.kind = kind,
                       .flags = kind == DOC_EVENT_POINT ? DOC_WORDLIKE : 0,
                       .raw = raw,
                       .key = text + key.begin,
                       .key_length = key.end - key.begin};
    /* A placeholder has no text that a reader sees: it is shown as it is written. */
    if (kind == DOC_EVENT_WORD) {
        event.text = text + raw.begin;
        event.text_length = raw.end - raw.begin;
    }
    return doc_flow_add(&r->document->flow, &event);
}

static bool first_attribute(const reading *r, size_t at, const char *const *names, zhen_span *value)
{
    doc_attribute a;
    for (; *names; names++)
        if (doc_find_attribute(r->document, &r->tags.items[at], *names, &a)) {
            *value = a.value;
            return true;
        }
    return false;
}

/* Half of a pair that is written as two elements: what the halves have in common is in an
 * attribute. */
static bool add_half(reading *r, size_t at, zhen_span raw, bool opening)
{
    static const char *const names[] = {"rid", "startRef", "id", NULL};
    zhen_span key = {raw.begin, raw.begin};
    first_attribute(r, at, names, &key);
    return add_mark(r, opening ? DOC_EVENT_OPEN : DOC_EVENT_CLOSE, raw, key);
}

/* A placeholder. Angular writes tags as <x id="START_LINK"/> and <x id="CLOSE_LINK"/>. */
static bool add_placeholder(reading *r, size_t at, zhen_span raw)
{
    static const char *const names[] = {"id", NULL};
    zhen_span id = {0, 0};
    const char *text = r->document->source.data;
    if (first_attribute(r, at, names, &id) && id.end - id.begin > 6) {
        zhen_span key = {id.begin + 6, id.end};
        if (memcmp(text + id.begin, "START_", 6) == 0)
            return add_mark(r, DOC_EVENT_OPEN, raw, key);
        if (memcmp(text + id.begin, "CLOSE_", 6) == 0)
            return add_mark(r, DOC_EVENT_CLOSE, raw, key);
    }
    return add_mark(r, DOC_EVENT_WORD, raw, id);
}

/* An element whose content is code of another format: it is one mark as a whole. */
static bool add_whole(reading *r, size_t at, zhen_span raw)
{
    if (is(r, at, "bpt") || is(r, at, "bx") || is(r, at, "sc"))
        return add_half(r, at, raw, true);
    if (is(r, at, "ept") || is(r, at, "ex") || is(r, at, "ec"))
        return add_half(r, at, raw, false);
    if (is(r, at, "x") || is(r, at, "ph") || is(r, at, "mrk"))
        return add_placeholder(r, at, raw);
    return add_mark(r, DOC_EVENT_POINT, raw, (zhen_span){0, 0});
}

/* Elements that enclose text to translate. */
static bool encloses_text(const reading *r, size_t at)
{
    bool is_protected =
        has_value(r, at, "mtype", "protected") || has_value(r, at, "translate", "no");
    return (is(r, at, "g") || is(r, at, "pc") || is(r, at, "mrk")) && !is_protected;
}

static bool add_content(reading *r, range source)
{
    zhen_document *d = r->document;
    for (size_t i = source.open + 1; i < source.close; i++) {
        const doc_tag *tag = &r->tags.items[i];
        zhen_span raw = tag->raw;
        bool ok = true;
        if (tag->kind == DOC_TOKEN_TEXT) {
            ok = doc_entity_add_text(&d->flow, &d->arena, d->source.data, raw);
        } else if (tag->kind == DOC_TOKEN_EMPTY) {
            ok = add_whole(r, i, raw);
        } else if (tag->kind == DOC_TOKEN_CLOSE) {
            ok = add_mark(r, DOC_EVENT_CLOSE, raw, tag->name);
        } else if (tag->kind == DOC_TOKEN_OPEN && encloses_text(r, i)) {
            ok = add_mark(r, DOC_EVENT_OPEN, raw, tag->name);
        } else if (tag->kind == DOC_TOKEN_OPEN) {
            size_t close = find_close(r, i);
            raw.end = r->tags.items[close].raw.end;
            ok = add_whole(r, i, raw);
            i = close;
        } else {
            ok = add_mark(r, DOC_EVENT_BREAK, raw, (zhen_span){0, 0});
        }
        if (!ok)
            return false;
    }
    return true;
}

/* ---- Targets ------------------------------------------------------------------------------ */

static bool is_blank(const char *text, zhen_span span)
{
    for (size_t i = span.begin; i < span.end; i++)
        if (!strchr(" \t\r\n", text[i]) || !text[i])
            return false;
    return true;
}

/* Whether nobody has translated it yet. */
static bool is_open(const reading *r, range source, range target)
{
    const char *text = r->document->source.data;
    zhen_span from = content_of(r, source), to = content_of(r, target);
    return is_blank(text, to) ||
           (from.end - from.begin == to.end - to.begin &&
            memcmp(text + from.begin, text + to.begin, to.end - to.begin) == 0);
}

static bool add_literal(zhen_document *document, const char *text)
{
    return doc_add_literal(document, text, strlen(text));
}

/* <target/> becomes <target>...</target>. */
static bool fill_empty(reading *r, range source, size_t at)
{
    zhen_document *d = r->document;
    const doc_tag *tag = &r->tags.items[at];
    zhen_span name = tag->name, head = {tag->raw.begin, tag->raw.end - 2};
    while (head.end > name.end && d->source.data[head.end - 1] == ' ')
        head.end--;
    return doc_begin_block(d, tag->raw, DOC_WHEN_UNITS) && doc_add_source(d, head) &&
           add_literal(d, ">") && add_content(r, source) && doc_add_flow(d) &&
           add_literal(d, "</") && doc_add_source(d, name) && add_literal(d, ">");
}

/* A target behind the source (and its segmentation), indented like it. */
static bool insert_target(reading *r, range source, size_t after)
{
    zhen_document *d = r->document;
    const char *text = d->source.data;
    const doc_tag *open = &r->tags.items[source.open];
    zhen_span indent = {open->raw.begin, open->raw.begin}, prefix = open->name;
    size_t place = r->tags.items[after].raw.end;
    while (indent.begin > 0 && strchr(" \t\r\n", text[indent.begin - 1]))
        indent.begin--;
    prefix.end -= strlen("source");
    return doc_begin_block(d, (zhen_span){place, place}, DOC_WHEN_UNITS) &&
           doc_add_source(d, indent) && add_literal(d, "<") && doc_add_source(d, prefix) &&
           add_literal(d, r->old ? "target state=\"needs-review-translation\">" : "target>") &&
           add_content(r, source) && doc_add_flow(d) && add_literal(d, "</") &&
           doc_add_source(d, prefix) && add_literal(d, "target>");
}

static bool fill_target(reading *r, range source, range target)
{
    zhen_document *d = r->document;
    if (!is_open(r, source, target))
        return true;
    return doc_begin_block(d, content_of(r, target), DOC_WHEN_UNITS) && add_content(r, source) &&
           doc_add_flow(d);
}

/* A trans-unit or segment: its source and target are its children, not those of an alt-trans. */
static bool translate_unit(reading *r, range unit)
{
    range source = {SIZE_MAX, 0};
    size_t after = 0;
    for (size_t i = unit.open + 1; i < unit.close; i++) {
        if (r->tags.items[i].kind == DOC_TOKEN_EMPTY && is(r, i, "target"))
            return source.open == SIZE_MAX || fill_empty(r, source, i);
        if (r->tags.items[i].kind != DOC_TOKEN_OPEN)
            continue;
        size_t close = find_close(r, i);
        if (is(r, i, "target"))
            return source.open == SIZE_MAX || fill_target(r, source, (range){i, close});
        if (is(r, i, "source"))
            source = (range){i, close};
        if (is(r, i, "source") || is(r, i, "seg-source"))
            after = close;
        i = close;
    }
    return source.open == SIZE_MAX || insert_target(r, source, after);
}

/* Says that the targets are English, if the file does not say what they are. */
static bool declare_language(reading *r, size_t at, const char *attribute, const char *text)
{
    doc_attribute a;
    const doc_tag *tag = &r->tags.items[at];
    if (doc_find_attribute(r->document, tag, attribute, &a))
        return true;
    size_t place = tag->raw.end - 1;
    return doc_begin_block(r->document, (zhen_span){place, place}, DOC_WHEN_CHANGED) &&
           add_literal(r->document, text);
}

/* The nearest element that says whether to translate decides. */
static bool enter(reading *r, size_t at)
{
    if (!base_grow((void **)&r->translated, &r->capacity, r->depth + 1, sizeof *r->translated))
        return false;
    bool inherited = r->depth == 0 || r->translated[r->depth - 1];
    r->translated[r->depth++] =
        inherited ? !has_value(r, at, "translate", "no") : has_value(r, at, "translate", "yes");
    return true;
}

/* The languages that the root or a file declares. */
static bool declare(reading *r, size_t at)
{
    if (is(r, at, "xliff")) {
        doc_attribute a;
        r->old = !doc_find_attribute(r->document, &r->tags.items[at], "version", &a) ||
                 r->document->source.data[a.value.begin] == '1';
        return r->old || declare_language(r, at, "trgLang", " trgLang=\"en\"");
    }
    return !r->old || !is(r, at, "file") ||
           declare_language(r, at, "target-language", " target-language=\"en\"");
}

static bool translate(reading *r)
{
    for (size_t i = 0; i < r->tags.count; i++) {
        doc_token_kind kind = r->tags.items[i].kind;
        if (kind == DOC_TOKEN_OPEN && (!enter(r, i) || !declare(r, i)))
            return false;
        if (opens(r, i, "trans-unit") || opens(r, i, "segment")) {
            range unit = {i, find_close(r, i)};
            if (r->translated[r->depth - 1] && !translate_unit(r, unit))
                return false;
            i = unit.close;
            r->depth--;
        } else if (kind == DOC_TOKEN_CLOSE) {
            r->depth--;
        }
    }
    return true;
}

zhen_status doc_parse_xliff(zhen_document *document, zhen_error *error)
{
    reading r = {.document = document, .old = true};
    document->flow.escape = doc_escape_markup;
    document->flow.protect = DOC_PROTECT_ALL;
    zhen_status status = doc_tags_read_xml(document, &r.tags, error);
    if (!status && (!doc_tags_redeclare(document, &r.tags) || !translate(&r)))
        status = base_fail_memory(error);
    doc_tags_free(&r.tags);
    free(r.translated);
    return status;
}
