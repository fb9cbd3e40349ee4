#include "nn/cache.h"

#include "base/buffer.h"
#include "base/size.h"

#include <stdlib.h>
#include <string.h>

/* ---- Cells ---------------------------------------------------------------------------------- */

enum { LINE = 64 / sizeof(float) }; /* floats of a cache line */

/* Scales stand in front, (layer, key | value, head). */
static size_t scale_floats(const nn_shape *shape)
{
    return shape->bytes ? 2 * shape->layers * shape->heads : 0;
}

/* Numbers before those of a layer's keys or values. */
static size_t numbers_before(const nn_shape *shape, size_t layer, bool value)
{
    return (2 * layer + (value ? 1 : 0)) * shape->heads * shape->dim;
}

size_t nn_cache_cell(const nn_shape *shape)
{
    const size_t numbers = numbers_before(shape, shape->layers, false);
    const size_t size = shape->bytes ? 1 : sizeof(float);
    const size_t bytes = scale_floats(shape) * sizeof(float) + numbers * size;
    /* An odd number of cache lines, so that neighbours do not crowd into the same sets. */
    return (bytes / 64 + (bytes % 64 != 0)) / 2 * 2 * LINE + LINE;
}

void nn_cache_store(const kn_table *table, const nn_shape *shape, float *cell, size_t layer,
                    bool value, const float *x)
{
    const size_t heads = shape->heads, dim = shape->dim;
    const size_t before = numbers_before(shape, layer, value);
    if (!shape->bytes) {
        memcpy(cell + before, x, heads * dim * sizeof *x);
        return;
    }
    float *scales = cell + before / dim;
    int8_t *numbers = (int8_t *)(cell + scale_floats(shape)) + before;
    for (size_t head = 0; head < heads; head++)
        kn_store_bytes(table, x + head * dim, dim, numbers + head * dim, &scales[head]);
}

kn_memory nn_cache_memory(const nn_shape *shape, size_t layer, size_t head,
                          const float *const *cells, size_t count)
{
    const size_t key = numbers_before(shape, layer, false) + head * shape->dim;
    const size_t value = numbers_before(shape, layer, true) + head * shape->dim;
    const size_t first = scale_floats(shape) * sizeof(float); /* bytes, if bytes */
    return (kn_memory){.rows = cells,
                       .count = count,
                       .dim = shape->dim,
                       .k_offset = first + key,
                       .v_offset = first + value,
                       .bytes = shape->bytes,
                       .k_scale = key / shape->dim,
                       .v_scale = value / shape->dim};
}

/* ---- The pool of blocks --------------------------------------------------------------------- */

/* Adds `count` blocks below those on the stack: they are used last. */
static bool add_blocks(nn_pool *pool, size_t count)
{
    const size_t floats = NN_CELLS * pool->cell;
    /* A line to align the cells by, and one because attention may read beyond the last cell. */
    size_t total;
    if (!base_multiply(count, floats, &total) || !base_add(total, (size_t)2 * LINE, &total) ||
        !base_grow((void **)&pool->slabs, &pool->slab_capacity, pool->slab_count + 1,
                   sizeof *pool->slabs))
        return false;
    float **stack = realloc(pool->free, (pool->total + count) * sizeof *stack);
    if (!stack)
        return false;
    pool->free = stack;
    /* Cleared, because of what is read beyond, but not touched: the system has zeros ready. */
    float *slab = calloc(total, sizeof *slab);
    if (!slab)
        return false;
    pool->slabs[pool->slab_count++] = slab;
    float *first = slab + (LINE - (uintptr_t)slab / sizeof *slab % LINE) % LINE;
    memmove(stack + count, stack, pool->free_count * sizeof *stack);
    for (size_t i = 0; i < count; i++)
        stack[i] = first + (count - 1 - i) * floats;
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
    sentence->cell = pool->cell;
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
    float *address = block + cell * sentence->cell;
    sentence->history[slot * sentence->positions + sentence->length] = address;
    return address;
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
