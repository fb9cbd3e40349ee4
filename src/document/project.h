/* Puts a translation into a unit: marks at the right words, protected words as they were. */
#ifndef DOCUMENT_PROJECT_H
#define DOCUMENT_PROJECT_H

#include "document/unit.h"

/*
 * Makes unit->result of the translation of unit->text. Whatever the translation says, each mark
 * comes out exactly once, pairs nest as they did, and an element that held text holds some. A
 * translation that equals the text changes nothing (unit->changed is false), and neither does one
 * that has too few characters for the marks, or none: prose is never lost. plain: keep the result
 * as plain text as well. `source`: the document's, which holes refer to. Fails only when memory
 * runs out.
 */
zhen_status doc_project(doc_unit *unit, const char *source, const zhen_translation *translation,
                        bool plain, zhen_error *error);

/* Makes unit->result of the text itself, for a block in which only other units have changed and
 * whose text is not copied from the source. Returns false when memory runs out. */
bool doc_project_unchanged(doc_unit *unit, const char *source);

/* Appends the unit's text as a reader sees it, with protected words instead of stand-ins. */
bool doc_unit_source(const doc_unit *unit, base_buffer *out);

#endif
