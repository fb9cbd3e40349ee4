/*
 * Batches, beams and reordering against the plain case of one hypothesis decoded alone, and int8
 * against float evaluation of the same weights.
 */
#include "nn/decoding.h"
#include "nn/nn.h"
#include "nn/synthetic.h"
#include "support/suite.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SENTENCES = 6, BEAMS = 3, ROWS = SENTENCES * BEAMS, STEPS = 21, POSITIONS = 64 };
enum { SOURCE_VOCABULARY = 50 };

/* Odd sizes: no width is a multiple of 16, heads of 9 and 12. */
static const synthetic_shape ODD = {.d_model = 36,
                                    .encoder = {2, 4, 50, SOURCE_VOCABULARY},
                                    .decoder = {2, 3, 70, 601},
                                    .activation = MDL_SWISH,
                                    .max_positions = POSITIONS,
                                    .banned_step = 11};
/* Even ones, with more outputs than fit into a panel. */
static const synthetic_shape EVEN = {.d_model = 64,
                                     .encoder = {1, 1, 128, SOURCE_VOCABULARY},
                                     .decoder = {2, 4, 64, 1500},
                                     .activation = MDL_RELU,
                                     .max_positions = POSITIONS,
                                     .banned_from = 1100};
static const synthetic_shape *const SHAPES[] = {&ODD, &EVEN};

static const size_t LENGTHS[SENTENCES] = {7, 1, 40, 16, 33, 17};

typedef struct fixture {
    zhen_model *model, *int8;
    nn_network *networks[2]; /* float, int8 */
    int32_t ids[SENTENCES][POSITIONS];
    nn_source sources[SENTENCES];
} fixture;

static fixture setup(const synthetic_shape *shape)
{
    fixture f;
    f.model = synthetic_model(shape, 7);
    f.int8 = synthetic_int8(f.model);
    ck_assert_int_eq(nn_network_create(f.model, NULL, 1, &f.networks[0], NULL), ZHEN_OK);
    ck_assert_int_eq(nn_network_create(f.int8, NULL, 3, &f.networks[1], NULL), ZHEN_OK);
    unsigned seed = 11;
    for (size_t i = 0; i < SENTENCES; i++)
        for (size_t p = 0; p < POSITIONS; p++)
            f.ids[i][p] = (int32_t)synthetic_random(&seed, SOURCE_VOCABULARY);
    return f;
}

static void set_sources(fixture *f, size_t beams)
{
    for (size_t i = 0; i < SENTENCES; i++)
        f->sources[i] =
            (nn_source){.ids = f->ids[i], .count = LENGTHS[i], .beams = beams, .positions = STEPS};
}

static void teardown(fixture *f)
{
    nn_network_free(f->networks[0]);
    nn_network_free(f->networks[1]);
    synthetic_free(f->int8);
    synthetic_free(f->model);
}

static nn_worker *create_worker(const nn_network *network, bool alignment)
{
    const nn_limits limits = {.rows = ROWS, .source_tokens = 60, .alignment = alignment};
    nn_worker *worker;
    ck_assert_int_eq(nn_worker_create(network, &limits, &worker, NULL), ZHEN_OK);
    return worker;
}

/* int8 results do not depend on the batch at all; OpenBLAS may sum in another order. */
static void check_same(const float *got, const float *expected, size_t count, bool exact)
{
    if (exact)
        ck_assert(memcmp(got, expected, count * sizeof *got) == 0);
    else
        ck_assert(relative_difference(got, expected, count) < 1e-6);
}

/* ---- Batches -------------------------------------------------------------------------------- */

static void check_encoder_batch(fixture *f, bool int8)
{
    const nn_network *network = f->networks[int8];
    const size_t d = f->model->config.d_model;
    size_t tokens = 0;
    for (size_t i = 0; i < SENTENCES; i++)
        tokens += LENGTHS[i];
    float *together = malloc(tokens * d * sizeof *together), *at = together;
    float *alone = malloc(POSITIONS * d * sizeof *alone);
    nn_sentence *sentences[SENTENCES];
    nn_worker *worker = create_worker(network, false);
    ck_assert_int_eq(nn_encode(worker, f->sources, SENTENCES, sentences, together, NULL), ZHEN_OK);
    for (size_t i = 0; i < SENTENCES; i++) {
        nn_sentence *sentence;
        ck_assert_int_eq(nn_encode(worker, &f->sources[i], 1, &sentence, alone, NULL), ZHEN_OK);
        nn_sentence_release(worker, sentence);
        nn_sentence_release(worker, sentences[i]);
        check_same(at, alone, LENGTHS[i] * d, int8);
        at += LENGTHS[i] * d;
    }
    nn_worker_free(worker);
    free(together);
    free(alone);
}

START_TEST(a_sentence_is_encoded_the_same_alone_and_in_a_batch)
{
    fixture f = setup(SHAPES[_i]);
    set_sources(&f, 1);
    check_encoder_batch(&f, false);
    check_encoder_batch(&f, true);
    teardown(&f);
}
END_TEST

/* ---- Beams ---------------------------------------------------------------------------------- */

/* What every slot has read so far. */
typedef struct history {
    int32_t tokens[BEAMS][STEPS];
    uint32_t parents[BEAMS];
    float *logits[BEAMS]; /* (STEPS, outputs) */
    uint32_t looked[BEAMS][STEPS];
} history;

static void start_history(history *h, size_t outputs)
{
    for (size_t b = 0; b < BEAMS; b++)
        h->logits[b] = malloc(STEPS * outputs * sizeof(float));
}

/* The same reordering as the network's, by copying. */
static void reorder_history(history *h, size_t length, size_t outputs)
{
    history old = *h;
    for (size_t b = 0; b < BEAMS; b++) {
        h->logits[b] = malloc(STEPS * outputs * sizeof(float));
        memcpy(h->logits[b], old.logits[h->parents[b]], length * outputs * sizeof(float));
        memcpy(h->tokens[b], old.tokens[h->parents[b]], sizeof h->tokens[b]);
    }
    for (size_t b = 0; b < BEAMS; b++)
        free(old.logits[b]);
}

/* Decodes with random tokens and random reordering; in the end every slot must have got the logits
 * that its history gets when it is decoded alone. One sentence enters late, one leaves early. */
static void check_beams(fixture *f, bool int8)
{
    const nn_network *network = f->networks[int8];
    const size_t outputs = nn_output_count(network);
    nn_worker *worker = create_worker(network, true);
    nn_sentence *sentences[SENTENCES];
    history *histories = calloc(SENTENCES, sizeof *histories);
    float *logits = malloc(ROWS * outputs * sizeof *logits);
    size_t lengths[SENTENCES] = {0};
    unsigned seed = 3;
    ck_assert_int_eq(nn_encode(worker, f->sources, SENTENCES - 1, sentences, NULL, NULL), ZHEN_OK);
    for (size_t i = 0; i < SENTENCES; i++)
        start_history(&histories[i], outputs);
    for (size_t step = 0; step < STEPS; step++) {
        if (step == 2)
            ck_assert_int_eq(nn_encode(worker, &f->sources[SENTENCES - 1], 1,
                                       &sentences[SENTENCES - 1], NULL, NULL),
                             ZHEN_OK);
        nn_row rows[ROWS];
        size_t count = 0;
        for (size_t i = 0; i < SENTENCES; i++) {
            bool waits = i == SENTENCES - 1 && step < 2, left = i == 0 && step >= 9;
            for (size_t b = 0; b < (lengths[i] ? BEAMS : 1) && !waits && !left; b++) {
                int32_t token = (int32_t)synthetic_random(&seed, 600);
                histories[i].tokens[b][lengths[i]] = token;
                rows[count++] =
                    (nn_row){.sentence = sentences[i], .token = token, .slot = (uint32_t)b};
            }
        }
        nn_step(worker, rows, count, logits, NULL, false);
        for (size_t r = 0; r < count;) {
            size_t i = 0;
            while (sentences[i] != rows[r].sentence)
                i++;
            history *h = &histories[i];
            for (; r < count && rows[r].sentence == sentences[i]; r++)
                memcpy(h->logits[rows[r].slot] + lengths[i] * outputs, logits + r * outputs,
                       outputs * sizeof *logits);
            for (size_t b = 0; b < BEAMS; b++)
                h->parents[b] = lengths[i] ? (uint32_t)synthetic_random(&seed, BEAMS) : 0;
            lengths[i]++;
            nn_sentence_reorder(sentences[i], h->parents, BEAMS);
            reorder_history(h, lengths[i], outputs);
        }
    }
    for (size_t i = 0; i < SENTENCES; i++) {
        for (size_t b = 0; b < BEAMS; b++) {
            uint32_t looked[STEPS], expected[STEPS];
            float *alone = decode_alone(network, f->ids[i], LENGTHS[i], histories[i].tokens[b],
                                        lengths[i], NULL, expected);
            check_same(histories[i].logits[b], alone, lengths[i] * outputs, int8);
            nn_sentence_alignment(sentences[i], b, looked);
            if (int8)
                ck_assert(memcmp(looked, expected, lengths[i] * sizeof *looked) == 0);
            free(alone);
            free(histories[i].logits[b]);
        }
        nn_sentence_release(worker, sentences[i]);
    }
    nn_worker_free(worker);
    free(histories);
    free(logits);
}

START_TEST(a_hypothesis_is_decoded_the_same_alone_and_among_others)
{
    fixture f = setup(SHAPES[_i]);
    set_sources(&f, BEAMS);
    check_beams(&f, false);
    check_beams(&f, true);
    teardown(&f);
}
END_TEST

/* ---- The best outputs ------------------------------------------------------------------------ */

START_TEST(the_best_outputs_are_those_of_the_logits)
{
    fixture f = setup(SHAPES[_i]);
    set_sources(&f, 1);
    for (size_t int8 = 0; int8 < 2; int8++) {
        const size_t outputs = nn_output_count(f.networks[int8]);
        nn_worker *worker = create_worker(f.networks[int8], false);
        float *logits = calloc(SENTENCES * outputs, sizeof *logits);
        nn_sentence *sentences[2][SENTENCES];
        nn_row rows[SENTENCES];
        kn_top tops[SENTENCES];
        for (size_t form = 0; form < 2; form++) {
            ck_assert_int_eq(nn_encode(worker, f.sources, SENTENCES, sentences[form], NULL, NULL),
                             ZHEN_OK);
            for (size_t i = 0; i < SENTENCES; i++) {
                rows[i] = (nn_row){.sentence = sentences[form][i], .token = (int32_t)i};
                kn_top_start(&tops[i], 5);
            }
            nn_step(worker, rows, SENTENCES, form ? NULL : logits, form ? tops : NULL, true);
        }
        for (size_t i = 0; i < SENTENCES; i++) {
            const float *row = logits + i * outputs;
            double sum = 0.0, log_sum = (double)tops[i].maximum + log(tops[i].sum);
            for (size_t o = 0; o < outputs; o++)
                sum += exp((double)row[o]);
            ck_assert_double_gt(sum, 0.0);
            ck_assert_double_eq_tol(log_sum, log(sum), 1e-4);
            ck_assert_uint_eq(tops[i].count, 5);
            for (size_t k = 0; k < 5; k++) {
                size_t above = 0;
                for (size_t o = 0; o < outputs; o++)
                    above += row[o] > row[tops[i].indices[k]];
                ck_assert_uint_eq(above, k);
                ck_assert_float_eq_tol(tops[i].values[k], row[tops[i].indices[k]],
                                       int8 ? 1e-30F : 1e-5F);
            }
            nn_sentence_release(worker, sentences[0][i]);
            nn_sentence_release(worker, sentences[1][i]);
        }
        free(logits);
        nn_worker_free(worker);
    }
    teardown(&f);
}
END_TEST

/* ---- int8 ----------------------------------------------------------------------------------- */

/* Activations are rounded to 1/127 of a row's largest value before each product, which leaves about
 * two hundredths of the range after a few layers of random weights; a wrong scale or a swapped
 * matrix leaves more than a tenth. */
START_TEST(int8_agrees_with_float_evaluation_of_its_weights)
{
    fixture f = setup(SHAPES[_i]);
    zhen_model *plain = synthetic_dequantized(f.int8);
    nn_network *network;
    ck_assert_int_eq(nn_network_create(plain, NULL, 1, &network, NULL), ZHEN_OK);
    const size_t d = plain->config.d_model, outputs = nn_output_count(network);
    const int32_t tokens[] = {1, 5, 9, 13, 2, 44, 7};
    float *memories[2], *logits[2];
    const nn_network *pair[] = {network, f.networks[1]};
    for (size_t i = 0; i < 2; i++) {
        memories[i] = malloc(LENGTHS[2] * d * sizeof(float));
        logits[i] = decode_alone(pair[i], f.ids[2], LENGTHS[2], tokens, 7, memories[i], NULL);
    }
    ck_assert_double_lt(relative_difference(memories[1], memories[0], LENGTHS[2] * d), 0.04);
    ck_assert_double_lt(relative_difference(logits[1], logits[0], 7 * outputs), 0.04);
    ck_assert_double_gt(relative_difference(logits[1], logits[0], 7 * outputs), 0.0);
    for (size_t i = 0; i < 2; i++) {
        free(memories[i]);
        free(logits[i]);
    }
    nn_network_free(network);
    synthetic_free(plain);
    teardown(&f);
}
END_TEST

START_TEST(int8_is_the_same_on_every_instruction_set)
{
    fixture f = setup(SHAPES[_i]);
    nn_network *scalar;
    ck_assert_int_eq(nn_network_create(f.int8, "scalar", 1, &scalar, NULL), ZHEN_OK);
    const int32_t tokens[] = {1, 5, 9, 13, 2, 44, 7};
    float *plain = decode_alone(scalar, f.ids[2], LENGTHS[2], tokens, 7, NULL, NULL);
    float *best = decode_alone(f.networks[1], f.ids[2], LENGTHS[2], tokens, 7, NULL, NULL);
    ck_assert(memcmp(plain, best, 7 * nn_output_count(scalar) * sizeof *plain) == 0);
    free(plain);
    free(best);
    nn_network_free(scalar);
    teardown(&f);
}
END_TEST

/* Logits and best outputs of three hypotheses of one sentence, all steps, by a team or alone. */
static void decode_in_team(const nn_network *network, const fixture *f, base_team *team,
                           float *logits, kn_top *tops)
{
    const size_t outputs = nn_output_count(network);
    nn_worker *worker = create_worker(network, true);
    nn_worker_set_team(worker, team);
    nn_sentence *sentence;
    ck_assert_int_eq(nn_encode(worker, &f->sources[2], 1, &sentence, NULL, NULL), ZHEN_OK);
    for (size_t step = 0; step < STEPS; step++) {
        nn_row rows[BEAMS];
        const size_t count = step ? BEAMS : 1;
        for (size_t i = 0; i < count; i++) {
            rows[i] = (nn_row){sentence, (int32_t)(step * 7 + i) % 40, (uint32_t)i};
            kn_top_start(&tops[step * BEAMS + i], 2 * BEAMS);
        }
        nn_step(worker, rows, count, logits + step * BEAMS * outputs, tops + step * BEAMS, true);
        nn_sentence_reorder(sentence, (const uint32_t[]){0, 0, step ? 1 : 0}, BEAMS);
    }
    nn_sentence_release(worker, sentence);
    nn_worker_free(worker);
}

START_TEST(a_team_gives_the_same_bits)
{
    fixture f = setup(SHAPES[_i]);
    set_sources(&f, BEAMS);
    for (size_t n = 0; n < 2; n++) {
        const size_t size = STEPS * BEAMS * nn_output_count(f.networks[n]);
        float *alone = calloc(size, sizeof *alone), *together = calloc(size, sizeof *together);
        kn_top tops[2][STEPS * BEAMS] = {{{0}}};
        decode_in_team(f.networks[n], &f, NULL, alone, tops[0]);
        for (size_t members = 1; members < 6; members += 2) {
            base_team_past past = {0};
            base_team *team = base_team_create(members, &past);
            memset(tops[1], 0, sizeof tops[1]);
            decode_in_team(f.networks[n], &f, team, together, tops[1]);
            base_team_free(team);
            ck_assert_mem_eq(together, alone, size * sizeof *alone);
            ck_assert_mem_eq(tops[1], tops[0], sizeof tops[0]);
        }
        free(together);
        free(alone);
    }
    teardown(&f);
}
END_TEST

/* ---- Arguments ------------------------------------------------------------------------------- */

static void check_refused(nn_worker *worker, const nn_source *source, const char *word)
{
    zhen_error error;
    nn_sentence *sentences[2];
    const nn_source sources[] = {*source, *source};
    ck_assert_int_eq(nn_encode(worker, sources, 2, sentences, NULL, &error), ZHEN_ERROR_ARGUMENT);
    ck_assert_msg(strstr(error.message, word) != NULL, "%s", error.message);
    ck_assert(!sentences[0] && !sentences[1]);
}

START_TEST(impossible_sentences_are_refused)
{
    fixture f = setup(&ODD);
    set_sources(&f, 1);
    nn_worker *worker = create_worker(f.networks[0], false);
    int32_t ids[POSITIONS + 1] = {0};
    const nn_source good = {.ids = ids, .count = 3, .beams = 1, .positions = 5};
    nn_source bad = good;
    bad.count = 0;
    check_refused(worker, &bad, "tokens");
    bad.count = POSITIONS + 1;
    check_refused(worker, &bad, "tokens");
    bad = good;
    bad.positions = 0;
    check_refused(worker, &bad, "positions");
    bad.positions = POSITIONS + 1;
    check_refused(worker, &bad, "positions");
    bad = good;
    bad.beams = 0;
    check_refused(worker, &bad, "beams");
    bad.beams = ROWS + 1;
    check_refused(worker, &bad, "beams");
    ids[2] = SOURCE_VOCABULARY;
    check_refused(worker, &good, "token id 50");
    ids[2] = -1;
    check_refused(worker, &good, "token id -1");
    nn_worker_free(worker);

    const nn_limits none = {.rows = 0, .source_tokens = 10};
    ck_assert_int_eq(nn_worker_create(f.networks[0], &none, &worker, NULL), ZHEN_ERROR_ARGUMENT);
    ck_assert_ptr_null(worker);
    nn_worker_free(worker);
    teardown(&f);
}
END_TEST

int main(void)
{
    TCase *all = tcase_create("decoding");
    tcase_set_timeout(all, 0);
    tcase_add_loop_test(all, a_sentence_is_encoded_the_same_alone_and_in_a_batch, 0, 2);
    tcase_add_loop_test(all, a_hypothesis_is_decoded_the_same_alone_and_among_others, 0, 2);
    tcase_add_loop_test(all, the_best_outputs_are_those_of_the_logits, 0, 2);
    tcase_add_loop_test(all, int8_agrees_with_float_evaluation_of_its_weights, 0, 2);
    tcase_add_loop_test(all, int8_is_the_same_on_every_instruction_set, 0, 2);
    tcase_add_loop_test(all, a_team_gives_the_same_bits, 0, 2);
    tcase_add_test(all, impossible_sentences_are_refused);
    return run_group("nn_decoding", all);
}
