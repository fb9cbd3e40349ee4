#include "document/flow_internal.h"

#include "text/script.h"
#include "text/utf8.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * A word that must come through unchanged is shown to the model as a number, its stand-in: of all
 * that was tried (letters, names, abbreviations, brackets, the word itself), a number of two digits
 * is what a plain translation model copies most reliably: in 22 of 22 test sentences, against 16
 * for "X1" and none for a URL. The projection checks and repairs what comes back.
 */
static const char *const stand_ins[] = {"27", "38", "46", "59", "64", "73", "85", "92"};
enum { STAND_INS = sizeof stand_ins / sizeof *stand_ins, STAND_IN_SIZE = 24 };

static void name_stand_in(size_t number, char name[STAND_IN_SIZE])
{
    if (number < STAND_INS)
        (void)snprintf(name, STAND_IN_SIZE, "%s", stand_ins[number]);
    else
        (void)snprintf(name, STAND_IN_SIZE, "%zu", 137 + 7 * (number - STAND_INS));
}

/* Whether the digits occur in the text itself, so that a stand-in could be mistaken. */
static bool occurs(const doc_event *events, size_t begin, size_t end, const char *name)
{
    for (size_t i = begin; i < end; i++)
        if (events[i].kind == DOC_EVENT_TEXT &&
            memmem(events[i].text, events[i].text_length, name, strlen(name)))
            return true;
    return false;
}

/* The unit while it is made. */
typedef struct making {
    const doc_event *events;
    size_t begin, end;
    base_buffer text;
    doc_mark *marks;
    size_t mark_count;
    bool keep_origins;
    doc_origin *origins;
    size_t origin_count, origin_capacity;
    size_t *mark_of;   /* of the event begin + i: its mark */
    size_t stand_in;   /* the next one to try */
    bool pending;      /* a blank is due before the next text */
    bool pending_line; /* ... that was a line break */
} making;

/* Scripts that are written without spaces: a line break between two such characters is none. */
static bool is_wide(int32_t c)
{
    return text_is_han(c) || (c >= 0x3000 && c <= 0x30FF) || (c >= 0xFF00 && c <= 0xFFEF) ||
           c == 0x2014 || c == 0x2026 || (c >= 0x2018 && c <= 0x201D);
}

static bool begins_wide(const char *text, size_t length)
{
    int32_t c = 0;
    return length && text_decode(text, length, &c) && is_wide(c);
}

static bool ends_wide(const base_buffer *text)
{
    size_t begin = text->length;
    while (begin > 0 && text->length - begin < 4) {
        begin--;
        if (((unsigned char)text->data[begin] & 0xC0) != 0x80)
            break;
    }
    return begins_wide(text->data + begin, text->length - begin);
}

/* The text from `begin` on was made from the event. */
static bool keep_origin(making *m, const doc_event *event, size_t begin)
{
    if (!m->keep_origins)
        return true;
    if (!base_grow((void **)&m->origins, &m->origin_capacity, m->origin_count + 1,
                   sizeof *m->origins))
        return false;
    m->origins[m->origin_count++] =
        (doc_origin){{begin, m->text.length}, event->raw, event->kind == DOC_EVENT_TEXT};
    return true;
}

static bool add_text(making *m, const char *text, size_t length)
{
    bool joined = m->pending_line && ends_wide(&m->text) && begins_wide(text, length);
    if (m->pending && m->text.length && !joined && !base_buffer_append_byte(&m->text, ' '))
        return false;
    m->pending = m->pending_line = false;
    return base_buffer_append(&m->text, text, length);
}

static bool is_alnum(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Latin letters and digits at a stand-in would make it part of their word. */
static bool add_word(making *m, size_t at, doc_mark *mark)
{
    char name[STAND_IN_SIZE];
    do
        name_stand_in(m->stand_in++, name);
    while (occurs(m->events, m->begin, m->end, name));
    if (m->text.length && is_alnum(m->text.data[m->text.length - 1]))
        m->pending = true;
    if (!add_text(m, name, strlen(name)))
        return false;
    mark->place = (zhen_span){m->text.length - strlen(name), m->text.length};
    if (!keep_origin(m, &m->events[at], mark->place.begin))
        return false;
    const doc_event *next = &m->events[at + 1];
    if (at + 1 < m->end && next->kind == DOC_EVENT_TEXT && is_alnum(next->text[0]))
        m->pending = true;
    return true;
}

static void add_space(making *m, const doc_event *event)
{
    doc_mark *last = m->mark_count ? &m->marks[m->mark_count - 1] : NULL;
    if (last && last->kind == DOC_POINT && last->place.end == m->text.length)
        last->flags |= DOC_TRAILED;
    m->pending = true;
    m->pending_line = event->text_length == 0 || memchr(event->text, '\n', event->text_length);
}

/* Whether the mark stands between two Latin words or numbers: a≈b is not to be read as ab. */
static bool parts_words(const making *m, size_t at)
{
    const doc_event *next = &m->events[at + 1];
    return m->text.length && is_alnum(m->text.data[m->text.length - 1]) && at + 1 < m->end &&
           next->kind == DOC_EVENT_TEXT && is_alnum(next->text[0]);
}

/* Where a mark stands relative to a blank that is due matters to nobody but elements, which must
 * not begin with one: opening marks come after it. */
static bool add_mark(making *m, size_t at)
{
    const doc_event *event = &m->events[at];
    doc_mark *mark = &m->marks[m->mark_count];
    *mark = (doc_mark){.flags = event->flags &
                                (DOC_WORDLIKE | DOC_FLANKED | DOC_CUE | DOC_BLANK | DOC_LOOSE)};
    mark->kind = event->kind == DOC_EVENT_OPEN    ? DOC_OPEN
                 : event->kind == DOC_EVENT_CLOSE ? DOC_CLOSE
                 : event->kind == DOC_EVENT_WORD  ? DOC_WORD
                                                  : DOC_POINT;
    mark->plain = event->text;
    mark->plain_length = event->text_length;
    mark->place = (zhen_span){m->text.length, m->text.length};
    m->mark_of[at - m->begin] = m->mark_count++;
    if (mark->kind == DOC_POINT && m->pending)
        mark->flags |= DOC_WORDLIKE;
    if ((mark->flags & DOC_WORDLIKE) && parts_words(m, at))
        m->pending = true;
    if (mark->flags & DOC_BLANK)
        m->pending = true;
    if (mark->kind == DOC_CLOSE) {
        mark->partner = m->mark_of[event->partner - m->begin];
        m->marks[mark->partner].partner = m->mark_count - 1;
    }
    return mark->kind != DOC_WORD || add_word(m, at, mark);
}

static bool add_events(making *m)
{
    for (size_t i = m->begin; i < m->end; i++) {
        const doc_event *event = &m->events[i];
        bool ok = true;
        if (event->kind == DOC_EVENT_SPACE)
            add_space(m, event);
        else if (event->kind == DOC_EVENT_TEXT)
            ok = add_text(m, event->text, event->text_length) &&
                 keep_origin(m, event, m->text.length - event->text_length);
        else
            ok = add_mark(m, i);
        if (!ok)
            return false;
    }
    return true;
}

/* An element whose first thing is a word or text after a due blank opened before that blank. One
 * that begins with a point stays: the point is before the blank, too. */
static void move_openings(making *m)
{
    for (size_t i = m->mark_count; i-- > 0;) {
        zhen_span *place = &m->marks[i].place;
        bool first = i + 1 == m->mark_count || place->begin < m->marks[i + 1].place.begin;
        if (m->marks[i].kind == DOC_OPEN && first && place->begin < m->text.length &&
            m->text.data[place->begin] == ' ')
            place->begin = place->end = place->begin + 1;
    }
}

static bool keep_raw(making *m, const char *source, base_arena *arena)
{
    for (size_t i = m->begin; i < m->end; i++) {
        const doc_event *event = &m->events[i];
        if (event->kind == DOC_EVENT_TEXT || event->kind == DOC_EVENT_SPACE)
            continue;
        doc_mark *mark = &m->marks[m->mark_of[i - m->begin]];
        if (event->literal) {
            mark->raw = base_arena_string(arena, event->literal, event->literal_length);
            mark->raw_length = event->literal_length;
            if (!mark->raw)
                return false;
        } else if (!(event->flags & DOC_SPELL)) {
            mark->raw = source + event->raw.begin;
            mark->raw_length = event->raw.end - event->raw.begin;
        }
    }
    return true;
}

/* The text and the marks move to the document's arena; a text that is the source's own stays. */
static bool keep_unit(making *m, const doc_flow *flow, doc_units *units)
{
    if (!base_grow((void **)&units->items, &units->capacity, units->count + 1,
                   sizeof *units->items))
        return false;
    doc_unit *unit = &units->items[units->count];
    *unit = (doc_unit){.length = m->text.length,
                       .raw = {m->events[m->begin].raw.begin, m->events[m->end - 1].raw.end},
                       .escape = flow->escape,
                       .line_width = flow->line_width,
                       .line_break = flow->line_break,
                       .mark_count = m->mark_count};
    if (unit->raw.end - unit->raw.begin == m->text.length &&
        memcmp(units->source + unit->raw.begin, m->text.data, m->text.length) == 0)
        unit->text = units->source + unit->raw.begin;
    else
        unit->text = base_arena_string(units->arena, m->text.data, m->text.length);
    if (!unit->text)
        return false;
    if (m->origin_count) {
        doc_origin *origins = base_arena_calloc(units->arena, m->origin_count, sizeof *origins);
        if (!origins)
            return false;
        memcpy(origins, m->origins, m->origin_count * sizeof *origins);
        unit->origins = origins;
        unit->origin_count = m->origin_count;
    }
    if (m->mark_count) {
        doc_mark *marks = base_arena_calloc(units->arena, m->mark_count, sizeof *marks);
        if (!marks || !keep_raw(m, units->source, units->arena))
            return false;
        memcpy(marks, m->marks, m->mark_count * sizeof *marks);
        unit->marks = marks;
    }
    units->count++;
    return true;
}

bool doc_flow_make_unit(const doc_flow *flow, const doc_event *events, size_t begin, size_t end,
                        doc_units *units)
{
    making m = {.events = events, .begin = begin, .end = end, .keep_origins = flow->keep_origins};
    m.marks = calloc(end - begin, sizeof *m.marks);
    m.mark_of = calloc(end - begin, sizeof *m.mark_of);
    bool ok = m.marks && m.mark_of && base_buffer_reserve(&m.text, 0) && add_events(&m);
    if (ok) {
        move_openings(&m);
        ok = keep_unit(&m, flow, units);
    }
    free(m.marks);
    free(m.mark_of);
    free(m.origins);
    base_buffer_free(&m.text);
    return ok;
}
