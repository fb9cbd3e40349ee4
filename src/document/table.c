/*
 * Tables: CSV as RFC 4180 has it (quotes around a field, doubled inside), with commas or what else
 * separates its fields, and tab-separated values, where quotes are text unless they enclose a whole
 * field, as Excel writes one that holds quotes. Lines and fields are those of document/records.h.
 */
#include "document/table.h"

#include "base/error.h"
#include "document/document.h"
#include "document/escape.h"
#include "document/protect.h"
#include "document/records.h"

#include <stdlib.h>
#include <string.h>

void doc_columns_free(doc_columns *columns)
{
    free(columns->wanted);
    *columns = (doc_columns){0};
}

/* ---- Fields ------------------------------------------------------------------------------- */

typedef struct field {
    zhen_span content; /* without the quotes */
    bool quoted;
    size_t end; /* of the field with its quotes: at a separator, line end, or the end */
} field;

static bool ends_field(char c, char separator)
{
    return c == separator || c == '\n' || c == '\r';
}

/* Where the quotes end that open at `at`; the source's end if nowhere. */
static size_t find_closing(const base_buffer *source, size_t at)
{
    const char *text = source->data;
    for (size_t i = at + 1; i < source->length; i++) {
        if (text[i] != '"')
            continue;
        if (text[i + 1] != '"') /* the source ends in a zero byte */
            return i;
        i++;
    }
    return source->length;
}

/* Whether the quotes of TSV, from `open` to `close`, enclose a whole field. */
static bool encloses_field(const base_buffer *source, size_t open, size_t close)
{
    return close < source->length && close - open < DOC_LONGEST_QUOTED &&
           (close + 1 == source->length || ends_field(source->data[close + 1], '\t')) &&
           !memchr(source->data + open, '\t', close - open);
}

/* The field that begins at `at`. What stands between a closing quote and the separator, which RFC
 * 4180 does not allow, is left alone. */
static zhen_status read_field(const zhen_document *document, size_t at, field *found,
                              zhen_error *error)
{
    const base_buffer *source = &document->source;
    *found = (field){.content = {at, at}};
    if (at < source->length && source->data[at] == '"') {
        bool csv = document->options.format == ZHEN_FORMAT_CSV;
        size_t close = find_closing(source, at);
        if (csv && close == source->length)
            return doc_fail_at(document, at, error, "a quoted field does not end");
        if (csv || encloses_field(source, at, close)) {
            found->quoted = true;
            found->content = (zhen_span){at + 1, close};
            at = close + 1;
        }
    }
    while (at < source->length && !ends_field(source->data[at], document->columns->separator))
        at++;
    if (!found->quoted)
        found->content.end = at;
    found->end = at;
    return ZHEN_OK;
}

/* ---- Columns ------------------------------------------------------------------------------ */

/* Whether all items of the list are numbers, with or without blanks around them. */
static bool is_number_list(const char *list)
{
    bool any = false;
    while (*(list += strspn(list, " ,"))) {
        size_t digits = strspn(list, "0123456789");
        list += digits + strspn(list + digits, " ");
        if (digits == 0 || (*list && *list != ','))
            return false;
        any = true;
    }
    return any;
}

static zhen_status want_column(doc_columns *columns, size_t column, zhen_error *error)
{
    size_t capacity = columns->count;
    if (column >= capacity) {
        if (!base_grow((void **)&columns->wanted, &capacity, column + 1, sizeof(bool)))
            return base_fail_memory(error);
        memset(columns->wanted + columns->count, 0, capacity - columns->count);
        columns->count = capacity;
    }
    columns->wanted[column] = true;
    return ZHEN_OK;
}

static zhen_status want_numbers(doc_columns *columns, const char *list, zhen_error *error)
{
    char *end;
    for (const char *at = list; *(at += strspn(at, " ,")); at = end) {
        unsigned long number = strtoul(at, &end, 10);
        if (number == 0 || number > 65536)
            return base_fail(error, ZHEN_ERROR_ARGUMENT, "columns %s: numbers go from 1 to 65536",
                             list);
        zhen_status status = want_column(columns, number - 1, error);
        if (status)
            return status;
    }
    return ZHEN_OK;
}

/* Looks a name up in the first line: as it is written in the list, or without the blanks before it.
 */
static zhen_status want_name(const zhen_document *document, size_t begin, const char *name,
                             size_t length, bool *found, zhen_error *error)
{
    const base_buffer *source = &document->source;
    size_t blanks = strspn(name, " ");
    zhen_status status = ZHEN_OK;
    field f;
    for (size_t at = begin, column = 0; !status; column++, at = f.end + 1) {
        status = read_field(document, at, &f, error);
        if (status)
            break;
        const char *text = source->data + f.content.begin;
        size_t size = f.content.end - f.content.begin;
        if ((size == length && memcmp(text, name, size) == 0) ||
            (blanks < length && size == length - blanks &&
             memcmp(text, name + blanks, size) == 0)) {
            *found = true;
            status = want_column(document->columns, column, error);
        }
        if (f.end >= source->length || source->data[f.end] != document->columns->separator)
            break;
    }
    return status;
}

static zhen_status want_names(const zhen_document *document, size_t begin, const char *list,
                              zhen_error *error)
{
    bool any = false;
    zhen_status status = ZHEN_OK;
    for (const char *at = list; !status; at++) {
        size_t length = strcspn(at, ",");
        bool found = false;
        status = want_name(document, begin, at, length, &found, error);
        if (!status && !doc_wishes_add(document->wishes, at, length, found))
            return base_fail_memory(error);
        any = any || found;
        at += length;
        if (!*at)
            break;
    }
    document->columns->by_name = true;
    if (!status && !any)
        return base_fail(error, ZHEN_ERROR_ARGUMENT, "columns %s: the first line has none of them",
                         list);
    return status;
}

static zhen_status resolve_columns(const zhen_document *document, size_t begin, zhen_error *error)
{
    const char *list = document->options.columns;
    if (document->columns->resolved)
        return ZHEN_OK;
    document->columns->resolved = true;
    if (!list)
        return ZHEN_OK;
    return is_number_list(list) ? want_numbers(document->columns, list, error)
                                : want_names(document, begin, list, error);
}

static bool is_wanted(const doc_columns *columns, size_t column)
{
    return !columns->wanted || (column < columns->count && columns->wanted[column]);
}

/* ---- Units -------------------------------------------------------------------------------- */

/* Adds the content, with doubled quotes read as one. Line ends and tabs in a field cut its text. */
static bool add_content(zhen_document *document, const field *f)
{
    const char *text = document->source.data;
    doc_flow *flow = &document->flow;
    size_t plain = f->content.begin;
    for (size_t at = plain; at < f->content.end; at++) {
        bool doubled = f->quoted && text[at] == '"',
             cuts = text[at] == '\n' || text[at] == '\r' || text[at] == '\t';
        if (!doubled && !cuts)
            continue;
        if (!doc_flow_add_text(flow, text, (zhen_span){plain, at}))
            return false;
        plain = at + (doubled ? 2 : 1);
        zhen_span raw = {at, plain};
        if (doubled ? !doc_flow_add_spelled(flow, raw, "\"", 1)
                    : !doc_flow_add(flow, &(doc_event){.kind = DOC_EVENT_BREAK, .raw = raw}))
            return false;
        at = plain - 1;
    }
    return doc_flow_add_text(flow, text, (zhen_span){plain, f->content.end});
}

/* A field without quotes needs some if its translation has a separator or a quote. */
static bool quote_if_any(base_buffer *output, size_t begin, const char *special)
{
    size_t length = output->length - begin, quotes = 0;
    bool needed = false;
    for (size_t i = begin; i < output->length; i++) {
        quotes += output->data[i] == '"';
        needed = needed || strchr(special, output->data[i]);
    }
    if (!needed)
        return true;
    if (!base_buffer_reserve(output, quotes + 2))
        return false;
    size_t to = output->length = begin + length + quotes + 2;
    output->data[to] = '\0';
    output->data[--to] = '"';
    for (size_t from = begin + length; from-- > begin;) {
        if (output->data[from] == '"')
            output->data[--to] = '"';
        output->data[--to] = output->data[from];
    }
    output->data[--to] = '"';
    return true;
}

static bool quote_between_commas(base_buffer *output, size_t begin)
{
    return quote_if_any(output, begin, ",\"\r\n");
}

/* Whatever it is that separates the fields. */
static bool quote_between_others(base_buffer *output, size_t begin)
{
    return quote_if_any(output, begin, ",;|:\t\"\r\n");
}

static bool add_field(zhen_document *document, const field *f)
{
    doc_flow *flow = &document->flow;
    flow->escape = f->quoted ? doc_escape_csv_quoted : doc_escape_none;
    if (!add_content(document, f))
        return false;
    if (f->quoted || document->options.format == ZHEN_FORMAT_TSV)
        return doc_finish_in_place(document);
    if (!doc_begin_block(document, f->content, DOC_WHEN_UNITS))
        return false;
    document->blocks[document->block_count - 1].finish =
        document->columns->separator == ',' ? quote_between_commas : quote_between_others;
    return doc_add_flow(document);
}

zhen_status doc_parse_table(zhen_document *document, zhen_error *error)
{
    const base_buffer *source = &document->source;
    size_t begin = document->body;
    document->flow.protect = DOC_PROTECT_ALL;
    if (document->first && document->options.format == ZHEN_FORMAT_CSV)
        begin += doc_records_separator_line(source->data + begin, source->length - begin);
    zhen_status status = begin < source->length ? resolve_columns(document, begin, error) : ZHEN_OK;
    bool names = document->first && document->columns->by_name;
    for (size_t at = begin, column = 0; !status && at < source->length; at++) {
        field f;
        status = read_field(document, at, &f, error);
        if (status)
            return status;
        if (!names && is_wanted(document->columns, column) && !add_field(document, &f))
            return base_fail_memory(error);
        at = f.end;
        column++;
        if (at >= source->length || source->data[at] != document->columns->separator) {
            column = 0;
            names = names && at < source->length && source->data[at] == '\r';
        }
    }
    return status;
}
