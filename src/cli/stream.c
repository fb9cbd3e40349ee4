#include "cli/stream.h"

#include "cli/input.h"
#include "cli/signals.h"

#include <errno.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

typedef struct cli_stream {
    cli_batch *batch;
    cli_target *target;
    zhen_reader *reader;
    bool told_encoding;
} cli_stream;

static bool fail(cli_stream *stream, const zhen_error *error)
{
    cli_error("%s", error->message);
    stream->target->failed = true;
    return false;
}

/* Says once in which encoding the file is read, if it was found out and is not what one expects. */
static void tell_encoding(cli_stream *stream)
{
    const cli_options *options = stream->target->run->options;
    const char *encoding = zhen_reader_encoding(stream->reader);
    if (stream->told_encoding || !encoding)
        return;
    stream->told_encoding = true;
    if (!options->quiet && !options->document.encoding && strcasecmp(encoding, "UTF-8"))
        cli_error("%s: read as %s (--encoding if that is wrong)", cli_target_name(stream->target),
                  encoding);
}

static bool take_documents(cli_stream *stream, bool flush)
{
    for (;;) {
        zhen_document *document;
        zhen_error error;
        if (zhen_reader_next(stream->reader, flush, &document, &error))
            return fail(stream, &error);
        if (!document)
            return true;
        tell_encoding(stream);
        cli_batch_add(stream->batch, stream->target, document);
    }
}

static bool feed(cli_stream *stream, const char *bytes, size_t size)
{
    cli_batch_count(stream->batch, size);
    zhen_error error;
    if (zhen_reader_feed(stream->reader, bytes, size, &error))
        return fail(stream, &error);
    return take_documents(stream, false);
}

static bool finish(cli_stream *stream)
{
    zhen_error error;
    if (zhen_reader_finish(stream->reader, &error))
        return fail(stream, &error);
    return take_documents(stream, true);
}

static bool start(cli_stream *stream, cli_batch *batch, cli_target *target,
                  const zhen_document_options *options)
{
    *stream = (cli_stream){.batch = batch, .target = target};
    zhen_document_options named = *options;
    named.name = cli_target_name(target);
    zhen_error error;
    return !zhen_reader_create(&named, &stream->reader, &error) || fail(stream, &error);
}

static void end(cli_stream *stream)
{
    zhen_reader_free(stream->reader);
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
    cli_stream stream;
    if (start(&stream, batch, target, options))
        read_all(&stream, descriptor);
    end(&stream);
}

void cli_stream_texts(cli_batch *batch, cli_target *target, char *const *texts, size_t count,
                      const zhen_document_options *options)
{
    cli_stream stream;
    bool good = start(&stream, batch, target, options);
    for (size_t i = 0; i < count && good; i++)
        good = feed(&stream, texts[i], strlen(texts[i])) && feed(&stream, "\n", 1);
    if (good)
        finish(&stream);
    end(&stream);
}
