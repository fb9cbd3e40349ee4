#include "cli/report.h"

#include "cli/json.h"

#include <stdio.h>
#include <string.h>

static size_t text_count(const cli_record *record)
{
    return record->document ? zhen_document_count(record->document) : 0;
}

static const zhen_translation *translation_of(const cli_record *record, size_t index)
{
    return zhen_translations_get(record->translations, record->first + index);
}

/* The line with the alternative of the given rank, or the last there is, for each of its texts. */
static zhen_status render(const cli_record *record, size_t rank, zhen_text *output,
                          zhen_error *error)
{
    *output = (zhen_text){"", 0};
    if (!record->document)
        return ZHEN_OK;
    zhen_status status = ZHEN_OK;
    for (size_t i = 0; i < text_count(record) && !status; i++) {
        const zhen_translation *best = translation_of(record, i);
        if (rank == 0 || best->alternative_count < 2) {
            status = zhen_document_set(record->document, i, best, error);
            continue;
        }
        size_t last = best->alternative_count - 1;
        const zhen_alternative *other = &best->alternatives[rank < last ? rank : last];
        zhen_sentence whole = {.source = {0, zhen_document_text(record->document, i).length},
                               .target = {0, other->length}};
        zhen_translation translation = {
            .text = other->text, .length = other->length, .sentences = &whole, .sentence_count = 1};
        status = zhen_document_set(record->document, i, &translation, error);
    }
    return status ? status : zhen_document_render(record->document, output, error);
}

/* How many different translations of the line there are. */
static size_t rank_count(const cli_record *record)
{
    size_t ranks = 1;
    for (size_t i = 0; i < text_count(record); i++)
        if (translation_of(record, i)->alternative_count > ranks)
            ranks = translation_of(record, i)->alternative_count;
    return ranks;
}

/* Mean over the line's texts of the scores of that rank. */
static double score(const cli_record *record, size_t rank)
{
    double sum = 0;
    size_t count = text_count(record);
    for (size_t i = 0; i < count; i++) {
        const zhen_translation *best = translation_of(record, i);
        size_t last = best->alternative_count ? best->alternative_count - 1 : 0;
        sum +=
            rank == 0 || !last ? best->score : best->alternatives[rank < last ? rank : last].score;
    }
    return count ? sum / (double)count : 0;
}

/* Tabs and carriage returns would break a table's columns; they become spaces. */
static void put_cell(cli_target *target, const char *text, size_t length)
{
    size_t begin = 0;
    for (size_t i = 0; i < length; i++) {
        if (text[i] != '\t' && text[i] != '\r' && text[i] != '\n')
            continue;
        cli_target_put(target, text + begin, i - begin);
        cli_target_put(target, " ", 1);
        begin = i + 1;
    }
    cli_target_put(target, text + begin, length - begin);
}

static zhen_status put_nbest(cli_target *target, const cli_record *record, zhen_error *error)
{
    for (size_t rank = 0; rank < rank_count(record); rank++) {
        zhen_text output;
        zhen_status status = render(record, rank, &output, error);
        if (status)
            return status;
        char head[64];
        (void)snprintf(head, sizeof head, "%zu\t%zu\t%.4f\t", record->line->number, rank + 1,
                       score(record, rank));
        cli_target_put(target, head, strlen(head));
        put_cell(target, output.bytes, output.length);
        cli_target_put(target, "\n", 1);
    }
    return ZHEN_OK;
}

static zhen_status put_pair(cli_target *target, const cli_record *record, zhen_error *error)
{
    zhen_text output;
    zhen_status status = render(record, 0, &output, error);
    if (status)
        return status;
    put_cell(target, record->line->text.bytes, record->line->text.length);
    cli_target_put(target, "\t", 1);
    put_cell(target, output.bytes, output.length);
    cli_target_put(target, "\n", 1);
    return ZHEN_OK;
}

static void put_span(cli_target *target, const char *name, zhen_span span)
{
    char text[96];
    (void)snprintf(text, sizeof text, ",\"%s\":[%zu,%zu]", name, span.begin, span.end);
    cli_json_raw(target, text);
}

static void put_part(cli_target *target, const zhen_text *text, zhen_span span)
{
    cli_json_string(target, text->bytes + span.begin, span.end - span.begin);
}

/* The sentences of one text, as they stand in the line and in its translation. */
static void put_sentences(cli_target *target, const cli_record *record, const zhen_text *output,
                          size_t index, bool *any)
{
    const zhen_translation *translation = translation_of(record, index);
    for (size_t i = 0; i < translation->sentence_count; i++) {
        zhen_span source, result;
        if (!zhen_document_sentence(record->document, index, translation, i, &source, &result))
            continue;
        cli_json_raw(target, *any ? ",{\"source\":" : "{\"source\":");
        *any = true;
        put_part(target, &record->line->text, source);
        cli_json_raw(target, ",\"translation\":");
        put_part(target, output, result);
        cli_json_raw(target, ",\"score\":");
        cli_json_number(target, translation->sentences[i].score);
        put_span(target, "source_span", source);
        put_span(target, "translation_span", result);
        cli_json_raw(target, "}");
    }
}

static zhen_status put_alternatives(cli_target *target, const cli_record *record, zhen_error *error)
{
    for (size_t rank = 0; rank < rank_count(record); rank++) {
        zhen_text output;
        zhen_status status = render(record, rank, &output, error);
        if (status)
            return status;
        cli_json_raw(target, rank ? ",{\"translation\":" : "{\"translation\":");
        cli_json_string(target, output.bytes, output.length);
        cli_json_raw(target, ",\"score\":");
        cli_json_number(target, score(record, rank));
        cli_json_raw(target, "}");
    }
    return ZHEN_OK;
}

static zhen_status put_json(cli_target *target, const cli_record *record, zhen_error *error)
{
    zhen_text output;
    zhen_status status = render(record, 0, &output, error);
    if (status)
        return status;
    cli_json_raw(target, "{\"source\":");
    cli_json_string(target, record->line->text.bytes, record->line->text.length);
    cli_json_raw(target, ",\"translation\":");
    cli_json_string(target, output.bytes, output.length);
    cli_json_raw(target, ",\"score\":");
    cli_json_number(target, score(record, 0));
    cli_json_raw(target, ",\"sentences\":[");
    bool any = false;
    for (size_t i = 0; i < text_count(record); i++)
        put_sentences(target, record, &output, i, &any);
    cli_json_raw(target, "],\"alternatives\":[");
    status = put_alternatives(target, record, error);
    cli_json_raw(target, record->line->continues ? "],\"continues\":true}\n" : "]}\n");
    return status;
}

zhen_status cli_report(cli_target *target, cli_style style, const cli_record *record,
                       zhen_error *error)
{
    switch (style) {
    case CLI_NBEST:
        return put_nbest(target, record, error);
    case CLI_JSON:
        return put_json(target, record, error);
    default:
        return put_pair(target, record, error);
    }
}
