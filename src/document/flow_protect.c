#include "document/flow_internal.h"

#include "document/frames.h"
#include "document/protect.h"
#include "text/script.h"
#include "text/utf8.h"

#include <stdlib.h>
#include <string.h>

/* Texts of a flow with marks are cut to about this many bytes, so that the flow can be cut there.
 */
enum { LONG_TEXT = 1024 };

/* Neighbouring texts and spaces, joined for the search. */
typedef struct run {
    const doc_event *events;
    size_t count;
    base_buffer text;
    size_t event, start; /* a cursor: an event and where it begins in `text` */
    bool cut;            /* long texts are cut */
    unsigned which;      /* patterns that are protected */
} run;

static bool is_text(const doc_event *event)
{
    return event->kind == DOC_EVENT_TEXT || event->kind == DOC_EVENT_SPACE;
}

/* A space is one blank in a run, however it is written; a line break stays one, so that nothing is
 * protected across it. Where marks are joined as well, they are bytes that no text holds. */
static bool join(run *r)
{
    base_buffer_clear(&r->text);
    for (size_t i = 0; i < r->count; i++) {
        const doc_event *event = &r->events[i];
        bool blank = event->kind == DOC_EVENT_SPACE || event->kind == DOC_EVENT_BREAK;
        bool ok = event->kind == DOC_EVENT_TEXT
                      ? base_buffer_append(&r->text, event->text, event->text_length)
                      : base_buffer_append_byte(&r->text, blank ? '\n' : '\1');
        if (!ok)
            return false;
    }
    r->event = 0;
    r->start = 0;
    return base_buffer_reserve(&r->text, 0);
}

static size_t width(const doc_event *event)
{
    return event->kind == DOC_EVENT_TEXT ? event->text_length : 1;
}

/* Whether the event's text is the source's own bytes, so that it can be cut anywhere. */
static bool is_literal(const doc_event *event, const char *source)
{
    return event->kind == DOC_EVENT_TEXT && event->text == source + event->raw.begin &&
           event->text_length == event->raw.end - event->raw.begin;
}

static doc_event slice(const doc_event *event, const char *source, size_t begin, size_t end)
{
    doc_event part = *event;
    if (is_literal(event, source)) {
        part.raw = (zhen_span){event->raw.begin + begin, event->raw.begin + end};
        part.text += begin;
        part.text_length = end - begin;
    } else if (event->kind == DOC_EVENT_TEXT) {
        /* A character reference, or a line that was unescaped: it cannot be cut in the source, so
         * its bytes go with its first part. */
        if (begin > 0)
            part.raw.begin = part.raw.end;
        part.text += begin;
        part.text_length = end - begin;
        if (begin > 0 || end < event->text_length)
            part.flags |= DOC_SPELL;
    }
    return part;
}

/* Length of the longest start of text[0..length) that is blank, or that is not; in the latter case
 * ended after about LONG_TEXT bytes at a stop if `cut`. */
static size_t same_kind(const char *text, size_t length, bool cut, bool *blank)
{
    size_t end = 0;
    while (end < length) {
        int32_t character;
        size_t bytes = text_decode(text + end, length - end, &character);
        bool is_blank = text_is_blank(character);
        if (end == 0)
            *blank = is_blank;
        else if (is_blank != *blank)
            break;
        end += bytes;
        if (cut && !is_blank && end >= LONG_TEXT &&
            (character == 0x3002 || character == 0xFF01 || character == 0xFF1F ||
             end >= 4 * (size_t)LONG_TEXT))
            break;
    }
    return end;
}

static bool add_plain(const doc_event *part, bool cut, const char *source, doc_events *out)
{
    if (part->kind == DOC_EVENT_SPACE)
        return doc_events_add(out, part);
    for (size_t at = 0; at < part->text_length;) {
        bool blank = false;
        size_t bytes = same_kind(part->text + at, part->text_length - at, cut, &blank);
        doc_event piece = slice(part, source, at, at + bytes);
        if (blank)
            piece.kind = DOC_EVENT_SPACE;
        if (!doc_events_add(out, &piece))
            return false;
        at += bytes;
    }
    return true;
}

/* Moves the cursor to the event that holds `at`, which never goes back. */
static void seek(run *r, size_t at)
{
    while (r->start + width(&r->events[r->event]) <= at) {
        r->start += width(&r->events[r->event]);
        r->event++;
    }
}

/* Gives the events' parts in [begin, end) to `out` as plain text. */
static bool add_range(run *r, size_t begin, size_t end, const char *source, doc_events *out)
{
    while (begin < end) {
        seek(r, begin);
        const doc_event *event = &r->events[r->event];
        size_t stop = r->start + width(event) < end ? r->start + width(event) : end;
        doc_event part = slice(event, source, begin - r->start, stop - r->start);
        if (!add_plain(&part, r->cut, source, out))
            return false;
        begin = stop;
    }
    return true;
}

/* The same as breaks: [begin, end) is a piece of the frame. */
static bool add_breaks(run *r, size_t begin, size_t end, const doc_frame *frame, const char *source,
                       doc_events *out)
{
    unsigned flags = (frame->begins ? DOC_GAP_BEFORE : 0) | (frame->ends ? DOC_GAP_AFTER : 0);
    while (begin < end) {
        seek(r, begin);
        const doc_event *event = &r->events[r->event];
        size_t stop = r->start + width(event) < end ? r->start + width(event) : end;
        doc_event part = slice(event, source, begin - r->start, stop - r->start);
        part.kind = DOC_EVENT_BREAK;
        part.flags = flags;
        if (!doc_events_add(out, &part))
            return false;
        begin = stop;
    }
    return true;
}

/* One event for all parts in the protected range. */
static bool add_protected(run *r, const doc_protected *found, const char *source, doc_events *out)
{
    doc_event word = {.kind = found->kind, .flags = found->flags};
    bool whole = true;
    for (size_t at = found->begin; at < found->end;) {
        seek(r, at);
        const doc_event *event = &r->events[r->event];
        size_t stop = r->start + width(event) < found->end ? r->start + width(event) : found->end;
        doc_event part = slice(event, source, at - r->start, stop - r->start);
        if (at == found->begin)
            word.raw = part.raw;
        else if (part.raw.begin != word.raw.end)
            whole = false;
        if (part.flags & DOC_SPELL)
            whole = false;
        word.raw.end = part.raw.end > word.raw.end ? part.raw.end : word.raw.end;
        at = stop;
    }
    word.text_length = found->end - found->begin;
    word.text = base_arena_string(out->arena, r->text.data + found->begin, word.text_length);
    if (!word.text)
        return false;
    if (found->key.end > found->key.begin) {
        word.key = word.text + (found->key.begin - found->begin);
        word.key_length = found->key.end - found->key.begin;
    }
    if (!whole && word.kind == DOC_EVENT_BREAK)
        word.kind = DOC_EVENT_POINT; /* a break is copied, bytes and all */
    if (!whole)
        word.flags |= DOC_SPELL;
    return doc_events_add(out, &word);
}

/* Protects what the patterns find in [begin, end) of the run's text. */
static bool protect_range(run *r, size_t begin, size_t end, const char *source, doc_events *out)
{
    doc_protected found;
    while (doc_protect_next(r->text.data, end, begin, r->which, &found)) {
        if (!add_range(r, begin, found.begin, source, out) ||
            !add_protected(r, &found, source, out))
            return false;
        begin = found.end;
    }
    return add_range(r, begin, end, source, out);
}

/* The run begins at `start` of the text in which the frames were found, the first of which that may
 * lie in the run is frames[*next]. */
static bool protect_run(run *r, size_t start, const doc_frames *frames, size_t *next,
                        const char *source, doc_events *out)
{
    if (!join(r))
        return false;
    size_t at = 0, end = r->text.length;
    for (; *next < frames->count && frames->items[*next].place.begin < start + end; ++*next) {
        const doc_frame *frame = &frames->items[*next];
        size_t from = frame->place.begin > start ? frame->place.begin - start : 0;
        size_t to = frame->place.end - start < end ? frame->place.end - start : end;
        doc_protected piece = {.begin = from, .end = to, .kind = frame->kind, .flags = DOC_TAG};
        bool ok = protect_range(r, at, from, source, out) &&
                  (frame->kind == DOC_EVENT_BREAK ? add_breaks(r, from, to, frame, source, out)
                                                  : add_protected(r, &piece, source, out));
        if (!ok)
            return false;
        at = to;
        if (frame->place.end > start + end)
            break; /* it goes on behind a break */
    }
    return protect_range(r, at, end, source, out);
}

/* Whether the source can be cut where the frames begin and end. */
static bool can_cut(run *r, const doc_frames *frames, const char *source)
{
    for (size_t i = 0; i < 2 * frames->count; i++) {
        zhen_span place = frames->items[i / 2].place;
        size_t at = i % 2 ? place.end : place.begin;
        if (at == r->text.length)
            continue;
        seek(r, at);
        if (r->start < at && !is_literal(&r->events[r->event], source))
            return false;
    }
    return true;
}

/* Frames reach across marks: they are found in the flow as a whole. */
static bool find_frames(const doc_flow *flow, const char *source, doc_frames *frames)
{
    bool braces = false;
    for (size_t i = 0; i < flow->count && !braces; i++)
        braces = flow->events[i].kind == DOC_EVENT_TEXT &&
                 memchr(flow->events[i].text, '{', flow->events[i].text_length);
    if (!braces || !(flow->protect & DOC_PROTECT_PLACEHOLDERS))
        return true;
    run whole = {.events = flow->events, .count = flow->count};
    bool ok = join(&whole) && doc_frames_find(whole.text.data, whole.text.length, frames);
    if (ok && !can_cut(&whole, frames, source))
        frames->count = 0;
    base_buffer_free(&whole.text);
    return ok;
}

bool doc_flow_protect(const doc_flow *flow, const char *source, doc_events *out)
{
    run r = {.which = flow->protect};
    doc_frames frames = {0};
    for (size_t i = 0; i < flow->count; i++)
        r.cut = r.cut || !is_text(&flow->events[i]);
    bool ok = find_frames(flow, source, &frames);
    for (size_t i = 0, start = 0, next = 0; ok && i < flow->count;) {
        if (!is_text(&flow->events[i])) {
            ok = doc_events_add(out, &flow->events[i++]);
            start++;
            continue;
        }
        r.events = flow->events + i;
        for (r.count = 0; i < flow->count && is_text(&flow->events[i]); i++)
            r.count++;
        ok = protect_run(&r, start, &frames, &next, source, out);
        start += r.text.length;
    }
    free(frames.items);
    base_buffer_free(&r.text);
    return ok;
}
