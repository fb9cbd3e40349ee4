/* A worker: scratch memory that the encoder and the decoder take turns in, and the caches. */
#ifndef NN_WORKER_H
#define NN_WORKER_H

#include "base/team.h"
#include "nn/cache.h"
#include "nn/network.h"

enum {
    NN_FFN_ROWS = 128, /* rows that go through a feed-forward layer together */
    NN_QUERIES = 32,   /* queries that go through an attention head together */
    NN_QKV_GAP = 16,   /* floats between the encoder's rows of queries, keys and values */
    NN_PANEL = 512     /* outputs multiplied before they are looked at; a multiple of 64 */
};

struct nn_worker {
    const nn_network *network;
    nn_limits limits;
    nn_pool pool;
    base_team *team; /* or NULL */

    size_t rows; /* rows that the scratch memory has room for */
    size_t span; /* positions that attention can look at */
    base_arena scratch;
    float *x;               /* (rows, d_model): what goes from layer to layer */
    float *projected;       /* (rows, 3 d_model or, for the cross keys and values, 2 layers
                               d_model) */
    float *attended;        /* (rows, d_model) */
    float *hidden;          /* (NN_FFN_ROWS at most, ffn) */
    float *weights;         /* (NN_QUERIES + 2, span): attention, see kn_attend */
    float *outputs;         /* (limits.rows, NN_PANEL), with a team (limits.rows, outputs) */
    float *looked;          /* (limits.rows, span): sum over the alignment heads; or NULL */
    nn_shape encoder_shape; /* one layer of the encoder, as a cache */
    float *encoder_cells;   /* (span): keys and values of one sentence in one layer */
    const float **keys;     /* (span): their addresses */
    float **cells;          /* (limits.rows): where the decoder's rows are cached */
    void *quantized;        /* activations of any of the above as int8 */
};

/* Makes room for batches of `rows` rows that look at `span` positions; false when memory runs out,
 * and the worker is as before. */
bool nn_worker_reserve(nn_worker *worker, size_t rows, size_t span);

#endif
