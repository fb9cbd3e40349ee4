/* The weights of a network as the encoder and the decoder multiply them. */
#ifndef NN_NETWORK_H
#define NN_NETWORK_H

#include "nn/linear.h"
#include "nn/nn.h"

typedef struct nn_layer {
    nn_linear self_qkv;  /* d_model → query, key, value, d_model each */
    nn_linear self_out;  /* d_model → d_model */
    nn_linear cross_q;   /* d_model → d_model; this and the next are the decoder's alone */
    nn_linear cross_out; /* d_model → d_model */
    nn_linear fc1, fc2;  /* d_model → ffn → d_model */
    mdl_norm self_norm, cross_norm, norm;
    const bool *aligns; /* (decoder heads): whose attention is the word alignment; or NULL */
} nn_layer;

struct nn_network {
    const zhen_model *model;
    const kn_table *table;
    kn_blas *blas; /* NULL if all layers are int8 */
    kn_activation activation;
    float embedding_scale;
    size_t d_model;
    nn_layer *encoder, *decoder;
    nn_linear cross_kv; /* d_model → for each decoder layer key and value, d_model each */
    nn_linear output;   /* d_model → output_count */
    size_t output_count;
    int32_t *output_tokens; /* (output_count), ascending */
    int32_t *output_rows;   /* (decoder vocabulary): row of each token, -1 for none */
    base_arena arena;       /* all of the above */
    void *packed;           /* the packed weights of all int8 layers */
    size_t packed_size;
    base_arena unpacked; /* what is needed until they are packed */
};

#endif
