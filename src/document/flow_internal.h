/* The steps between a flow's events and its units. */
#ifndef DOCUMENT_FLOW_INTERNAL_H
#define DOCUMENT_FLOW_INTERNAL_H

#include "document/flow.h"

/* Flags of events besides those of marks. */
enum {
    DOC_SPELL = 256, /* a word whose bytes are not in one piece: written as its text, escaped */
    DOC_CUT = 512,   /* the flow is cut before this event */
    DOC_TAG = 1024,  /* a tag that was found in text: one without a partner is a point */
    /* A break or a point that is set off from the text before it, from the text behind it. */
    DOC_GAP_BEFORE = 2048,
    DOC_GAP_AFTER = 4096
};

/* A growing list of events with the memory of texts that are no part of the source. */
typedef struct doc_events {
    doc_event *items;
    size_t count, capacity;
    base_arena *arena;
} doc_events;

bool doc_events_add(doc_events *events, const doc_event *event);

/* Copies the flow's events, with text cut into blanks and prose, and protected runs and frames made
 * words, points, elements and breaks (flow_protect.c). */
bool doc_flow_protect(const doc_flow *flow, const char *source, doc_events *out);

/* Pairs opening and closing events; whatever does not pair up becomes a break, and so do pairs
 * around a break; tags that were found in text become points. Cuts flows that grow too long for
 * marks to be placed well (flow_pair.c). */
bool doc_flow_pair(doc_events *events);

/* Turns elements without Chinese into words and points and joins neighbouring words
 * (flow_pair.c); events stay paired. False when memory runs out. */
bool doc_flow_collapse(doc_events *events);

/* Makes the unit of events[begin, end), which pair up and hold Han (flow_unit.c). */
bool doc_flow_make_unit(const doc_flow *flow, const doc_event *events, size_t begin, size_t end,
                        doc_units *units);

#endif
