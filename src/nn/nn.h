/*
 * The network: encoder stack and masked, cross-attending decoder of Marian's Transformer (Vaswani
 * et al. 2017, post-norm), over float32 weights (OpenBLAS) or int8 weights (our kernels).
 *
 * Batches are ragged: the rows of all sentences stand one after another without padding, so no
 * mask and no wasted row exists, and a sentence's numbers do not depend on its neighbours (with
 * float32 weights but for rounding: OpenBLAS sums few rows in another order than many).
 */
#ifndef NN_NN_H
#define NN_NN_H

#include "base/team.h"
#include "kernels/kernels.h"
#include "model/model.h"
#include "zhen.h"

/* Weights ready to multiply: packed int8 or mapped float. Immutable, shared by workers. */
typedef struct nn_network nn_network;

/* isa: NULL or the name of an instruction set, see kn_select. threads: how many may share the work,
 * at least 1. The model must outlive the network. */
zhen_status nn_network_create(const zhen_model *model, const char *isa, size_t threads,
                              nn_network **network, zhen_error *error);
void nn_network_free(nn_network *network);
size_t nn_network_memory(const nn_network *network);

/* Output pieces are those that final_logits_bias allows (> -1e4). Row r of the logits belongs to
 * token nn_output_token(network, r); tokens ascend. */
size_t nn_output_count(const nn_network *network);
int32_t nn_output_token(const nn_network *network, size_t row);
/* The row of a token, or -1 if it can never be produced. */
ptrdiff_t nn_output_row(const nn_network *network, int32_t token);

/* A worker: scratch memory and decoder state of one thread. */
typedef struct nn_worker nn_worker;

typedef struct nn_limits {
    size_t rows;          /* hypotheses advanced by one nn_step at most */
    size_t source_tokens; /* tokens encoded side by side at most; more are encoded in turn */
    bool alignment;       /* keep what the alignment heads look at */
} nn_limits;

zhen_status nn_worker_create(const nn_network *network, const nn_limits *limits, nn_worker **worker,
                             zhen_error *error);
void nn_worker_free(nn_worker *worker);
/* From now on the team's threads share the work of nn_encode and nn_step over int8 weights; NULL:
 * the calling thread does it alone. The numbers are the same, bit by bit. It is worth it when a
 * step has few rows and so waits for the weights, of which each thread then reads its part. */
void nn_worker_set_team(nn_worker *worker, base_team *team);

/* A sentence while it is decoded: the cross-attention keys and values of its source (computed once,
 * shared by its hypotheses) and the self-attention cache of up to `beams` hypotheses. */
typedef struct nn_sentence nn_sentence;

typedef struct nn_source {
    const int32_t *ids; /* with </s> at the end */
    size_t count;       /* 1 to max_positions */
    size_t beams;       /* hypotheses that will be decoded side by side */
    size_t positions;   /* target positions at most */
} nn_source;

/* Encodes `count` sentences and fills sentences[], all of them or, on failure, none. memory_out:
 * NULL or room for the encoder's output, (sum of tokens, d_model), for tests. */
zhen_status nn_encode(nn_worker *worker, const nn_source *sources, size_t count,
                      nn_sentence **sentences, float *memory_out, zhen_error *error);
/* Gives the sentence's memory back to its worker; NULL is fine. Every sentence must be released
 * before its worker is freed. */
void nn_sentence_release(nn_worker *worker, nn_sentence *sentence);

/* A hypothesis that is to be advanced: it reads `token` at the sentence's next position. Its keys
 * and values go into its slot (0 to beams - 1). All rows of a sentence must come in one step, one
 * after another, slots ascending; position 0 has one row, the decoder's start token in slot 0. A
 * sentence must not be advanced beyond its `positions`. */
typedef struct nn_row {
    nn_sentence *sentence;
    int32_t token;
    uint32_t slot;
} nn_row;

/* Advances all rows by one position. Result in one of two forms:
 *   logits != NULL: (count, nn_output_count) full rows;
 *   top != NULL:    top[row], kn_top_start'ed by the caller: the best k with their logits; indices
 *                   are output rows, not tokens; `want_sum` adds what log-sum-exp needs.
 * Nothing is allocated. */
void nn_step(nn_worker *worker, const nn_row *rows, size_t count, float *logits, kn_top *top,
             bool want_sum);
/* From a full row of logits, (nn_output_count), what nn_step would have put into `top`. */
void nn_choose(const nn_network *network, const float *logits, kn_top *top, bool want_sum);

/* After a step: slot s of the sentence continues what was slot parents[s], for s < count. Only
 * indices move. */
void nn_sentence_reorder(nn_sentence *sentence, const uint32_t *parents, size_t count);

/* The source position that the alignment heads (mean over them; without any, over the last decoder
 * layer's heads) looked at most while slot `slot`'s current history was decoded: out[t] for
 * t < positions so far; out[t] belongs to the token produced at step t. Needs limits.alignment. */
void nn_sentence_alignment(const nn_sentence *sentence, size_t slot, uint32_t *out);

#endif
