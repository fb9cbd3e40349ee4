/* An arena: memory that is handed out in order and given back all at once. */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stddef.h>

typedef struct base_arena_block base_arena_block;

/* All zero is an empty arena. */
typedef struct base_arena {
    base_arena_block *blocks;
} base_arena;

/* `bytes` bytes aligned to 64 (a cache line, an AVX-512 register), not cleared; NULL when memory
 * runs out. They live until base_arena_free. */
void *base_arena_allocate(base_arena *arena, size_t bytes);
/* `count` * `size` bytes, cleared; NULL when memory runs out or the product overflows. */
void *base_arena_calloc(base_arena *arena, size_t count, size_t size);
/* A zero-terminated copy of `length` bytes of text. */
char *base_arena_string(base_arena *arena, const char *text, size_t length);
/* Bytes taken from the system so far. */
size_t base_arena_size(const base_arena *arena);
/* Frees everything; the arena is empty and usable again. */
void base_arena_free(base_arena *arena);

#endif
