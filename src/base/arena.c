#include "base/arena.h"

#include "base/size.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 64, BLOCK_FIRST = 2 * 1024, BLOCK_MOST = 64 * 1024 };

struct base_arena_block {
    base_arena_block *next;
    size_t used, size; /* of the whole block, this header included */
};

/* Blocks double, since there may be thousands of arenas that hold next to nothing. */
static size_t usual_size(const base_arena *arena)
{
    if (!arena->blocks)
        return BLOCK_FIRST;
    return arena->blocks->size < BLOCK_MOST / 2 ? 2 * arena->blocks->size : BLOCK_MOST;
}

/* A large request gets a block to itself, put behind the current one, whose rest stays usable. */
static base_arena_block *new_block(base_arena *arena, size_t bytes)
{
    const size_t header = base_round_up(sizeof(base_arena_block), ALIGNMENT);
    size_t usual = usual_size(arena);
    size_t size = bytes + header > usual ? bytes + header : usual;
    base_arena_block *block = aligned_alloc(ALIGNMENT, size);
    if (!block)
        return NULL;
    block->used = header;
    block->size = size;
    if (size > usual && arena->blocks) {
        block->next = arena->blocks->next;
        arena->blocks->next = block;
    } else {
        block->next = arena->blocks;
        arena->blocks = block;
    }
    return block;
}

void *base_arena_allocate(base_arena *arena, size_t bytes)
{
    if (bytes > SIZE_MAX / 2)
        return NULL;
    bytes = base_round_up(bytes ? bytes : 1, ALIGNMENT);
    base_arena_block *block = arena->blocks;
    if (!block || block->size - block->used < bytes)
        block = new_block(arena, bytes);
    if (!block)
        return NULL;
    void *memory = (char *)block + block->used;
    block->used += bytes;
    return memory;
}

void *base_arena_calloc(base_arena *arena, size_t count, size_t size)
{
    size_t bytes;
    if (!base_multiply(count, size, &bytes))
        return NULL;
    void *memory = base_arena_allocate(arena, bytes);
    if (memory)
        memset(memory, 0, bytes);
    return memory;
}

char *base_arena_string(base_arena *arena, const char *text, size_t length)
{
    char *copy = base_arena_allocate(arena, length + 1);
    if (!copy)
        return NULL;
    if (length)
        memcpy(copy, text, length);
    copy[length] = '\0';
    return copy;
}

size_t base_arena_size(const base_arena *arena)
{
    size_t bytes = 0;
    for (const base_arena_block *block = arena->blocks; block; block = block->next)
        bytes += block->size;
    return bytes;
}

void base_arena_free(base_arena *arena)
{
    for (base_arena_block *block = arena->blocks; block;) {
        base_arena_block *next = block->next;
        free(block);
        block = next;
    }
    arena->blocks = NULL;
}
