/* Where elements and points go in a translation. */
#ifndef DOCUMENT_PLACE_H
#define DOCUMENT_PLACE_H

#include "document/target.h"

/* A step of the result: a mark, or a token. */
typedef struct doc_step {
    bool is_mark;
    size_t index;
} doc_step;

typedef struct doc_steps {
    doc_step *items;
    size_t count, capacity;
} doc_steps;

typedef enum doc_placing {
    DOC_PLACED,
    DOC_TOO_FEW, /* the translation has fewer tokens than there are elements to fill */
    DOC_NO_MEMORY
} doc_placing;

/*
 * Puts the unit's elements and points among the tokens of the target, in which the protected words
 * are settled. Each element comes out once, holds at least one token if it held text, and nests as
 * in the source; siblings may change their order as the words did.
 *
 * Among the siblings of one element the order is that of the places their words went to on
 * average. Given the order, their intervals of tokens are chosen by dynamic programming so that the
 * sum over each interval's tokens of (share that comes from the element - share that does not) is
 * greatest: stray links cost an element little, and function words between its words stay in it.
 *
 * wordless: the target is without the protected words; they will fill the elements that they are
 * in.
 */
doc_placing doc_place(const doc_unit *unit, const doc_target *target, bool wordless,
                      doc_steps *steps);

#endif
