/* Markup as a list of tokens in source order, whichever parser read it; and the units in it. */
#ifndef DOCUMENT_MARKUP_H
#define DOCUMENT_MARKUP_H

#include "document/document.h"

typedef enum doc_token_kind {
    DOC_TOKEN_OPEN,
    DOC_TOKEN_CLOSE,
    DOC_TOKEN_EMPTY, /* <br/>; in HTML also <br> */
    DOC_TOKEN_TEXT,  /* with character references */
    DOC_TOKEN_COMMENT,
    DOC_TOKEN_OTHER /* declarations, instructions, CDATA, ignored tags */
} doc_token_kind;

typedef struct doc_tag {
    doc_token_kind kind;
    zhen_span raw;
    zhen_span name; /* of an element, in the source */
    size_t end;     /* of an opening tag of HTML: where its element ends, with or without a tag */
} doc_tag;

typedef struct doc_tags {
    doc_tag *items;
    size_t count, capacity;
} doc_tags;

bool doc_tags_add(doc_tags *tags, const doc_tag *tag);
void doc_tags_free(doc_tags *tags);

/* Reads HTML by gumbo, which reads anything. */
zhen_status doc_tags_read_html(const zhen_document *document, zhen_span range, doc_tags *tags,
                               zhen_error *error);
/* Reads XML by expat; an error names the line. */
zhen_status doc_tags_read_xml(const zhen_document *document, doc_tags *tags, zhen_error *error);

/* Whether the element's name is `name`; ASCII case does not count. */
bool doc_tag_is(const zhen_document *document, const doc_tag *tag, const char *name);

/* An attribute of a tag. */
typedef struct doc_attribute {
    zhen_span name, value; /* the value without quotes; empty if there is none */
    bool quoted;
} doc_attribute;

/* Finds the next attribute of the tag at or after *at, which the first call sets to 0. */
bool doc_next_attribute(const zhen_document *document, const doc_tag *tag, size_t *at,
                        doc_attribute *attribute);
/* Finds an attribute by name. */
bool doc_find_attribute(const zhen_document *document, const doc_tag *tag, const char *name,
                        doc_attribute *attribute);

/* If the file had another encoding, its XML declaration and its meta tags say UTF-8 from now on.
 * Scripts and comments that speak of such tags stay. */
bool doc_tags_redeclare(zhen_document *document, const doc_tags *tags);

/* Whether what is in the HTML element of an opening tag is left alone: code, scripts, what is
 * marked translate="no". */
bool doc_html_is_left_alone(const zhen_document *document, const doc_tag *tag);

/* Makes units of HTML or XHTML. Uses document->flow. */
bool doc_translate_html(zhen_document *document, const doc_tags *tags);

#endif
