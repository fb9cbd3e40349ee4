#include "document/records.h"

#include "text/script.h"
#include "text/utf8.h"

#include <string.h>
#include <strings.h>

bool doc_has_records(zhen_format format)
{
    return format == ZHEN_FORMAT_TEXT || format == ZHEN_FORMAT_JSONL || format == ZHEN_FORMAT_CSV ||
           format == ZHEN_FORMAT_TSV;
}

/* ---- Lines -------------------------------------------------------------------------------- */

static size_t first_line_end(const char *text, size_t length, size_t from)
{
    const char *end = from < length ? memchr(text + from, '\n', length - from) : NULL;
    return end ? (size_t)(end - text) + 1 : 0;
}

static size_t last_line_end(const char *text, size_t length)
{
    const char *end = length ? memrchr(text, '\n', length) : NULL;
    return end ? (size_t)(end - text) + 1 : 0;
}

/* ---- Paragraphs --------------------------------------------------------------------------- */

bool doc_records_begins_paragraph(const char *text, size_t length, size_t at)
{
    int32_t character;
    if (at >= length)
        return true;
    text_decode(text + at, length - at, &character);
    return text_is_blank(character);
}

/* The same where more text may come. */
static bool begins_paragraph(const char *text, size_t length, size_t at)
{
    return at < length && doc_records_begins_paragraph(text, length, at);
}

static size_t first_paragraph_end(const char *text, size_t length, size_t from)
{
    size_t end = first_line_end(text, length, from);
    while (end && !begins_paragraph(text, length, end))
        end = first_line_end(text, length, end);
    return end;
}

static size_t last_paragraph_end(const char *text, size_t length)
{
    size_t end = last_line_end(text, length);
    while (end && !begins_paragraph(text, length, end))
        end = last_line_end(text, end - 1);
    return end;
}

/* ---- Endless lines ------------------------------------------------------------------------ */

/* The last end of a sentence in text[0..length), or else the last beginning of a character. */
static size_t sentence_end(const char *text, size_t length)
{
    for (size_t i = length; i > length / 2; i--)
        if (i >= 3 && (!memcmp(text + i - 3, "。", 3) || !memcmp(text + i - 3, "！", 3) ||
                       !memcmp(text + i - 3, "？", 3)))
            return i;
    size_t end = length - 1;
    while (end > 1 && ((unsigned char)text[end] & 0xC0) == 0x80)
        end--;
    return end;
}

/* ---- Tables ------------------------------------------------------------------------------- */

size_t doc_records_separator_line(const char *text, size_t length)
{
    if (length < 6 || strncasecmp(text, "sep=", 4) != 0)
        return 0;
    size_t end = text[5] == '\r' && length > 6 ? 6 : 5;
    return text[end] == '\n' ? end + 1 : 0;
}

char doc_records_separator(const char *text, size_t length)
{
    static const char separators[] = ",;\t";
    size_t counts[sizeof separators] = {0}, best = 0;
    bool in_quotes = false;
    if (doc_records_separator_line(text, length))
        return text[4];
    for (size_t i = 0; i < length && (in_quotes || text[i] != '\n'); i++) {
        in_quotes = in_quotes != (text[i] == '"');
        const char *found = in_quotes || !text[i] ? NULL : strchr(separators, text[i]);
        counts[found ? found - separators : (ptrdiff_t)sizeof separators - 1]++;
    }
    for (size_t i = 1; i + 1 < sizeof separators; i++)
        best = counts[i] > counts[best] ? i : best;
    return separators[best];
}

/* Reads on until a record ends at or after `wanted`, or the text does. Quotes count where RFC 4180
 * allows them: around a whole field, doubled inside. In TSV no tab is inside. */
static void scan_quotes(const char *text, size_t length, size_t wanted, doc_quotes *q)
{
    while (q->scanned < length && (q->record == 0 || q->record < wanted)) {
        char c = text[q->scanned++];
        if (q->in_quotes && !(q->tabs_end && c == '\t')) {
            q->in_quotes = c != '"';
            q->closed = !q->in_quotes;
        } else if (c == '"') {
            /* At the start of a field, or the second of a doubled one. */
            q->in_quotes = !q->in_field || q->closed;
            q->in_field = true;
        } else {
            q->closed = q->in_quotes = false;
            q->in_field = c != q->separator && c != '\n' && c != '\r';
            if (c == '\n')
                q->record = q->scanned;
        }
    }
}

/* ---- All ---------------------------------------------------------------------------------- */

size_t doc_records_cut(const zhen_document_options *options, const char *text, size_t length,
                       size_t wanted, bool flush, bool end, doc_quotes *quotes)
{
    bool paragraphs = options->format == ZHEN_FORMAT_TEXT && options->paragraphs;
    if (end && length <= wanted)
        return length;
    if (length < wanted && !flush)
        return 0;
    size_t from = wanted && wanted < length ? wanted - 1 : length, cut;
    if (options->format == ZHEN_FORMAT_CSV || options->format == ZHEN_FORMAT_TSV) {
        quotes->tabs_end = options->format == ZHEN_FORMAT_TSV;
        scan_quotes(text, length, wanted, quotes);
        cut = quotes->record >= wanted || flush ? quotes->record : 0;
        if (cut == 0 && quotes->tabs_end && length > wanted + DOC_LONGEST_QUOTED)
            cut = last_line_end(text, length);
    } else if (paragraphs) {
        cut = first_paragraph_end(text, length, from);
        cut = cut ? cut : last_paragraph_end(text, length);
    } else {
        cut = first_line_end(text, length, from);
        cut = cut ? cut : last_line_end(text, length);
    }
    if (cut == 0 && options->format == ZHEN_FORMAT_TEXT && length > DOC_LONGEST_LINE)
        return sentence_end(text, DOC_LONGEST_LINE);
    return cut == 0 && end ? length : cut;
}
