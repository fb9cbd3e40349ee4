/* A model directory, opened and checked: configuration, weights, tokeniser. */
#ifndef MODEL_MODEL_H
#define MODEL_MODEL_H

#include "model/config.h"
#include "tokenizer/tokenizer.h"
#include "zhen.h"

/* A matrix of weights, (rows, cols), row-major, in the mapped file or converted from it.
 * Exactly one of f32 and s8 is set; with s8, row r is s8[r][:] * scale[r]. */
typedef struct mdl_matrix {
    size_t rows, cols;
    const float *f32;
    const int8_t *s8;
    const float *scale; /* (rows) */
} mdl_matrix;

/* y = x W^T + b. weight: (out, in); bias: (out). */
typedef struct mdl_linear {
    mdl_matrix weight;
    const float *bias;
} mdl_linear;

/* Layer normalisation, both (d_model). */
typedef struct mdl_norm {
    const float *weight, *bias;
} mdl_norm;

typedef struct mdl_attention {
    mdl_linear query, key, value, output; /* (d_model, d_model) each */
    mdl_norm norm;                        /* after the residual sum */
} mdl_attention;

typedef struct mdl_layer {
    mdl_attention self;
    mdl_attention cross; /* decoder only; all zero in the encoder */
    mdl_linear fc1, fc2; /* (ffn, d_model), (d_model, ffn) */
    mdl_norm norm;       /* final_layer_norm */
} mdl_layer;

struct zhen_model {
    char *directory;
    mdl_config config;
    mdl_generation generation;
    tok_tokenizer *tokenizer;
    mdl_matrix source_embedding; /* (encoder.vocabulary, d_model) */
    mdl_matrix target_embedding; /* (decoder.vocabulary, d_model); may be the same table */
    mdl_matrix output;           /* lm_head: (decoder.vocabulary, d_model) */
    const float *output_bias;    /* final_logits_bias, (decoder.vocabulary) */
    /* embed_positions, (max_positions, d_model), [sines | cosines]; computed, never read: Marian
     * leaves them out of the file or stores just these values */
    const float *positions;
    const mdl_layer *encoder, *decoder; /* (encoder.layers), (decoder.layers) */
    zhen_model_info info;
    struct mdl_storage *storage; /* mappings and memory behind all of the above */
};

#endif
