/* One training step of a Marian-layout Transformer on a CPU: the gradient of a few batches, fused
 * and in bf16.
 *
 * The caller (train_native.py, through ctypes) owns parameters and gradient: two flat fp32 arrays
 * of one layout. Every thread takes whole batches, so threads never wait for one another inside a
 * batch. */
#ifndef STEP_H
#define STEP_H

#include <stddef.h>
#include <stdint.h>

typedef struct {
    int32_t d, heads, ff, encoder_layers, decoder_layers, vocabulary, targets, longest, threads;
    float smooth, guide_weight;
} StepConfig;

/* `sentences` pairs whose sources all have `sources` tokens, end included, and whose targets are
 * padded to `targets`. source: (sentences, sources); input, output, guide: (sentences, targets).
 * input begins with the id of <pad>, whose embedding is zero; output is -1 where padded; guide (or
 * NULL) the aligned source position, -1 for none. */
typedef struct {
    int32_t sentences, sources, targets;
    const int32_t *source, *input, *output, *guide;
} StepBatch;

typedef struct {
    double loss, surprise, guide; /* sums over tokens */
    int64_t tokens, guided;
} StepStats;

typedef struct Step Step;

/* offsets: where each tensor lies in the flat arrays, in this order: embedding, output bias; then
 * for each encoder layer, then each decoder layer: weight and bias of qkv (rows q, k, v), out,
 * norm; in the decoder then of the cross attention's q, kv, out, norm; of fc1, fc2, norm. NULL if
 * the machine refuses memory or tiles. */
Step *step_create(const StepConfig *config, const int64_t *offsets, size_t values);
void step_free(Step *step);

/* gradient (values) is overwritten with the gradient of the summed loss + guide_weight * guide over
 * the batches. With gradient NULL only the statistics are made. Returns 0, or -1 if a batch is too
 * large. */
int step_run(Step *step, const float *parameters, float *gradient, const StepBatch *batches,
             size_t count, StepStats *stats);

#endif
