#include "cli/stream.h"

#include "cli/input.h"
#include "cli/reader.h"
#include "cli/signals.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

typedef struct cli_stream {
    cli_batch *batch;
    cli_target *target;
    cli_reader reader;
} cli_stream;

static bool take_documents(cli_stream *stream, bool flush)
{
    for (;;) {
        zhen_document *document;
        if (!cli_reader_next(&stream->reader, flush, &document))
            return false;
        if (!document)
            return true;
        cli_batch_add(stream->batch, stream->target, document);
    }
}

static bool feed(cli_stream *stream, const char *bytes, size_t size)
{
    cli_batch_count(stream->batch, size);
    return cli_reader_feed(&stream->reader, bytes, size) && take_documents(stream, false);
}

static bool finish(cli_stream *stream)
{
    if (!cli_reader_finish(&stream->reader) || !take_documents(stream, true))
        return false;
    cli_reader_tell_missing(&stream->reader);
    return true;
}

static void end(cli_stream *stream)
{
    cli_reader_end(&stream->reader);
    cli_batch_add(stream->batch, stream->target, NULL);
}

/* When the writer of a pipe pauses, what has come is translated at once. */
static bool catch_up(cli_stream *stream, int descriptor)
{
    if (!cli_input_would_wait(descriptor))
        return true;
    if (!take_documents(stream, true))
        return false;
    cli_batch_run(stream->batch);
    return true;
}

static void read_all(cli_stream *stream, int descriptor)
{
    char bytes[64 * 1024];
    while (!stream->target->failed && !cli_signals_caught() && catch_up(stream, descriptor)) {
        ssize_t got = cli_input_read(descriptor, bytes, sizeof bytes);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0) {
            cli_error("%s: %s", cli_target_name(stream->target), strerror(errno));
            stream->target->failed = true;
        }
        if (got <= 0)
            break;
        if (!feed(stream, bytes, (size_t)got))
            return;
    }
    if (cli_signals_caught())
        stream->target->failed = true;
    if (!stream->target->failed)
        finish(stream);
}

void cli_stream_descriptor(cli_batch *batch, cli_target *target, int descriptor,
                           const zhen_document_options *options)
{
    cli_stream stream = {.batch = batch, .target = target};
    if (cli_reader_start(&stream.reader, target, options))
        read_all(&stream, descriptor);
    end(&stream);
}

/* Reads texts to the end of a new reader, a line each. */
static bool read_texts(cli_stream *stream, char *const *texts, size_t count,
                       const zhen_document_options *options)
{
    cli_reader_end(&stream->reader);
    bool good = cli_reader_start(&stream->reader, stream->target, options);
    for (size_t i = 0; i < count && good; i++)
        good = feed(stream, texts[i], strlen(texts[i])) && feed(stream, "\n", 1);
    return good && finish(stream);
}

void cli_stream_texts(cli_batch *batch, cli_target *target, char *const *texts, size_t count,
                      const zhen_document_options *options)
{
    /* Lines that follow one another would be one paragraph. */
    size_t each = options->paragraphs ? 1 : count;
    cli_stream stream = {.batch = batch, .target = target};
    bool good = true;
    for (size_t i = 0; i < count && good; i += each)
        good = read_texts(&stream, texts + i, each, options);
    end(&stream);
}
