#include "document/markup.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

bool doc_tags_add(doc_tags *tags, const doc_tag *tag)
{
    if (!base_grow((void **)&tags->items, &tags->capacity, tags->count + 1, sizeof *tags->items))
        return false;
    tags->items[tags->count++] = *tag;
    return true;
}

void doc_tags_free(doc_tags *tags)
{
    free(tags->items);
    *tags = (doc_tags){0};
}

static bool is_same(const zhen_document *document, zhen_span span, const char *name)
{
    return strlen(name) == span.end - span.begin &&
           strncasecmp(document->source.data + span.begin, name, span.end - span.begin) == 0;
}

bool doc_tag_is(const zhen_document *document, const doc_tag *tag, const char *name)
{
    return is_same(document, tag->name, name);
}

/* ---- Declarations ------------------------------------------------------------------------- */

/* An XML declaration stands at the very beginning; elsewhere it is none. */
static zhen_span xml_declaration(const zhen_document *document)
{
    const base_buffer *source = &document->source;
    size_t begin = document->body, left = source->length - begin;
    const char *text = source->data + begin;
    const char *end = left > 5 && memcmp(text, "<?xml", 5) == 0 ? memchr(text, '>', left) : NULL;
    return (zhen_span){begin, end ? (size_t)(end - source->data) : begin};
}

bool doc_tags_redeclare(zhen_document *document, const doc_tags *tags)
{
    bool ok = doc_redeclare(document, xml_declaration(document), "UTF-8");
    for (size_t i = 0; ok && i < tags->count; i++) {
        const doc_tag *tag = &tags->items[i];
        bool opens = tag->kind == DOC_TOKEN_OPEN || tag->kind == DOC_TOKEN_EMPTY;
        if (opens && doc_tag_is(document, tag, "meta"))
            ok = doc_redeclare(document, tag->raw, "UTF-8");
    }
    return ok;
}

/* ---- Attributes --------------------------------------------------------------------------- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f';
}

static bool ends_name(char c)
{
    return is_blank(c) || c == '=' || c == '>' || c == '/';
}

static size_t read_value(const char *text, size_t at, size_t end, doc_attribute *attribute)
{
    if (at < end && (text[at] == '"' || text[at] == '\'')) {
        const char *close = memchr(text + at + 1, text[at], end - at - 1);
        size_t stop = close ? (size_t)(close - text) : end;
        attribute->quoted = true;
        attribute->value = (zhen_span){at + 1, stop};
        return stop < end ? stop + 1 : end;
    }
    attribute->value.begin = at;
    while (at < end && !is_blank(text[at]))
        at++;
    attribute->value.end = at;
    return at;
}

bool doc_next_attribute(const zhen_document *document, const doc_tag *tag, size_t *at,
                        doc_attribute *attribute)
{
    const char *text = document->source.data;
    size_t end = tag->raw.end > tag->raw.begin ? tag->raw.end - 1 : tag->raw.end; /* before > */
    size_t i = *at ? *at : tag->name.end;
    while (i < end && (is_blank(text[i]) || text[i] == '/'))
        i++;
    if (i >= end)
        return false;
    *attribute = (doc_attribute){.name = {i, i}};
    /* An equals sign where a name should be is the name's first character (HTML, 13.2.5.32). */
    do
        i++;
    while (i < end && !ends_name(text[i]));
    attribute->name.end = i;
    while (i < end && is_blank(text[i]))
        i++;
    attribute->value = (zhen_span){i, i};
    if (i < end && text[i] == '=') {
        i++;
        while (i < end && is_blank(text[i]))
            i++;
        i = read_value(text, i, end, attribute);
    }
    *at = i;
    return true;
}

bool doc_find_attribute(const zhen_document *document, const doc_tag *tag, const char *name,
                        doc_attribute *attribute)
{
    for (size_t at = 0; doc_next_attribute(document, tag, &at, attribute);)
        if (is_same(document, attribute->name, name))
            return true;
    return false;
}
