/*
 * Subtitles: SubRip and WebVTT. Numbers, times, settings, notes and styles stay; a sentence that
 * goes on in the next cue is translated with it, and the translation is shared out among the cues.
 */
#include "base/error.h"
#include "document/document.h"
#include "document/entity.h"
#include "document/escape.h"
#include "document/protect.h"
#include "text/script.h"
#include "text/utf8.h"

#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

enum {
    LINE_WIDTH = 42,      /* characters in a line of an English subtitle, by custom */
    MOST_CUES = 4,        /* that one sentence goes through at most */
    LONGEST_PAUSE = 2000, /* milliseconds between cues of one sentence at most */
    LONGEST_TAG = 1024    /* bytes */
};

typedef struct cue {
    zhen_span text;  /* its lines, without the last line end */
    size_t prose;    /* where the text begins behind positions like {\\an8} */
    long begin, end; /* in milliseconds */
    bool exact;      /* both times say milliseconds */
    bool dialogue;   /* its lines begin with dashes: several people speak */
    bool apart;      /* its lines are in two languages */
} cue;

typedef struct reading {
    zhen_document *document;
    const char *text;
    size_t length;
    cue *cues;
    size_t count, capacity;
    bool punctuated;  /* sentences end in marks in this file */
    bool bilingual;   /* cues have a line of another language below (or above) the Chinese one */
    size_t voice_end; /* the next </v> from where one was last looked for; `length`: none */
    const char *line_break;
} reading;

/* ---- Lines -------------------------------------------------------------------------------- */

static size_t line_end(const reading *r, size_t at)
{
    const char *end = at < r->length ? memchr(r->text + at, '\n', r->length - at) : NULL;
    return end ? (size_t)(end - r->text) : r->length;
}

static bool is_blank_line(const reading *r, size_t begin, size_t end)
{
    while (begin < end && strchr(" \t\r", r->text[begin]))
        begin++;
    return begin == end;
}

/* Whether the line shows nothing, though it may hold a wide blank. */
static bool is_white(const reading *r, size_t begin, size_t end)
{
    int32_t character = ' ';
    while (begin < end && text_is_blank(character))
        begin += text_decode(r->text + begin, end - begin, &character);
    return text_is_blank(character);
}

static size_t without_return(const reading *r, size_t begin, size_t end)
{
    return end > begin && r->text[end - 1] == '\r' ? end - 1 : end;
}

/* ---- Times -------------------------------------------------------------------------------- */

/* Reads [hours:]minutes:seconds[,.]milliseconds; -1 if there is none. Behind hours, minutes and
 * seconds some programs write a third colon instead. Where milliseconds are left out, `exact`
 * becomes false. */
static long read_time(const char *text, size_t length, size_t *at, bool *exact)
{
    long value = 0, part = 0;
    size_t i = *at, digits = 0, parts = 0;
    for (; i < length; i++) {
        char c = text[i];
        if (c >= '0' && c <= '9' && digits < 9) {
            part = part * 10 + (c - '0');
            digits++;
        } else if (c == ':' && digits && parts < 2) {
            value = (value + part) * 60;
            part = 0;
            digits = 0;
            parts++;
        } else {
            break;
        }
    }
    if (!parts || !digits || value > 1000000 || part > 1000000)
        return -1;
    value = (value + part) * 1000;
    size_t seconds_end = i;
    if (i < length && (text[i] == ',' || text[i] == '.' || text[i] == ':')) {
        long scale = 100;
        for (i++; i < length && text[i] >= '0' && text[i] <= '9'; i++, scale /= 10)
            value += (text[i] - '0') * scale;
    }
    *exact = *exact && i > seconds_end + 1;
    *at = i;
    return value;
}

/* A line "00:00:01,000 --> 00:00:02,000 ...". */
static bool read_times(const reading *r, size_t begin, size_t end, cue *c)
{
    while (begin < end && strchr(" \t", r->text[begin]))
        begin++;
    c->exact = true;
    c->begin = read_time(r->text, end, &begin, &c->exact);
    while (begin < end && strchr(" \t", r->text[begin]))
        begin++;
    if (c->begin < 0 || end - begin < 3 || memcmp(r->text + begin, "-->", 3) != 0)
        return false;
    begin += 3;
    while (begin < end && strchr(" \t", r->text[begin]))
        begin++;
    c->end = read_time(r->text, end, &begin, &c->exact);
    return c->end >= 0;
}

/* ---- Cues --------------------------------------------------------------------------------- */

static bool begins_with_dash(const reading *r, size_t begin, size_t end)
{
    while (begin < end && strchr(" \t", r->text[begin]))
        begin++;
    return begin < end &&
           (r->text[begin] == '-' || (end - begin >= 3 && !memcmp(r->text + begin, "—", 3)) ||
            (end - begin >= 3 && !memcmp(r->text + begin, "－", 3)));
}

static size_t next_line(const reading *r, size_t end)
{
    return end < r->length ? end + 1 : end;
}

/* Whether a new cue begins here though no blank line comes before it: with its times, or with a
 * number and then its times. Without a number, times like 1:20 --> 3:40 may be what somebody says.
 */
static bool begins_cue(const reading *r, size_t at, size_t end)
{
    cue next;
    if (read_times(r, at, end, &next) && next.exact)
        return true;
    size_t digits = at;
    while (digits < end && r->text[digits] >= '0' && r->text[digits] <= '9')
        digits++;
    if (digits == at || !is_blank_line(r, digits, end))
        return false;
    at = next_line(r, end);
    return read_times(r, at, line_end(r, at), &next);
}

/* The lines from `at` to a blank one or the next cue are the cue's text, but for lines of wide
 * blanks at its end. Returns where the next lines begin. */
static size_t read_cue_text(const reading *r, size_t at, cue *c)
{
    c->text = (zhen_span){at, at};
    while (at < r->length) {
        size_t end = line_end(r, at);
        if (is_blank_line(r, at, end) || begins_cue(r, at, end))
            break;
        c->dialogue = c->dialogue || begins_with_dash(r, at, end);
        if (!is_white(r, at, end))
            c->text.end = without_return(r, at, end);
        at = next_line(r, end);
    }
    return at;
}

static size_t skip_positions(const reading *r, zhen_span text)
{
    size_t at = text.begin;
    while (text.end - at > 2 && r->text[at] == '{' && r->text[at + 1] == '\\') {
        const char *close = memchr(r->text + at, '}', text.end - at);
        if (!close)
            break;
        at = (size_t)(close - r->text) + 1;
    }
    return at;
}

static bool read_cues(reading *r, size_t at)
{
    while (at < r->length) {
        size_t end = line_end(r, at);
        cue c = {.text = {0, 0}};
        bool times = read_times(r, at, end, &c);
        at = next_line(r, end);
        if (!times)
            continue;
        at = read_cue_text(r, at, &c);
        if (c.text.begin == c.text.end)
            continue;
        c.prose = skip_positions(r, c.text);
        if (!base_grow((void **)&r->cues, &r->capacity, r->count + 1, sizeof *r->cues))
            return false;
        r->cues[r->count++] = c;
    }
    return true;
}

/* A tag <i>, </c.yellow>, <v Name>, <00:01.000>, a position {\an8}, or one of the blanks \N and \h
 * that SubRip files made of others have; its end, or 0. */
static size_t tag_end(const reading *r, size_t at, size_t end)
{
    char next = r->text[at + 1]; /* the source ends in a zero byte */
    bool tag =
        r->text[at] == '<' && ((next >= 'a' && next <= 'z') || (next >= 'A' && next <= 'Z') ||
                               (next >= '0' && next <= '9') || next == '/');
    bool position = r->text[at] == '{' && next == '\\';
    if (r->text[at] == '\\' && (next == 'N' || next == 'h') && at + 2 <= end &&
        !(r->text[at + 2] >= 'a' && r->text[at + 2] <= 'z')) /* not C:\News */
        return at + 2;
    if (!tag && !position)
        return 0;
    size_t most = end - at < LONGEST_TAG ? end - at : LONGEST_TAG;
    const char *close = memchr(r->text + at, tag ? '>' : '}', most);
    return close ? (size_t)(close - r->text) + 1 : 0;
}

/* ---- Sentences ---------------------------------------------------------------------------- */

/* The last character that is no blank, closing mark or tag. */
static int32_t last_character(const reading *r, zhen_span text)
{
    static const char closers[] = "\"')]}>”’」』）】》";
    size_t end = text.end;
    bool tags = true; /* there may be some */
    while (end > text.begin) {
        int32_t c;
        size_t bytes = text_decode_before(r->text, text.begin, end, &c);
        bool skip = text_is_blank(c);
        for (size_t i = 0; !skip && i < sizeof closers - 1;) {
            int32_t closer;
            i += text_decode(closers + i, sizeof closers - 1 - i, &closer);
            skip = c == closer;
        }
        if (c == '>' && tags) {
            const char *open = memrchr(r->text + text.begin, '<', end - text.begin);
            tags = open;
            if (open)
                bytes = end - (size_t)(open - r->text);
        }
        if (!skip)
            return c;
        end -= bytes;
    }
    return 0;
}

static bool is_any_of(int32_t c, const char *marks)
{
    for (size_t i = 0, length = strlen(marks); i < length;) {
        int32_t mark;
        i += text_decode(marks + i, length - i, &mark);
        if (c == mark)
            return true;
    }
    return false;
}

static bool ends_sentence(int32_t c)
{
    return is_any_of(c, "。！？!?…．.；;♪～~");
}

static bool divides_sentence(int32_t c)
{
    return is_any_of(c, "，、,：:—");
}

/* Many Chinese subtitles have no full stops: then only a comma says that a sentence goes on. */
static bool is_punctuated(const reading *r)
{
    size_t ends = 0;
    for (size_t i = 0; i < r->count; i++)
        ends += ends_sentence(last_character(r, r->cues[i].text));
    return ends * 3 >= r->count;
}

/* Whether the lines of a cue are texts of their own. */
static bool has_own_lines(const cue *c)
{
    return c->dialogue || c->apart;
}

static bool goes_on(const reading *r, size_t index)
{
    const cue *c = &r->cues[index], *next = c + 1;
    if (index + 1 >= r->count || has_own_lines(c) || has_own_lines(next) ||
        next->begin < c->begin || next->begin - c->end > LONGEST_PAUSE)
        return false;
    int32_t last = last_character(r, c->text);
    return divides_sentence(last) || (r->punctuated && !ends_sentence(last));
}

/* ---- Lines that are texts of their own ------------------------------------------------------ */

typedef enum language { UNKNOWN, CHINESE, FOREIGN } language;

/* What the line, without its tags, is written in. */
static language language_of(const reading *r, zhen_span line)
{
    language found = UNKNOWN;
    while (line.begin < line.end) {
        size_t tag = tag_end(r, line.begin, line.end);
        if (tag) {
            line.begin = tag;
            continue;
        }
        int32_t c;
        line.begin += text_decode(r->text + line.begin, line.end - line.begin, &c);
        if (text_is_han(c))
            return CHINESE;
        utf8proc_category_t category = utf8proc_category(c);
        if (category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_LO)
            found = FOREIGN; /* a letter */
    }
    return found;
}

/* Whether the line that ends at `line.end` and the one that follows, to `end`, are in two
 * languages. */
static bool changes_language(const reading *r, zhen_span line, size_t end)
{
    size_t stop = line_end(r, line.end + 1);
    language above = language_of(r, line);
    language below = language_of(r, (zhen_span){line.end + 1, stop < end ? stop : end});
    return above != UNKNOWN && below != UNKNOWN && above != below;
}

/* Whether a text ends with the line in a cue that ends at `end`: with a sentence or a language. */
static bool ends_text(const reading *r, zhen_span line, size_t end)
{
    return ends_sentence(last_character(r, line)) ||
           (r->bilingual && changes_language(r, line, end));
}

typedef bool line_test(const reading *r, zhen_span line, size_t end);

/* Whether some line of the cue, but for the last one, passes. */
static bool any_line(const reading *r, const cue *c, line_test *passes)
{
    for (size_t at = c->prose, end; (end = line_end(r, at)) < c->text.end; at = end + 1)
        if (passes(r, (zhen_span){at, end}, c->text.end))
            return true;
    return false;
}

/* Where many cues are in two languages, all that are have lines of their own; a name in a line of
 * Chinese may be one of its words. */
static void find_languages(reading *r)
{
    size_t chinese = 0, both = 0;
    for (size_t i = 0; i < r->count; i++) {
        cue *c = &r->cues[i];
        c->apart = any_line(r, c, changes_language);
        both += c->apart;
        chinese += language_of(r, c->text) == CHINESE;
    }
    r->bilingual = both * 4 >= chinese;
    for (size_t i = 0; i < r->count && !r->bilingual; i++)
        r->cues[i].apart = false;
}

/* ---- Flows -------------------------------------------------------------------------------- */

static bool add(reading *r, doc_event_kind kind, zhen_span raw, const char *key, size_t key_length)
{
    return doc_flow_add(
        &r->document->flow,
        &(doc_event){.kind = kind, .raw = raw, .key = key, .key_length = key_length});
}

static bool add_text(reading *r, zhen_span raw)
{
    zhen_document *document = r->document;
    if (document->options.format == ZHEN_FORMAT_VTT)
        return doc_entity_add_text(&document->flow, &document->arena, r->text, raw);
    return doc_flow_add_text(&document->flow, r->text, raw);
}

/* Whether a voice that opens at `at` is closed in its cue, which ends at `end`. Places are asked
 * about in order, so that the file is searched once. */
static bool is_voice_closed(reading *r, size_t at, size_t end)
{
    if (r->voice_end < at) {
        const char *found = memmem(r->text + at, r->length - at, "</v>", 4);
        r->voice_end = found ? (size_t)(found - r->text) : r->length;
    }
    return r->voice_end < end;
}

/* A tag in a cue that ends at `cue_end`. */
static bool add_tag(reading *r, zhen_span raw, size_t cue_end)
{
    if (r->text[raw.begin] == '\\')
        return doc_flow_add(&r->document->flow,
                            &(doc_event){.kind = DOC_EVENT_POINT, .flags = DOC_BLANK, .raw = raw});
    bool closing = r->text[raw.begin + 1] == '/';
    size_t name = raw.begin + (closing ? 2 : 1), end = name;
    while (end < raw.end && ((r->text[end] >= 'a' && r->text[end] <= 'z') ||
                             (r->text[end] >= 'A' && r->text[end] <= 'Z')))
        end++;
    if (r->text[raw.begin] == '{' || name == end)
        return add(r, DOC_EVENT_POINT, raw, NULL, 0);
    /* A voice may stay open to the end of its cue (WebVTT, 3.4). */
    bool stays_open = !closing && end - name == 1 && r->text[name] == 'v' &&
                      !is_voice_closed(r, raw.end, cue_end);
    return add(r,
               stays_open ? DOC_EVENT_POINT
               : closing  ? DOC_EVENT_CLOSE
                          : DOC_EVENT_OPEN,
               raw, r->text + name, end - name);
}

/* The dash and blanks at the beginning of a dialogue's line, with the line end before it. */
static size_t line_start(const reading *r, size_t at, size_t end)
{
    while (at < end && strchr(" \t\r\n-", r->text[at]))
        at++;
    while (end - at >= 3 && (!memcmp(r->text + at, "—", 3) || !memcmp(r->text + at, "－", 3)))
        at += 3;
    return at;
}

/* The end of the line break at `at` and what stands before the next text, if one ends here; 0 if
 * none does. `line`: where the line begins. */
static size_t text_break(const reading *r, const cue *c, bool apart, size_t line, size_t at)
{
    size_t end = c->text.end;
    if (c->dialogue && (r->text[at] == '\n' || at == c->prose)) {
        size_t start = line_start(r, at, end);
        return start > at ? start : 0;
    }
    return apart && r->text[at] == '\n' && ends_text(r, (zhen_span){line, at}, end) ? at + 1 : 0;
}

/* The text of a cue; `apart`: its lines may be texts of their own. */
static bool add_cue_text(reading *r, const cue *c, bool apart)
{
    size_t plain = c->prose, at = plain, end = c->text.end, line = plain;
    while (at < end) {
        size_t next = text_break(r, c, apart, line, at);
        size_t stop = next ? next : tag_end(r, at, end);
        line = r->text[at] == '\n' ? at + 1 : line;
        if (!stop) {
            at++;
            continue;
        }
        if (!add_text(r, (zhen_span){plain, at}) ||
            !(next ? add(r, DOC_EVENT_BREAK, (zhen_span){at, stop}, NULL, 0)
                   : add_tag(r, (zhen_span){at, stop}, end)))
            return false;
        plain = at = stop;
    }
    return add_text(r, (zhen_span){plain, end});
}

/* A cue's opening mark writes what stands between it and the cue before, and in bilingual output
 * its own text. */
static bool open_cue(reading *r, const cue *c, const cue *before)
{
    doc_event event = {.kind = DOC_EVENT_OPEN, .flags = DOC_CUE, .key = "cue", .key_length = 3};
    event.raw = (zhen_span){before ? before->text.end : c->text.begin, c->prose};
    if (r->document->options.bilingual == ZHEN_BILINGUAL_INTERLEAVED) {
        size_t length = c->text.end - event.raw.begin, line_break = strlen(r->line_break);
        char *both = base_arena_allocate(&r->document->arena, length + line_break);
        if (!both)
            return false;
        memcpy(both, r->text + event.raw.begin, length);
        memcpy(both + length, r->line_break, line_break);
        event.literal = both;
        event.literal_length = length + line_break;
    }
    return doc_flow_add(&r->document->flow, &event);
}

/* Cues [first, end) hold one sentence, or a whole number of them. */
static bool add_sentence(reading *r, size_t first, size_t end)
{
    for (size_t i = first; i < end; i++) {
        const cue *c = &r->cues[i];
        zhen_span nothing = {c->text.end, c->text.end};
        if (!open_cue(r, c, i > first ? c - 1 : NULL) || !add_cue_text(r, c, false) ||
            !doc_flow_add(&r->document->flow, &(doc_event){.kind = DOC_EVENT_CLOSE,
                                                           .flags = DOC_CUE,
                                                           .raw = nothing,
                                                           .key = "cue",
                                                           .key_length = 3}))
            return false;
    }
    return doc_finish_in_place(r->document);
}

/* A cue's lines, each on its own; in bilingual output behind the cue's own text. */
static bool add_lines(reading *r, const cue *c)
{
    zhen_document *document = r->document;
    if (document->options.bilingual != ZHEN_BILINGUAL_INTERLEAVED)
        return add_cue_text(r, c, true) && doc_finish_in_place(document);
    return doc_begin_block(document, c->text, DOC_WHEN_UNITS) &&
           doc_add_source(document, c->text) &&
           doc_add_literal(document, r->line_break, strlen(r->line_break)) &&
           add_cue_text(r, c, true) && doc_add_flow(document);
}

static bool add_cues(reading *r)
{
    for (size_t i = 0; i < r->count;) {
        size_t end = i + 1;
        while (end - i < MOST_CUES && goes_on(r, end - 1))
            end++;
        const cue *c = &r->cues[i];
        bool own = has_own_lines(c) || (end == i + 1 && any_line(r, c, ends_text));
        if (own ? !add_lines(r, c) : !add_sentence(r, i, end))
            return false;
        i = end;
    }
    return true;
}

/* A header's "Language: zh" (WebVTT's metadata). */
static bool change_language(reading *r)
{
    static const char name[] = "Language: ";
    size_t size = sizeof name - 1, at = r->document->body;
    for (size_t end; !is_blank_line(r, at, end = line_end(r, at)); at = next_line(r, end)) {
        if (end - at > size && memcmp(r->text + at, name, size) == 0)
            return doc_change_language(r->document,
                                       (zhen_span){at + size, without_return(r, at, end)});
    }
    return true;
}

zhen_status doc_parse_subtitles(zhen_document *document, zhen_error *error)
{
    reading r = {
        .document = document, .text = document->source.data, .length = document->source.length};
    document->flow.escape =
        document->options.format == ZHEN_FORMAT_VTT ? doc_escape_markup : doc_escape_none;
    document->flow.protect = DOC_PROTECT_ADDRESSES | DOC_PROTECT_SYMBOLS;
    document->flow.line_width = LINE_WIDTH;
    size_t first = line_end(&r, 0);
    r.line_break = first > 0 && r.text[first - 1] == '\r' ? "\r\n" : "\n";
    document->flow.line_break = r.line_break;
    bool ok = change_language(&r) && read_cues(&r, document->body);
    if (ok) {
        r.punctuated = is_punctuated(&r);
        find_languages(&r);
        ok = add_cues(&r);
    }
    free(r.cues);
    return ok ? ZHEN_OK : base_fail_memory(error);
}
