/*
 * HTML and XHTML: which elements divide text, which stand in it, and which are left alone. Tags
 * between blocks are no part of any flow, so that they stay where they are.
 */
#include "base/error.h"
#include "document/document.h"
#include "document/entity.h"
#include "document/escape.h"
#include "document/markup.h"
#include "document/protect.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- Elements ----------------------------------------------------------------------------- */

static bool is_any_of(const zhen_document *document, const doc_tag *tag, const char *const *names)
{
    for (; *names; names++)
        if (doc_tag_is(document, tag, *names))
            return true;
    return false;
}

/* Elements of running text. */
static bool is_inline(const zhen_document *document, const doc_tag *tag)
{
    static const char *const names[] = {
        "a",    "abbr",   "acronym", "b",    "bdi", "bdo",  "big",  "cite",  "data",
        "del",  "dfn",    "em",      "font", "i",   "ins",  "kbd",  "label", "mark",
        "nobr", "output", "q",       "rb",   "rp",  "rt",   "ruby", "s",     "small",
        "span", "strike", "strong",  "sub",  "sup", "time", "tt",   "u",     NULL};
    /* So are elements of other namespaces, which Word writes: <o:p>, <st1:date>. */
    zhen_span name = tag->name;
    return is_any_of(document, tag, names) ||
           memchr(document->source.data + name.begin, ':', name.end - name.begin);
}

/* Elements whose content is not prose but stands in prose. */
static bool is_code(const zhen_document *document, const doc_tag *tag)
{
    static const char *const names[] = {"code", "samp", "var", "math", "svg", NULL};
    return is_any_of(document, tag, names);
}

/* Elements whose content is no prose at all. */
static bool is_opaque(const zhen_document *document, const doc_tag *tag)
{
    static const char *const names[] = {"script",   "style",  "pre",    "textarea",
                                        "template", "object", "iframe", "audio",
                                        "video",    "canvas", NULL};
    return is_any_of(document, tag, names);
}

/* Elements without content that stand in running text. */
static bool is_object(const zhen_document *document, const doc_tag *tag)
{
    static const char *const names[] = {"img", "input", "embed", NULL};
    return is_any_of(document, tag, names);
}

/* Elements that have no end tag. */
static bool is_void(const zhen_document *document, const doc_tag *tag)
{
    static const char *const names[] = {"area",  "base",   "br",    "col",  "embed",
                                        "hr",    "img",    "input", "link", "meta",
                                        "param", "source", "track", "wbr",  NULL};
    return is_any_of(document, tag, names);
}

static bool holds_no_prose(const zhen_document *document, const doc_tag *tag)
{
    return is_code(document, tag) || is_opaque(document, tag);
}

static bool value_is(const zhen_document *document, const doc_attribute *attribute,
                     const char *value)
{
    zhen_span span = attribute->value;
    return strlen(value) == span.end - span.begin &&
           strncasecmp(document->source.data + span.begin, value, span.end - span.begin) == 0;
}

static bool has_class(const zhen_document *document, const doc_tag *tag, const char *name)
{
    doc_attribute a;
    if (!doc_find_attribute(document, tag, "class", &a))
        return false;
    const char *text = document->source.data + a.value.begin;
    size_t length = a.value.end - a.value.begin, size = strlen(name);
    for (size_t i = 0; i + size <= length; i++)
        if (memcmp(text + i, name, size) == 0 && (i == 0 || text[i - 1] == ' ') &&
            (i + size == length || text[i + size] == ' '))
            return true;
    return false;
}

/* What an element says about whether it is to be translated. */
typedef enum said { SAID_NOTHING, SAID_NO, SAID_YES } said;

static said said_by(const zhen_document *document, const doc_tag *tag)
{
    doc_attribute a;
    bool found = doc_find_attribute(document, tag, "translate", &a);
    if ((found && value_is(document, &a, "no")) || has_class(document, tag, "notranslate"))
        return SAID_NO;
    if (found && (value_is(document, &a, "yes") || value_is(document, &a, "")))
        return SAID_YES;
    return SAID_NOTHING;
}

static bool is_untranslated(const zhen_document *document, const doc_tag *tag)
{
    return said_by(document, tag) == SAID_NO;
}

bool doc_html_is_left_alone(const zhen_document *document, const doc_tag *tag)
{
    return holds_no_prose(document, tag) || is_untranslated(document, tag);
}

/* ---- Attributes --------------------------------------------------------------------------- */

static bool is_prose_attribute(const zhen_document *document, const doc_tag *tag,
                               const doc_attribute *attribute)
{
    static const char *const names[] = {"title",      "alt",     "placeholder",
                                        "aria-label", "summary", NULL};
    const doc_tag name = {.name = attribute->name};
    doc_attribute kind;
    if (is_any_of(document, &name, names))
        return true;
    if (doc_tag_is(document, &name, "content") && doc_tag_is(document, tag, "meta"))
        return doc_find_attribute(document, tag, "name", &kind) &&
               (value_is(document, &kind, "description") || value_is(document, &kind, "keywords"));
    if (doc_tag_is(document, &name, "value") && doc_tag_is(document, tag, "input"))
        return doc_find_attribute(document, tag, "type", &kind) &&
               (value_is(document, &kind, "submit") || value_is(document, &kind, "button") ||
                value_is(document, &kind, "reset"));
    return false;
}

/* lang="zh-CN" is no longer true when the text is English. */
static bool change_language(zhen_document *document, const doc_attribute *attribute)
{
    const doc_tag name = {.name = attribute->name};
    return (!doc_tag_is(document, &name, "lang") && !doc_tag_is(document, &name, "xml:lang")) ||
           doc_change_language(document, attribute->value);
}

static bool translate_value(zhen_document *document, const doc_attribute *attribute)
{
    /* A flow of its own: the one of the document may be in the middle of a paragraph. */
    doc_flow paragraph = document->flow;
    document->flow = (doc_flow){.escape = doc_escape_attribute, .protect = DOC_PROTECT_ALL};
    bool ok = doc_entity_add_text(&document->flow, &document->arena, document->source.data,
                                  attribute->value) &&
              doc_finish_in_place(document);
    doc_flow_free(&document->flow);
    document->flow = paragraph;
    return ok;
}

/* `whole`: what is in the element is translated as well, so that its language changes. */
static bool read_attributes(zhen_document *document, const doc_tag *tag, bool whole)
{
    doc_attribute a;
    for (size_t at = 0; doc_next_attribute(document, tag, &at, &a);) {
        if (whole && !change_language(document, &a))
            return false;
        /* A value without quotes could not hold the blanks of a translation. */
        if (a.quoted && is_prose_attribute(document, tag, &a) && !translate_value(document, &a))
            return false;
    }
    return true;
}

/* ---- Flows -------------------------------------------------------------------------------- */

typedef struct reading {
    zhen_document *document;
    const doc_tags *tags;
    size_t *close; /* of each opening tag: the tag that closes it */
    bool *kept;    /* of each token: whether it is in an element that is not translated */
    size_t at;
} reading;

static bool add_mark(reading *r, doc_event_kind kind, const doc_tag *tag, unsigned flags)
{
    return doc_flow_add(&r->document->flow,
                        &(doc_event){.kind = kind,
                                     .flags = flags,
                                     .raw = tag->raw,
                                     .key = r->document->source.data + tag->name.begin,
                                     .key_length = tag->name.end - tag->name.begin});
}

static bool same_name(const zhen_document *document, const doc_tag *a, const doc_tag *b)
{
    const char *text = document->source.data;
    size_t length = a->name.end - a->name.begin;
    return b->name.end - b->name.begin == length &&
           strncasecmp(text + a->name.begin, text + b->name.begin, length) == 0;
}

/* Finds for each opening tag the one that closes it, itself if none does. A closing tag looks no
 * further up than this, so that hostile nesting costs no more. */
enum { LOOK_UP = 256 };

static bool find_closes(reading *r)
{
    const doc_tag *items = r->tags->items;
    size_t *stack = malloc((r->tags->count + 1) * sizeof *stack), depth = 0;
    r->close = malloc((r->tags->count + 1) * sizeof *r->close);
    if (!stack || !r->close) {
        free(stack);
        return false;
    }
    for (size_t i = 0; i < r->tags->count; i++) {
        r->close[i] = i;
        if (items[i].kind == DOC_TOKEN_OPEN && !is_void(r->document, &items[i]))
            stack[depth++] = i;
        if (items[i].kind != DOC_TOKEN_CLOSE)
            continue;
        size_t floor = depth > LOOK_UP ? depth - LOOK_UP : 0, at = depth;
        while (at > floor && !same_name(r->document, &items[stack[at - 1]], &items[i]))
            at--;
        if (at > floor) {
            depth = at - 1;
            r->close[stack[depth]] = i;
        }
    }
    free(stack);
    return true;
}

/* The last token of the element that opens here: its closing tag, or where that is left out (<li>,
 * <td>) the one before the tag that ends it. That of <code> cannot be left out: where it is
 * missing, somebody wrote about a tag. */
static size_t last_token(const reading *r)
{
    const doc_tag *items = r->tags->items;
    size_t last = r->close[r->at];
    if (last > r->at || is_code(r->document, &items[r->at]))
        return last;
    while (last + 1 < r->tags->count && items[last + 1].raw.end <= items[r->at].end)
        last++;
    return last;
}

/* An element that says whether it is translated. */
typedef struct scope {
    size_t close; /* its last token, */
    size_t end;   /* or where its closing tag is left out: the end of its bytes */
    bool kept;
} scope;

/* How many of the scopes are left when those that end before a token are gone. */
static size_t leave_scopes(const reading *r, const scope *scopes, size_t depth, size_t token)
{
    while (depth > 0 && scopes[depth - 1].close < token &&
           scopes[depth - 1].end < r->tags->items[token].raw.end)
        depth--;
    return depth;
}

/* Finds the tokens that are kept: the nearest element that says something decides. */
static bool find_kept(reading *r)
{
    scope *scopes = NULL;
    size_t depth = 0, capacity = 0;
    r->kept = calloc(r->tags->count + 1, sizeof *r->kept);
    bool ok = r->kept;
    for (size_t i = 0; ok && i < r->tags->count; i++) {
        const doc_tag *tag = &r->tags->items[i];
        bool opens = tag->kind == DOC_TOKEN_OPEN;
        said s = opens || tag->kind == DOC_TOKEN_EMPTY ? said_by(r->document, tag) : SAID_NOTHING;
        depth = leave_scopes(r, scopes, depth, i);
        r->kept[i] = depth > 0 && scopes[depth - 1].kept && s != SAID_YES;
        if (!opens || s == SAID_NOTHING || is_void(r->document, tag) ||
            holds_no_prose(r->document, tag))
            continue;
        ok = base_grow((void **)&scopes, &capacity, depth + 1, sizeof *scopes);
        if (ok)
            scopes[depth++] = (scope){r->close[i], r->close[i] > i ? 0 : tag->end, s == SAID_NO};
    }
    free(scopes);
    return ok;
}

/* Appends what a reader sees of the tokens [begin, end). */
static bool append_text(const reading *r, size_t begin, size_t end, base_buffer *text)
{
    zhen_document *document = r->document;
    doc_flow flow = {.scattered = true};
    bool ok = true;
    for (size_t i = begin; ok && i < end; i++)
        if (r->tags->items[i].kind == DOC_TOKEN_TEXT)
            ok = doc_entity_add_text(&flow, &document->arena, document->source.data,
                                     r->tags->items[i].raw);
    for (size_t i = 0; ok && i < flow.count; i++)
        ok = base_buffer_append(text, flow.events[i].text, flow.events[i].text_length);
    doc_flow_free(&flow);
    return ok;
}

/* An element that is left alone: a word of the paragraph if it stands in one. */
static bool skip_element(reading *r, bool in_text)
{
    size_t open = r->at;
    doc_tag whole = r->tags->items[open];
    r->at = last_token(r);
    whole.raw.end = r->tags->items[r->at].raw.end;
    if (!in_text)
        return add_mark(r, DOC_EVENT_BREAK, &whole, 0);
    base_buffer text = {0};
    doc_event word = {.kind = DOC_EVENT_WORD, .raw = whole.raw};
    bool ok = append_text(r, open + 1, r->at, &text);
    word.text = ok ? base_arena_string(&r->document->arena, text.data, text.length) : NULL;
    word.text_length = text.length;
    base_buffer_free(&text);
    return word.text && doc_flow_add(&r->document->flow, &word);
}

static bool end_flow(reading *r)
{
    return doc_finish_in_place(r->document);
}

static bool read_open(reading *r, const doc_tag *tag)
{
    const zhen_document *document = r->document;
    bool in_text = is_inline(document, tag) || is_code(document, tag);
    bool kept = is_untranslated(document, tag);
    bool whole = !holds_no_prose(document, tag);
    if (!kept && !read_attributes(r->document, tag, whole))
        return false;
    if (!whole || (kept && in_text))
        return skip_element(r, in_text);
    if (kept) /* what is in it may be translated */
        return add_mark(r, DOC_EVENT_BREAK, tag, 0);
    return in_text ? add_mark(r, DOC_EVENT_OPEN, tag, 0) : end_flow(r);
}

static bool read_empty(reading *r, const doc_tag *tag)
{
    const zhen_document *document = r->document;
    if (!is_untranslated(document, tag) && !read_attributes(r->document, tag, true))
        return false;
    if (is_object(document, tag))
        return add_mark(r, DOC_EVENT_POINT, tag, DOC_WORDLIKE);
    if (doc_tag_is(document, tag, "wbr") || is_inline(document, tag))
        return add_mark(r, DOC_EVENT_POINT, tag, 0);
    return end_flow(r);
}

/* A token of an element that is not translated. Code is kept as a whole, whatever is said in it. */
static bool keep_token(reading *r, const doc_tag *tag)
{
    if (tag->kind == DOC_TOKEN_OPEN && holds_no_prose(r->document, tag))
        return skip_element(r, false);
    return add_mark(r, DOC_EVENT_BREAK, tag, 0);
}

static bool read_token(reading *r)
{
    const doc_tag *tag = &r->tags->items[r->at];
    zhen_document *document = r->document;
    if (r->kept[r->at])
        return keep_token(r, tag);
    switch (tag->kind) {
    case DOC_TOKEN_OPEN:
        return is_void(document, tag) ? read_empty(r, tag) : read_open(r, tag);
    case DOC_TOKEN_EMPTY:
        return read_empty(r, tag);
    case DOC_TOKEN_CLOSE:
        return is_inline(document, tag) ? add_mark(r, DOC_EVENT_CLOSE, tag, 0) : end_flow(r);
    case DOC_TOKEN_TEXT:
        return doc_entity_add_text(&document->flow, &document->arena, document->source.data,
                                   tag->raw);
    case DOC_TOKEN_COMMENT:
        return add_mark(r, DOC_EVENT_POINT, tag, 0);
    case DOC_TOKEN_OTHER:
        break;
    }
    return add_mark(r, DOC_EVENT_BREAK, tag, 0);
}

bool doc_translate_html(zhen_document *document, const doc_tags *tags)
{
    reading r = {.document = document, .tags = tags};
    document->flow.escape = doc_escape_markup;
    document->flow.protect = DOC_PROTECT_ADDRESSES | DOC_PROTECT_SYMBOLS | DOC_PROTECT_PLACEHOLDERS;
    bool ok = find_closes(&r) && find_kept(&r);
    for (; ok && r.at < tags->count; r.at++)
        ok = read_token(&r);
    free(r.close);
    free(r.kept);
    return ok && end_flow(&r);
}

static zhen_status translate(zhen_document *document, const doc_tags *tags, zhen_error *error)
{
    bool ok = doc_tags_redeclare(document, tags) && doc_translate_html(document, tags);
    return ok ? ZHEN_OK : base_fail_memory(error);
}

zhen_status doc_parse_html(zhen_document *document, zhen_error *error)
{
    doc_tags tags = {0};
    zhen_span range = {document->body, document->source.length};
    zhen_status status = doc_tags_read_html(document, range, &tags, error);
    if (!status)
        status = translate(document, &tags, error);
    doc_tags_free(&tags);
    return status;
}

zhen_status doc_parse_xhtml(zhen_document *document, zhen_error *error)
{
    doc_tags tags = {0};
    zhen_status status = doc_tags_read_xml(document, &tags, error);
    if (!status)
        status = translate(document, &tags, error);
    doc_tags_free(&tags);
    return status;
}
