/* config.json and generation_config.json: what a model is and how it likes to be searched. */
#ifndef MODEL_CONFIG_H
#define MODEL_CONFIG_H

#include "base/arena.h"
#include "zhen.h"

typedef enum mdl_activation {
    MDL_RELU,
    MDL_SWISH,    /* also called silu */
    MDL_GELU,     /* exact: x * Phi(x) */
    MDL_GELU_TANH /* gelu_new, gelu_pytorch_tanh */
} mdl_activation;

/* A cross-attention head trained on word alignments, generation_config.json "alignment_heads". */
typedef struct mdl_head {
    size_t layer, head;
} mdl_head;

/* A sequence of token ids that must not be produced, generation_config.json "bad_words_ids". */
typedef struct mdl_bad_word {
    const int32_t *ids;
    size_t count;
} mdl_bad_word;

/* The network of one side. */
typedef struct mdl_stack {
    size_t layers, heads, ffn;
    size_t vocabulary; /* rows of its embedding table */
} mdl_stack;

typedef struct mdl_config {
    size_t d_model;
    mdl_stack encoder, decoder;
    mdl_activation activation;
    const char *activation_name;
    bool scale_embedding;     /* embeddings * sqrt(d_model) */
    bool share_embeddings;    /* share_encoder_decoder_embeddings: one table for both sides */
    bool tie_word_embeddings; /* the output matrix is the decoder's embedding table */
    bool int8;                /* declared in quantization_config */
    size_t max_positions;
    int32_t pad_id, eos_id, decoder_start_id;
} mdl_config;

/* generation_config.json or, if there is none, the same keys in config.json, over the defaults of
 * transformers (which reads them this way too). Keys that ask for something that the search cannot
 * do (sampling, diverse beams, ...) fail as ZHEN_ERROR_UNSUPPORTED; every id is in the decoder's
 * vocabulary, every head in the decoder. */
typedef struct mdl_generation {
    size_t num_beams;
    size_t max_new_tokens, min_new_tokens; /* or what max_length and min_length make of them */
    double length_penalty, repetition_penalty;
    zhen_early_stopping early_stopping;
    size_t no_repeat_ngram;
    bool renormalize_logits;
    int32_t forced_eos_id;         /* -1: none */
    int32_t forced_bos_id;         /* -1: none */
    const mdl_bad_word *bad_words; /* without a lone eos_id, which transformers drops, too */
    size_t bad_word_count;
    const mdl_head *alignment_heads;
    size_t alignment_head_count;
} mdl_generation;

/* Reads and checks both files of a model directory. What config and generation point to is in the
 * arena or static. */
zhen_status mdl_config_read(const char *directory, base_arena *arena, mdl_config *config,
                            mdl_generation *generation, zhen_error *error);

#endif
