/* UTF-8: decoding, validation, repair. */
#ifndef TEXT_UTF8_H
#define TEXT_UTF8_H

#include "base/buffer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reads the character at the start of text[0..length), length > 0, and returns its bytes. An
 * ill-formed sequence reads as U+FFFD and is as long as its maximal subpart (The Unicode Standard
 * 15.0, section 3.9, table 3-8): the longest start of a well-formed sequence, or else one byte. */
size_t text_decode(const char *text, size_t length, int32_t *character);

/* The same backwards: the character that ends at text[end], in text[begin..end), begin < end. The
 * text must be valid. */
size_t text_decode_before(const char *text, size_t begin, size_t end, int32_t *character);

/* Appends `length` bytes of text to `out`, with U+FFFD for each ill-formed sequence, as Python's
 * bytes.decode(errors="replace") does. Returns false when memory runs out. `origin`, if not NULL,
 * gets for every byte written (and one past the end) the offset in `bytes` that it came from; room
 * for it is the caller's: 3 * length + 1 entries are enough. */
bool text_repair(const char *bytes, size_t length, base_buffer *out, size_t *origin);
bool text_is_valid(const char *bytes, size_t length);

#endif
