#include "search/toy_network.h"

#include "base/error.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

struct nn_network {
    toy_logit *logit;
    int32_t tokens[TOY_VOCABULARY];
    ptrdiff_t rows_of[TOY_VOCABULARY];
    size_t outputs;
    size_t encodes, fail_after, alive, steps, rows, full_rows;
};

struct nn_worker {
    nn_network *network;
    nn_limits limits;
    const kn_table *kernels;
};

/* histories[slot]: the start token and the tokens read so far. */
struct nn_sentence {
    uint32_t seed;
    size_t source_count, beams, positions, length;
    bool stepped;
    int32_t *histories; /* (beams, positions) */
};

static uint32_t mix(uint32_t x)
{
    x ^= x >> 16;
    x *= 0x7feb352dU;
    x ^= x >> 15;
    x *= 0x846ca68bU;
    x ^= x >> 16;
    return x;
}

uint32_t toy_seed(const int32_t *ids, size_t count)
{
    uint32_t seed = 1;
    for (size_t i = 0; i < count; i++)
        seed = mix(seed + (uint32_t)ids[i]);
    return seed;
}

/* history[0..steps] with the start token. */
static uint32_t context_key(uint32_t seed, const int32_t *history, size_t steps)
{
    uint32_t before = steps > 0 ? (uint32_t)history[steps - 1] : 0;
    return mix(mix(seed + before) + (uint32_t)history[steps]);
}

float toy_hashed_logit(uint32_t seed, const int32_t *history, size_t steps, int32_t token)
{
    uint32_t key = context_key(seed, history, steps);
    float logit = (float)(mix(key + (uint32_t)token) >> 12) / 131072.0F - 4.0F;
    return token == TOY_EOS ? logit + (float)steps / 16.0F : logit;
}

uint32_t toy_attention(uint32_t seed, const int32_t *history, size_t steps, size_t source_count)
{
    return context_key(seed, history, steps) % (uint32_t)source_count;
}

bool toy_producible(int32_t token)
{
    return token < 2 || token % 3 != 2;
}

nn_network *toy_network_create(toy_logit *logit)
{
    nn_network *network = calloc(1, sizeof *network);
    ck_assert_ptr_nonnull(network);
    network->logit = logit;
    network->fail_after = SIZE_MAX;
    for (int32_t token = 0; token < TOY_VOCABULARY; token++) {
        network->rows_of[token] = toy_producible(token) ? (ptrdiff_t)network->outputs : -1;
        if (toy_producible(token))
            network->tokens[network->outputs++] = token;
    }
    return network;
}

void toy_network_fail_after(nn_network *network, size_t calls)
{
    network->fail_after = network->encodes + calls;
}

size_t toy_network_alive(const nn_network *network)
{
    return network->alive;
}

size_t toy_network_steps(const nn_network *network)
{
    return network->steps;
}

size_t toy_network_encodes(const nn_network *network)
{
    return network->encodes;
}

size_t toy_network_full_rows(const nn_network *network)
{
    return network->full_rows;
}

size_t toy_network_rows(const nn_network *network)
{
    return network->rows;
}

/* ---- nn.h ---------------------------------------------------------------------------------------
 */

void nn_network_free(nn_network *network)
{
    free(network);
}

size_t nn_output_count(const nn_network *network)
{
    return network->outputs;
}

int32_t nn_output_token(const nn_network *network, size_t row)
{
    ck_assert_uint_lt(row, network->outputs);
    return network->tokens[row];
}

ptrdiff_t nn_output_row(const nn_network *network, int32_t token)
{
    ck_assert(token >= 0 && token < TOY_VOCABULARY);
    return network->rows_of[token];
}

zhen_status nn_worker_create(const nn_network *network, const nn_limits *limits, nn_worker **worker,
                             zhen_error *error)
{
    *worker = calloc(1, sizeof **worker);
    ck_assert_ptr_nonnull(*worker);
    (*worker)->network = (nn_network *)network;
    (*worker)->limits = *limits;
    return kn_select("scalar", &(*worker)->kernels, error);
}

void nn_worker_free(nn_worker *worker)
{
    if (worker)
        ck_assert_uint_eq(worker->network->alive, 0);
    free(worker);
}

void nn_worker_set_team(nn_worker *worker, base_team *team)
{
    (void)worker;
    (void)team;
}

zhen_status nn_encode(nn_worker *worker, const nn_source *sources, size_t count,
                      nn_sentence **sentences, float *memory_out, zhen_error *error)
{
    nn_network *network = worker->network;
    ck_assert_uint_gt(count, 0);
    ck_assert_ptr_null(memory_out);
    if (network->encodes == network->fail_after)
        return base_fail(error, ZHEN_ERROR_MEMORY, "the toy fails as told");
    network->encodes++;
    for (size_t i = 0; i < count; i++) {
        const nn_source *source = &sources[i];
        ck_assert_uint_ge(source->positions, 1);
        ck_assert_uint_le(source->positions, TOY_POSITIONS);
        nn_sentence *sentence = calloc(1, sizeof *sentence);
        ck_assert_ptr_nonnull(sentence);
        *sentence = (nn_sentence){.seed = toy_seed(source->ids, source->count),
                                  .source_count = source->count,
                                  .beams = source->beams,
                                  .positions = source->positions};
        sentence->histories = calloc(source->beams * source->positions, sizeof(int32_t));
        ck_assert_ptr_nonnull(sentence->histories);
        sentences[i] = sentence;
        network->alive++;
    }
    return ZHEN_OK;
}

void nn_sentence_release(nn_worker *worker, nn_sentence *sentence)
{
    if (!sentence)
        return;
    worker->network->alive--;
    free(sentence->histories);
    free(sentence);
}

/* Reads a row's token; the row must come after `previous` in nn.h's order. */
static void read_token(const nn_row *row, const nn_row *previous)
{
    nn_sentence *sentence = row->sentence;
    bool first = !previous || previous->sentence != sentence;
    ck_assert_uint_lt(row->slot, sentence->beams);
    ck_assert_uint_lt(sentence->length, sentence->positions);
    if (first)
        ck_assert(!sentence->stepped);
    else
        ck_assert_uint_gt(row->slot, previous->slot);
    if (sentence->length == 0) {
        ck_assert(first);
        ck_assert_uint_eq(row->slot, 0);
        ck_assert_int_eq(row->token, TOY_PAD);
    }
    sentence->stepped = true;
    sentence->histories[row->slot * sentence->positions + sentence->length] = row->token;
}

void nn_choose(const nn_network *network, const float *logits, kn_top *top, bool want_sum)
{
    const kn_table *kernels;
    ck_assert_int_eq(kn_select("scalar", &kernels, NULL), ZHEN_OK);
    kn_top_update(kernels, top, logits, network->outputs, 0, want_sum);
}

void nn_step(nn_worker *worker, const nn_row *rows, size_t count, float *logits, kn_top *top,
             bool want_sum)
{
    nn_network *network = worker->network;
    ck_assert(!logits != !top);
    ck_assert_uint_gt(count, 0);
    ck_assert_uint_le(count, worker->limits.rows);
    network->steps++;
    network->rows += count;
    network->full_rows += logits ? count : 0;
    float *row_logits = calloc(network->outputs, sizeof *row_logits);
    ck_assert_ptr_nonnull(row_logits);
    for (size_t i = 0; i < count; i++) {
        const nn_sentence *sentence = rows[i].sentence;
        read_token(&rows[i], i ? &rows[i - 1] : NULL);
        const int32_t *history = sentence->histories + rows[i].slot * sentence->positions;
        for (size_t row = 0; row < network->outputs; row++)
            row_logits[row] =
                network->logit(sentence->seed, history, sentence->length, network->tokens[row]);
        if (logits)
            memcpy(logits + i * network->outputs, row_logits, network->outputs * sizeof *logits);
        else
            kn_top_update(worker->kernels, &top[i], row_logits, network->outputs, 0, want_sum);
    }
    free(row_logits);
    for (size_t i = 0; i < count; i++) {
        if (rows[i].sentence->stepped)
            rows[i].sentence->length++;
        rows[i].sentence->stepped = false;
    }
}

void nn_sentence_reorder(nn_sentence *sentence, const uint32_t *parents, size_t count)
{
    size_t bytes = sentence->positions * sizeof *sentence->histories;
    int32_t *moved = calloc(sentence->beams, bytes);
    ck_assert_ptr_nonnull(moved);
    ck_assert_uint_le(count, sentence->beams);
    for (size_t slot = 0; slot < count; slot++) {
        ck_assert_uint_lt(parents[slot], sentence->beams);
        memcpy(moved + slot * sentence->positions,
               sentence->histories + parents[slot] * sentence->positions, bytes);
    }
    free(sentence->histories);
    sentence->histories = moved;
}

void nn_sentence_alignment(const nn_sentence *sentence, size_t slot, uint32_t *out)
{
    const int32_t *history = sentence->histories + slot * sentence->positions;
    for (size_t t = 0; t < sentence->length; t++)
        out[t] = toy_attention(sentence->seed, history, t, sentence->source_count);
}
