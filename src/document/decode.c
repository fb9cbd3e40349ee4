#include "document/decode.h"

#include <errno.h>
#include <iconv.h>
#include <string.h>
#include <strings.h>

bool doc_decoder_open(doc_decoder *decoder, const char *encoding)
{
    *decoder = (doc_decoder){.unit = 1};
    if (strcasecmp(encoding, "UTF-8") == 0)
        return true;
    if (strncasecmp(encoding, "UTF-16", 6) == 0 || strncasecmp(encoding, "UCS-2", 5) == 0)
        decoder->unit = 2;
    if (strncasecmp(encoding, "UTF-32", 6) == 0 || strncasecmp(encoding, "UCS-4", 5) == 0)
        decoder->unit = 4;
    iconv_t descriptor = iconv_open("UTF-8", encoding);
    if (descriptor == (iconv_t)-1) // NOLINT(performance-no-int-to-ptr): POSIX says so
        return false;
    decoder->iconv = descriptor;
    return true;
}

void doc_decoder_close(doc_decoder *decoder)
{
    if (decoder->iconv)
        iconv_close(decoder->iconv);
    *decoder = (doc_decoder){0};
}

static bool add_replacement(base_buffer *out)
{
    return base_buffer_append(out, "\xEF\xBF\xBD", 3);
}

/* Decodes as much as there is; what is left at the end is the start of a character. */
static bool convert(doc_decoder *decoder, char **bytes, size_t *size, base_buffer *out)
{
    while (*size) {
        /* A character of two bytes becomes three or four. */
        if (!base_buffer_reserve(out, *size + *size / 2 + 16))
            return false;
        char *to = out->data + out->length;
        size_t room = out->capacity - out->length - 1;
        size_t result = iconv(decoder->iconv, bytes, size, &to, &room);
        int reason = errno;
        out->length = (size_t)(to - out->data);
        out->data[out->length] = '\0';
        if (result != (size_t)-1 || reason == E2BIG)
            continue;
        if (reason == EINVAL && *size <= sizeof decoder->rest)
            return true;
        size_t skip = *size < decoder->unit ? *size : decoder->unit;
        *bytes += skip;
        *size -= skip;
        if (!add_replacement(out))
            return false;
    }
    return true;
}

/* Completes the character whose start was left over, byte by byte. */
static bool finish_rest(doc_decoder *decoder, const char **bytes, size_t *size, base_buffer *out)
{
    while (decoder->rest_length && *size) {
        if (decoder->rest_length < sizeof decoder->rest) {
            decoder->rest[decoder->rest_length++] = **bytes;
            ++*bytes;
            --*size;
        }
        char *from = decoder->rest;
        size_t left = decoder->rest_length;
        if (!convert(decoder, &from, &left, out))
            return false;
        memmove(decoder->rest, from, left);
        decoder->rest_length = left;
        if (left == sizeof decoder->rest) {
            decoder->rest_length = 0;
            return add_replacement(out);
        }
    }
    return true;
}

bool doc_decoder_run(doc_decoder *decoder, const char *bytes, size_t size, bool end,
                     base_buffer *out)
{
    if (!decoder->iconv)
        return base_buffer_append(out, bytes, size);
    if (!finish_rest(decoder, &bytes, &size, out))
        return false;
    char *from = (char *)bytes; /* iconv does not write to its input */
    if (!convert(decoder, &from, &size, out))
        return false;
    if (size)
        memcpy(decoder->rest, from, size);
    if (size || decoder->rest_length == 0)
        decoder->rest_length = size;
    if (end && decoder->rest_length) {
        decoder->rest_length = 0;
        if (!add_replacement(out))
            return false;
    }
    /* Encodings with states (HZ, ISO-2022) and BIG5-HKSCS may hold a character back. */
    if (end) {
        if (!base_buffer_reserve(out, 16))
            return false;
        char *to = out->data + out->length;
        size_t room = 16;
        iconv(decoder->iconv, NULL, NULL, &to, &room);
        out->length = (size_t)(to - out->data);
        out->data[out->length] = '\0';
    }
    return true;
}
