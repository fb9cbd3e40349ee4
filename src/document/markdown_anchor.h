/*
 * Links to headings of the same file, [text](#heading), [label]: #heading and href="#heading" of
 * HTML: GitHub and others name a heading by its text, so that a link must follow the translation.
 */
#ifndef DOCUMENT_MARKDOWN_ANCHOR_H
#define DOCUMENT_MARKDOWN_ANCHOR_H

#include "document/document.h"

typedef struct doc_heading {
    zhen_span text; /* in the source, without the marks of a heading */
    size_t first_unit, unit_count;
    const char *name; /* by which links know it; found by doc_anchors_follow */
    size_t name_length;
} doc_heading;

typedef struct doc_anchors {
    doc_heading *headings;
    size_t heading_count, heading_capacity;
    zhen_span *links; /* what stands behind # */
    size_t link_count, link_capacity;
    zhen_span *definitions; /* the same of [label]: #heading, in order; empty: it is none */
    size_t definition_count, definition_capacity;
} doc_anchors; /* all zero is empty */

/* All return false when memory runs out. */
bool doc_anchors_add_heading(doc_anchors *anchors, const doc_heading *heading);
/* A link whose opening parenthesis is at `at`; nothing happens if it leads elsewhere. It must not
 * stand in a heading itself. */
bool doc_anchors_add_link(doc_anchors *anchors, const char *text, size_t at, size_t end);
/* Links in an HTML tag or a line of HTML. */
bool doc_anchors_add_html(doc_anchors *anchors, const char *text, size_t begin, size_t end);
/* Lines that define the target of links, if they are no text; `begin` is the first one's. */
bool doc_anchors_add_definitions(doc_anchors *anchors, const char *text, size_t begin, size_t end);
/* These bytes are text or code: no link is defined there. */
void doc_anchors_see_text(doc_anchors *anchors, zhen_span text);
/* Makes the links that lead to headings lead to their translations; false when memory runs out. */
bool doc_anchors_follow(doc_anchors *anchors, zhen_document *document);
void doc_anchors_free(doc_anchors *anchors);

#endif
