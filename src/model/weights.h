/* The tensors of model.safetensors, found, checked and put where the network looks for them. */
#ifndef MODEL_WEIGHTS_H
#define MODEL_WEIGHTS_H

#include "model/model.h"
#include "model/safetensors.h"

/* Everything behind a model's pointers. */
typedef struct mdl_storage {
    st_file file;
    base_arena memory;
    mdl_layer *encoder, *decoder; /* what the model shows as const */
} mdl_storage;

/* Fills in the matrices, vectors, layers and positions of a model whose config is read from the
 * safetensors file `path`. Tensors that cannot be used where they are (16-bit types, odd alignment)
 * are converted into the arena. Fails on tensors that are missing, superfluous, of another shape or
 * type, or not finite. */
zhen_status mdl_weights_load(zhen_model *model, const char *path, zhen_error *error);

/* Takes the mapped weights out of this process's memory, after they were packed elsewhere: half of
 * an int8 model, the layers, is not read again, and the rows of the embeddings come back as they
 * are used. */
void mdl_weights_rest(const zhen_model *model);

/* A tensor of the network under the name that transformers gives it; either matrix or vector is
 * set. A vector's shape is (rows), but for final_logits_bias, which is (1, rows). */
typedef struct mdl_slot {
    const char *name;
    size_t rows, cols;
    mdl_matrix *matrix;
    const float **vector;
} mdl_slot;

/* Calls `visit` for every tensor of both stacks, in order, until one call fails. */
typedef zhen_status (*mdl_visit)(void *context, const mdl_slot *slot);
zhen_status mdl_weights_visit_layers(const mdl_config *config, mdl_layer *encoder,
                                     mdl_layer *decoder, mdl_visit visit, void *context);

/* Names of the tensors outside the layers. */
extern const char mdl_shared_table[], mdl_encoder_table[], mdl_decoder_table[], mdl_lm_head[];
extern const char mdl_final_logits_bias[];

/* Pieces with a final_logits_bias at or below this can never be produced. */
#define MDL_BANNED_BIAS (-1e4F)

#endif
