/* Plain text: every line is a text, or every paragraph of hard-wrapped lines. */
#include "base/error.h"
#include "document/document.h"
#include "document/escape.h"
#include "document/protect.h"
#include "document/records.h"

#include <string.h>

static bool is_line_end(char c)
{
    return c == '\n' || c == '\r';
}

static size_t find_line_end(const base_buffer *source, size_t at)
{
    while (at < source->length && !is_line_end(source->data[at]))
        at++;
    return at;
}

/* Behind the line end at `at`, which may be \r\n. */
static size_t skip_line_end(const base_buffer *source, size_t at)
{
    if (at + 1 < source->length && source->data[at] == '\r' && source->data[at + 1] == '\n')
        return at + 2;
    return at < source->length ? at + 1 : at;
}

/* Adds a line's text. Tabs divide it: they set columns apart, which stay where they are. */
static bool add_line(doc_flow *flow, const char *text, zhen_span line)
{
    while (line.begin < line.end) {
        const char *tab = memchr(text + line.begin, '\t', line.end - line.begin);
        size_t at = tab ? (size_t)(tab - text) : line.end;
        if (!doc_flow_add_text(flow, text, (zhen_span){line.begin, at}) ||
            (tab &&
             !doc_flow_add(flow, &(doc_event){.kind = DOC_EVENT_BREAK, .raw = {at, at + 1}})))
            return false;
        line.begin = tab ? at + 1 : at;
    }
    return true;
}

/* The line, then a line with the translation. */
static bool finish_interleaved(zhen_document *document, zhen_span line, zhen_span line_end)
{
    return doc_begin_block(document, line, DOC_WHEN_UNITS) && doc_add_source(document, line) &&
           (line_end.begin < line_end.end ? doc_add_source(document, line_end)
                                          : doc_add_literal(document, "\n", 1)) &&
           doc_add_flow(document);
}

zhen_status doc_parse_text(zhen_document *document, zhen_error *error)
{
    const base_buffer *source = &document->source;
    doc_flow *flow = &document->flow;
    flow->escape = doc_escape_none;
    flow->protect = DOC_PROTECT_ALL;
    flow->keep_origins = true;
    for (size_t at = document->body; at < source->length;) {
        size_t begin = at, end = find_line_end(source, at), next = skip_line_end(source, end);
        bool ok = add_line(flow, source->data, (zhen_span){begin, end});
        while (ok && document->options.paragraphs && begin < end &&
               !doc_records_begins_paragraph(source->data, source->length, next)) {
            zhen_span wrap = {end, next};
            end = find_line_end(source, next);
            ok = doc_flow_add_text(flow, source->data, wrap) &&
                 add_line(flow, source->data, (zhen_span){next, end});
            next = skip_line_end(source, end);
        }
        if (ok && document->options.bilingual == ZHEN_BILINGUAL_INTERLEAVED)
            ok = finish_interleaved(document, (zhen_span){begin, end}, (zhen_span){end, next});
        else if (ok)
            ok = doc_finish_in_place(document);
        if (!ok)
            return base_fail_memory(error);
        at = next;
    }
    return ZHEN_OK;
}
