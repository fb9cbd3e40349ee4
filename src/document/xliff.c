/*
 * XLIFF 1.2 and 2.0: the target of a unit (1.2) or segment (2.0) whose target is missing, empty or
 * still a copy of its source, and that nobody has approved, gets the translation of the source,
 * inline elements and segments included. All other bytes but its state stay.
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
#include <strings.h>

/* What an element says about all that is in it, or the one around it. */
typedef struct scope {
    bool translated; /* what is in it is to be translated */
    bool preserved;  /* xml:space="preserve": line breaks are where they are on purpose */
} scope;

typedef struct reading {
    zhen_document *document;
    doc_tags tags;
    bool old;       /* version 1 */
    scope *scopes;  /* of each element that is open */
    size_t foreign; /* the tag that says that targets are in another language than English, or
                     * SIZE_MAX */
    size_t depth, capacity;
} reading;

/* Indices of tokens. */
typedef struct range {
    size_t open, close;
} range;

/* A unit or segment. */
typedef struct unit {
    range all, source;
    range segments; /* its seg-source, which is the source cut into segments; else the source */
    bool preserved;
} unit;

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

/* Whether the element is a segment that the source was cut into. */
static bool is_segment(const reading *r, size_t at)
{
    return is(r, at, "mrk") && has_value(r, at, "mtype", "seg");
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

static bool add_break(reading *r, zhen_span raw)
{
    return add_mark(r, DOC_EVENT_BREAK, raw, (zhen_span){0, 0});
}

/* Text; `preserved`: its line breaks divide it, and the blanks that follow them stay. */
static bool add_text(reading *r, zhen_span raw, bool preserved)
{
    zhen_document *d = r->document;
    const char *text = d->source.data;
    while (raw.begin < raw.end) {
        const char *found = preserved ? memchr(text + raw.begin, '\n', raw.end - raw.begin) : NULL;
        size_t at = found ? (size_t)(found - text) : raw.end;
        if (!doc_entity_add_text(&d->flow, &d->arena, text, (zhen_span){raw.begin, at}) ||
            (found && !add_break(r, (zhen_span){at, at + 1})))
            return false;
        raw.begin = found ? at + 1 : at;
    }
    return true;
}

/* An opening tag; *at becomes the last token that has been added. Segments are texts of their own:
 * *segment becomes the tag that closes this one. */
static bool add_element(reading *r, size_t *at, size_t *segment)
{
    const doc_tag *tag = &r->tags.items[*at];
    zhen_span raw = tag->raw;
    if (is_segment(r, *at)) {
        *segment = find_close(r, *at);
        return add_break(r, raw);
    }
    if (encloses_text(r, *at))
        return add_mark(r, DOC_EVENT_OPEN, raw, tag->name);
    size_t close = find_close(r, *at), open = *at;
    raw.end = r->tags.items[close].raw.end;
    *at = close;
    return add_whole(r, open, raw);
}

static bool add_content(reading *r, range source, bool preserved)
{
    for (size_t i = source.open + 1, segment = SIZE_MAX; i < source.close; i++) {
        const doc_tag *tag = &r->tags.items[i];
        bool ok = true;
        if (tag->kind == DOC_TOKEN_TEXT)
            ok = add_text(r, tag->raw, preserved);
        else if (tag->kind == DOC_TOKEN_EMPTY)
            ok = add_whole(r, i, tag->raw);
        else if (tag->kind == DOC_TOKEN_CLOSE && i != segment)
            ok = add_mark(r, DOC_EVENT_CLOSE, tag->raw, tag->name);
        else if (tag->kind == DOC_TOKEN_OPEN)
            ok = add_element(r, &i, &segment);
        else
            ok = add_break(r, tag->raw);
        if (!ok)
            return false;
    }
    return true;
}

/* The text in a section that is all of the source; empty if the source is none. */
static zhen_span cdata_of(const reading *r, range source)
{
    static const char open[] = "<![CDATA[", close[] = "]]>";
    zhen_span raw = content_of(r, source);
    const char *text = r->document->source.data;
    while (raw.begin < raw.end && strchr(" \t\r\n", text[raw.begin]))
        raw.begin++;
    while (raw.begin < raw.end && strchr(" \t\r\n", text[raw.end - 1]))
        raw.end--;
    if (raw.end - raw.begin < strlen(open) + strlen(close) ||
        memcmp(text + raw.begin, open, strlen(open)) != 0)
        return (zhen_span){0, 0};
    zhen_span inside = {raw.begin + strlen(open), raw.end - strlen(close)};
    const char *end = memmem(text + inside.begin, raw.end - inside.begin, close, strlen(close));
    return end == text + inside.end ? inside : (zhen_span){0, 0};
}

/* Adds the unit's translation to the block begun last. */
static bool add_translation(reading *r, const unit *u)
{
    zhen_document *d = r->document;
    zhen_span source = content_of(r, u->segments), cdata = cdata_of(r, u->segments);
    if (cdata.begin == cdata.end)
        return add_content(r, u->segments, u->preserved) && doc_add_flow(d);
    d->flow.escape = doc_escape_cdata;
    bool ok = add_break(r, (zhen_span){source.begin, cdata.begin}) &&
              doc_flow_add_text(&d->flow, d->source.data, cdata) &&
              add_break(r, (zhen_span){cdata.end, source.end}) && doc_add_flow(d);
    d->flow.escape = doc_escape_markup;
    return ok;
}

/* ---- Targets ------------------------------------------------------------------------------ */

static bool is_blank(const char *text, zhen_span span)
{
    for (size_t i = span.begin; i < span.end; i++)
        if (!strchr(" \t\r\n", text[i]) || !text[i])
            return false;
    return true;
}

static bool is_same(const char *text, zhen_span a, zhen_span b)
{
    return a.end - a.begin == b.end - b.begin &&
           memcmp(text + a.begin, text + b.begin, a.end - a.begin) == 0;
}

/* Whether the element holds no text: nothing, or empty segments. */
static bool is_empty(const reading *r, range element)
{
    for (size_t i = element.open + 1; i < element.close; i++) {
        const doc_tag *tag = &r->tags.items[i];
        bool none = tag->kind == DOC_TOKEN_TEXT ? is_blank(r->document->source.data, tag->raw)
                                                : tag->kind == DOC_TOKEN_CLOSE || is_segment(r, i);
        if (!none)
            return false;
    }
    return true;
}

/* Whether somebody says so, in XLIFF 1.2 of a target, in 2.0 of a segment. */
static bool is_done(const reading *r, size_t at)
{
    static const char *const states[] = {"translated", "reviewed", "final", "signed-off"};
    bool done = has_value(r, at, "approved", "yes");
    for (size_t i = 0; i < sizeof states / sizeof *states; i++)
        done = done || has_value(r, at, "state", states[i]);
    return done;
}

/* Whether nobody has translated it yet. */
static bool is_open(const reading *r, const unit *u, range target)
{
    const char *text = r->document->source.data;
    zhen_span to = content_of(r, target);
    return !is_done(r, u->all.open) && !is_done(r, target.open) &&
           (is_empty(r, target) || is_same(text, content_of(r, u->source), to) ||
            is_same(text, content_of(r, u->segments), to));
}

static bool add_literal(zhen_document *document, const char *text)
{
    return doc_add_literal(document, text, strlen(text));
}

/* Writes the tag up to `end` with another state, if it says one: XLIFF 1.2 has it in targets. */
static bool add_head(reading *r, size_t at, size_t end)
{
    zhen_document *d = r->document;
    doc_attribute a;
    const doc_tag *tag = &r->tags.items[at];
    if (!r->old || !doc_find_attribute(d, tag, "state", &a))
        return doc_add_source(d, (zhen_span){tag->raw.begin, end});
    return doc_add_source(d, (zhen_span){tag->raw.begin, a.value.begin}) &&
           add_literal(d, "needs-review-translation") &&
           doc_add_source(d, (zhen_span){a.value.end, end});
}

/* <target/> becomes <target>...</target>. */
static bool fill_empty(reading *r, const unit *u, size_t at)
{
    zhen_document *d = r->document;
    const doc_tag *tag = &r->tags.items[at];
    size_t end = tag->raw.end - 2;
    if (is_done(r, u->all.open) || is_done(r, at))
        return true;
    while (end > tag->name.end && d->source.data[end - 1] == ' ')
        end--;
    return doc_begin_block(d, tag->raw, DOC_WHEN_UNITS) && add_head(r, at, end) &&
           add_literal(d, ">") && add_translation(r, u) && add_literal(d, "</") &&
           doc_add_source(d, tag->name) && add_literal(d, ">");
}

/* A target behind the source (and its segmentation), indented like it. */
static bool insert_target(reading *r, const unit *u)
{
    zhen_document *d = r->document;
    const char *text = d->source.data;
    const doc_tag *open = &r->tags.items[u->source.open];
    zhen_span indent = {open->raw.begin, open->raw.begin}, prefix = open->name;
    size_t place = r->tags.items[u->segments.close].raw.end;
    if (is_done(r, u->all.open))
        return true;
    while (indent.begin > 0 && strchr(" \t\r\n", text[indent.begin - 1]))
        indent.begin--;
    prefix.end -= strlen("source");
    return doc_begin_block(d, (zhen_span){place, place}, DOC_WHEN_UNITS) &&
           doc_add_source(d, indent) && add_literal(d, "<") && doc_add_source(d, prefix) &&
           add_literal(d, r->old ? "target state=\"needs-review-translation\">" : "target>") &&
           add_translation(r, u) && add_literal(d, "</") && doc_add_source(d, prefix) &&
           add_literal(d, "target>");
}

static bool fill_target(reading *r, const unit *u, range target)
{
    zhen_document *d = r->document;
    const doc_tag *open = &r->tags.items[target.open];
    if (!is_open(r, u, target))
        return true;
    zhen_span raw = {open->raw.begin, content_of(r, target).end};
    return doc_begin_block(d, raw, DOC_WHEN_UNITS) && add_head(r, target.open, open->raw.end) &&
           add_translation(r, u);
}

/* A trans-unit or segment: its source and target are its children, not those of an alt-trans. */
static bool fill_unit(reading *r, unit *u)
{
    u->source.open = SIZE_MAX;
    for (size_t i = u->all.open + 1; i < u->all.close; i++) {
        if (r->tags.items[i].kind == DOC_TOKEN_EMPTY && is(r, i, "target"))
            return u->source.open == SIZE_MAX || fill_empty(r, u, i);
        if (r->tags.items[i].kind != DOC_TOKEN_OPEN)
            continue;
        size_t close = find_close(r, i);
        if (is(r, i, "target"))
            return u->source.open == SIZE_MAX || fill_target(r, u, (range){i, close});
        if (is(r, i, "source")) {
            u->source = u->segments = (range){i, close};
            u->preserved = u->preserved || has_value(r, i, "xml:space", "preserve");
        } else if (is(r, i, "seg-source")) {
            u->segments = (range){i, close};
        }
        i = close;
    }
    return u->source.open == SIZE_MAX || insert_target(r, u);
}

/* In XLIFF 2.0 a segment that is filled is no longer in its initial state. */
static bool translate_unit(reading *r, unit *u)
{
    zhen_document *d = r->document;
    doc_attribute a;
    size_t state = d->block_count;
    bool initial = !r->old && has_value(r, u->all.open, "state", "initial") &&
                   doc_find_attribute(d, &r->tags.items[u->all.open], "state", &a);
    if (initial && (!doc_begin_block(d, a.value, DOC_WHEN_UNITS) || !add_literal(d, "translated")))
        return false;
    size_t first_unit = d->units.count;
    if (!fill_unit(r, u))
        return false;
    if (initial)
        d->blocks[state].unit_count = d->units.count - first_unit;
    return true;
}

/* Says that the targets are English, if the file does not say what they are. */
static bool declare_language(reading *r, size_t at, const char *attribute, const char *text)
{
    doc_attribute a;
    const doc_tag *tag = &r->tags.items[at];
    if (doc_find_attribute(r->document, tag, attribute, &a)) {
        bool english = strncasecmp(r->document->source.data + a.value.begin, "en", 2) == 0;
        if (!english && a.value.begin < a.value.end)
            r->foreign = at;
        return true;
    }
    size_t place = tag->raw.end - 1;
    return doc_begin_block(r->document, (zhen_span){place, place}, DOC_WHEN_CHANGED) &&
           add_literal(r->document, text);
}

/* The nearest element that says something decides. */
static bool enter(reading *r, size_t at)
{
    if (!base_grow((void **)&r->scopes, &r->capacity, r->depth + 1, sizeof *r->scopes))
        return false;
    scope around = r->depth ? r->scopes[r->depth - 1] : (scope){.translated = true};
    r->scopes[r->depth++] = (scope){
        .translated = around.translated ? !has_value(r, at, "translate", "no")
                                        : has_value(r, at, "translate", "yes"),
        .preserved = around.preserved ? !has_value(r, at, "xml:space", "default")
                                      : has_value(r, at, "xml:space", "preserve"),
    };
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
            scope around = r->scopes[r->depth - 1];
            unit u = {.all = {i, find_close(r, i)}, .preserved = around.preserved};
            if (around.translated && !translate_unit(r, &u))
                return false;
            i = u.all.close;
            r->depth--;
        } else if (kind == DOC_TOKEN_CLOSE) {
            r->depth--;
        }
    }
    return true;
}

/* English in a target that is to be French would be wrong without a word. */
static zhen_status check_language(const reading *r, zhen_error *error)
{
    if (r->foreign == SIZE_MAX || r->document->units.count == 0)
        return ZHEN_OK;
    return doc_fail_at(r->document, r->tags.items[r->foreign].raw.begin, error,
                       "the targets are to be in another language than English");
}

zhen_status doc_parse_xliff(zhen_document *document, zhen_error *error)
{
    reading r = {.document = document, .old = true, .foreign = SIZE_MAX};
    document->flow.escape = doc_escape_markup;
    document->flow.protect = DOC_PROTECT_ALL;
    zhen_status status = doc_tags_read_xml(document, &r.tags, error);
    if (!status && (!doc_tags_redeclare(document, &r.tags) || !translate(&r)))
        status = base_fail_memory(error);
    if (!status)
        status = check_language(&r, error);
    doc_tags_free(&r.tags);
    free(r.scopes);
    return status;
}
