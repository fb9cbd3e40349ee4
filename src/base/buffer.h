/* A growable run of bytes, always followed by a zero byte that does not count. */
#ifndef BASE_BUFFER_H
#define BASE_BUFFER_H

#include <stdbool.h>
#include <stddef.h>

typedef struct base_buffer {
    char *data; /* NULL while nothing was ever reserved */
    size_t length, capacity;
} base_buffer;

/* Makes room for `extra` more bytes; false when memory runs out (the buffer is as before). */
bool base_buffer_reserve(base_buffer *buffer, size_t extra);
bool base_buffer_append(base_buffer *buffer, const void *bytes, size_t length);
bool base_buffer_append_string(base_buffer *buffer, const char *text);
bool base_buffer_append_byte(base_buffer *buffer, char byte);
/* Empties the buffer and keeps its memory. */
void base_buffer_clear(base_buffer *buffer);
/* Frees the memory; the buffer is empty and usable again. */
void base_buffer_free(base_buffer *buffer);

/* Grows an array to hold at least `need` elements of `size` bytes, doubling; false when memory runs
 * out or the size overflows (array and capacity are as before). Used as
 *     if (!base_grow((void **)&items, &capacity, count + 1, sizeof *items)) ...            */
bool base_grow(void **array, size_t *capacity, size_t need, size_t size);

#endif
