/* Random texts made of what matters to sentence splitting, for tests of invariants. */
#ifndef TESTS_TEXT_RANDOM_TEXT_H
#define TESTS_TEXT_RANDOM_TEXT_H

#include "base/buffer.h"

#include <stdint.h>

/* xorshift64: the same numbers on every machine. The state must not be 0. */
uint64_t random_next(uint64_t *state);
/* Replaces `text` by up to `parts` random words, marks and blanks. */
void random_text(uint64_t *state, size_t parts, base_buffer *text);

#endif
