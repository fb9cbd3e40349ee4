#include "search/beam.h"

#include "base/size.h"

#include <math.h>

bool search_beam_init(search_beam *beam, base_arena *arena, const search_options *options,
                      size_t capacity)
{
    size_t beams = options->beams;
    size_t nodes;
    if (!base_multiply(beams, capacity, &nodes))
        return false;
    *beam = (search_beam){.beams = beams, .capacity = capacity};
    beam->scores = base_arena_calloc(arena, beams, sizeof *beam->scores);
    beam->tokens = base_arena_calloc(arena, nodes, sizeof *beam->tokens);
    beam->parents = base_arena_calloc(arena, nodes, sizeof *beam->parents);
    beam->shifts = base_arena_calloc(arena, nodes, sizeof *beam->shifts);
    beam->finished = base_arena_calloc(arena, beams, sizeof *beam->finished);
    if (!beam->scores || !beam->tokens || !beam->parents || !beam->shifts || !beam->finished)
        return false;
    if (!options->alignment)
        return true;
    for (size_t i = 0; i < beams; i++) {
        beam->finished[i].alignment = base_arena_calloc(arena, capacity, sizeof(uint32_t));
        if (!beam->finished[i].alignment)
            return false;
    }
    return true;
}

void search_beam_start(search_beam *beam, size_t limit)
{
    beam->limit = limit < beam->capacity ? limit : beam->capacity;
    beam->steps = 0;
    beam->live = 1;
    beam->scores[0] = 0.0F;
    beam->finished_count = 0;
}

/* length ^ length_penalty, in the precision in which torch divides by it. */
static float divisor(const search_options *options, size_t length)
{
    return (float)pow((double)length, options->length_penalty);
}

/* Files a hypothesis unless `beams` better or equal ones are there: among equal scores the older
 * one stays ahead. */
static void finish(search_beam *beam, search_finished hypothesis, size_t slot,
                   search_beam_notice *notice, void *context)
{
    search_finished *list = beam->finished;
    size_t place = beam->finished_count;
    while (place > 0 && list[place - 1].score < hypothesis.score)
        place--;
    if (place == beam->beams)
        return;
    if (beam->finished_count < beam->beams)
        beam->finished_count++;
    /* The memory of the last entry, which is free or drops out, serves the new one. */
    hypothesis.alignment = list[beam->finished_count - 1].alignment;
    for (size_t i = beam->finished_count - 1; i > place; i--)
        list[i] = list[i - 1];
    list[place] = hypothesis;
    if (notice)
        notice(context, &list[place], slot);
}

/* Can a running hypothesis still win? The heuristics are transformers': by default the best running
 * score is taken as it stands, although a positive length penalty may lift it later. */
static bool improvable(const search_beam *beam, const search_options *options)
{
    if (beam->finished_count < beam->beams)
        return true;
    if (options->early_stopping == ZHEN_EARLY_STOPPING_TRUE)
        return false;
    bool longest =
        options->early_stopping == ZHEN_EARLY_STOPPING_NEVER && options->length_penalty > 0.0;
    size_t length = longest ? options->max_new_tokens : beam->steps;
    float best = beam->scores[0] / divisor(options, length);
    return best > beam->finished[beam->beams - 1].score;
}

static void extend(search_beam *beam, const search_candidate *candidate)
{
    size_t node = beam->steps * beam->beams + beam->live;
    beam->tokens[node] = candidate->token;
    beam->parents[node] = candidate->parent;
    beam->scores[beam->live++] = candidate->score;
}

/* Files the best running hypothesis as it stands: nothing can follow it. */
static void break_off(search_beam *beam, const search_options *options, search_beam_notice *notice,
                      void *context)
{
    if (beam->live == 0 || beam->steps == 0)
        return;
    size_t node = (beam->steps - 1) * beam->beams;
    finish(beam,
           (search_finished){.score = beam->scores[0] / divisor(options, beam->steps),
                             .length = beam->steps,
                             .parent = beam->parents[node],
                             .last = beam->tokens[node]},
           0, notice, context);
}

bool search_beam_advance(search_beam *beam, const search_options *options,
                         const search_candidate *candidates, size_t count,
                         search_beam_notice *notice, void *context)
{
    size_t length = beam->steps + 1;
    bool at_limit = length >= beam->limit;
    float scale = divisor(options, length);
    if (count == 0) { /* everything is banned, or the network gave no numbers */
        break_off(beam, options, notice, context);
        return true;
    }
    beam->live = 0;
    for (size_t i = 0; i < count; i++) {
        const search_candidate *candidate = &candidates[i];
        if (!at_limit && candidate->token != options->eos_id) {
            if (beam->live < beam->beams)
                extend(beam, candidate);
        } else if (i < beam->beams) {
            /* Only the best `beams` may finish; the others are there to keep the beam full. */
            finish(beam,
                   (search_finished){.score = candidate->score / scale,
                                     .length = length,
                                     .parent = candidate->parent,
                                     .last = candidate->token},
                   candidate->parent, notice, context);
        }
    }
    beam->steps = length;
    return beam->live == 0 || !improvable(beam, options);
}

int32_t search_beam_token(const search_beam *beam, size_t slot, int32_t start)
{
    return beam->steps == 0 ? start : beam->tokens[(beam->steps - 1) * beam->beams + slot];
}

const uint32_t *search_beam_parents(const search_beam *beam)
{
    return beam->parents + (beam->steps - 1) * beam->beams;
}

/* Writes the `count` tokens that led to slot `slot` after step `count`. */
static void walk_back(const search_beam *beam, size_t count, size_t slot, int32_t *out)
{
    for (size_t step = count; step > 0; step--) {
        size_t node = (step - 1) * beam->beams + slot;
        out[step - 1] = beam->tokens[node];
        slot = beam->parents[node];
    }
}

void search_beam_history(const search_beam *beam, size_t slot, int32_t *out)
{
    walk_back(beam, beam->steps, slot, out);
}

void search_beam_shift(search_beam *beam, size_t slot, float shift)
{
    beam->shifts[beam->steps * beam->beams + slot] = shift;
}

double search_beam_shifted(const search_beam *beam, const search_finished *finished)
{
    double sum = 0.0;
    size_t slot = finished->parent;
    for (size_t step = finished->length - 1;; step--) {
        sum += (double)beam->shifts[step * beam->beams + slot];
        if (step == 0)
            return sum;
        slot = beam->parents[(step - 1) * beam->beams + slot];
    }
}

size_t search_beam_finished(const search_beam *beam, const search_finished *finished,
                            int32_t eos_id, int32_t *out)
{
    size_t before = finished->length - 1;
    walk_back(beam, before, finished->parent, out);
    if (finished->last == eos_id)
        return before;
    out[before] = finished->last;
    return finished->length;
}
