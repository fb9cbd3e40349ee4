/* Character references of HTML and XML: &amp; &#8212; &nbsp;. */
#ifndef DOCUMENT_ENTITY_H
#define DOCUMENT_ENTITY_H

#include "document/flow.h"

/*
 * Adds source bytes that are text with character references to a flow. References to ordinary
 * characters become the characters. Blanks that do not break (&nbsp; &emsp;) become points that
 * take the place of a space, and references that are not known here points that stay as they are.
 * Old ones without a semicolon, &nbsp and &copy, are read as HTML does; in XML there are none.
 */
bool doc_entity_add_text(doc_flow *flow, base_arena *arena, const char *source, zhen_span raw);

#endif
