/*
 * Attention caches: the keys and values of all decoder layers, in cells that a worker's sentences
 * take from a common pool by blocks of NN_CELLS.
 *
 * A cell is what one position puts there: key and value of every layer and head. A float cell is
 * (layer, key | value, d_model) floats. An int8 model's cell holds bytes instead, after one scale
 * for each (layer, key | value, head): a quarter of the memory that a step has to read, which is
 * what a step of many hypotheses waits for.
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
    size_t layers, heads, dim; /* dim: of a head */
    bool bytes;
} nn_shape;

/* Floats from one cell to the next. */
size_t nn_cache_cell(const nn_shape *shape);

/* Puts the keys (value: false) or values (value: true) of one position and layer into a cell.
 * x: (d_model). */
void nn_cache_store(const kn_table *table, const nn_shape *shape, float *cell, size_t layer,
                    bool value, const float *x);

/* The part of `count` cells that belongs to a layer and head. */
kn_memory nn_cache_memory(const nn_shape *shape, size_t layer, size_t head,
                          const float *const *cells, size_t count);

/* Blocks that are free, as a stack. Those used most recently are taken first, so that blocks which
 * were only reserved are never touched and cost address space, not memory. */
typedef struct nn_pool {
    nn_shape shape;
    size_t cell;  /* floats of a cell */
    float **free; /* (total), the first free_count are on the stack, the top is the last */
    size_t free_count, total, reserved;
    void **slabs; /* what the blocks are cut from */
    size_t slab_count, slab_capacity;
} nn_pool;

void nn_pool_free(nn_pool *pool);

struct nn_sentence {
    size_t cell;         /* floats of a cell */
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
    return sentence->blocks[position / NN_CELLS] + position % NN_CELLS * sentence->cell;
}

/* A new cell, put into the history of `slot` at the current position. */
float *nn_sentence_advance(nn_pool *pool, nn_sentence *sentence, size_t slot);

#endif
