#include "nn/cache.h"

#include "base/buffer.h"
#include "base/size.h"

#include <stdlib.h>
#include <string.h>

/* ---- The pool of blocks --------------------------------------------------------------------- */

/* Adds `count` blocks below those on the stack: they are used last. */
static bool add_blocks(nn_pool *pool, size_t count)
{
    const size_t floats = nn_cache_block_floats(&pool->shape);
    size_t bytes;
    if (!base_multiply(count, floats * sizeof(float), &bytes) ||
        !base_grow((void **)&pool->slabs, &pool->slab_capacity, pool->slab_count + 1,
                   sizeof *pool->slabs))
        return false;
    float **stack = realloc(pool->free, (pool->total + count) * sizeof *stack);
    if (!stack)
        return false;
    pool->free = stack;
    float *slab = aligned_alloc(64, base_round_up(bytes, 64));
    if (!slab)
        return false;
    pool->slabs[pool->slab_count++] = slab;
    memmove(stack + count, stack, pool->free_count * sizeof *stack);
    for (size_t i = 0; i < count; i++)
        stack[i] = slab + (count - 1 - i) * floats;
    pool->free_count += count;
    pool->total += count;
    return true;
}

static bool reserve_blocks(nn_pool *pool, size_t count)
{
    if (pool->total - pool->reserved < count &&
        !add_blocks(pool, count - (pool->total - pool->reserved)))
        return false;
    pool->reserved += count;
    return true;
}

void nn_pool_free(nn_pool *pool)
{
    for (size_t i = 0; i < pool->slab_count; i++)
        free(pool->slabs[i]);
    free(pool->slabs);
    free(pool->free);
    *pool = (nn_pool){0};
}

/* ---- Sentences ----------------------------------------------------------------------------- */

static size_t blocks_for(size_t cells)
{
    return (cells + NN_CELLS - 1) / NN_CELLS;
}

/* The sentence and its tables are one piece of memory. */
static nn_sentence *allocate(const nn_source *source, size_t blocks, bool alignment)
{
    const size_t links = alignment ? 2 * sizeof(uint32_t) : 0;
    size_t table, bytes;
    if (!base_multiply(source->beams, source->positions, &table) ||
        !base_multiply(table, 2 * sizeof(float *) + links, &bytes) ||
        !base_add(bytes, sizeof(nn_sentence) + (blocks + source->count) * sizeof(float *), &bytes))
        return NULL;
    nn_sentence *sentence = malloc(bytes);
    if (!sentence)
        return NULL;
    *sentence = (nn_sentence){.source_count = source->count,
                              .beams = source->beams,
                              .positions = source->positions,
                              .reserved = blocks};
    sentence->blocks = (float **)(void *)(sentence + 1);
    sentence->source = (const float **)(void *)(sentence->blocks + blocks);
    sentence->history = sentence->source + source->count;
    sentence->spare = sentence->history + table;
    if (alignment) {
        sentence->aligned = (uint32_t *)(void *)(sentence->spare + table);
        sentence->aligned_spare = sentence->aligned + table;
    }
    return sentence;
}

static float *take_block(nn_pool *pool, nn_sentence *sentence)
{
    float *block = pool->free[--pool->free_count];
    sentence->blocks[sentence->block_count++] = block;
    return block;
}

nn_sentence *nn_sentence_create(nn_pool *pool, const nn_source *source, bool alignment)
{
    const size_t source_blocks = blocks_for(source->count);
    const size_t blocks = source_blocks + blocks_for(source->beams * source->positions);
    nn_sentence *sentence = allocate(source, blocks, alignment);
    if (!sentence)
        return NULL;
    if (!reserve_blocks(pool, blocks)) {
        free(sentence);
        return NULL;
    }
    sentence->shape = pool->shape;
    for (size_t i = 0; i < source_blocks; i++)
        take_block(pool, sentence);
    for (size_t i = 0; i < source->count; i++)
        sentence->source[i] = nn_sentence_source_cell(sentence, i);
    return sentence;
}

void nn_sentence_free(nn_pool *pool, nn_sentence *sentence)
{
    if (!sentence)
        return;
    while (sentence->block_count > 0)
        pool->free[pool->free_count++] = sentence->blocks[--sentence->block_count];
    pool->reserved -= sentence->reserved;
    free(sentence);
}

float *nn_sentence_advance(nn_pool *pool, nn_sentence *sentence, size_t slot)
{
    const size_t cell = sentence->cells++ % NN_CELLS;
    float *block = cell ? sentence->blocks[sentence->block_count - 1] : take_block(pool, sentence);
    float *address = block + cell * sentence->shape.dim;
    sentence->history[slot * sentence->positions + sentence->length] = address;
    return address;
}

void nn_cache_store(const nn_shape *shape, float *cell, size_t layer, bool value, const float *kv)
{
    for (size_t head = 0; head < shape->heads; head++)
        memcpy(cell + nn_cache_offset(shape, layer, value, head), kv + head * shape->dim,
               shape->dim * sizeof *kv);
}

static bool is_identity(const uint32_t *parents, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (parents[i] != i)
            return false;
    return true;
}

void nn_sentence_reorder(nn_sentence *sentence, const uint32_t *parents, size_t count)
{
    if (is_identity(parents, count))
        return;
    const size_t stride = sentence->positions, length = sentence->length;
    for (size_t i = 0; i < count; i++)
        memcpy(sentence->spare + i * stride, sentence->history + parents[i] * stride,
               length * sizeof *sentence->history);
    const float **history = sentence->history;
    sentence->history = sentence->spare;
    sentence->spare = history;
    if (!sentence->aligned)
        return;
    for (size_t i = 0; i < count; i++)
        memcpy(sentence->aligned_spare + i * stride, sentence->aligned + parents[i] * stride,
               length * sizeof *sentence->aligned);
    uint32_t *aligned = sentence->aligned;
    sentence->aligned = sentence->aligned_spare;
    sentence->aligned_spare = aligned;
}

void nn_sentence_alignment(const nn_sentence *sentence, size_t slot, uint32_t *out)
{
    if (sentence->length)
        memcpy(out, sentence->aligned + slot * sentence->positions, sentence->length * sizeof *out);
}
