#include "cli/reader.h"

#include <strings.h>

static bool fail(const cli_reader *reader, const zhen_error *error)
{
    cli_error("%s", error->message);
    reader->target->failed = true;
    return false;
}

bool cli_reader_start(cli_reader *reader, cli_target *target, const zhen_document_options *options)
{
    *reader = (cli_reader){.target = target};
    zhen_document_options named = *options;
    named.name = cli_target_name(target);
    zhen_error error;
    if (!zhen_reader_create(&named, &reader->reader, &error))
        return true;
    cli_error("%s: %s", named.name, error.message); /* of options; it does not name the file */
    target->failed = true;
    return false;
}

bool cli_reader_feed(cli_reader *reader, const char *bytes, size_t size)
{
    zhen_error error;
    return !zhen_reader_feed(reader->reader, bytes, size, &error) || fail(reader, &error);
}

bool cli_reader_finish(cli_reader *reader)
{
    zhen_error error;
    return !zhen_reader_finish(reader->reader, &error) || fail(reader, &error);
}

static void tell_encoding(cli_reader *reader)
{
    const cli_options *options = reader->target->run->options;
    const char *encoding = zhen_reader_encoding(reader->reader);
    if (reader->told_encoding || !encoding)
        return;
    reader->told_encoding = true;
    if (!options->quiet && !options->document.encoding && strcasecmp(encoding, "UTF-8"))
        cli_error("%s: read as %s (--encoding if that is wrong)", cli_target_name(reader->target),
                  encoding);
}

bool cli_reader_next(cli_reader *reader, bool flush, zhen_document **document)
{
    zhen_error error;
    if (zhen_reader_next(reader->reader, flush, document, &error))
        return fail(reader, &error);
    if (*document)
        tell_encoding(reader);
    return true;
}

void cli_reader_tell_missing(const cli_reader *reader)
{
    const cli_options *options = reader->target->run->options;
    const char *missing;
    for (size_t i = 0; !options->quiet && (missing = zhen_reader_missing(reader->reader, i)); i++)
        cli_error("note: %s has no text that '%s' names", cli_target_name(reader->target), missing);
}

void cli_reader_end(cli_reader *reader)
{
    zhen_reader_free(reader->reader);
    reader->reader = NULL;
}
