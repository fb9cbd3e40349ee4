/*
 * Units: the texts of a document that are translated, and what a document remembers to put the
 * translations back.
 *
 * A format's parser finds prose in the (UTF-8) source and describes it as a flow of events
 * (document/flow.h); the flow becomes units. A unit's text is what the translator sees: prose with
 * white space tidied and without markup. Markup and protected words are marks at offsets of that
 * text. After translation the marks are put at the right words (document/project.h) and the unit's
 * result replaces the unit's bytes in the source; everything else is copied byte for byte.
 */
#ifndef DOCUMENT_UNIT_H
#define DOCUMENT_UNIT_H

#include "base/arena.h"
#include "base/buffer.h"
#include "zhen.h"

/* Appends text in the spelling of a format (entities, backslashes, ...); false when memory runs
 * out. `out` holds the unit's result so far: it is empty at the unit's start. */
typedef bool (*doc_escape)(base_buffer *out, const char *text, size_t length);

typedef enum doc_mark_kind {
    DOC_OPEN,  /* an element begins: its marks come in pairs and enclose words */
    DOC_CLOSE, /* ... and ends */
    DOC_POINT, /* something without text: an image, an emoji, a no-break space */
    DOC_WORD   /* something that stays as it is and stands for a word: code, a URL, %s */
} doc_mark_kind;

enum {
    DOC_WORDLIKE = 1, /* a point that is set off by spaces, as a word is */
    DOC_FLANKED = 2,  /* may not touch a letter outside: Markdown's emphasis */
    DOC_CUE = 4,      /* an element that is a subtitle cue: cues share the whole text in order */
    DOC_BLANK = 8,    /* a point that takes the place of a space: &nbsp; */
    DOC_NESTED = 16,  /* its raw bytes hold blocks of their own: the attributes of a tag */
    DOC_ALONE = 32,   /* an element that is left alone: doc_flow_leave_alone makes it a word */
    DOC_LOOSE = 64,   /* a point that is set off from what is before it: an emoji */
    DOC_TRAILED = 128 /* a point with a blank behind it */
};

/* A mark in a unit. The order of marks is the order in the source; elements nest properly. */
typedef struct doc_mark {
    doc_mark_kind kind;
    unsigned flags;
    zhen_span place; /* in the unit's text: a word's stand-in; for the rest empty */
    const char *raw; /* as it is written in the document; NULL: `plain`, escaped */
    size_t raw_length;
    const char *plain; /* a word's own text */
    size_t plain_length;
    size_t partner; /* of an opening or closing mark: index of the other */
} doc_mark;

/* A place in a result where bytes of the source go, with the blocks in them. */
typedef struct doc_hole {
    size_t at;
    zhen_span source;
} doc_hole;

/* A stretch of a unit's text and the bytes of the source that it was made from: the same bytes, or
 * (of a protected word) others. */
typedef struct doc_origin {
    zhen_span text, raw;
    bool literal;
} doc_origin;

typedef struct doc_unit {
    const char *text; /* what is translated */
    size_t length;
    doc_mark *marks;
    size_t mark_count;
    zhen_span raw;             /* the bytes of the source that the unit was made from */
    const doc_origin *origins; /* in order; kept for plain text only */
    size_t origin_count;
    doc_escape escape;
    size_t line_width;      /* a cue's lines are broken at about this many characters; 0: never */
    const char *line_break; /* by this; lives for ever */
    bool gap_before, gap_after; /* English needs a blank there that Chinese does not have */
    bool changed;               /* whether there is a result that differs from the source */
    base_buffer result;         /* the translation in the format's spelling */
    doc_hole *holes;            /* of the result, in order */
    size_t hole_count, hole_capacity;
    zhen_span *sentences; /* of the translation, in the result; with origins only */
    size_t sentence_count;
    size_t output_at;  /* where the unit stands in the document's output */
    base_buffer plain; /* ... and as plain text; kept for side-by-side output only */
} doc_unit;

#endif
