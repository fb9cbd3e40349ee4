/* Tiny models of several shapes against what transformers computed: see make_fixtures.py. */
#include "base/file.h"
#include "nn/decoding.h"
#include "nn/nn.h"
#include "support/suite.h"

#include <stdlib.h>
#include <string.h>

static const char *const FIXTURES[] = {"tests/nn/fixtures/relu-tied",
                                       "tests/nn/fixtures/swish-untied",
                                       "tests/nn/fixtures/gelu-scattered"};
enum { FIXTURE_COUNT = 3 };

/* expected.bin, read from front to back. */
typedef struct reader {
    const unsigned char *at;
} reader;

static const void *take(reader *r, size_t words)
{
    const void *here = r->at;
    r->at += 4 * words;
    return here;
}

static size_t take_size(reader *r)
{
    int32_t value;
    memcpy(&value, take(r, 1), sizeof value);
    return (size_t)value;
}

/* Logits of every token; pieces that cannot be produced are not compared. */
static double logits_difference(const nn_network *network, const float *got, const float *expected,
                                size_t count, size_t vocabulary)
{
    const size_t outputs = nn_output_count(network);
    float *chosen = malloc(count * outputs * sizeof *chosen);
    for (size_t t = 0; t < count; t++)
        for (size_t o = 0; o < outputs; o++)
            chosen[t * outputs + o] =
                expected[t * vocabulary + (size_t)nn_output_token(network, o)];
    double difference = relative_difference(got, chosen, count * outputs);
    free(chosen);
    return difference;
}

START_TEST(encoder_and_decoder_agree_with_transformers)
{
    zhen_error error;
    zhen_model *model;
    nn_network *network;
    ck_assert_msg(!zhen_model_open(FIXTURES[_i], &model, &error), "%s", error.message);
    ck_assert_msg(!nn_network_create(model, NULL, 1, &network, &error), "%s", error.message);
    char *path = base_path_join(FIXTURES[_i], "expected.bin");
    base_map map;
    ck_assert_msg(!base_map_open(path, &map, &error), "%s", error.message);
    reader r = {.at = map.bytes};
    ck_assert(memcmp(take(&r, 1), "ZHNN", 4) == 0);
    const size_t count = take_size(&r), d = take_size(&r), vocabulary = take_size(&r);
    ck_assert_uint_eq(d, model->config.d_model);
    ck_assert_uint_eq(vocabulary, model->config.decoder.vocabulary);
    for (size_t i = 0; i < count; i++) {
        const size_t source_count = take_size(&r), target_count = take_size(&r);
        const int32_t *source = take(&r, source_count), *target = take(&r, target_count);
        const float *memory = take(&r, source_count * d);
        const float *logits = take(&r, target_count * vocabulary);
        const uint32_t *alignment = take(&r, target_count);
        float *got_memory = malloc(source_count * d * sizeof *got_memory);
        uint32_t *got_alignment = malloc(target_count * sizeof *got_alignment);
        float *got = decode_alone(network, source, source_count, target, target_count, got_memory,
                                  got_alignment);
        ck_assert_double_lt(relative_difference(got_memory, memory, source_count * d), 1e-5);
        ck_assert_double_lt(logits_difference(network, got, logits, target_count, vocabulary),
                            1e-5);
        ck_assert(memcmp(got_alignment, alignment, target_count * sizeof *alignment) == 0);
        free(got);
        free(got_alignment);
        free(got_memory);
    }
    ck_assert_ptr_eq(r.at, map.bytes + map.size);
    base_map_close(&map);
    free(path);
    nn_network_free(network);
    zhen_model_close(model);
}
END_TEST

int main(void)
{
    TCase *all = tcase_create("parity");
    tcase_add_loop_test(all, encoder_and_decoder_agree_with_transformers, 0, FIXTURE_COUNT);
    return run_group("nn_parity", all);
}
