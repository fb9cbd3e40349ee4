/* Bytes in any encoding that iconv knows become UTF-8, piece by piece. */
#ifndef DOCUMENT_DECODE_H
#define DOCUMENT_DECODE_H

#include "base/buffer.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct doc_decoder {
    void *iconv;  /* NULL: the bytes are UTF-8 and go through as they are */
    size_t unit;  /* bytes that are skipped when they make no sense: 1, UTF-16 2, UTF-32 4 */
    char rest[8]; /* the start of a character whose end has not come yet */
    size_t rest_length;
} doc_decoder;

/* False if iconv does not know the encoding; the decoder may be closed all the same. */
bool doc_decoder_open(doc_decoder *decoder, const char *encoding);
/* Appends the text of the bytes to `out`, with U+FFFD for what cannot be decoded; `end`: no more
 * will come. Returns false when memory runs out. */
bool doc_decoder_run(doc_decoder *decoder, const char *bytes, size_t size, bool end,
                     base_buffer *out);
void doc_decoder_close(doc_decoder *decoder);

#endif
