#include "document/flow_internal.h"

#include "text/script.h"
#include "text/utf8.h"

#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

enum {
    /* Elements nested deeper are cut apart. */
    MAX_DEPTH = 32,
    /* A flow of more marks or bytes is cut at the next end of a sentence, one of twice as many
     * anywhere: what places the marks takes time and memory by marks * words. */
    MANY_MARKS = 128,
    MANY_BYTES = 4096
};

bool doc_events_add(doc_events *events, const doc_event *event)
{
    if (!base_grow((void **)&events->items, &events->capacity, events->count + 1,
                   sizeof *events->items))
        return false;
    events->items[events->count++] = *event;
    return true;
}

/* ---- Pairs -------------------------------------------------------------------------------- */

typedef struct stack {
    size_t open[MAX_DEPTH];
    size_t depth;
} stack;

/* What an element's mark becomes that has no partner. */
static void leave_single(doc_event *event)
{
    event->kind = event->flags & DOC_TAG ? DOC_EVENT_POINT : DOC_EVENT_BREAK;
}

static void break_open(doc_events *events, stack *s, size_t keep)
{
    while (s->depth > keep)
        leave_single(&events->items[s->open[--s->depth]]);
}

static bool same_key(const doc_event *a, const doc_event *b)
{
    return a->key_length == b->key_length && (a->flags & DOC_TAG) == (b->flags & DOC_TAG) &&
           (a->key_length == 0 || memcmp(a->key, b->key, a->key_length) == 0);
}

/* The depth of the element that the event closes, 0: none. A tag in text is nothing to the
 * document's own elements: it closes none that lies outside them. */
static size_t find_open(const doc_events *events, const stack *s, const doc_event *event)
{
    for (size_t depth = s->depth; depth > 0; depth--) {
        const doc_event *open = &events->items[s->open[depth - 1]];
        if (same_key(open, event))
            return depth;
        if ((event->flags & DOC_TAG) && !(open->flags & DOC_TAG))
            return 0;
    }
    return 0;
}

static void close_element(doc_events *events, stack *s, size_t at)
{
    doc_event *event = &events->items[at];
    size_t depth = find_open(events, s, event);
    if (depth == 0) {
        leave_single(event);
        if (event->kind == DOC_EVENT_BREAK)
            break_open(events, s, 0);
        return;
    }
    break_open(events, s, depth);
    size_t open = s->open[--s->depth];
    events->items[open].partner = at;
    event->partner = open;
}

static bool ends_sentence(const doc_event *event)
{
    if (event->kind != DOC_EVENT_TEXT || event->text_length < 3)
        return false;
    const char *last = event->text + event->text_length - 3;
    return !memcmp(last, "。", 3) || !memcmp(last, "！", 3) || !memcmp(last, "？", 3);
}

/* Says where a flow that grows too long is cut. */
typedef struct growth {
    size_t marks, bytes;
} growth;

static bool grows_too_long(growth *g, const doc_event *before, size_t depth)
{
    bool is_text = before->kind == DOC_EVENT_TEXT || before->kind == DOC_EVENT_SPACE;
    g->marks += !is_text;
    g->bytes += is_text ? before->text_length : 0; /* a word is one, however long */
    size_t times = depth == 0 && ends_sentence(before) ? 1 : 2;
    /* Text alone costs nothing. */
    return g->marks > times * MANY_MARKS || (g->marks > 0 && g->bytes > times * MANY_BYTES);
}

static void pair_up(doc_events *events)
{
    stack s = {.depth = 0};
    growth g = {0};
    for (size_t i = 0; i < events->count; i++) {
        doc_event *event = &events->items[i];
        if (i > 0 && grows_too_long(&g, event - 1, s.depth)) {
            event->flags |= DOC_CUT;
            break_open(events, &s, 0);
            g = (growth){0};
        }
        if (event->kind == DOC_EVENT_BREAK) {
            break_open(events, &s, 0);
            g = (growth){0};
        } else if (event->kind == DOC_EVENT_OPEN && s.depth == MAX_DEPTH) {
            leave_single(event);
            if (event->kind == DOC_EVENT_BREAK)
                break_open(events, &s, 0);
        } else if (event->kind == DOC_EVENT_OPEN) {
            s.open[s.depth++] = i;
        } else if (event->kind == DOC_EVENT_CLOSE) {
            close_element(events, &s, i);
        }
    }
    break_open(events, &s, 0);
}

/* An element that was found to be open only later is a break inside the pairs around it, which
 * therefore break as well. Pairs nest, so that new breaks lie in no pair that is not broken. */
static bool break_pairs_around_breaks(doc_events *events)
{
    size_t *before = malloc((events->count + 1) * sizeof *before);
    if (!before)
        return false;
    before[0] = 0;
    for (size_t i = 0; i < events->count; i++)
        before[i + 1] = before[i] + (events->items[i].kind == DOC_EVENT_BREAK);
    for (size_t i = 0; i < events->count; i++) {
        doc_event *event = &events->items[i];
        if (event->kind != DOC_EVENT_OPEN || before[event->partner] == before[i])
            continue;
        leave_single(&events->items[event->partner]);
        leave_single(event);
    }
    free(before);
    return true;
}

bool doc_flow_pair(doc_events *events)
{
    pair_up(events);
    return break_pairs_around_breaks(events);
}

/* ---- Joining -------------------------------------------------------------------------------- */

/* The texts of events[begin, end), spaces as one blank. */
static const char *joined_text(doc_events *events, size_t begin, size_t end, size_t room,
                               size_t *length)
{
    char *text = base_arena_allocate(events->arena, room + 1);
    if (!text)
        return NULL;
    *length = 0;
    for (size_t i = begin; i < end; i++) {
        const doc_event *event = &events->items[i];
        if (event->kind == DOC_EVENT_SPACE) {
            text[(*length)++] = ' ';
        } else if ((event->kind == DOC_EVENT_TEXT || event->kind == DOC_EVENT_WORD) &&
                   event->text_length) {
            memcpy(text + *length, event->text, event->text_length);
            *length += event->text_length;
        }
    }
    return text;
}

/* Makes one event of [begin, end); its kind is given. */
static bool join_events(doc_events *events, size_t begin, size_t end, doc_event_kind kind,
                        doc_event *joined)
{
    size_t room = 0;
    for (size_t i = begin; i < end; i++)
        room += events->items[i].text_length + 1;
    *joined = (doc_event){.kind = kind};
    joined->flags = events->items[begin].flags & (DOC_CUT | DOC_WORDLIKE);
    joined->raw = (zhen_span){events->items[begin].raw.begin, events->items[end - 1].raw.end};
    joined->text = joined_text(events, begin, end, room, &joined->text_length);
    return joined->text;
}

/* Whether the element that opens here becomes one event, and of which kind. */
typedef bool collapse_rule(const doc_events *events, size_t open, doc_event_kind *kind);

static bool collapse(doc_events *events, collapse_rule *collapses)
{
    size_t kept = 0;
    for (size_t i = 0; i < events->count; i++, kept++) {
        doc_event event = events->items[i];
        doc_event_kind kind;
        if (event.kind == DOC_EVENT_OPEN && collapses(events, i, &kind)) {
            size_t end = event.partner + 1;
            if (!join_events(events, i, end, kind, &event))
                return false;
            i = end - 1;
        }
        events->items[kept] = event;
    }
    events->count = kept;
    return true;
}

/* ---- Elements that are left alone ----------------------------------------------------------- */

/* A closing event looks no further up than this, so that hostile nesting costs no more. */
enum { LOOK_UP = 256 };

/* Finds for each opening event the one that closes it, itself if none does. */
static bool find_ends(doc_events *events)
{
    size_t *open = malloc(events->count * sizeof *open), depth = 0;
    if (!open)
        return false;
    for (size_t i = 0; i < events->count; i++) {
        doc_event *event = &events->items[i];
        event->partner = i;
        if (event->kind == DOC_EVENT_OPEN)
            open[depth++] = i;
        if (event->kind != DOC_EVENT_CLOSE)
            continue;
        size_t floor = depth > LOOK_UP ? depth - LOOK_UP : 0, at = depth;
        while (at > floor && !same_key(&events->items[open[at - 1]], event))
            at--;
        if (at > floor) {
            depth = at - 1;
            events->items[open[depth]].partner = i;
        }
    }
    free(open);
    return true;
}

static bool is_left_alone(const doc_events *events, size_t open, doc_event_kind *kind)
{
    *kind = DOC_EVENT_WORD;
    return (events->items[open].flags & DOC_ALONE) && events->items[open].partner > open;
}

bool doc_flow_leave_alone(doc_flow *flow, base_arena *arena)
{
    doc_events events = {.items = flow->events, .count = flow->count, .arena = arena};
    bool any = false;
    for (size_t i = 0; i < flow->count; i++)
        any = any || (flow->events[i].flags & DOC_ALONE);
    bool ok = !any || (find_ends(&events) && collapse(&events, is_left_alone));
    flow->count = events.count;
    return ok;
}

/* ---- Elements without Chinese --------------------------------------------------------------- */

typedef struct content {
    bool han, letters, text;
    bool bracketed; /* begins with a bracket: [1] */
    size_t length;
} content;

static void look_at_text(const doc_event *event, content *c)
{
    for (size_t at = 0; at < event->text_length;) {
        int32_t character;
        at += text_decode(event->text + at, event->text_length - at, &character);
        utf8proc_category_t category = utf8proc_category(character);
        if (!c->text)
            c->bracketed = category == UTF8PROC_CATEGORY_PS;
        c->text = true;
        c->han = c->han || text_is_han(character);
        c->letters =
            c->letters || (category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_LO);
    }
}

static content look_inside(const doc_events *events, size_t begin, size_t end)
{
    content c = {0};
    for (size_t i = begin; i < end && !c.han; i++) {
        const doc_event *event = &events->items[i];
        c.length += event->text_length + 1;
        if (event->kind == DOC_EVENT_TEXT)
            look_at_text(event, &c);
        else if (event->kind == DOC_EVENT_WORD)
            c.text = c.letters = true;
    }
    return c;
}

/* Whether the bytes of [begin, end) are one piece of the source, to be copied as they are. */
static bool is_one_piece(const doc_events *events, size_t begin, size_t end)
{
    for (size_t i = begin; i < end; i++) {
        const doc_event *event = &events->items[i];
        if ((event->flags & (DOC_SPELL | DOC_CUE)) ||
            (i > begin && (event->raw.begin != event[-1].raw.end || (event->flags & DOC_CUT))))
            return false;
    }
    return true;
}

/* Numbers and marks stay ordinary elements: the model may write them in another way (3.5亿). */
static bool holds_no_chinese(const doc_events *events, size_t open, doc_event_kind *kind)
{
    size_t close = events->items[open].partner;
    if (!is_one_piece(events, open, close + 1))
        return false;
    content c = look_inside(events, open, close);
    *kind = c.text && c.letters ? DOC_EVENT_WORD : DOC_EVENT_POINT;
    return !c.han && (!c.text || c.letters || c.bracketed);
}

/* Words side by side become one: two numbers in a row would be read as one by the model. */
static bool join_words(doc_events *events)
{
    size_t kept = 0;
    for (size_t i = 0; i < events->count; i++, kept++) {
        doc_event event = events->items[i];
        size_t end = i + 1;
        while (event.kind == DOC_EVENT_WORD && end < events->count) {
            size_t next = end;
            if (events->items[next].kind == DOC_EVENT_SPACE && next + 1 < events->count)
                next++;
            if (events->items[next].kind != DOC_EVENT_WORD || !is_one_piece(events, i, next + 1))
                break;
            end = next + 1;
        }
        if (end > i + 1) {
            if (!join_events(events, i, end, DOC_EVENT_WORD, &event))
                return false;
            i = end - 1;
        }
        events->items[kept] = event;
    }
    events->count = kept;
    return true;
}

static void number_partners(doc_events *events)
{
    stack s = {.depth = 0};
    for (size_t i = 0; i < events->count; i++) {
        if (events->items[i].kind == DOC_EVENT_OPEN) {
            s.open[s.depth++] = i;
        } else if (events->items[i].kind == DOC_EVENT_CLOSE) {
            size_t open = s.open[--s.depth];
            events->items[open].partner = i;
            events->items[i].partner = open;
        }
    }
}

bool doc_flow_collapse(doc_events *events)
{
    bool ok = collapse(events, holds_no_chinese) && join_words(events);
    number_partners(events);
    return ok;
}
