/* The last resort for translations whose protected words are at the wrong side of an element. */
#ifndef DOCUMENT_PLACE_WORDS_H
#define DOCUMENT_PLACE_WORDS_H

#include "document/place.h"

/* As doc_place, but the protected words are taken out of the target first; then each is put into
 * its own element, where its neighbours in the source went to. */
doc_placing doc_place_words(const doc_unit *unit, doc_target *target, doc_steps *steps);

#endif
