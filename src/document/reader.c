/* Bytes in, documents out: decodes, cuts off whole records, parses. */
#include "base/error.h"
#include "document/binary.h"
#include "document/charset.h"
#include "document/decode.h"
#include "document/document.h"
#include "document/records.h"

#include <stdlib.h>
#include <string.h>

enum {
    CHUNK = 64 * 1024,              /* bytes in one document of a format with records */
    SAMPLE = 64 * 1024,             /* bytes that the encoding is guessed from */
    MOST_RECORD = 16 * 1024 * 1024, /* bytes in a record */
    MOST_WHOLE = 128 * 1024 * 1024  /* bytes in a file of another format */
};

struct zhen_reader {
    zhen_document_options options;
    char *strings[4];     /* the options' strings */
    doc_columns columns;  /* of a table */
    doc_wishes wishes;    /* columns and JSON paths that the options name */
    base_buffer held;     /* bytes whose encoding is not known yet */
    const char *encoding; /* NULL: not known yet */
    doc_decoder decoder;
    base_buffer text; /* decoded; text[0..taken) has been given out */
    size_t taken;
    doc_quotes quotes; /* of the text not yet given out */
    size_t line;       /* of the first character not yet given out */
    bool begun;        /* the first document has been given out */
    bool finished;
};

/* ---- Life --------------------------------------------------------------------------------- */

void zhen_document_options_init(zhen_document_options *options, zhen_format format)
{
    *options = (zhen_document_options){.format = format};
}

static zhen_status check_options(const zhen_document_options *options, zhen_error *error)
{
    zhen_format format = options->format;
    if (options->bilingual == ZHEN_BILINGUAL_INTERLEAVED && format != ZHEN_FORMAT_TEXT &&
        format != ZHEN_FORMAT_SRT && format != ZHEN_FORMAT_VTT)
        return base_fail(error, ZHEN_ERROR_ARGUMENT,
                         "%s cannot hold two languages side by side; ask for them as TSV",
                         zhen_format_name(format));
    return ZHEN_OK;
}

/* Copies a string option; NULL stays NULL. */
static bool keep_string(zhen_reader *reader, size_t index, const char **option)
{
    if (!*option)
        return true;
    *option = reader->strings[index] = strdup(*option);
    return *option;
}

static zhen_status open_encoding(zhen_reader *reader, const char *name, zhen_error *error)
{
    reader->encoding = doc_charset_canonical(name);
    if (!doc_decoder_open(&reader->decoder, reader->encoding))
        return base_fail(error, ZHEN_ERROR_ARGUMENT, "encoding %s is not known", name);
    return ZHEN_OK;
}

zhen_status zhen_reader_create(const zhen_document_options *options, zhen_reader **reader,
                               zhen_error *error)
{
    zhen_status status = check_options(options, error);
    if (status)
        return status;
    zhen_reader *r = calloc(1, sizeof *r);
    if (!r)
        return base_fail_memory(error);
    r->options = *options;
    r->line = 1;
    if (!keep_string(r, 0, &r->options.name) || !keep_string(r, 1, &r->options.encoding) ||
        !keep_string(r, 2, &r->options.json_path) || !keep_string(r, 3, &r->options.columns))
        status = base_fail_memory(error);
    else if (r->options.encoding &&
             strcmp(doc_charset_canonical(r->options.encoding), "UTF-16") != 0)
        status = open_encoding(r, r->options.encoding, error);
    if (status) {
        zhen_reader_free(r);
        return status;
    }
    *reader = r;
    return ZHEN_OK;
}

void zhen_reader_free(zhen_reader *reader)
{
    if (!reader)
        return;
    doc_decoder_close(&reader->decoder);
    doc_columns_free(&reader->columns);
    doc_wishes_free(&reader->wishes);
    base_buffer_free(&reader->held);
    base_buffer_free(&reader->text);
    for (size_t i = 0; i < sizeof reader->strings / sizeof *reader->strings; i++)
        free(reader->strings[i]);
    free(reader);
}

const char *zhen_reader_missing(const zhen_reader *reader, size_t index)
{
    for (size_t i = 0; i < reader->wishes.count; i++)
        if (!reader->wishes.items[i].granted && index-- == 0)
            return reader->wishes.items[i].text;
    return NULL;
}

const char *zhen_reader_encoding(const zhen_reader *reader)
{
    return reader->encoding;
}

/* ---- Decoding ----------------------------------------------------------------------------- */

static bool is_transcoded(const zhen_reader *reader)
{
    return reader->encoding && strcmp(reader->encoding, "UTF-8") != 0;
}

static zhen_status decode(zhen_reader *reader, const char *bytes, size_t size, zhen_error *error)
{
    if (reader->taken) {
        memmove(reader->text.data, reader->text.data + reader->taken,
                reader->text.length - reader->taken);
        reader->text.length -= reader->taken;
        reader->taken = 0;
    }
    bool beginning = !reader->begun && reader->text.length == 0;
    if (!doc_decoder_run(&reader->decoder, bytes, size, reader->finished, &reader->text))
        return base_fail_memory(error);
    /* The mark of another encoding's byte order has no place in UTF-8. */
    if (beginning && is_transcoded(reader) && reader->text.length >= 3 &&
        memcmp(reader->text.data, "\xEF\xBB\xBF", 3) == 0)
        reader->taken = 3;
    return ZHEN_OK;
}

/* The byte order of a file that is said to be UTF-16. */
static const char *utf16_order(const base_buffer *bytes)
{
    bool big = bytes->length >= 2 && memcmp(bytes->data, "\xFE\xFF", 2) == 0;
    return big ? "UTF-16BE" : "UTF-16LE";
}

/* How many of the bytes that were held back may be decoded now. Where the input pauses these are
 * whole lines: a character that is cut in two would speak for a wrong encoding. */
static size_t count_ready(const zhen_reader *reader, bool flush)
{
    const base_buffer *held = &reader->held;
    if (reader->finished)
        return held->length;
    if (!doc_has_records(reader->options.format))
        return 0;
    if (held->length >= SAMPLE)
        return held->length;
    const char *end = flush && held->length ? memrchr(held->data, '\n', held->length) : NULL;
    return end ? (size_t)(end + 1 - held->data) : 0;
}

/* Refuses what is no text, unless its encoding is known. */
static zhen_status check_kind(const zhen_reader *reader, zhen_error *error)
{
    const char *kind = doc_binary_kind(reader->held.data, reader->held.length);
    const char *name = reader->options.name;
    if (!kind || reader->options.encoding)
        return ZHEN_OK;
    return base_fail(error, ZHEN_ERROR_UNSUPPORTED, "%s%sno text, but %s", name ? name : "",
                     name ? ": " : "", kind);
}

/* Decodes the bytes that were held back, if it is time. While there is nothing but ASCII, the
 * encoding stays open: all that are guessed spell it alike. */
static zhen_status release(zhen_reader *reader, bool flush, zhen_error *error)
{
    base_buffer *held = &reader->held;
    size_t ready = count_ready(reader, flush);
    if (ready == 0)
        return ZHEN_OK;
    bool beginning = !reader->begun && reader->text.length == 0;
    zhen_status status = beginning ? check_kind(reader, error) : ZHEN_OK;
    if (status)
        return status;
    if (reader->options.encoding)
        status = open_encoding(reader, utf16_order(held), error);
    else if (!doc_charset_is_ascii(held->data, ready))
        status = open_encoding(reader, doc_charset_guess(reader->options.format, held->data, ready),
                               error);
    /* From here on bytes are decoded as they come, so that none stay behind. */
    if (reader->encoding)
        ready = held->length;
    if (!status)
        status = decode(reader, held->data, ready, error);
    held->length -= ready;
    memmove(held->data, held->data + ready, held->length + 1);
    return status;
}

/* Refuses what would take too much memory: a whole file, or what should be one record. */
static zhen_status check_size(const zhen_reader *reader, size_t size, zhen_error *error)
{
    bool records = doc_has_records(reader->options.format);
    size_t most = reader->options.most_bytes ? reader->options.most_bytes
                  : records                  ? MOST_RECORD
                                             : MOST_WHOLE;
    if (size <= most)
        return ZHEN_OK;
    const char *name = reader->options.name;
    if (!records)
        return base_fail(error, ZHEN_ERROR_UNSUPPORTED,
                         "%s%slonger than %zu bytes, the most for one document", name ? name : "",
                         name ? ": " : "", most);
    return base_fail(error, ZHEN_ERROR_UNSUPPORTED, "%s%sline %zu: longer than %zu bytes%s",
                     name ? name : "", name ? ": " : "", reader->line, most,
                     reader->quotes.in_quotes ? " (is a quote not closed?)" : "");
}

zhen_status zhen_reader_feed(zhen_reader *reader, const void *bytes, size_t size, zhen_error *error)
{
    size_t held = reader->held.length + reader->text.length;
    if (!doc_has_records(reader->options.format) && check_size(reader, held + size, error))
        return ZHEN_ERROR_UNSUPPORTED;
    if (reader->encoding)
        return decode(reader, bytes, size, error);
    return base_buffer_append(&reader->held, bytes, size) ? ZHEN_OK : base_fail_memory(error);
}

zhen_status zhen_reader_finish(zhen_reader *reader, zhen_error *error)
{
    reader->finished = true;
    if (reader->encoding)
        return decode(reader, "", 0, error);
    return ZHEN_OK;
}

/* ---- Documents ---------------------------------------------------------------------------- */

static size_t count_lines(const char *text, size_t length)
{
    size_t lines = 0;
    for (const char *end; length && (end = memchr(text, '\n', length)); lines++) {
        length -= (size_t)(end + 1 - text);
        text = end + 1;
    }
    return lines;
}

/* The next `size` bytes of the text become a document. */
static zhen_status make_document(zhen_reader *reader, size_t size, zhen_document **document,
                                 zhen_error *error)
{
    zhen_status status = doc_create(&reader->options, document, error);
    if (status)
        return status;
    zhen_document *d = *document;
    d->columns = &reader->columns;
    d->wishes = &reader->wishes;
    d->first_line = reader->line;
    d->first = !reader->begun;
    d->transcoded = is_transcoded(reader);
    if (!base_buffer_append(&d->source, reader->text.data + reader->taken, size))
        status = base_fail_memory(error);
    if (!status && d->first && size >= 3 && memcmp(d->source.data, "\xEF\xBB\xBF", 3) == 0)
        d->body = 3;
    if (!status)
        status = doc_parse(d, error);
    if (status) {
        zhen_document_free(d);
        *document = NULL;
        return status;
    }
    reader->begun = true;
    reader->line += count_lines(reader->text.data + reader->taken, size);
    reader->taken += size;
    reader->quotes = (doc_quotes){.separator = reader->columns.separator};
    return ZHEN_OK;
}

/* Finds what separates the fields of a table, by its first line; false if that is not there yet. */
static bool find_separator(zhen_reader *reader)
{
    const char *text = reader->text.data + reader->taken;
    size_t length = reader->text.length - reader->taken;
    zhen_format format = reader->options.format;
    if ((format != ZHEN_FORMAT_CSV && format != ZHEN_FORMAT_TSV) || reader->columns.separator)
        return true;
    if (!reader->finished && length < CHUNK && !memchr(text, '\n', length))
        return false;
    size_t mark = length >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
    reader->columns.separator =
        format == ZHEN_FORMAT_TSV ? '\t' : doc_records_separator(text + mark, length - mark);
    reader->quotes = (doc_quotes){.separator = reader->columns.separator, .scanned = mark};
    return true;
}

zhen_status zhen_reader_next(zhen_reader *reader, bool flush, zhen_document **document,
                             zhen_error *error)
{
    *document = NULL;
    zhen_status status = release(reader, flush, error);
    size_t length = reader->text.length - reader->taken;
    if (status || length == 0)
        return status;
    if (!find_separator(reader))
        return check_size(reader, length, error);
    size_t wanted = reader->options.chunk_bytes ? reader->options.chunk_bytes : CHUNK, size;
    if (doc_has_records(reader->options.format))
        size = doc_records_cut(&reader->options, reader->text.data + reader->taken, length, wanted,
                               flush, reader->finished, &reader->quotes);
    else
        size = reader->finished ? length : 0;
    if (size)
        return make_document(reader, size, document, error);
    return doc_has_records(reader->options.format) ? check_size(reader, length, error) : ZHEN_OK;
}
