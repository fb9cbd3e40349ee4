#include "cli/decode.h"

#include <string.h>

/*
 * The reader of documents does the work: a text document without translations is what was read, in
 * UTF-8. But documents are parsed, which costs more than all else here. So ASCII does not go
 * through it as long as there is nothing else, and UTF-8 only until it is known to be that.
 */

bool cli_decoder_start(cli_decoder *decoder, cli_target *target)
{
    zhen_document_options options;
    zhen_document_options_init(&options, ZHEN_FORMAT_TEXT);
    options.encoding = target->run->options->document.encoding;
    *decoder = (cli_decoder){.ascii = !options.encoding};
    return cli_reader_start(&decoder->reader, target, &options);
}

/* UTF-16 spells ASCII with zero bytes. */
static bool is_ascii(const char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (bytes[i] == '\0' || (unsigned char)bytes[i] >= 0x80)
            return false;
    return true;
}

bool cli_decoder_feed(cli_decoder *decoder, const char *bytes, size_t size)
{
    decoder->ascii = decoder->ascii && is_ascii(bytes, size);
    if (!decoder->ascii && decoder->reader.reader)
        return cli_reader_feed(&decoder->reader, bytes, size);
    decoder->passed = (zhen_text){bytes, size};
    return true;
}

bool cli_decoder_finish(cli_decoder *decoder)
{
    if (!decoder->reader.reader || decoder->finished)
        return true;
    decoder->finished = true;
    return cli_reader_finish(&decoder->reader);
}

static bool reads_utf8(const cli_decoder *decoder)
{
    const char *encoding = zhen_reader_encoding(decoder->reader.reader);
    return encoding && !strcmp(encoding, "UTF-8");
}

/* A reader of UTF-8 is finished early, so that it gives out the beginning of a line, too, which it
 * would hold back; what follows passes it by. */
static bool next_document(cli_decoder *decoder, bool flush)
{
    if (!cli_reader_next(&decoder->reader, flush, &decoder->document))
        return false;
    if (decoder->document || !reads_utf8(decoder))
        return true;
    if (!decoder->finished)
        return cli_decoder_finish(decoder) &&
               cli_reader_next(&decoder->reader, true, &decoder->document);
    cli_reader_end(&decoder->reader);
    return true;
}

static bool render(const cli_decoder *decoder, zhen_text *text)
{
    zhen_error error;
    if (!zhen_document_render(decoder->document, text, &error))
        return true;
    cli_error("%s: %s", cli_target_name(decoder->reader.target), error.message);
    decoder->reader.target->failed = true;
    return false;
}

bool cli_decoder_next(cli_decoder *decoder, bool flush, zhen_text *text)
{
    zhen_document_free(decoder->document);
    decoder->document = NULL;
    *text = decoder->passed;
    decoder->passed = (zhen_text){NULL, 0};
    if (text->length || !decoder->reader.reader)
        return true;
    return next_document(decoder, flush) && (!decoder->document || render(decoder, text));
}

void cli_decoder_end(cli_decoder *decoder)
{
    zhen_document_free(decoder->document);
    cli_reader_end(&decoder->reader);
    *decoder = (cli_decoder){0};
}
