/*
 * A flow: the inline content of one block of a document (a paragraph, a table cell, a string, the
 * lines of a few subtitle cues) as a parser reads it, in source order. doc_flow_finish turns it
 * into units:
 *   - URLs, placeholders, emoji, tags and the like in the text become marks,
 *   - elements that hold no Chinese become protected as a whole,
 *   - marks that do not pair up, and breaks, cut the flow into parts that are translated apart,
 *   - blanks, points and elements at the edges stay outside the units.
 */
#ifndef DOCUMENT_FLOW_H
#define DOCUMENT_FLOW_H

#include "document/unit.h"

typedef enum doc_event_kind {
    DOC_EVENT_TEXT,  /* prose */
    DOC_EVENT_SPACE, /* white space of any length; a line break in the source is one too */
    DOC_EVENT_OPEN,
    DOC_EVENT_CLOSE,
    DOC_EVENT_POINT,
    DOC_EVENT_WORD,
    DOC_EVENT_BREAK /* translation does not go across: <br> */
} doc_event_kind;

typedef struct doc_event {
    doc_event_kind kind;
    unsigned flags;      /* DOC_WORDLIKE ... of its mark */
    zhen_span raw;       /* its bytes in the source */
    const char *text;    /* text, space, word: what it says, decoded; lives as long as the flow */
    size_t text_length;  /* spaces and words may say nothing */
    const char *literal; /* written instead of its bytes in the source, or NULL */
    size_t literal_length;
    const char *key; /* open, close: what must be equal for the two to be a pair */
    size_t key_length;
    size_t partner; /* of open and close, once paired */
} doc_event;

/* What a finished flow consists of: parts that stay as they are, and units. */
typedef struct doc_part {
    bool is_unit;
    size_t unit;   /* index, if it is one */
    zhen_span raw; /* bytes of the source */
} doc_part;

typedef struct doc_flow {
    /* What the parser sets. */
    doc_escape escape;
    size_t line_width; /* of doc_unit */
    const char *line_break;
    bool keep_origins; /* units remember where their text stands in the source */
    bool scattered;    /* the events' bytes need not follow one another in the source */
    unsigned protect;  /* which patterns are protected, DOC_PROTECT_... of document/protect.h */
    /* What doc_flow_add fills. */
    doc_event *events;
    size_t count, capacity;
    /* The result of doc_flow_finish. */
    doc_part *parts;
    size_t part_count, part_capacity;
} doc_flow; /* all zero is empty; reusable */

/* Adds an event. Bytes of the source that were left out since the event before, unless the flow is
 * scattered, become a break: nothing in a unit's bytes goes unseen. False when memory runs out. */
bool doc_flow_add(doc_flow *flow, const doc_event *event);
/* Adds text that says literally what the source says at `raw`. */
bool doc_flow_add_text(doc_flow *flow, const char *source, zhen_span raw);
/* Adds text that the source spells otherwise. */
bool doc_flow_add_spelled(doc_flow *flow, zhen_span raw, const char *text, size_t length);

/* Makes words of the elements that are left alone (DOC_ALONE), whatever is in them; where one has
 * no end, nothing is. What they say is kept in `arena`. False when memory runs out. */
bool doc_flow_leave_alone(doc_flow *flow, base_arena *arena);

/* Where the units go. */
typedef struct doc_units {
    const char *source; /* the document */
    base_arena *arena;  /* of the document */
    doc_unit *items;
    size_t count, capacity;
} doc_units;

/* Appends the flow's units to `units`, fills flow->parts and empties the events. Parts cover the
 * flow's events in order. Returns false when memory runs out. */
bool doc_flow_finish(doc_flow *flow, doc_units *units);
void doc_flow_free(doc_flow *flow);

#endif
