#include "document/markdown_image.h"

#include "document/escape.h"
#include "document/markdown_gap.h"
#include "document/protect.h"

#include <stdint.h>
#include <stdlib.h>

bool doc_images_add(doc_images *images, const doc_image *image)
{
    if (!base_grow((void **)&images->items, &images->capacity, images->count + 1,
                   sizeof *images->items))
        return false;
    images->items[images->count++] = *image;
    return true;
}

void doc_images_free(doc_images *images)
{
    free(images->items);
    *images = (doc_images){0};
}

/* Makes units of a text in a flow of its own: that of the document is a paragraph. */
static bool add_text(zhen_document *document, zhen_span text)
{
    doc_flow paragraph = document->flow;
    document->flow = (doc_flow){.escape = doc_escape_markdown_inner, .protect = DOC_PROTECT_ALL};
    bool ok = doc_flow_add_text(&document->flow, document->source.data, text) &&
              doc_finish_in_place(document);
    doc_flow_free(&document->flow);
    document->flow = paragraph;
    return ok;
}

/* A text that names the image, as that of a link does, leaves itself behind as a label. */
static bool add_image(zhen_document *document, const doc_image *image)
{
    const char *source = document->source.data;
    zhen_span label = {image->raw.begin + 2, image->close},
              closing = {image->close, image->raw.end};
    size_t first_unit = document->units.count, length;
    if (!add_text(document, image->text))
        return false;
    size_t unit_count = document->units.count - first_unit;
    if (!unit_count || !doc_markdown_is_unlabelled(source, closing, SIZE_MAX))
        return true;
    const char *literal = doc_markdown_label(&document->arena, source, label, &length);
    if (!literal || !doc_begin_block(document, closing, DOC_WHEN_UNITS) ||
        !doc_add_literal(document, literal, length))
        return false;
    document->blocks[document->block_count - 1].first_unit = first_unit;
    document->blocks[document->block_count - 1].unit_count = unit_count;
    return true;
}

bool doc_images_translate(doc_images *images, zhen_document *document)
{
    bool ok = true;
    for (size_t i = 0, e = 0; ok && i < images->count; i++) {
        const doc_flow *flow = &document->flow;
        const doc_image *image = &images->items[i];
        while (e < flow->count && flow->events[e].raw.end < image->raw.end)
            e++;
        if (e < flow->count && flow->events[e].kind == DOC_EVENT_POINT)
            ok = add_image(document, image);
    }
    images->count = 0;
    return ok;
}
