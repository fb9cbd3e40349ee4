/*
 * HTML by gumbo, which builds the tree that browsers build, with pointers into the source. We need
 * the tags and texts in source order: the tree is walked, and what it says is sorted by offset.
 */
#include "base/error.h"
#include "document/markup.h"

#include <gumbo.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

typedef struct walk {
    const zhen_document *document;
    size_t begin;  /* of what gumbo read, in the source */
    doc_tags tags; /* in tree order */
} walk;

static zhen_span span_of(const walk *w, GumboStringPiece piece)
{
    if (!piece.data || piece.length == 0)
        return (zhen_span){0, 0};
    size_t begin = (size_t)(piece.data - w->document->source.data);
    return (zhen_span){begin, begin + piece.length};
}

static bool is_name_end(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '/' || c == '>';
}

static bool add_tag(walk *w, doc_token_kind kind, GumboStringPiece piece, size_t end)
{
    zhen_span raw = span_of(w, piece);
    if (raw.begin == raw.end)
        return true; /* a tag that the source leaves out */
    doc_tag tag = {.kind = kind, .raw = raw, .end = end};
    tag.name.begin = raw.begin + (kind == DOC_TOKEN_CLOSE ? 2 : 1);
    tag.name.end = tag.name.begin;
    while (tag.name.end < raw.end && !is_name_end(w->document->source.data[tag.name.end]))
        tag.name.end++;
    return doc_tags_add(&w->tags, &tag);
}

static bool enter(walk *w, const GumboNode *node)
{
    switch (node->type) {
    case GUMBO_NODE_ELEMENT:
    case GUMBO_NODE_TEMPLATE:
        return add_tag(w, DOC_TOKEN_OPEN, node->v.element.original_tag,
                       w->begin + node->v.element.end_pos.offset);
    case GUMBO_NODE_TEXT:
    case GUMBO_NODE_WHITESPACE:
        return doc_tags_add(&w->tags, &(doc_tag){.kind = DOC_TOKEN_TEXT,
                                                 .raw = span_of(w, node->v.text.original_text)});
    case GUMBO_NODE_COMMENT:
        return doc_tags_add(&w->tags, &(doc_tag){.kind = DOC_TOKEN_COMMENT,
                                                 .raw = span_of(w, node->v.text.original_text)});
    default:
        return true;
    }
}

static bool leave(walk *w, const GumboNode *node)
{
    if (node->type != GUMBO_NODE_ELEMENT && node->type != GUMBO_NODE_TEMPLATE)
        return true;
    return add_tag(w, DOC_TOKEN_CLOSE, node->v.element.original_end_tag, 0);
}

static const GumboVector *children_of(const GumboNode *node)
{
    if (node->type == GUMBO_NODE_DOCUMENT)
        return &node->v.document.children;
    if (node->type == GUMBO_NODE_ELEMENT || node->type == GUMBO_NODE_TEMPLATE)
        return &node->v.element.children;
    return NULL;
}

/* In tree order without recursion: HTML nests as deep as it likes. */
static bool walk_tree(walk *w, const GumboNode *root)
{
    const GumboNode *node = root;
    for (;;) {
        if (!enter(w, node))
            return false;
        const GumboVector *children = children_of(node);
        if (children && children->length) {
            node = children->data[0];
            continue;
        }
        for (;;) {
            if (!leave(w, node))
                return false;
            if (node == root)
                return true;
            const GumboNode *parent = node->parent;
            children = children_of(parent);
            size_t next = node->index_within_parent + 1;
            if (next < children->length) {
                node = children->data[next];
                break;
            }
            node = parent;
        }
    }
}

static int by_place(const void *a, const void *b)
{
    const doc_tag *x = a, *y = b;
    if (x->raw.begin != y->raw.begin)
        return x->raw.begin < y->raw.begin ? -1 : 1;
    if (x->raw.end != y->raw.end)
        return x->raw.end > y->raw.end ? -1 : 1;
    if (x->kind != y->kind)
        return (int)x->kind - (int)y->kind;
    /* Of an element that was taken up again, the first one. */
    return x->end < y->end ? -1 : x->end > y->end;
}

/* Text that goes over a tag which the parser ignored, as it does with stray ones, ends there. */
static bool add_text(const zhen_document *document, zhen_span raw, doc_tags *tags)
{
    const char *text = document->source.data;
    size_t plain = raw.begin;
    for (size_t at = raw.begin; at < raw.end; at++) {
        char next = text[at + 1]; /* the source ends in a zero byte */
        bool tag =
            text[at] == '<' && (next == '/' || next == '!' || next == '?' ||
                                (next >= 'a' && next <= 'z') || (next >= 'A' && next <= 'Z'));
        if (!tag)
            continue;
        if (plain < at &&
            !doc_tags_add(tags, &(doc_tag){.kind = DOC_TOKEN_TEXT, .raw = {plain, at}}))
            return false;
        plain = at;
        while (at < raw.end && text[at] != '>')
            at++;
        size_t end = at < raw.end ? at + 1 : raw.end;
        if (!doc_tags_add(tags, &(doc_tag){.kind = DOC_TOKEN_OTHER, .raw = {plain, end}}))
            return false;
        plain = end;
    }
    return plain >= raw.end ||
           doc_tags_add(tags, &(doc_tag){.kind = DOC_TOKEN_TEXT, .raw = {plain, raw.end}});
}

/* Elements that the tree holds twice (formatting that is taken up again after a misnested tag) are
 * one token; bytes that the tree does not show are tokens of their own. */
static bool order_tags(walk *w, zhen_span range, doc_tags *tags)
{
    size_t at = range.begin;
    if (w->tags.count)
        qsort(w->tags.items, w->tags.count, sizeof *w->tags.items, by_place);
    for (size_t i = 0; i < w->tags.count; i++) {
        doc_tag *tag = &w->tags.items[i];
        if (tag->raw.begin < at || tag->raw.end > range.end || tag->raw.begin == tag->raw.end)
            continue;
        if (tag->raw.begin > at &&
            !doc_tags_add(tags, &(doc_tag){.kind = DOC_TOKEN_OTHER, .raw = {at, tag->raw.begin}}))
            return false;
        bool ok = tag->kind == DOC_TOKEN_TEXT ? add_text(w->document, tag->raw, tags)
                                              : doc_tags_add(tags, tag);
        if (!ok)
            return false;
        at = tag->raw.end;
    }
    return true;
}

/* ---- Depth -------------------------------------------------------------------------------- */

/* gumbo frees its tree by recursion, and its time grows with the depth of each tag: deeper nesting
 * than this is refused before it is parsed. */
enum { MAX_DEPTH = 5000, LOOK_UP = 64 };

/* Elements that never nest without another element between them. */
static bool ends_by_itself(const char *name, size_t length)
{
    static const char *const names[] = {"p",     "li",     "dt",    "dd",    "td",   "th",
                                        "tr",    "option", "area",  "base",  "br",   "col",
                                        "embed", "hr",     "img",   "input", "link", "meta",
                                        "param", "source", "track", "wbr",   NULL};
    for (const char *const *n = names; *n; n++)
        if (strlen(*n) == length && strncasecmp(*n, name, length) == 0)
            return true;
    return false;
}

static bool same_name(const char *a, const char *b)
{
    size_t i = 0;
    while (!is_name_end(a[i]) && !is_name_end(b[i]) && a[i] && (a[i] | 0x20) == (b[i] | 0x20))
        i++;
    return (is_name_end(a[i]) || !a[i]) && (is_name_end(b[i]) || !b[i]);
}

static size_t name_length(const char *name)
{
    size_t length = 0;
    while (name[length] && !is_name_end(name[length]))
        length++;
    return length;
}

/* Whether tags nest deeper than MAX_DEPTH, counting only what certainly nests. */
static bool nests_too_deeply(const char *text, const char *end)
{
    const char *open[MAX_DEPTH];
    size_t depth = 0;
    for (; (text = memchr(text, '<', (size_t)(end - text))); text++) {
        char next = (char)(text[1] | 0x20); /* the source ends in a zero byte */
        if (text + 2 < end && text[1] == '/') {
            size_t at = depth, floor = depth > LOOK_UP ? depth - LOOK_UP : 0;
            while (at > floor && !same_name(open[at - 1], text + 2))
                at--;
            if (at > floor)
                depth = at - 1;
        } else if (next >= 'a' && next <= 'z' && !ends_by_itself(text + 1, name_length(text + 1))) {
            if (depth == MAX_DEPTH)
                return true;
            open[depth++] = text + 1;
        }
    }
    return false;
}

zhen_status doc_tags_read_html(const zhen_document *document, zhen_span range, doc_tags *tags,
                               zhen_error *error)
{
    const char *text = document->source.data;
    if (nests_too_deeply(text + range.begin, text + range.end))
        return doc_fail_at(document, range.begin, error, "tags nest deeper than %d", MAX_DEPTH);
    GumboOptions options = kGumboDefaultOptions;
    options.max_errors = 0;
    GumboOutput *output =
        gumbo_parse_with_options(&options, text + range.begin, range.end - range.begin);
    if (!output)
        return base_fail_memory(error);
    walk w = {.document = document, .begin = range.begin};
    bool ok = walk_tree(&w, output->document) && order_tags(&w, range, tags);
    gumbo_destroy_output(&options, output);
    doc_tags_free(&w.tags);
    return ok ? ZHEN_OK : base_fail_memory(error);
}
