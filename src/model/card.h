/* The model card, README.md: what its front matter says. */
#ifndef MODEL_CARD_H
#define MODEL_CARD_H

#include "base/arena.h"

/* The value of `key` in the front matter (YAML between two lines of "---") of a card of `size`
 * bytes, copied into the arena: a plain or quoted scalar, or the items of a list, joined with
 * commas. NULL if there is none. Only the first kilobytes of a card are looked at, and a value that
 * is no such thing or not valid UTF-8 is as good as none: a card is prose and never an error. */
const char *mdl_card_value(const void *bytes, size_t size, const char *key, base_arena *arena);

#endif
