/* The images in a paragraph of Markdown, whose texts are translated apart from it. */
#ifndef DOCUMENT_MARKDOWN_IMAGE_H
#define DOCUMENT_MARKDOWN_IMAGE_H

#include "document/document.h"

typedef struct doc_image {
    zhen_span raw;  /* ![text](target) */
    zhen_span text; /* what of it md4c shows */
    size_t close;   /* where the ] behind the text is */
} doc_image;

typedef struct doc_images {
    doc_image *items; /* in order */
    size_t count, capacity;
} doc_images; /* all zero is empty */

bool doc_images_add(doc_images *images, const doc_image *image);
void doc_images_free(doc_images *images);

/* Makes units of the texts of those images that are points of document->flow; the others are in
 * elements that are left alone. Empties the list. False when memory runs out. */
bool doc_images_translate(doc_images *images, zhen_document *document);

#endif
