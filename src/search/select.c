#include "search/select.h"

#include <math.h>

static bool holds(const int32_t *rows, size_t count, int32_t row)
{
    for (size_t i = 0; i < count; i++) {
        if (rows[i] == row)
            return true;
    }
    return false;
}

void search_select_filter(const search_constraints *constraints, search_banned banned, kn_top *top)
{
    size_t kept = 0;
    for (size_t i = 0; i < top->count; i++) {
        int32_t row = top->indices[i];
        if (!isfinite(top->values[i]) || holds(banned.rows, banned.count, row) ||
            holds(constraints->always, constraints->always_count, row))
            continue;
        top->values[kept] = top->values[i];
        top->indices[kept++] = row;
    }
    top->count = kept;
}

/* A log-softmax; how much it takes from each. */
static float renormalise(const kn_table *kernels, float *logits, size_t outputs)
{
    size_t i = 0;
    while (i + 1 < outputs && !isfinite(logits[i]))
        i++;
    float before = logits[i];
    kn_log_softmax(kernels, logits, outputs);
    return isfinite(before) ? before - logits[i] : 0.0F;
}

float search_select_row(const search_row_rules *rules, const int32_t *history, size_t steps,
                        search_banned banned, float *logits, kn_top *top)
{
    const search_constraints *constraints = rules->constraints;
    size_t outputs = nn_output_count(constraints->network);
    if (rules->normalise)
        kn_log_softmax(rules->kernels, logits, outputs);
    if (rules->copies)
        search_copies_favour(rules->copies, rules->speller, history + 1, steps, logits);
    if (constraints->penalised)
        search_constraints_penalise(constraints, history, steps, logits);
    for (size_t i = 0; i < constraints->always_count; i++)
        logits[constraints->always[i]] = -INFINITY;
    for (size_t i = 0; i < banned.count; i++)
        logits[banned.rows[i]] = -INFINITY;
    float shift = 0.0F;
    if (rules->renormalise && rules->copies)
        shift = renormalise(rules->kernels, logits, outputs);
    else if (rules->renormalise)
        kn_log_softmax(rules->kernels, logits, outputs);
    kn_top_update(rules->kernels, top, logits, outputs, 0, rules->want_sum);
    if (!rules->want_sum) {
        top->maximum = 0.0F;
        top->sum = 1.0;
    }
    search_select_filter(constraints, banned, top);
    return shift;
}

/* Added to the maximum this is log(sum(exp(logits))). Kept apart from it, because torch subtracts
 * one after the other. */
static float log_sum_above_maximum(const kn_top *top)
{
    return (float)(kn_top_log_sum(top) - (double)top->maximum);
}

size_t search_select_merge(const search_beam *beam, const nn_network *network, const kn_top *tops,
                           bool scored, size_t want, search_candidate *candidates)
{
    size_t next[SEARCH_BEAMS_MAX] = {0};
    float log_sum[SEARCH_BEAMS_MAX];
    size_t count = 0;
    for (size_t slot = 0; slot < beam->live; slot++)
        log_sum[slot] = scored ? log_sum_above_maximum(&tops[slot]) : 0.0F;
    while (count < want) {
        search_candidate best = {.score = -INFINITY};
        for (size_t slot = 0; slot < beam->live; slot++) {
            const kn_top *top = &tops[slot];
            if (next[slot] == top->count)
                continue;
            float logit = top->values[next[slot]];
            float gain = scored ? logit - top->maximum - log_sum[slot] : 0.0F;
            float score = beam->scores[slot] + gain;
            if (score > best.score) {
                best.score = score;
                best.parent = (uint32_t)slot;
            }
        }
        if (best.score == -INFINITY)
            break;
        int32_t row = tops[best.parent].indices[next[best.parent]++];
        best.token = nn_output_token(network, (size_t)row);
        candidates[count++] = best;
    }
    return count;
}

size_t search_select_forced(const search_beam *beam, int32_t token, search_candidate *candidates)
{
    for (size_t slot = 0; slot < beam->live; slot++)
        candidates[slot] = (search_candidate){
            .score = beam->scores[slot], .parent = (uint32_t)slot, .token = token};
    return beam->live;
}
