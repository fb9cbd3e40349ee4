/* Text that comes out as it went in: addresses, placeholders, names with marks, emoji. */
#ifndef DOCUMENT_PROTECT_H
#define DOCUMENT_PROTECT_H

#include "document/flow.h"

enum {
    DOC_PROTECT_ADDRESSES = 1,    /* URLs, e-mail, file names, @names, #hashtags, long numbers */
    DOC_PROTECT_PLACEHOLDERS = 2, /* %s, {name}, ${x}, {{x}}, &nbsp;, <b> */
    DOC_PROTECT_SYMBOLS = 4,      /* emoji, kaomoji, arrows, marks of mathematics and of lists */
    DOC_PROTECT_CODE = 8,         /* `code` in text that has no markup of its own */
    DOC_PROTECT_NOTES = 16,       /* Markdown's [^1] and $formula$ */
    DOC_PROTECT_ALL = 15
};

typedef struct doc_protected {
    size_t begin, end;
    /* A word of the sentence, a point or a break; tags open and close elements. */
    doc_event_kind kind;
    unsigned flags; /* of its event */
    zhen_span key;  /* of a tag: its name */
} doc_protected;

/* Finds the first protected run at or after `begin`; false if there is none. */
bool doc_protect_next(const char *text, size_t length, size_t begin, unsigned which,
                      doc_protected *found);

#endif
