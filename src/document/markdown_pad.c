#include "document/markdown_pad.h"

#include "document/markdown_gap.h"
#include "document/patterns.h"
#include "text/script.h"
#include "text/utf8.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

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

enum { MAX_OPEN = 32 /* runs that wait for one that closes them */ };

/* A run of asterisks, or two tildes, and the characters beside it; blanks at the ends of a line. */
typedef struct run {
    size_t begin, end;
    int32_t before, after;
    bool opens, closes; /* as CommonMark has it */
    bool helped_before, helped_after;
} run;

/* The runs of a paragraph, and which of them are open. */
typedef struct run_list {
    run *items;
    size_t count, capacity;
    size_t open[MAX_OPEN], open_count;
} run_list;

/* Characters between which nobody writes blanks: Han, kana, full-width marks. */
static bool is_wide(int32_t c)
{
    return text_is_han(c) || (c > 0x3000 && c <= 0x30FF) || (c >= 0xFF00 && c <= 0xFFEF);
}

static bool is_ascii_of(int32_t c, const char *set)
{
    return c < 0x80 && doc_is_one_of((char)c, set);
}

static bool is_punctuation(int32_t c)
{
    if (c < 0x80)
        return c > ' ' && c < 0x7F && !doc_is_alnum((char)c);
    utf8proc_category_t category = utf8proc_category(c);
    return category >= UTF8PROC_CATEGORY_PC && category <= UTF8PROC_CATEGORY_SO;
}

static bool is_symbol(int32_t c)
{
    return c >= 0x80 && utf8proc_category(c) >= UTF8PROC_CATEGORY_SM && is_punctuation(c);
}

/* What emphasis may begin with: brackets, quotes, code, emoji. */
static bool is_opening(int32_t c)
{
    utf8proc_category_t category = utf8proc_category(c);
    return category == UTF8PROC_CATEGORY_PS || category == UTF8PROC_CATEGORY_PI ||
           is_ascii_of(c, "`\"'<&_~") || is_symbol(c);
}

static bool is_closing_bracket(int32_t c)
{
    utf8proc_category_t category = utf8proc_category(c);
    return category == UTF8PROC_CATEGORY_PE || category == UTF8PROC_CATEGORY_PF || c == '`';
}

/* What it may end in: those, and the marks of sentences. */
static bool is_ending(int32_t c)
{
    return is_closing_bracket(c) || is_ascii_of(c, "\"'>;_~.:!?,") || is_symbol(c) ||
           (c >= 0x80 && utf8proc_category(c) == UTF8PROC_CATEGORY_PO);
}

/* Whether the run would open, or close, if a mark stood outside of it. */
static bool opens_with_help(const run *r)
{
    return !r->opens && is_opening(r->after) && (is_wide(r->before) || is_wide(r->after));
}

static bool closes_with_help(const run *r)
{
    return !r->closes && is_ending(r->before) && !text_is_blank(r->after) &&
           (is_wide(r->before) || is_wide(r->after));
}

/* Whether two runs of which one needs help are meant as emphasis. Asterisks also stand for any
 * letters, as in *[ab].c and x*_y, and for a note, as in "a* and `b`*", mostly one at a time. */
static bool is_meant(const run *open, const run *close)
{
    bool alone = open->end - open->begin == 1, marked = is_punctuation(close->before);
    if (close->closes && is_punctuation(close->after) && close->after < 0x80 && (alone || !marked))
        return false;
    if (close->closes && is_opening(close->after) && !marked)
        return false;
    if (is_closing_bracket(open->before) && is_closing_bracket(close->before))
        return false;
    if (!alone)
        return true;
    static const int32_t commas[] = {',', 0xFF0C, 0x3001, ';', 0xFF1B};
    for (size_t i = 0; i < sizeof commas / sizeof *commas; i++)
        if (close->before == commas[i])
            return false;
    return !is_ascii_of(close->before, ".:!?") &&
           (text_is_blank(open->before) || is_opening(open->before) || is_opening(open->after));
}

/* Lets the run close one that is open, with help if need be; false if there is none. */
static bool close_run(run_list *list, run *close)
{
    bool with_help = closes_with_help(close);
    for (size_t i = list->open_count; (close->closes || with_help) && i-- > 0;) {
        run *open = &list->items[list->open[i]];
        bool helped = with_help || !open->opens;
        if (open->end - open->begin != close->end - close->begin ||
            (helped && !is_meant(open, close)))
            continue;
        open->helped_before = !open->opens;
        close->helped_after = with_help;
        list->open_count = i;
        return true;
    }
    return false;
}

/* Pairs the run at `at` with what comes before it. */
static bool add_run(run_list *list, const char *text, size_t length, size_t at, size_t end)
{
    if (!base_grow((void **)&list->items, &list->capacity, list->count + 1, sizeof *list->items))
        return false;
    run *r = &list->items[list->count];
    *r = (run){.begin = at, .end = end, .before = ' ', .after = ' '};
    if (at > 0)
        text_decode_before(text, 0, at, &r->before);
    if (end < length)
        text_decode(text + end, length - end, &r->after);
    bool blank_before = text_is_blank(r->before), blank_after = text_is_blank(r->after);
    bool mark_before = is_punctuation(r->before), mark_after = is_punctuation(r->after);
    r->opens = !blank_after && (!mark_after || blank_before || mark_before);
    r->closes = !blank_before && (!mark_before || blank_after || mark_after);
    if (!close_run(list, r) && (r->opens || opens_with_help(r))) {
        if (list->open_count == MAX_OPEN)
            memmove(list->open, list->open + 1, --list->open_count * sizeof *list->open);
        list->open[list->open_count++] = list->count;
    }
    list->count++;
    return true;
}

/* Finds the runs that are no code. Three tildes begin a block of code. */
static bool find_runs(run_list *list, const char *text, size_t length)
{
    list->count = list->open_count = 0;
    for (size_t at = 0; at < length;) {
        size_t end = at + 1;
        while (end < length && text[end] == text[at])
            end++;
        size_t code = text[at] == '`' ? doc_markdown_code_end(text, at, length) : SIZE_MAX;
        if (text[at] == '\\')
            end = at + 2;
        else if (code != SIZE_MAX)
            end = code;
        else if ((text[at] == '*' || (text[at] == '~' && end - at == 2)) &&
                 !add_run(list, text, length, at, end))
            return false;
        at = end;
    }
    return true;
}

static bool pad_runs(const char *text, size_t length, run_list *list, doc_padded *padded)
{
    size_t done = 0;
    if (!find_runs(list, text, length))
        return false;
    for (size_t i = 0; i < list->count; i++) {
        const run *r = &list->items[i];
        if (!base_buffer_append(&padded->text, text + done, r->begin - done) ||
            (r->helped_before && !insert(padded, ".", 1)) ||
            !base_buffer_append(&padded->text, text + r->begin, r->end - r->begin) ||
            (r->helped_after && !insert(padded, ".", 1)))
            return false;
        done = r->end;
    }
    return base_buffer_append(&padded->text, text + done, length - done);
}

/* ---- All ---------------------------------------------------------------------------------- */

static size_t line_end(const char *text, size_t length, size_t at)
{
    const char *end = memchr(text + at, '\n', length - at);
    return end ? (size_t)(end + 1 - text) : length;
}

static bool is_below_head_at(const char *text, size_t at, size_t end)
{
    return is_below_head(text + at, end - at - (text[end - 1] == '\n'));
}

/* The end of the lines that may be one paragraph. */
static size_t paragraph_end(const char *text, size_t length, size_t at)
{
    for (size_t end; at < length; at = end) {
        end = line_end(text, length, at);
        if (is_below_head_at(text, at, end) || doc_skip_blanks(text, end, at) + 1 >= end)
            break;
    }
    return at;
}

bool doc_markdown_pad(const char *text, size_t length, doc_padded *padded)
{
    run_list runs = {0};
    bool ok = base_buffer_reserve(&padded->text, length);
    for (size_t at = 0, end; ok && at < length; at = end) {
        end = paragraph_end(text, length, at);
        if (end > at) {
            ok = pad_runs(text + at, end - at, &runs, padded);
            continue;
        }
        end = line_end(text, length, at);
        ok = is_below_head_at(text, at, end)
                 ? pad_line(text + at, end - at, padded)
                 : base_buffer_append(&padded->text, text + at, end - at);
    }
    free(runs.items);
    return ok;
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
