#include "cli/lines.h"

#include "cli/grow.h"
#include "cli/input.h"
#include "cli/signals.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { READ_SIZE = 64 * 1024, TOLD = -1 /* a failure that needs no more words */ };

void cli_lines_start(cli_lines *lines, cli_target *target, int descriptor)
{
    *lines = (cli_lines){.target = target, .descriptor = descriptor};
    cli_decoder_start(&lines->decoder, target);
}

/* A signal needs no words, either. */
static void fail(const cli_lines *lines, int failure)
{
    lines->target->failed = true;
    if (failure != TOLD && !cli_signals_caught())
        cli_error("%s: %s", cli_target_name(lines->target), strerror(failure));
}

void cli_lines_start_texts(cli_lines *lines, cli_target *target, char *const *texts, size_t count)
{
    *lines = (cli_lines){.target = target, .descriptor = -1, .at_end = true};
    for (size_t i = 0; i < count; i++)
        lines->capacity += strlen(texts[i]) + 1;
    lines->bytes = malloc(lines->capacity);
    for (size_t i = 0; i < count && lines->bytes; i++) {
        size_t length = strlen(texts[i]);
        memcpy(lines->bytes + lines->end, texts[i], length);
        lines->bytes[lines->end + length] = '\n';
        lines->end += length + 1;
    }
    if (!lines->bytes)
        fail(lines, ENOMEM);
}

void cli_lines_free(cli_lines *lines)
{
    cli_decoder_end(&lines->decoder);
    free(lines->bytes);
    free(lines->lines);
    *lines = (cli_lines){0};
}

/* While a window grows its buffer may move: until it is full, lines know their offsets only. */
static bool push_line(cli_lines *lines, size_t end, bool newline, bool continues)
{
    if (!cli_grow((void **)&lines->lines, &lines->line_capacity, lines->count + 1,
                  sizeof *lines->lines))
        return false;
    if (!lines->continued)
        lines->number++;
    bool carriage_return = newline && end > lines->begin && lines->bytes[end - 1] == '\r';
    lines->lines[lines->count++] = (cli_line){
        .text = {NULL, end - lines->begin - carriage_return},
        .offset = lines->begin,
        .number = lines->number,
        .continues = continues,
    };
    lines->continued = continues;
    lines->begin = lines->scanned = end + newline;
    return true;
}

static void discard_window(cli_lines *lines)
{
    if (lines->begin) {
        memmove(lines->bytes, lines->bytes + lines->begin, lines->end - lines->begin);
        lines->scanned -= lines->begin;
        lines->end -= lines->begin;
        lines->begin = 0;
    }
    lines->count = lines->read = 0;
}

/* Whether `text` ends a sentence before `end`: a full-width or Latin full stop, or a space. */
static bool ends_sentence(const char *text, size_t end)
{
    static const char *const marks[] = {"。", "！", "？", "；", "　"};
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (end >= 3 && !memcmp(text + end - 3, marks[i], 3))
            return true;
    return end >= 2 && text[end - 1] == ' ';
}

/* Where to cut a line of CLI_LINE_MAX bytes or more: after the last sentence in its second half,
 * else at the last character's boundary. */
static size_t cut_point(const char *text)
{
    for (size_t end = CLI_LINE_MAX; end > CLI_LINE_MAX / 2; end--)
        if (ends_sentence(text, end))
            return end;
    size_t end = CLI_LINE_MAX;
    while (end > CLI_LINE_MAX - 4 && ((unsigned char)text[end - 1] & 0xC0) == 0x80)
        end--;
    return end - 1;
}

static bool full(const cli_lines *lines, const cli_window *window)
{
    return cli_window_full(window, lines->count, lines->begin);
}

/* Takes whole lines, and parts of huge ones, from what has been read. */
static bool take_lines(cli_lines *lines, const cli_window *window)
{
    while (!full(lines, window)) {
        char *from = lines->bytes + lines->scanned;
        char *newline = memchr(from, '\n', lines->end - lines->scanned);
        size_t end = newline ? (size_t)(newline - lines->bytes) : lines->end;
        if (end - lines->begin > CLI_LINE_MAX) {
            if (!push_line(lines, lines->begin + cut_point(lines->bytes + lines->begin), false,
                           true))
                return false;
        } else if (newline) {
            if (!push_line(lines, end, true, false))
                return false;
        } else {
            lines->scanned = lines->end;
            break;
        }
    }
    return true;
}

static bool append(cli_lines *lines, const zhen_text *text)
{
    if (!cli_grow((void **)&lines->bytes, &lines->capacity, lines->end + text->length, 1))
        return false;
    memcpy(lines->bytes + lines->end, text->bytes, text->length);
    lines->end += text->length;
    return true;
}

/* Takes what has been decoded; 0, or an errno. */
static int take_text(cli_lines *lines, bool flush)
{
    zhen_text text;
    do {
        if (!cli_decoder_next(&lines->decoder, flush, &text))
            return TOLD;
        if (text.length && !append(lines, &text))
            return ENOMEM;
    } while (text.length);
    return 0;
}

/* Reads what is there; 0, or an errno. */
static int read_more(cli_lines *lines)
{
    char bytes[READ_SIZE];
    ssize_t got = cli_input_read(lines->descriptor, bytes, sizeof bytes);
    if (got < 0)
        return errno;
    lines->at_end = got == 0;
    lines->read += (size_t)got;
    if (!(got ? cli_decoder_feed(&lines->decoder, bytes, (size_t)got)
              : cli_decoder_finish(&lines->decoder)))
        return TOLD;
    return take_text(lines, lines->at_end);
}

/* Collects lines until the window is full, the input ends or waits, or a read fails. */
static int fill_window(cli_lines *lines, const cli_window *window)
{
    for (;;) {
        bool waits = !lines->at_end && cli_input_would_wait(lines->descriptor);
        int failure = waits ? take_text(lines, true) : 0;
        if (failure)
            return failure;
        if (lines->bytes && !take_lines(lines, window))
            return ENOMEM;
        if (full(lines, window) || (lines->count && waits))
            return 0;
        if (lines->at_end) /* the last line may lack its newline */
            return lines->end == lines->begin || push_line(lines, lines->end, false, false)
                       ? 0
                       : ENOMEM;
        failure = read_more(lines);
        if (failure)
            return failure;
    }
}

bool cli_lines_next(cli_lines *lines, const cli_window *window)
{
    discard_window(lines);
    if (!lines->failure)
        lines->failure = fill_window(lines, window);
    for (size_t i = 0; i < lines->count; i++)
        lines->lines[i].text.bytes = lines->bytes + lines->lines[i].offset;
    if (lines->count == 0 && lines->failure)
        fail(lines, lines->failure);
    return lines->count > 0;
}
