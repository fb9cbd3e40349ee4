/* Frames: what texts in strings are wrapped in by the programs that show them. */
#ifndef DOCUMENT_FRAMES_H
#define DOCUMENT_FRAMES_H

#include "document/flow.h"

/* A piece of a frame: a break that texts do not go across, one end of an element, or a word. */
typedef struct doc_frame {
    zhen_span place;
    doc_event_kind kind;
    bool begins, ends; /* the first piece and the last of a message */
} doc_frame;

typedef struct doc_frames {
    doc_frame *items;
    size_t count, capacity;
} doc_frames; /* all zero is empty */

/*
 * Lists the frames of a text, in order:
 *   - ICU's messages, {n, plural, =0 {无} other {# 个}}, whose branches are texts of their own
 *     (https://unicode-org.github.io/icu/userguide/format_parse/messages/) and # a word,
 *   - Anki's clozes, {{c1::北京}}, which enclose words; with a hint ({{c1::北京::城市}}) its two
 *     parts are texts of their own.
 * What is not well-formed is no frame. Takes linear time; false when memory runs out.
 */
bool doc_frames_find(const char *text, size_t length, doc_frames *frames);

#endif
