/*
 * Writes what a network computes, for parity.py.
 *
 *     nn_dump MODEL BEAMS < IDS > NUMBERS
 *
 * Little-endian 32-bit words. IDS: for each sentence source_count, target_count, source ids, target
 * ids. NUMBERS: for each sentence the encoder's output (source_count, d_model) float, then the
 * logits (target_count, outputs) float. With BEAMS > 1 the sentence is decoded in every slot at
 * once, the slots exchanging their (equal) histories after each step; the last slot is written.
 */
#include "nn/nn.h"

#include <stdio.h>
#include <stdlib.h>

static bool read_words(void *words, size_t count)
{
    return fread(words, 4, count, stdin) == count;
}

static void write_floats(const float *x, size_t count)
{
    if (fwrite(x, sizeof *x, count, stdout) != count)
        exit(1);
}

static void *must(void *memory)
{
    if (!memory)
        abort();
    return memory;
}

static void dump(nn_worker *worker, const nn_network *network, size_t d, const nn_source *source,
                 const int32_t *target)
{
    const size_t outputs = nn_output_count(network), beams = source->beams;
    float *memory = must(malloc(source->count * d * sizeof *memory));
    float *logits = must(malloc(beams * outputs * sizeof *logits));
    nn_row *rows = must(calloc(beams, sizeof *rows));
    uint32_t *parents = must(calloc(beams, sizeof *parents));
    nn_sentence *sentence;
    zhen_error error;
    if (nn_encode(worker, source, 1, &sentence, memory, &error)) {
        (void)fprintf(stderr, "nn_dump: %s\n", error.message);
        exit(1);
    }
    write_floats(memory, source->count * d);
    for (size_t t = 0; t < source->positions; t++) {
        const size_t count = t ? beams : 1;
        for (size_t b = 0; b < count; b++) {
            rows[b] = (nn_row){.sentence = sentence, .token = target[t], .slot = (uint32_t)b};
            parents[b] = 0;
        }
        nn_step(worker, rows, count, logits, NULL, false);
        write_floats(logits + (count - 1) * outputs, outputs);
        for (size_t b = 0; t && b < beams; b++)
            parents[b] = (uint32_t)((b + t) % beams);
        nn_sentence_reorder(sentence, parents, beams);
    }
    nn_sentence_release(worker, sentence);
    free(memory);
    free(logits);
    free(rows);
    free(parents);
}

int main(int argc, char **argv)
{
    zhen_error error;
    zhen_model *model;
    nn_network *network;
    nn_worker *worker;
    if (argc != 3)
        return 2;
    const nn_limits limits = {.rows = strtoul(argv[2], NULL, 10), .source_tokens = 512};
    if (zhen_model_open(argv[1], &model, &error) ||
        nn_network_create(model, getenv("ZHEN_ISA"), 1, &network, &error) ||
        nn_worker_create(network, &limits, &worker, &error)) {
        (void)fprintf(stderr, "nn_dump: %s\n", error.message);
        return 1;
    }
    int32_t counts[2];
    while (read_words(counts, 2)) {
        const size_t source_count = (size_t)counts[0], target_count = (size_t)counts[1];
        int32_t *ids = must(malloc((source_count + target_count) * sizeof *ids));
        if (!read_words(ids, source_count + target_count))
            return 1;
        const nn_source source = {
            .ids = ids, .count = source_count, .beams = limits.rows, .positions = target_count};
        dump(worker, network, model->config.d_model, &source, ids + source_count);
        free(ids);
    }
    nn_worker_free(worker);
    nn_network_free(network);
    zhen_model_close(model);
    return 0;
}
