#include "cli/report.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Tabs and carriage returns would break a table's columns; they become spaces, as in the input's
 * translation nothing else can. */
static void put_cell(cli_writer *writer, const char *text, size_t length)
{
    for (size_t begin = 0, i = 0; i <= length; i++) {
        if (i < length && text[i] != '\t' && text[i] != '\r')
            continue;
        cli_writer_put(writer, text + begin, i - begin);
        if (i < length)
            cli_writer_put(writer, " ", 1);
        begin = i + 1;
    }
}

/* A JSON string (RFC 8259): UTF-8 as it is, U+FFFD for what is not UTF-8 in the source. */
static size_t json_sequence(const unsigned char *text, size_t length)
{
    unsigned char lead = text[0];
    size_t size = lead < 0x80   ? 1
                  : lead < 0xC2 ? 0
                  : lead < 0xE0 ? 2
                  : lead < 0xF0 ? 3
                  : lead < 0xF5 ? 4
                                : 0;
    if (size > length)
        return 0;
    for (size_t i = 1; i < size; i++)
        if ((text[i] & 0xC0) != 0x80)
            return 0;
    if ((lead == 0xE0 && text[1] < 0xA0) || (lead == 0xED && text[1] > 0x9F) ||
        (lead == 0xF0 && text[1] < 0x90) || (lead == 0xF4 && text[1] > 0x8F))
        return 0;
    return size;
}

static void put_json(cli_writer *writer, const char *text, size_t length)
{
    cli_writer_put(writer, "\"", 1);
    for (size_t i = 0; i < length;) {
        unsigned char c = (unsigned char)text[i];
        size_t size = json_sequence((const unsigned char *)text + i, length - i);
        char escape[8];
        if (size == 0) {
            cli_writer_string(writer, "\xEF\xBF\xBD");
        } else if (c == '"' || c == '\\') {
            snprintf(escape, sizeof escape, "\\%c", c);
            cli_writer_string(writer, escape);
        } else if (c < 0x20 || c == 0x7F) {
            snprintf(escape, sizeof escape, "\\u%04x", c);
            cli_writer_string(writer, escape);
        } else {
            cli_writer_put(writer, text + i, size);
        }
        i += size ? size : 1;
    }
    cli_writer_put(writer, "\"", 1);
}

static void put_score(cli_writer *writer, double score)
{
    char number[32];
    snprintf(number, sizeof number, "%.4f", score);
    cli_writer_string(writer, number);
}

static void put_span(cli_writer *writer, const char *name, zhen_span span)
{
    char text[96];
    snprintf(text, sizeof text, ",\"%s\":[%zu,%zu]", name, span.begin, span.end);
    cli_writer_string(writer, text);
}

static void put_json_sentence(cli_writer *writer, const zhen_text *source,
                              const zhen_translation *translation, const zhen_sentence *sentence)
{
    cli_writer_string(writer, "{\"source\":");
    put_json(writer, source->bytes + sentence->source.begin,
             sentence->source.end - sentence->source.begin);
    cli_writer_string(writer, ",\"translation\":");
    put_json(writer, translation->text + sentence->target.begin,
             sentence->target.end - sentence->target.begin);
    cli_writer_string(writer, ",\"score\":");
    put_score(writer, sentence->score);
    put_span(writer, "source_span", sentence->source);
    put_span(writer, "translation_span", sentence->target);
    cli_writer_string(writer, "}");
}

static void put_json_object(cli_writer *writer, const cli_line *line,
                            const zhen_translation *translation)
{
    cli_writer_string(writer, "{\"source\":");
    put_json(writer, line->text.bytes, line->text.length);
    cli_writer_string(writer, ",\"translation\":");
    put_json(writer, translation->text, translation->length);
    cli_writer_string(writer, ",\"score\":");
    put_score(writer, translation->score);
    cli_writer_string(writer, ",\"sentences\":[");
    for (size_t i = 0; i < translation->sentence_count; i++) {
        cli_writer_string(writer, i ? "," : "");
        put_json_sentence(writer, &line->text, translation, &translation->sentences[i]);
    }
    cli_writer_string(writer, "],\"alternatives\":[");
    for (size_t i = 0; i < translation->alternative_count; i++) {
        const zhen_alternative *alternative = &translation->alternatives[i];
        cli_writer_string(writer, i ? ",{\"translation\":" : "{\"translation\":");
        put_json(writer, alternative->text, alternative->length);
        cli_writer_string(writer, ",\"score\":");
        put_score(writer, alternative->score);
        cli_writer_string(writer, "}");
    }
    cli_writer_string(writer, line->continues ? "],\"continues\":true}\n" : "]}\n");
}

static void put_nbest(cli_writer *writer, const cli_line *line, const zhen_translation *translation)
{
    for (size_t i = 0; i < translation->alternative_count; i++) {
        const zhen_alternative *alternative = &translation->alternatives[i];
        char head[64];
        snprintf(head, sizeof head, "%zu\t%zu\t%.4f\t", line->number, i + 1, alternative->score);
        cli_writer_string(writer, head);
        put_cell(writer, alternative->text, alternative->length);
        cli_writer_put(writer, "\n", 1);
    }
}

static void put_plain(cli_writer *writer, const cli_line *line, const zhen_translation *translation)
{
    /* Parts of a huge line were sentences of one text: they are joined as sentences are. */
    if (line->continued && translation->length && translation->text[0] != ' ')
        cli_writer_put(writer, " ", 1);
    cli_writer_put(writer, translation->text, translation->length);
    if (line->newline)
        cli_writer_put(writer, "\n", 1);
}

void cli_report(cli_writer *writer, cli_style style, const cli_line *line,
                const zhen_translation *translation)
{
    switch (style) {
    case CLI_PLAIN:
        put_plain(writer, line, translation);
        break;
    case CLI_NBEST:
        put_nbest(writer, line, translation);
        break;
    case CLI_JSON:
        put_json_object(writer, line, translation);
        break;
    case CLI_BILINGUAL:
        put_cell(writer, line->text.bytes, line->text.length);
        cli_writer_put(writer, "\t", 1);
        put_cell(writer, translation->text, translation->length);
        cli_writer_put(writer, "\n", 1);
        break;
    }
}
