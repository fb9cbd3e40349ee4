#include "document/markdown_pad.h"

#include "document/patterns.h"
#include "text/script.h"
#include "text/utf8.h"

#include <stdlib.h>
#include <string.h>

enum { CELL = 3 /* characters that md4c wants in a cell */ };

/* Whether a line can stand below a table's head; "- |" is an item of a list. */
static bool is_below_head(const char *line, size_t length)
{
    bool pipe = false, dash = false;
    size_t at = 0;
    while (at < length && (doc_is_blank(line[at]) || line[at] == '>'))
        at++;
    if (length - at >= 2 && line[at] == '-' && doc_is_blank(line[at + 1]))
        return false;
    for (; at < length; at++) {
        pipe = pipe || line[at] == '|';
        dash = dash || line[at] == '-';
        if (!doc_is_blank(line[at]) && line[at] != '|' && line[at] != '-' && line[at] != ':')
            return false;
    }
    return pipe && dash;
}

/* Puts in the first `count` bytes of `bytes`. */
static bool insert(doc_padded *padded, const char *bytes, size_t count)
{
    if (!base_grow((void **)&padded->insertions, &padded->capacity, padded->count + 1,
                   sizeof *padded->insertions))
        return false;
    const doc_insertion *last = padded->count ? &padded->insertions[padded->count - 1] : NULL;
    padded->insertions[padded->count++] =
        (doc_insertion){padded->text.length, count, last ? last->before + last->count : 0};
    return base_buffer_append(&padded->text, bytes, count);
}

/* ---- Tables ------------------------------------------------------------------------------- */

/* Makes :- and - three characters long. */
static bool pad_line(const char *line, size_t length, doc_padded *padded)
{
    for (size_t at = 0; at < length;) {
        size_t end = at, dash = length;
        for (; end < length && (line[end] == '-' || line[end] == ':'); end++)
            if (line[end] == '-')
                dash = end;
        bool narrow = dash < length && end - at < CELL;
        size_t stop = narrow ? dash : end > at ? end : at + 1;
        if (!base_buffer_append(&padded->text, line + at, stop - at) ||
            (narrow && (!insert(padded, "---", CELL - (end - at)) ||
                        !base_buffer_append(&padded->text, line + dash, end - dash))))
            return false;
        at = narrow ? end : stop;
    }
    return true;
}

/* ---- Emphasis ----------------------------------------------------------------------------- */

/* Characters between which nobody writes blanks: Han, kana, full-width marks. */
static bool is_wide(int32_t c)
{
    return text_is_han(c) || (c > 0x3000 && c <= 0x30FF) || (c >= 0xFF00 && c <= 0xFFEF);
}

/* Whether the run of asterisks or tildes [begin, end) stands between two characters of which one is
 * wide. Three tildes begin a block of code. */
static bool needs_stops(const char *line, size_t length, size_t begin, size_t end)
{
    int32_t before, after;
    if (begin == 0 || end == length || (line[begin] == '~' && end - begin > 2) ||
        line[begin - 1] == '\\')
        return false;
    text_decode_before(line, 0, begin, &before);
    text_decode(line + end, length - end, &after);
    return (is_wide(before) || is_wide(after)) && !text_is_blank(before) && !text_is_blank(after);
}

static bool pad_runs(const char *line, size_t length, doc_padded *padded)
{
    size_t plain = 0;
    for (size_t at = 0; at < length;) {
        size_t end = at;
        while (end < length && line[end] == line[at] && (line[at] == '*' || line[at] == '~'))
            end++;
        if (end > at && needs_stops(line, length, at, end)) {
            if (!base_buffer_append(&padded->text, line + plain, at - plain) ||
                !insert(padded, ".", 1) ||
                !base_buffer_append(&padded->text, line + at, end - at) || !insert(padded, ".", 1))
                return false;
            plain = end;
        }
        at = end > at ? end : at + 1;
    }
    return base_buffer_append(&padded->text, line + plain, length - plain);
}

/* ---- All ---------------------------------------------------------------------------------- */

bool doc_markdown_pad(const char *text, size_t length, doc_padded *padded)
{
    if (!base_buffer_reserve(&padded->text, length))
        return false;
    for (size_t at = 0; at < length;) {
        const char *end = memchr(text + at, '\n', length - at);
        size_t size = end ? (size_t)(end + 1 - text) - at : length - at;
        size_t line = end ? size - 1 : size;
        bool ok = is_below_head(text + at, line) ? pad_line(text + at, size, padded)
                                                 : pad_runs(text + at, size, padded);
        if (!ok)
            return false;
        at += size;
    }
    return true;
}

size_t doc_markdown_unpad(const doc_padded *padded, size_t at)
{
    size_t low = 0, high = padded->count;
    while (low < high) { /* the last insertion that begins before `at` is the one before `low` */
        size_t middle = low + (high - low) / 2;
        if (padded->insertions[middle].begin < at)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return at;
    const doc_insertion *last = &padded->insertions[low - 1];
    size_t inside = at - last->begin < last->count ? at - last->begin : last->count;
    return at - last->before - inside;
}

void doc_markdown_pad_free(doc_padded *padded)
{
    base_buffer_free(&padded->text);
    free(padded->insertions);
    *padded = (doc_padded){0};
}
