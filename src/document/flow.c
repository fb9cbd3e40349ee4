#include "document/flow.h"

#include "document/flow_internal.h"
#include "text/script.h"
#include "text/utf8.h"

#include <stdlib.h>

static bool add_event(doc_flow *flow, const doc_event *event)
{
    if (!base_grow((void **)&flow->events, &flow->capacity, flow->count + 1, sizeof *flow->events))
        return false;
    flow->events[flow->count++] = *event;
    return true;
}

bool doc_flow_add(doc_flow *flow, const doc_event *event)
{
    if (flow->count && !flow->scattered) {
        size_t end = flow->events[flow->count - 1].raw.end;
        if (event->raw.begin > end &&
            !add_event(flow, &(doc_event){.kind = DOC_EVENT_BREAK, .raw = {end, event->raw.begin}}))
            return false;
    }
    return add_event(flow, event);
}

bool doc_flow_add_text(doc_flow *flow, const char *source, zhen_span raw)
{
    if (raw.begin == raw.end)
        return true;
    return doc_flow_add(flow, &(doc_event){.kind = DOC_EVENT_TEXT,
                                           .raw = raw,
                                           .text = source + raw.begin,
                                           .text_length = raw.end - raw.begin});
}

bool doc_flow_add_spelled(doc_flow *flow, zhen_span raw, const char *text, size_t length)
{
    return doc_flow_add(
        flow,
        &(doc_event){.kind = DOC_EVENT_TEXT, .raw = raw, .text = text, .text_length = length});
}

static bool add_part(doc_flow *flow, const doc_part *part)
{
    if (!base_grow((void **)&flow->parts, &flow->part_capacity, flow->part_count + 1,
                   sizeof *flow->parts))
        return false;
    flow->parts[flow->part_count++] = *part;
    return true;
}

/* Events that stay as they are; their bytes need not be in one piece. */
static bool add_raw(doc_flow *flow, const doc_events *events, size_t begin, size_t end)
{
    for (size_t i = begin; i < end; i++) {
        zhen_span raw = events->items[i].raw;
        doc_part *last = flow->part_count ? &flow->parts[flow->part_count - 1] : NULL;
        if (last && !last->is_unit && last->raw.end == raw.begin)
            last->raw.end = raw.end;
        else if (raw.begin < raw.end && !add_part(flow, &(doc_part){.raw = raw}))
            return false;
    }
    return true;
}

static bool stays_outside(const doc_event *event)
{
    return event->kind == DOC_EVENT_SPACE || event->kind == DOC_EVENT_POINT;
}

static void strip_edges(const doc_events *events, size_t *begin, size_t *end)
{
    const doc_event *items = events->items;
    for (;;) {
        if (*begin < *end && stays_outside(&items[*begin]))
            ++*begin;
        else if (*begin < *end && stays_outside(&items[*end - 1]))
            --*end;
        else if (*end - *begin >= 2 && items[*begin].kind == DOC_EVENT_OPEN &&
                 items[*begin].partner == *end - 1 && !(items[*begin].flags & DOC_CUE) &&
                 !items[*end - 1].literal)
            ++*begin, --*end;
        else
            return;
    }
}

static bool has_han(const doc_events *events, size_t begin, size_t end)
{
    for (size_t i = begin; i < end; i++)
        if (events->items[i].kind == DOC_EVENT_TEXT &&
            text_has_han(events->items[i].text, events->items[i].text_length))
            return true;
    return false;
}

/* Whether the last character of the text, or the first, is a Latin letter or a digit. */
static bool is_latin_at(const doc_event *event, bool at_end)
{
    int32_t character;
    if (event->kind != DOC_EVENT_TEXT || !event->text_length)
        return false;
    if (at_end)
        text_decode_before(event->text, 0, event->text_length, &character);
    else
        text_decode(event->text, event->text_length, &character);
    return character < 0x80 && (text_is_latin(character) || text_is_digit(character));
}

/* The stretch without breaks that begins, or ends, at `at`. */
static bool has_han_beside(const doc_events *events, size_t at, bool behind)
{
    size_t begin = at, end = at;
    if (behind)
        while (end < events->count && events->items[end].kind != DOC_EVENT_BREAK)
            end++;
    else
        while (begin > 0 && events->items[begin - 1].kind != DOC_EVENT_BREAK)
            begin--;
    return has_han(events, begin, end);
}

/* Whether English sets the unit, whose events are [begin, end), off from the event beside it: from
 * emoji but not in ★A, from the values of messages. An arrow has a blank on both sides or on none:
 * what is not translated gets none. */
static bool needs_gap(const doc_events *events, size_t begin, size_t end, bool behind)
{
    const unsigned both = DOC_GAP_BEFORE | DOC_GAP_AFTER;
    if (behind ? end == events->count : begin == 0)
        return false;
    const doc_event *beside = &events->items[behind ? end : begin - 1];
    if (!(beside->flags & (behind ? DOC_GAP_BEFORE : DOC_GAP_AFTER)))
        return false;
    if (beside->kind != DOC_EVENT_BREAK)
        return !is_latin_at(&events->items[behind ? end - 1 : begin], behind);
    return (beside->flags & both) != both ||
           has_han_beside(events, behind ? end + 1 : begin - 1, behind);
}

/* A stretch without breaks: one unit, if there is anything to translate. */
static bool add_segment(doc_flow *flow, const doc_events *events, size_t begin, size_t end,
                        doc_units *units)
{
    size_t first = begin, last = end;
    strip_edges(events, &first, &last);
    if (!has_han(events, first, last))
        return add_raw(flow, events, begin, end);
    if (!add_raw(flow, events, begin, first) ||
        !doc_flow_make_unit(flow, events->items, first, last, units))
        return false;
    doc_unit *unit = &units->items[units->count - 1];
    unit->gap_before = needs_gap(events, first, last, false);
    unit->gap_after = needs_gap(events, first, last, true);
    return add_part(flow, &(doc_part){true, units->count - 1, unit->raw}) &&
           add_raw(flow, events, last, end);
}

static bool cut_into_segments(doc_flow *flow, const doc_events *events, doc_units *units)
{
    for (size_t begin = 0; begin < events->count;) {
        size_t end = begin;
        while (end < events->count && events->items[end].kind != DOC_EVENT_BREAK &&
               (end == begin || !(events->items[end].flags & DOC_CUT)))
            end++;
        if (end > begin && !add_segment(flow, events, begin, end, units))
            return false;
        begin = end;
        for (; begin < events->count && events->items[begin].kind == DOC_EVENT_BREAK; begin++)
            if (!add_raw(flow, events, begin, begin + 1))
                return false;
    }
    return true;
}

bool doc_flow_finish(doc_flow *flow, doc_units *units)
{
    doc_events events = {.arena = units->arena};
    flow->part_count = 0;
    bool ok = doc_flow_protect(flow, units->source, &events) && doc_flow_pair(&events) &&
              doc_flow_collapse(&events) && cut_into_segments(flow, &events, units);
    free(events.items);
    flow->count = 0;
    return ok;
}

void doc_flow_free(doc_flow *flow)
{
    free(flow->events);
    free(flow->parts);
    *flow = (doc_flow){0};
}
