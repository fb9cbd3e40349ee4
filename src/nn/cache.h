/*
 * Attention caches: the keys and values of all decoder layers, in blocks of CELLS positions that a
 * worker's sentences share.
 *
 * A cell is what one position puts there: key and value of every layer and head. Inside a block the
 * cells of one layer and head stand side by side, (layer, key | value, head, cell, head dimension),
 * so that attention streams through memory; a cell is known by the address of its first float, and
 * nn_cache_offset leads from there to each of its parts.
 *
 * A sentence has cells for its source (cross-attention) and cells for what its hypotheses wrote
 * (self-attention). Which of the latter belong to the history of a slot is said by a table of
 * addresses for each slot; beam search reorders tables, never cells.
 */
#ifndef NN_CACHE_H
#define NN_CACHE_H

#include "nn/nn.h"

enum { NN_CELLS = 16 };

typedef struct nn_shape {
    size_t layers, heads, dim; /* of the decoder; dim: of a head */
} nn_shape;

static inline size_t nn_cache_block_floats(const nn_shape *shape)
{
    return NN_CELLS * shape->layers * 2 * shape->heads * shape->dim;
}

/* From a cell to the key (value: false) or value (value: true) of a layer and head. */
static inline size_t nn_cache_offset(const nn_shape *shape, size_t layer, bool value, size_t head)
{
    return NN_CELLS * shape->dim * ((2 * layer + (value ? 1 : 0)) * shape->heads + head);
}

/* Blocks that are free, as a stack. Those used most recently are taken first, so that blocks which
 * were only reserved are never touched and cost address space, not memory. */
typedef struct nn_pool {
    nn_shape shape;
    float **free; /* (total), the first free_count are on the stack, the top is the last */
    size_t free_count, total, reserved;
    void **slabs; /* what the blocks are cut from */
    size_t slab_count, slab_capacity;
} nn_pool;

void nn_pool_free(nn_pool *pool);

struct nn_sentence {
    nn_shape shape;
    size_t source_count; /* source positions */
    size_t beams;        /* slots */
    size_t positions;    /* target positions at most */
    size_t length;       /* target positions so far */
    size_t reserved;     /* blocks promised by the pool */
    size_t cells;        /* cells in use, of the blocks after those of the source */
    size_t block_count;
    float **blocks;          /* (reserved); the source's first */
    const float **source;    /* (source_count), cells */
    const float **history;   /* (beams, positions), cells; the tables */
    const float **spare;     /* (beams, positions), where they are reordered to */
    uint32_t *aligned;       /* (beams, positions), source positions; NULL without alignment */
    uint32_t *aligned_spare; /* (beams, positions) */
};

/* A sentence with cells for its source; NULL when memory runs out. What its target may need is
 * reserved, so that nn_sentence_advance cannot fail. */
nn_sentence *nn_sentence_create(nn_pool *pool, const nn_source *source, bool alignment);
void nn_sentence_free(nn_pool *pool, nn_sentence *sentence);

/* The cell of a source position. */
static inline float *nn_sentence_source_cell(const nn_sentence *sentence, size_t position)
{
    return sentence->blocks[position / NN_CELLS] + position % NN_CELLS * sentence->shape.dim;
}

/* A new cell, put into the history of `slot` at the current position. */
float *nn_sentence_advance(nn_pool *pool, nn_sentence *sentence, size_t slot);

/* Copies the heads' parts of kv into a cell. kv: (d_model), the keys or values of one position. */
void nn_cache_store(const nn_shape *shape, float *cell, size_t layer, bool value, const float *kv);

#endif
