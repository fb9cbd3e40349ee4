/*
 * Markdown by md4c (CommonMark with GitHub's tables, strikethrough and task lists). md4c reports
 * texts as pointers into the source, but no places of delimiters; those are what lies in the gaps
 * between texts (document/markdown_gap.h). What cannot be explained in a gap is kept as it is and
 * cuts the paragraph there.
 */
#include "base/error.h"
#include "document/document.h"
#include "document/entity.h"
#include "document/escape.h"
#include "document/markdown_anchor.h"
#include "document/markdown_gap.h"
#include "document/markdown_image.h"
#include "document/markdown_mask.h"
#include "document/markdown_pad.h"
#include "document/markup.h"
#include "document/patterns.h"
#include "document/protect.h"

#include <limits.h>
#include <md4c.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct span_list {
    zhen_span *items;
    size_t count, capacity;
} span_list;

/* Something that happened in a gap. */
typedef struct happening {
    enum { ENTER, LEAVE, SOFT_BREAK, HARD_BREAK } kind;
    MD_SPANTYPE type;
} happening;

enum { MAX_HAPPENINGS = 256 };

typedef struct reading {
    zhen_document *document;
    const char *text; /* the source */
    size_t base, length;
    doc_padded given; /* what md4c reads: the source from `base` on, masked and padded */
    MD_BLOCKTYPE block;
    bool prose;    /* the block holds text to translate */
    size_t cursor; /* behind what was last added to the flow; SIZE_MAX: nothing yet in this block */
    happening gap[MAX_HAPPENINGS];
    size_t gap_count;
    size_t link;               /* where the text of the link that is open begins; SIZE_MAX: none */
    size_t code;               /* where the code span that is open begins; SIZE_MAX: none is */
    size_t image, image_depth; /* the same of an image; how many spans are open in it */
    zhen_span alt;             /* the image's text so far */
    doc_images images;         /* of the block, whose texts are translated */
    zhen_span html;            /* the HTML block that is open; empty: none */
    span_list html_blocks;     /* those that are complete */
    doc_anchors anchors;       /* headings, and links to them */
    bool failed;               /* out of memory */
} reading;

/* ---- Gaps --------------------------------------------------------------------------------- */

static void add_event(reading *r, const doc_event *event)
{
    r->failed = r->failed || !doc_flow_add(&r->document->flow, event);
    r->cursor = event->raw.end;
}

static void add(reading *r, doc_event_kind kind, zhen_span raw, const char *key, unsigned flags)
{
    doc_event event = {.kind = kind, .flags = flags, .raw = raw, .key = key};
    event.key_length = key ? strlen(key) : 0;
    if (kind == DOC_EVENT_SPACE) {
        event.text = "\n";
        event.text_length = 1;
    }
    add_event(r, &event);
}

static const char *key_of(MD_SPANTYPE type)
{
    return type == MD_SPAN_EM       ? "em"
           : type == MD_SPAN_STRONG ? "strong"
           : type == MD_SPAN_DEL    ? "del"
                                    : "a";
}

static unsigned flags_of(MD_SPANTYPE type)
{
    return type == MD_SPAN_A ? 0 : DOC_FLANKED;
}

/* A link [text] or [text][] is named by its text: once that is translated, it needs the text as it
 * was for a label, [translation][text]. */
static void close_link(reading *r, zhen_span raw, size_t limit)
{
    doc_event event = {.kind = DOC_EVENT_CLOSE, .raw = raw, .key = "a", .key_length = 1};
    if (r->link <= raw.begin && doc_markdown_is_unlabelled(r->text, raw, limit)) {
        event.literal = doc_markdown_label(&r->document->arena, r->text,
                                           (zhen_span){r->link, raw.begin}, &event.literal_length);
        r->failed = r->failed || !event.literal;
    }
    r->link = SIZE_MAX;
    if (r->block != MD_BLOCK_H && raw.begin + 1 < raw.end)
        r->failed =
            r->failed || !doc_anchors_add_link(&r->anchors, r->text, raw.begin + 1, raw.end);
    add_event(r, &event);
}

/* The marks that close spans, from the cursor on. */
static bool close_spans(reading *r, size_t *next, size_t limit)
{
    for (; *next < r->gap_count && r->gap[*next].kind == LEAVE; ++*next) {
        MD_SPANTYPE type = r->gap[*next].type;
        size_t end = doc_markdown_closing(r->text, r->cursor, limit, type);
        if (end == SIZE_MAX)
            return false;
        zhen_span raw = {r->cursor, end};
        if (type == MD_SPAN_A)
            close_link(r, raw, limit);
        else
            add(r, DOC_EVENT_CLOSE, raw, key_of(type), flags_of(type));
    }
    return true;
}

/* Places of the marks that open spans and end at `end`, found from the last one back to the first.
 */
static bool find_openings(const reading *r, size_t from, size_t floor, size_t end,
                          size_t begins[MAX_HAPPENINGS])
{
    for (size_t i = r->gap_count; i-- > from;) {
        if (r->gap[i].kind != ENTER)
            return false;
        size_t begin = doc_markdown_opening(r->text, floor, end, r->gap[i].type);
        if (begin == SIZE_MAX)
            return false;
        begins[i] = end = begin;
    }
    return true;
}

/* What is left of the gap: a line break with the prefixes of the next line, or nothing. */
static bool add_rest(reading *r, size_t end, bool soft, bool hard)
{
    if (r->cursor == SIZE_MAX) {
        r->cursor = end;
        return true;
    }
    zhen_span raw = {r->cursor, end};
    for (size_t i = raw.begin; i < raw.end; i++)
        if (!r->text[i] || !strchr(hard ? " \t\r\n>\\" : " \t\r\n>", r->text[i]))
            return false;
    if (hard)
        add(r, DOC_EVENT_BREAK, raw, NULL, 0);
    else if (soft)
        add(r, DOC_EVENT_SPACE, raw, NULL, 0);
    else if (raw.begin < raw.end)
        return false;
    return true;
}

/* Explains the gap before the text at `begin`. */
static bool explain(reading *r, size_t begin)
{
    size_t next = 0, begins[MAX_HAPPENINGS];
    bool soft = false, hard = false;
    if (r->cursor != SIZE_MAX && !close_spans(r, &next, begin))
        return false;
    for (; next < r->gap_count && r->gap[next].kind >= SOFT_BREAK; next++) {
        soft = soft || r->gap[next].kind == SOFT_BREAK;
        hard = hard || r->gap[next].kind == HARD_BREAK;
    }
    size_t floor = r->cursor == SIZE_MAX ? r->base : r->cursor;
    if (!find_openings(r, next, floor, begin, begins))
        return false;
    if (!add_rest(r, next < r->gap_count ? begins[next] : begin, soft, hard))
        return false;
    for (size_t i = next; i < r->gap_count; i++) {
        size_t end = i + 1 < r->gap_count ? begins[i + 1] : begin;
        MD_SPANTYPE type = r->gap[i].type;
        if (type == MD_SPAN_A)
            r->link = end;
        if (type == MD_SPAN_CODE)
            r->code = begins[i];
        else if (type == MD_SPAN_IMG)
            r->image = begins[i];
        else
            add(r, DOC_EVENT_OPEN, (zhen_span){begins[i], end}, key_of(type), flags_of(type));
    }
    return true;
}

/* Brings the flow up to the text at `begin`. */
static void close_gap(reading *r, size_t begin)
{
    size_t from = r->cursor;
    if (!explain(r, begin)) {
        /* Part of it may have been explained, up to the cursor. */
        if (r->cursor == SIZE_MAX)
            r->cursor = from == SIZE_MAX ? begin : from;
        if (r->cursor < begin)
            add(r, DOC_EVENT_BREAK, (zhen_span){r->cursor, begin}, NULL, 0);
    }
    r->gap_count = 0;
    r->cursor = begin;
}

/* Whether the text holds no links and HTML, of which a reader does not see all. */
static bool is_simple(const reading *r, zhen_span text)
{
    for (size_t i = text.begin; i < text.end; i++)
        if (strchr("[<&", r->text[i]))
            return false;
    return true;
}

/* Whether the rest of a heading's line gives it a name, {#name}. */
static bool is_named(const reading *r, zhen_span heading)
{
    const char *rest = r->text + heading.end;
    const char *brace = strpbrk(rest, "{\n");
    const char *mark = brace && *brace == '{' ? strpbrk(brace, "#\n") : NULL;
    return mark && *mark == '#';
}

/* The marks behind the last text of a block. */
static void finish_block(reading *r)
{
    size_t next = 0;
    if (r->cursor != SIZE_MAX && r->gap_count)
        close_spans(r, &next, r->length);
    r->gap_count = 0;
    r->cursor = r->link = r->code = r->image = SIZE_MAX;
    zhen_document *document = r->document;
    doc_flow *flow = &document->flow;
    if (r->block == MD_BLOCK_H && flow->count && flow->events->raw.begin > r->base &&
        r->text[flow->events->raw.begin - 1] == '"')
        flow->escape = doc_escape_markdown_quoted; /* the title of an admonition */
    doc_heading heading = {.first_unit = document->units.count};
    bool is_heading = r->block == MD_BLOCK_H && flow->count;
    if (is_heading)
        heading.text = (zhen_span){flow->events->raw.begin, flow->events[flow->count - 1].raw.end};
    r->failed = r->failed || !doc_flow_leave_alone(flow, &document->arena) ||
                !doc_images_translate(&r->images, document) || !doc_finish_in_place(document);
    heading.unit_count = document->units.count - heading.first_unit;
    if (is_heading && is_simple(r, heading.text) && !is_named(r, heading.text))
        r->failed = r->failed || !doc_anchors_add_heading(&r->anchors, &heading);
}

static void happen(reading *r, happening h)
{
    if (r->gap_count < MAX_HAPPENINGS)
        r->gap[r->gap_count++] = h;
}

/* ---- Texts -------------------------------------------------------------------------------- */

static bool is_punctuation(char c)
{
    return c > ' ' && c < 0x7F && !doc_is_alnum(c);
}

/* Text; a backslash before it makes its first character mean itself. */
static void add_text(reading *r, size_t begin, size_t end)
{
    doc_flow *flow = &r->document->flow;
    bool escaped = begin > r->base && r->text[begin - 1] == '\\' && r->cursor != begin &&
                   is_punctuation(r->text[begin]);
    close_gap(r, escaped ? begin - 1 : begin);
    if (escaped) {
        zhen_span raw = {begin - 1, begin + 1};
        r->failed = r->failed || !doc_flow_add_spelled(flow, raw, r->text + begin, 1);
        begin++;
    }
    r->failed = r->failed || !doc_flow_add_text(flow, r->text, (zhen_span){begin, end});
    r->cursor = end;
}

static void add_entity(reading *r, size_t begin, size_t end)
{
    zhen_document *document = r->document;
    close_gap(r, begin);
    r->failed = r->failed || !doc_entity_add_text(&document->flow, &document->arena, r->text,
                                                  (zhen_span){begin, end});
    r->cursor = end;
}

/* An HTML tag or comment in a paragraph. */
static void add_html(reading *r, size_t begin, size_t end)
{
    close_gap(r, begin);
    if (r->block != MD_BLOCK_H)
        r->failed = r->failed || !doc_anchors_add_html(&r->anchors, r->text, begin, end);
    const char *tag = r->text + begin;
    bool closing = end - begin > 2 && tag[1] == '/';
    size_t name = begin + (closing ? 2 : 1), name_end = name;
    while (name_end < end && doc_is_alnum(r->text[name_end]))
        name_end++;
    doc_event event = {.kind = closing ? DOC_EVENT_CLOSE : DOC_EVENT_OPEN,
                       .raw = {begin, end},
                       .key = r->text + name,
                       .key_length = name_end - name};
    bool is_void = name == name_end || r->text[end - 2] == '/';
    static const char *const voids[] = {"img", "input", "wbr"};
    for (size_t i = 0; i < 3; i++)
        is_void = is_void || (event.key_length == strlen(voids[i]) &&
                              memcmp(event.key, voids[i], event.key_length) == 0);
    const doc_tag opening = {.raw = event.raw, .name = {name, name_end}};
    if (event.key_length == 2 && memcmp(event.key, "br", 2) == 0)
        event.kind = DOC_EVENT_BREAK;
    else if (is_void)
        event.kind = DOC_EVENT_POINT;
    else if (!closing && doc_html_is_left_alone(r->document, &opening))
        event.flags = DOC_ALONE;
    add_event(r, &event);
}

/* Inside a code span or an image, texts only say where it goes on. */
static void add_inside(reading *r, size_t begin, size_t end)
{
    if (r->gap_count && r->code == SIZE_MAX && r->image == SIZE_MAX)
        close_gap(r, begin);
    if (r->image != SIZE_MAX) {
        r->alt.begin = r->alt.begin == SIZE_MAX ? begin : r->alt.begin;
        r->alt.end = end;
    }
    r->cursor = end;
}

/* The bytes of the source that a text was made from; false if md4c has made it up. */
static bool find_source(const reading *r, const MD_CHAR *text, MD_SIZE size, zhen_span *span)
{
    const base_buffer *given = &r->given.text;
    if (text < given->data || text >= given->data + given->length)
        return false;
    size_t at = (size_t)(text - given->data);
    span->begin = r->base + doc_markdown_unpad(&r->given, at);
    span->end = r->base + doc_markdown_unpad(&r->given, at + size);
    return true;
}

/* Whether a code span or an image is open. */
static bool is_inside(const reading *r)
{
    bool inside = r->code != SIZE_MAX || r->image != SIZE_MAX;
    for (size_t i = 0; i < r->gap_count; i++)
        inside = inside || (r->gap[i].kind == ENTER &&
                            (r->gap[i].type == MD_SPAN_CODE || r->gap[i].type == MD_SPAN_IMG));
    return inside;
}

static int on_text(MD_TEXTTYPE type, const MD_CHAR *text, MD_SIZE size, void *data)
{
    reading *r = data;
    zhen_span raw = {0, 0};
    bool in_source = find_source(r, text, size, &raw);
    if (in_source)
        doc_anchors_see_text(&r->anchors, raw);
    if (r->block == MD_BLOCK_HTML && in_source) {
        r->failed = r->failed || !doc_anchors_add_html(&r->anchors, r->text, raw.begin, raw.end);
        r->html.begin = r->html.end ? r->html.begin : raw.begin;
        r->html.end = raw.end;
    }
    if (!r->prose)
        return 0;
    if (is_inside(r)) {
        if (in_source)
            add_inside(r, raw.begin, raw.end);
    } else if (type == MD_TEXT_SOFTBR || type == MD_TEXT_BR) {
        happen(r, (happening){type == MD_TEXT_BR ? HARD_BREAK : SOFT_BREAK, MD_SPAN_EM});
    } else if (in_source && type == MD_TEXT_NORMAL) {
        add_text(r, raw.begin, raw.end);
    } else if (in_source && type == MD_TEXT_ENTITY) {
        add_entity(r, raw.begin, raw.end);
    } else if (in_source && type == MD_TEXT_HTML) {
        add_html(r, raw.begin, raw.end);
    }
    return r->failed;
}

/* ---- Spans -------------------------------------------------------------------------------- */

static int on_enter_span(MD_SPANTYPE type, void *detail, void *data)
{
    (void)detail;
    reading *r = data;
    if (!r->prose)
        return 0;
    if (r->image_depth) {
        r->image_depth++;
        return 0;
    }
    if (type == MD_SPAN_IMG) {
        r->image_depth = 1;
        r->alt = (zhen_span){SIZE_MAX, 0};
    }
    happen(r, (happening){ENTER, type});
    return 0;
}

static void leave_code(reading *r)
{
    size_t begin = r->code;
    r->code = SIZE_MAX;
    size_t end = begin == SIZE_MAX ? SIZE_MAX : doc_markdown_code_end(r->text, begin, r->length);
    if (end != SIZE_MAX) {
        zhen_span code = doc_markdown_code(r->text, (zhen_span){begin, end});
        add_event(r, &(doc_event){.kind = DOC_EVENT_WORD,
                                  .raw = {begin, end},
                                  .text = r->text + code.begin,
                                  .text_length = code.end - code.begin});
    }
    r->gap_count = 0;
}

/* An image is a mark in its paragraph. */
static void leave_image(reading *r)
{
    if (r->image == SIZE_MAX && r->cursor != SIZE_MAX) {
        /* No text: the image is the next one behind the cursor. */
        const char *found = memmem(r->text + r->cursor, r->length - r->cursor, "![", 2);
        if (found)
            close_gap(r, (size_t)(found - r->text) + 2);
    }
    size_t begin = r->image;
    r->image = SIZE_MAX;
    r->gap_count = 0;
    if (begin == SIZE_MAX)
        return;
    size_t close = r->alt.begin == SIZE_MAX ? begin + 2 : r->alt.end;
    while (close < r->length && r->text[close] != ']')
        close++;
    size_t end = doc_markdown_closing(r->text, close, r->length, MD_SPAN_IMG);
    if (end == SIZE_MAX) {
        r->cursor = close;
        return;
    }
    add(r, DOC_EVENT_POINT, (zhen_span){begin, end}, NULL, DOC_WORDLIKE);
    if (r->alt.begin == SIZE_MAX || memchr(r->text + r->alt.begin, '\n', r->alt.end - r->alt.begin))
        return;
    const doc_image image = {{begin, end}, r->alt, close};
    r->failed = r->failed || !doc_images_add(&r->images, &image);
}

static int on_leave_span(MD_SPANTYPE type, void *detail, void *data)
{
    (void)detail;
    reading *r = data;
    if (!r->prose)
        return 0;
    if (r->image_depth && --r->image_depth)
        return 0;
    if (type == MD_SPAN_IMG)
        leave_image(r);
    else if (type == MD_SPAN_CODE)
        leave_code(r);
    else
        happen(r, (happening){LEAVE, type});
    return r->failed;
}

/* ---- Blocks ------------------------------------------------------------------------------- */

static bool is_prose(MD_BLOCKTYPE type)
{
    return type == MD_BLOCK_P || type == MD_BLOCK_H || type == MD_BLOCK_LI || type == MD_BLOCK_TD ||
           type == MD_BLOCK_TH;
}

static void begin_block(reading *r, MD_BLOCKTYPE type)
{
    r->block = type;
    r->html = (zhen_span){0, 0};
    r->prose = is_prose(type);
    r->document->flow.escape = type == MD_BLOCK_TD || type == MD_BLOCK_TH ? doc_escape_markdown_cell
                               : type == MD_BLOCK_H ? doc_escape_markdown_inner
                                                    : doc_escape_markdown;
}

static int on_enter_block(MD_BLOCKTYPE type, void *detail, void *data)
{
    (void)detail;
    reading *r = data;
    finish_block(r);
    begin_block(r, type);
    return r->failed;
}

static int on_leave_block(MD_BLOCKTYPE type, void *detail, void *data)
{
    (void)detail;
    reading *r = data;
    finish_block(r);
    if (type == MD_BLOCK_HTML && r->html.end) {
        span_list *list = &r->html_blocks;
        if (base_grow((void **)&list->items, &list->capacity, list->count + 1, sizeof *list->items))
            list->items[list->count++] = r->html;
        else
            r->failed = true;
    }
    /* Text behind a block within another one is that of an item whose paragraphs are none. */
    begin_block(r, MD_BLOCK_LI);
    return r->failed;
}

/* ---- The whole ---------------------------------------------------------------------------- */

/* Whether the line holds `mark` and nothing else but blanks behind it. */
static bool is_line(const char *line, const char *end, const char *mark)
{
    size_t length = strlen(mark);
    if ((size_t)(end - line) < length || memcmp(line, mark, length) != 0)
        return false;
    for (line += length; line < end && *line != '\n'; line++)
        if (*line != ' ' && *line != '\t' && *line != '\r')
            return false;
    return true;
}

/* Behind the metadata at the very beginning: YAML between two lines ---, TOML between lines +++,
 * or JSON from a line { to a line }. */
static size_t skip_front_matter(const base_buffer *source, size_t body)
{
    static const char *const marks[][3] = {
        {"---", "---", "..."}, {"+++", "+++", "+++"}, {"{", "}", "}"}};
    const char *text = source->data + body, *end = source->data + source->length;
    const char *const *mark = NULL;
    for (size_t i = 0; i < sizeof marks / sizeof *marks && !mark; i++)
        mark = is_line(text, end, marks[i][0]) ? marks[i] : NULL;
    for (const char *line = text; mark && (line = memchr(line, '\n', (size_t)(end - line)));) {
        line++;
        if (is_line(line, end, mark[1]) || is_line(line, end, mark[2])) {
            const char *next = memchr(line, '\n', (size_t)(end - line));
            return next ? (size_t)(next + 1 - source->data) : source->length;
        }
    }
    return body;
}

/* Blocks of HTML are translated as HTML. */
static zhen_status translate_html(reading *r, zhen_error *error)
{
    doc_tags tags = {0};
    zhen_status status = ZHEN_OK;
    for (size_t i = 0; !status && i < r->html_blocks.count; i++) {
        tags.count = 0;
        status = doc_tags_read_html(r->document, r->html_blocks.items[i], &tags, error);
        if (!status && !doc_translate_html(r->document, &tags))
            status = base_fail_memory(error);
    }
    doc_tags_free(&tags);
    return status;
}

static zhen_status parse(reading *r, zhen_error *error)
{
    const MD_PARSER parser = {.flags = MD_FLAG_TABLES | MD_FLAG_STRIKETHROUGH | MD_FLAG_TASKLISTS,
                              .enter_block = on_enter_block,
                              .leave_block = on_leave_block,
                              .enter_span = on_enter_span,
                              .leave_span = on_leave_span,
                              .text = on_text};
    size_t length = r->length - r->base;
    char *masked = doc_markdown_mask(r->text + r->base, length);
    bool ok = masked && doc_anchors_add_definitions(&r->anchors, r->text, r->base, r->length) &&
              doc_markdown_pad(masked, length, &r->given) &&
              md_parse(r->given.text.data, (MD_SIZE)r->given.text.length, &parser, r) == 0;
    free(masked);
    doc_markdown_pad_free(&r->given);
    ok = ok && !r->failed && doc_anchors_follow(&r->anchors, r->document);
    return ok ? translate_html(r, error) : base_fail_memory(error);
}

zhen_status doc_parse_markdown(zhen_document *document, zhen_error *error)
{
    reading r = {.document = document,
                 .text = document->source.data,
                 .base = skip_front_matter(&document->source, document->body),
                 .length = document->source.length,
                 .cursor = SIZE_MAX,
                 .link = SIZE_MAX,
                 .code = SIZE_MAX,
                 .image = SIZE_MAX};
    if (r.length - r.base > UINT_MAX / 2)
        return base_fail(error, ZHEN_ERROR_UNSUPPORTED, "Markdown of more than 2 GiB");
    document->flow.protect = DOC_PROTECT_ALL | DOC_PROTECT_NOTES;
    zhen_status status = parse(&r, error);
    free(r.html_blocks.items);
    doc_images_free(&r.images);
    doc_anchors_free(&r.anchors);
    return status;
}
