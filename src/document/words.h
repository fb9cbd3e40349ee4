/* Protected words in a translation: each comes through exactly once, whatever the model wrote. */
#ifndef DOCUMENT_WORDS_H
#define DOCUMENT_WORDS_H

#include "document/target.h"

/* Finds each protected word's stand-in among the tokens and makes it that word's token. Of several
 * the best aligned is kept and the rest removed. One that is missing takes the place of a garbled
 * copy (a number that is not in the source and was translated from the stand-in), or else is
 * inserted where its neighbours in the source went. Returns false when memory runs out. */
bool doc_words_settle(const doc_unit *unit, doc_target *target);

#endif
