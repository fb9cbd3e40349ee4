#include "base/buffer.h"

#include "base/size.h"

#include <stdlib.h>
#include <string.h>

bool base_grow(void **array, size_t *capacity, size_t need, size_t size)
{
    if (need <= *capacity)
        return true;
    size_t wanted = *capacity < 8 ? 8 : *capacity, bytes;
    while (wanted < need)
        if (!base_multiply(wanted, 2, &wanted))
            return false;
    if (!base_multiply(wanted, size, &bytes))
        return false;
    void *grown = realloc(*array, bytes);
    if (!grown)
        return false;
    *array = grown;
    *capacity = wanted;
    return true;
}

bool base_buffer_reserve(base_buffer *buffer, size_t extra)
{
    size_t need;
    if (!base_add(buffer->length, extra, &need) || !base_add(need, 1, &need))
        return false;
    if (!base_grow((void **)&buffer->data, &buffer->capacity, need, 1))
        return false;
    buffer->data[buffer->length] = '\0';
    return true;
}

bool base_buffer_append(base_buffer *buffer, const void *bytes, size_t length)
{
    if (!base_buffer_reserve(buffer, length))
        return false;
    if (length)
        memcpy(buffer->data + buffer->length, bytes, length);
    buffer->length += length;
    buffer->data[buffer->length] = '\0';
    return true;
}

bool base_buffer_append_string(base_buffer *buffer, const char *text)
{
    return base_buffer_append(buffer, text, strlen(text));
}

bool base_buffer_append_byte(base_buffer *buffer, char byte)
{
    return base_buffer_append(buffer, &byte, 1);
}

void base_buffer_clear(base_buffer *buffer)
{
    buffer->length = 0;
    if (buffer->data)
        buffer->data[0] = '\0';
}

void base_buffer_free(base_buffer *buffer)
{
    free(buffer->data);
    *buffer = (base_buffer){0};
}
