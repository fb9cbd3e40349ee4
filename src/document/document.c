#include "document/document.h"

#include "base/error.h"
#include "document/charset.h"
#include "document/project.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- Life --------------------------------------------------------------------------------- */

zhen_status doc_create(const zhen_document_options *options, zhen_document **document,
                       zhen_error *error)
{
    *document = calloc(1, sizeof **document);
    if (!*document)
        return base_fail_memory(error);
    (*document)->options = *options;
    (*document)->first_line = 1;
    return ZHEN_OK;
}

void zhen_document_free(zhen_document *document)
{
    if (!document)
        return;
    for (size_t i = 0; i < document->units.count; i++) {
        base_buffer_free(&document->units.items[i].result);
        base_buffer_free(&document->units.items[i].plain);
        free(document->units.items[i].holes);
        free(document->units.items[i].sentences);
    }
    free(document->units.items);
    doc_flow_free(&document->flow);
    free(document->blocks);
    free(document->pieces);
    base_buffer_free(&document->source);
    base_buffer_free(&document->output);
    base_arena_free(&document->arena);
    free(document);
}

/* ---- Parsing ------------------------------------------------------------------------------ */

doc_parser doc_parser_of(zhen_format format)
{
    switch (format) {
    case ZHEN_FORMAT_MARKDOWN:
        return doc_parse_markdown;
    case ZHEN_FORMAT_HTML:
        return doc_parse_html;
    case ZHEN_FORMAT_XHTML:
        return doc_parse_xhtml;
    case ZHEN_FORMAT_SRT:
    case ZHEN_FORMAT_VTT:
        return doc_parse_subtitles;
    case ZHEN_FORMAT_PO:
        return doc_parse_po;
    case ZHEN_FORMAT_JSON:
    case ZHEN_FORMAT_JSONL:
        return doc_parse_json;
    case ZHEN_FORMAT_CSV:
    case ZHEN_FORMAT_TSV:
        return doc_parse_table;
    case ZHEN_FORMAT_XLIFF:
        return doc_parse_xliff;
    case ZHEN_FORMAT_TEXT:
        break;
    }
    return doc_parse_text;
}

static int by_range(const void *a, const void *b)
{
    const doc_block *x = a, *y = b;
    if (x->range.begin != y->range.begin)
        return x->range.begin < y->range.begin ? -1 : 1;
    if (x->range.end != y->range.end)
        return x->range.end < y->range.end ? -1 : 1;
    return x->first_piece < y->first_piece ? -1 : x->first_piece > y->first_piece;
}

/* Number of the first block that begins at or after `at`. */
static size_t block_at(const zhen_document *document, size_t at)
{
    size_t low = 0, high = document->block_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (document->blocks[middle].range.begin < at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Tags that have attributes to be translated are marks whose bytes hold blocks. */
static void find_nested_blocks(zhen_document *document)
{
    const base_buffer *source = &document->source;
    for (size_t u = 0; u < document->units.count; u++) {
        doc_unit *unit = &document->units.items[u];
        for (size_t m = 0; m < unit->mark_count; m++) {
            doc_mark *mark = &unit->marks[m];
            if (mark->raw_length == 0 || mark->raw < source->data ||
                mark->raw >= source->data + source->length)
                continue;
            size_t begin = (size_t)(mark->raw - source->data);
            size_t block = block_at(document, begin);
            if (block < document->block_count &&
                document->blocks[block].range.end <= begin + mark->raw_length)
                mark->flags |= DOC_NESTED;
        }
    }
}

zhen_status doc_parse(zhen_document *document, zhen_error *error)
{
    document->units.source = document->source.data;
    document->units.arena = &document->arena;
    zhen_status status = doc_parser_of(document->options.format)(document, error);
    doc_flow_free(&document->flow);
    /* What the reader owns may be gone when the document is used. */
    document->columns = NULL;
    document->wishes = NULL;
    document->options.name = document->options.encoding = NULL;
    document->options.json_path = document->options.columns = NULL;
    if (document->block_count)
        qsort(document->blocks, document->block_count, sizeof *document->blocks, by_range);
    if (!status)
        find_nested_blocks(document);
    return status;
}

static bool add_piece(zhen_document *document, const doc_piece *piece)
{
    if (!base_grow((void **)&document->pieces, &document->piece_capacity, document->piece_count + 1,
                   sizeof *document->pieces))
        return false;
    document->pieces[document->piece_count++] = *piece;
    document->blocks[document->block_count - 1].piece_count++;
    return true;
}

static bool add_unit(zhen_document *document, size_t unit)
{
    doc_block *block = &document->blocks[document->block_count - 1];
    if (block->unit_count == 0)
        block->first_unit = unit;
    block->unit_count = unit + 1 - block->first_unit;
    return add_piece(document, &(doc_piece){.unit = unit});
}

bool doc_begin_block(zhen_document *document, zhen_span range, doc_when when)
{
    if (!base_grow((void **)&document->blocks, &document->block_capacity, document->block_count + 1,
                   sizeof *document->blocks))
        return false;
    document->blocks[document->block_count++] = (doc_block){.range = range,
                                                            .when = when,
                                                            .first_unit = document->units.count,
                                                            .first_piece = document->piece_count};
    return true;
}

bool doc_add_literal(zhen_document *document, const char *text, size_t length)
{
    const char *copy = base_arena_string(&document->arena, text, length);
    return copy && add_piece(document, &(doc_piece){SIZE_MAX, copy, length, false});
}

bool doc_add_source(zhen_document *document, zhen_span range)
{
    return add_piece(document, &(doc_piece){SIZE_MAX, document->source.data + range.begin,
                                            range.end - range.begin, false});
}

bool doc_add_rendered(zhen_document *document, zhen_span range)
{
    return add_piece(document, &(doc_piece){SIZE_MAX, document->source.data + range.begin,
                                            range.end - range.begin, true});
}

bool doc_finish_in_place(zhen_document *document)
{
    if (!doc_flow_finish(&document->flow, &document->units))
        return false;
    for (size_t i = 0; i < document->flow.part_count; i++) {
        const doc_part *part = &document->flow.parts[i];
        if (part->is_unit && (!doc_begin_block(document, part->raw, DOC_WHEN_UNITS) ||
                              !add_unit(document, part->unit)))
            return false;
    }
    return true;
}

bool doc_add_flow(zhen_document *document)
{
    if (!doc_flow_finish(&document->flow, &document->units))
        return false;
    for (size_t i = 0; i < document->flow.part_count; i++) {
        const doc_part *part = &document->flow.parts[i];
        if (part->is_unit ? !add_unit(document, part->unit) : !doc_add_source(document, part->raw))
            return false;
    }
    return true;
}

bool doc_redeclare(zhen_document *document, zhen_span range, const char *name)
{
    zhen_span declared;
    const char *text = document->source.data;
    zhen_format format = document->options.format;
    for (size_t from = range.begin;
         document->transcoded && doc_charset_declared(format, text, range.end, from, &declared);
         from = declared.end) {
        if (!doc_begin_block(document, declared, DOC_WHEN_ALWAYS) ||
            !doc_add_literal(document, name, strlen(name)))
            return false;
    }
    return true;
}

bool doc_change_language(zhen_document *document, zhen_span range)
{
    const char *text = document->source.data + range.begin;
    size_t length = range.end - range.begin;
    if (length < 2 || strncasecmp(text, "zh", 2) != 0 ||
        (length > 2 && text[2] != '-' && text[2] != '_'))
        return true;
    return doc_begin_block(document, range, DOC_WHEN_CHANGED) && doc_add_literal(document, "en", 2);
}

zhen_status doc_fail_at(const zhen_document *document, size_t offset, zhen_error *error,
                        const char *format, ...)
{
    char message[384];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    size_t line = document->first_line;
    for (size_t i = 0; i < offset && i < document->source.length; i++)
        line += document->source.data[i] == '\n';
    const char *name = document->options.name;
    return base_fail(error, ZHEN_ERROR_FORMAT, "%s%sline %zu: %s", name ? name : "",
                     name ? ": " : "", line, message);
}

/* ---- Use ---------------------------------------------------------------------------------- */

size_t zhen_document_count(const zhen_document *document)
{
    return document->units.count;
}

zhen_text zhen_document_text(const zhen_document *document, size_t index)
{
    if (index >= document->units.count)
        return (zhen_text){"", 0};
    const doc_unit *unit = &document->units.items[index];
    return (zhen_text){unit->text, unit->length};
}

zhen_status zhen_document_set(zhen_document *document, size_t index,
                              const zhen_translation *translation, zhen_error *error)
{
    if (index >= document->units.count)
        return base_fail(error, ZHEN_ERROR_ARGUMENT, "document has no text number %zu", index);
    bool plain = document->options.bilingual == ZHEN_BILINGUAL_TSV;
    return doc_project(&document->units.items[index], document->source.data, translation, plain,
                       error);
}

static bool any_unit_changed(const zhen_document *document)
{
    for (size_t i = 0; i < document->units.count; i++)
        if (document->units.items[i].changed)
            return true;
    return false;
}

static bool replaces(const zhen_document *document, const doc_block *block)
{
    if (block->when != DOC_WHEN_UNITS)
        return block->when == DOC_WHEN_ALWAYS || document->changed;
    for (size_t i = 0; i < block->unit_count; i++)
        if (document->units.items[block->first_unit + i].changed)
            return true;
    return false;
}

static bool write_range(zhen_document *document, zhen_span range, size_t first_block);

/* The result of a unit, with the tags whose attributes are translated in their places. */
static bool write_unit(zhen_document *document, doc_unit *unit, size_t block)
{
    size_t at = 0;
    unit->output_at = document->output.length;
    if (!unit->changed && !doc_project_unchanged(unit, document->source.data))
        return false;
    for (size_t i = 0; i < unit->hole_count; i++) {
        const doc_hole *hole = &unit->holes[i];
        if (!base_buffer_append(&document->output, unit->result.data + at, hole->at - at) ||
            !write_range(document, hole->source, block + 1))
            return false;
        at = hole->at;
    }
    return base_buffer_append(&document->output, unit->result.data + at, unit->result.length - at);
}

static bool write_piece(zhen_document *document, const doc_piece *piece, size_t block)
{
    if (piece->unit != SIZE_MAX)
        return write_unit(document, &document->units.items[piece->unit], block);
    if (!piece->rendered)
        return base_buffer_append(&document->output, piece->text, piece->length);
    size_t begin = (size_t)(piece->text - document->source.data);
    return write_range(document, (zhen_span){begin, begin + piece->length},
                       block_at(document, begin));
}

static bool write_block(zhen_document *document, size_t index)
{
    const doc_block *block = &document->blocks[index];
    size_t begin = document->output.length;
    for (size_t i = 0; i < block->piece_count; i++)
        if (!write_piece(document, &document->pieces[block->first_piece + i], index))
            return false;
    return !block->finish || block->finish(&document->output, begin);
}

/* Writes bytes of the source with the blocks that lie in them, from number `first_block` on. A
 * block within one that is replaced is written by that one's holes, or is gone. */
static bool write_range(zhen_document *document, zhen_span range, size_t first_block)
{
    size_t at = range.begin;
    for (size_t i = first_block; i < document->block_count; i++) {
        const doc_block *block = &document->blocks[i];
        if (block->range.begin >= range.end && range.end < document->source.length)
            break;
        if (block->range.begin < at || block->range.end > range.end)
            continue;
        if (!replaces(document, block)) {
            for (size_t u = 0; u < block->unit_count; u++) {
                doc_unit *unit = &document->units.items[block->first_unit + u];
                unit->output_at = document->output.length + (unit->raw.begin - at);
            }
            continue;
        }
        if (!base_buffer_append(&document->output, document->source.data + at,
                                block->range.begin - at) ||
            !write_block(document, i))
            return false;
        at = block->range.end;
    }
    return base_buffer_append(&document->output, document->source.data + at, range.end - at);
}

static bool write_document(zhen_document *document)
{
    document->changed = any_unit_changed(document);
    return write_range(document, (zhen_span){0, document->source.length}, 0);
}

/* Appends a field; a tab or line end in it, which code may hold, would end it and becomes a blank.
 */
static bool write_field(base_buffer *output, const doc_unit *unit, bool translated)
{
    size_t begin = output->length;
    if (translated ? !base_buffer_append(output, unit->plain.data, unit->plain.length)
                   : !doc_unit_source(unit, output))
        return false;
    for (char *c = output->data + begin; c < output->data + output->length; c++)
        if (*c == '\t' || *c == '\r' || *c == '\n')
            *c = ' ';
    return true;
}

static bool write_pairs(zhen_document *document)
{
    base_buffer *output = &document->output;
    for (size_t i = 0; i < document->units.count; i++) {
        const doc_unit *unit = &document->units.items[i];
        if (!write_field(output, unit, false) || !base_buffer_append_byte(output, '\t') ||
            !write_field(output, unit, unit->changed) || !base_buffer_append_byte(output, '\n'))
            return false;
    }
    return true;
}

zhen_status zhen_document_render(zhen_document *document, zhen_text *output, zhen_error *error)
{
    base_buffer_clear(&document->output);
    bool pairs = document->options.bilingual == ZHEN_BILINGUAL_TSV;
    if (!base_buffer_reserve(&document->output, document->source.length) ||
        !(pairs ? write_pairs(document) : write_document(document)))
        return base_fail_memory(error);
    *output = (zhen_text){document->output.data, document->output.length};
    return ZHEN_OK;
}

/* ---- Sentences ---------------------------------------------------------------------------- */

/* The stretch of the text that holds the byte at `at`, or the nearest one before it. */
static const doc_origin *origin_at(const doc_unit *unit, size_t at)
{
    size_t low = 0, high = unit->origin_count;
    while (low + 1 < high) {
        size_t middle = low + (high - low) / 2;
        if (unit->origins[middle].text.begin <= at)
            low = middle;
        else
            high = middle;
    }
    return &unit->origins[low];
}

static zhen_span source_of(const doc_unit *unit, zhen_span text)
{
    const doc_origin *first = origin_at(unit, text.begin);
    const doc_origin *last = origin_at(unit, text.end - 1);
    zhen_span source = {first->raw.begin, last->raw.end};
    if (first->literal)
        source.begin += text.begin - first->text.begin;
    if (last->literal && text.end < last->text.end)
        source.end = last->raw.begin + (text.end - last->text.begin);
    return source;
}

bool zhen_document_sentence(const zhen_document *document, size_t index,
                            const zhen_translation *translation, size_t sentence, zhen_span *source,
                            zhen_span *output)
{
    if (index >= document->units.count || sentence >= translation->sentence_count)
        return false;
    const doc_unit *unit = &document->units.items[index];
    zhen_span text = translation->sentences[sentence].source;
    if (!unit->origin_count || text.begin >= text.end || text.end > unit->length)
        return false;
    *source = source_of(unit, text);
    if (!unit->changed) {
        size_t begin = unit->output_at + (source->begin - unit->raw.begin);
        *output = (zhen_span){begin, begin + (source->end - source->begin)};
        return true;
    }
    if (sentence >= unit->sentence_count)
        return false;
    zhen_span result = unit->sentences[sentence];
    *output = (zhen_span){unit->output_at + result.begin, unit->output_at + result.end};
    return true;
}
