#include "translate/choose.h"

#include "base/size.h"

#include <stdlib.h>
#include <string.h>

/* A way for the pieces up to one of them, as a step from a way for those before. */
typedef struct step {
    uint8_t way, version;
} step;

typedef struct frontier {
    size_t count;
    double scores[TRANSLATE_WAYS_MAX]; /* descending */
} frontier;

/* Extends the best ways by one piece. The k best sums of two descending lists: of each way only the
 * next version is a candidate. */
static void extend(frontier *ways, const translate_term *term, size_t limit, step *steps)
{
    const translate_entry *entry = term->entry;
    size_t next[TRANSLATE_WAYS_MAX] = {0};
    frontier extended = {0};
    while (extended.count < limit) {
        size_t best = SIZE_MAX;
        double best_score = 0;
        for (size_t way = 0; way < ways->count; way++) {
            if (next[way] == entry->version_count)
                continue;
            double score = ways->scores[way] + term->weight * entry->versions[next[way]].score;
            if (best == SIZE_MAX || score > best_score) {
                best = way;
                best_score = score;
            }
        }
        if (best == SIZE_MAX)
            break;
        steps[extended.count] = (step){(uint8_t)best, (uint8_t)next[best]++};
        extended.scores[extended.count++] = best_score;
    }
    *ways = extended;
}

/* Follows each way from its last step to its first. */
static void trace(const step *steps, size_t terms, size_t limit, translate_ways *ways)
{
    for (size_t way = 0; way < ways->count; way++) {
        size_t at = way;
        for (size_t term = terms; term-- > 0;) {
            const step *s = &steps[term * limit + at];
            ways->versions[way * terms + term] = s->version;
            at = s->way;
        }
    }
}

bool translate_choose(const translate_term *terms, size_t count, size_t limit, translate_ways *ways)
{
    translate_ways_free(ways);
    size_t cells;
    if (!base_multiply(count, limit, &cells) || !base_add(cells, 1, &cells))
        return false;
    step *steps = calloc(cells, sizeof *steps);
    ways->versions = calloc(cells, 1);
    ways->scores = calloc(limit, sizeof *ways->scores);
    if (!steps || !ways->versions || !ways->scores) {
        free(steps);
        translate_ways_free(ways);
        return false;
    }
    frontier best = {.count = 1};
    for (size_t term = 0; term < count; term++)
        extend(&best, &terms[term], limit, steps + term * limit);
    ways->count = best.count;
    memcpy(ways->scores, best.scores, best.count * sizeof *best.scores);
    trace(steps, count, limit, ways);
    free(steps);
    return true;
}

void translate_ways_free(translate_ways *ways)
{
    free(ways->scores);
    free(ways->versions);
    *ways = (translate_ways){0};
}
