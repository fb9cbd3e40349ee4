#include "nn/decoding.h"

#include <math.h>
#include <stdlib.h>

float *decode_alone(const nn_network *network, const int32_t *source, size_t source_count,
                    const int32_t *tokens, size_t count, float *memory, uint32_t *alignment)
{
    const size_t outputs = nn_output_count(network);
    const nn_limits limits = {.rows = 1, .source_tokens = 64, .alignment = alignment != NULL};
    const nn_source one = {.ids = source, .count = source_count, .beams = 1, .positions = count};
    float *logits = malloc(count * outputs * sizeof *logits);
    nn_worker *worker;
    nn_sentence *sentence;
    if (!logits || nn_worker_create(network, &limits, &worker, NULL) ||
        nn_encode(worker, &one, 1, &sentence, memory, NULL))
        abort();
    for (size_t t = 0; t < count; t++) {
        const nn_row row = {.sentence = sentence, .token = tokens[t], .slot = 0};
        nn_step(worker, &row, 1, logits + t * outputs, NULL, false);
    }
    if (alignment)
        nn_sentence_alignment(sentence, 0, alignment);
    nn_sentence_release(worker, sentence);
    nn_worker_free(worker);
    return logits;
}

double relative_difference(const float *got, const float *expected, size_t count)
{
    double low = INFINITY, high = -INFINITY, worst = 0.0;
    for (size_t i = 0; i < count; i++) {
        if (!isfinite(got[i]))
            return INFINITY;
        low = fmin(low, (double)expected[i]);
        high = fmax(high, (double)expected[i]);
        worst = fmax(worst, fabs((double)got[i] - (double)expected[i]));
    }
    return worst / (high - low);
}
