#include "document/markdown_anchor.h"

#include "document/patterns.h"
#include "text/utf8.h"

#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

bool doc_anchors_add_heading(doc_anchors *anchors, const doc_heading *heading)
{
    if (!base_grow((void **)&anchors->headings, &anchors->heading_capacity,
                   anchors->heading_count + 1, sizeof *anchors->headings))
        return false;
    anchors->headings[anchors->heading_count++] = *heading;
    return true;
}

static bool add_target(zhen_span **links, size_t *count, size_t *capacity, zhen_span link)
{
    if (!base_grow((void **)links, capacity, *count + 1, sizeof **links))
        return false;
    (*links)[(*count)++] = link;
    return true;
}

/* From behind the # to the first of `ends`. */
static zhen_span read_target(const char *text, size_t begin, size_t end, const char *ends)
{
    zhen_span link = {begin, begin};
    while (link.end < end && !doc_is_one_of(text[link.end], ends))
        link.end++;
    return link;
}

bool doc_anchors_add_link(doc_anchors *anchors, const char *text, size_t at, size_t end)
{
    if (end - at < 3 || memcmp(text + at, "(#", 2) != 0)
        return true;
    return add_target(&anchors->links, &anchors->link_count, &anchors->link_capacity,
                      read_target(text, at + 2, end, ") \t\r\n"));
}

bool doc_anchors_add_html(doc_anchors *anchors, const char *text, size_t begin, size_t end)
{
    static const char attribute[] = "href=";
    enum { LENGTH = sizeof attribute - 1 };
    const char *found;
    while ((found = memmem(text + begin, end - begin, attribute, LENGTH))) {
        begin = (size_t)(found - text) + LENGTH;
        if (!doc_starts_with(text, end, begin, "\"#") && !doc_starts_with(text, end, begin, "'#"))
            continue;
        const char quote[] = {text[begin], '\0'};
        if (!add_target(&anchors->links, &anchors->link_count, &anchors->link_capacity,
                        read_target(text, begin + 2, end, quote)))
            return false;
    }
    return true;
}

/* The target in a line [label]: #heading or [label]: <#heading>; empty if it is none. */
static zhen_span read_definition(const char *line, size_t length)
{
    size_t at = 0;
    while (at < length && (doc_is_blank(line[at]) || line[at] == '>'))
        at++;
    const char *close =
        at < length && line[at] == '[' ? memmem(line + at, length - at, "]:", 2) : NULL;
    if (!close)
        return (zhen_span){0, 0};
    at = doc_skip_blanks(line, length, (size_t)(close - line) + 2);
    at += doc_at_or_zero(line, length, at) == '<';
    if (doc_at_or_zero(line, length, at) != '#')
        return (zhen_span){0, 0};
    return read_target(line, at + 1, length, "> \t\r");
}

bool doc_anchors_add_definitions(doc_anchors *anchors, const char *text, size_t begin, size_t end)
{
    for (size_t line = begin, next; line < end; line = next) {
        const char *stop = memchr(text + line, '\n', end - line);
        next = stop ? (size_t)(stop - text) + 1 : end;
        zhen_span link = read_definition(text + line, next - line - (stop != NULL));
        if (link.begin < link.end && !add_target(&anchors->definitions, &anchors->definition_count,
                                                 &anchors->definition_capacity,
                                                 (zhen_span){line + link.begin, line + link.end}))
            return false;
    }
    return true;
}

void doc_anchors_see_text(doc_anchors *anchors, zhen_span text)
{
    size_t low = 0, high = anchors->definition_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (anchors->definitions[middle].begin < text.begin)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < anchors->definition_count && anchors->definitions[low].begin < text.end; low++)
        anchors->definitions[low].end = anchors->definitions[low].begin;
}

void doc_anchors_free(doc_anchors *anchors)
{
    free(anchors->headings);
    free(anchors->links);
    free(anchors->definitions);
    *anchors = (doc_anchors){0};
}

/* ---- Names -------------------------------------------------------------------------------- */

/* Makes the name of a heading from its text in output->data + begin: letters and digits, small,
 * with hyphens for blanks. The rest, Markdown's marks among it, is left out. */
static bool make_name(base_buffer *output, size_t begin)
{
    base_buffer name = {0};
    bool ok = base_buffer_reserve(&name, output->length - begin);
    for (size_t at = begin; ok && at < output->length;) {
        int32_t c;
        at += text_decode(output->data + at, output->length - at, &c);
        utf8proc_category_t category = utf8proc_category(c);
        bool kept = category <= UTF8PROC_CATEGORY_NL || category == UTF8PROC_CATEGORY_PC;
        utf8proc_uint8_t bytes[4];
        if (c == ' ' || c == '-')
            ok = base_buffer_append_byte(&name, '-');
        else if (kept && category != UTF8PROC_CATEGORY_CN)
            ok = base_buffer_append(&name, bytes,
                                    (size_t)utf8proc_encode_char(utf8proc_tolower(c), bytes));
    }
    output->length = begin;
    ok = ok && base_buffer_append(output, name.data, name.length);
    base_buffer_free(&name);
    return ok;
}

/* Copies what make_name makes of the text to the arena. */
static const char *name_of(base_arena *arena, const char *text, size_t length, size_t *name_length)
{
    base_buffer name = {0};
    const char *copy = NULL;
    if (base_buffer_append(&name, text, length) && make_name(&name, 0))
        copy = base_arena_string(arena, name.data, name.length);
    *name_length = name.length;
    base_buffer_free(&name);
    return copy;
}

/* The link with %E6 and the like read as bytes; NULL when memory runs out. */
static char *decode_link(base_arena *arena, const char *text, zhen_span link, size_t *length)
{
    char *decoded = base_arena_string(arena, text + link.begin, link.end - link.begin);
    *length = 0;
    for (size_t at = link.begin; decoded && at < link.end; at++) {
        int high = text[at] == '%' && link.end - at > 2 ? doc_hex_value(text[at + 1]) : -1;
        int low = high >= 0 ? doc_hex_value(text[at + 2]) : -1;
        decoded[(*length)++] = low >= 0 ? (char)(high * 16 + low) : text[at];
        at += low >= 0 ? 2 : 0;
    }
    return decoded;
}

/* ---- Links -------------------------------------------------------------------------------- */

static int compare_names(const doc_heading *a, const char *name, size_t length)
{
    size_t shorter = a->name_length < length ? a->name_length : length;
    int order = shorter ? memcmp(a->name, name, shorter) : 0;
    return order ? order : (a->name_length > length) - (a->name_length < length);
}

static int by_name(const void *a, const void *b)
{
    const doc_heading *x = a, *y = b;
    int order = compare_names(x, y->name, y->name_length);
    return order ? order : (x->text.begin > y->text.begin) - (x->text.begin < y->text.begin);
}

/* The heading of that name that comes as number `which` of several, or NULL. */
static const doc_heading *find_heading(const doc_anchors *anchors, const char *name, size_t length,
                                       size_t which)
{
    size_t low = 0, high = anchors->heading_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare_names(&anchors->headings[middle], name, length) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (which >= anchors->heading_count - low)
        return NULL;
    const doc_heading *found = &anchors->headings[low + which];
    return compare_names(found, name, length) == 0 ? found : NULL;
}

/* Further headings of the same name are known with a number, name-1. */
static const doc_heading *find_numbered(const doc_anchors *anchors, const char *name, size_t length,
                                        const char **number)
{
    size_t end = length;
    while (end > 0 && length - end < 8 && doc_is_digit(name[end - 1]))
        end--;
    if (end == length || end == 0 || name[end - 1] != '-')
        return NULL;
    *number = name + end - 1;
    return find_heading(anchors, name, end - 1, strtoul(name + end, NULL, 10));
}

static bool follow(const doc_anchors *anchors, zhen_document *document, zhen_span link)
{
    size_t length;
    char *name = decode_link(&document->arena, document->source.data, link, &length);
    if (!name)
        return false;
    name[length] = '\0';
    const char *number = name + length;
    const doc_heading *heading = find_heading(anchors, name, length, 0);
    if (!heading)
        heading = find_numbered(anchors, name, length, &number);
    if (!heading || heading->unit_count == 0)
        return true;
    if (!doc_begin_block(document, link, DOC_WHEN_UNITS))
        return false;
    doc_block *block = &document->blocks[document->block_count - 1];
    block->first_unit = heading->first_unit;
    block->unit_count = heading->unit_count;
    block->finish = make_name;
    return doc_add_rendered(document, heading->text) &&
           doc_add_literal(document, number, strlen(number));
}

bool doc_anchors_follow(doc_anchors *anchors, zhen_document *document)
{
    bool ok = true;
    for (size_t i = 0; ok && i < anchors->heading_count; i++) {
        doc_heading *h = &anchors->headings[i];
        h->name = name_of(&document->arena, document->source.data + h->text.begin,
                          h->text.end - h->text.begin, &h->name_length);
        ok = h->name;
    }
    if (ok && anchors->heading_count)
        qsort(anchors->headings, anchors->heading_count, sizeof *anchors->headings, by_name);
    for (size_t i = 0; ok && i < anchors->link_count; i++)
        ok = follow(anchors, document, anchors->links[i]);
    for (size_t i = 0; ok && i < anchors->definition_count; i++)
        ok = follow(anchors, document, anchors->definitions[i]);
    return ok;
}
