/*
 * Links to headings of the same file, [text](#heading): GitHub and others name a heading by its
 * text, so that a link must follow the translation.
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
} doc_anchors; /* all zero is empty */

/* Both return false when memory runs out. */
bool doc_anchors_add_heading(doc_anchors *anchors, const doc_heading *heading);
/* A link whose opening parenthesis is at `at`; nothing happens if it leads elsewhere. It must not
 * stand in a heading itself. */
bool doc_anchors_add_link(doc_anchors *anchors, const char *text, size_t at, size_t end);
/* Makes the links that lead to headings lead to their translations; false when memory runs out. */
bool doc_anchors_follow(doc_anchors *anchors, zhen_document *document);
void doc_anchors_free(doc_anchors *anchors);

#endif
