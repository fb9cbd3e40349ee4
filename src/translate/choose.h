/* Alternatives of a text of many pieces, each with alternatives of its own. */
#ifndef TRANSLATE_CHOOSE_H
#define TRANSLATE_CHOOSE_H

#include "translate/memory.h"

/* A piece, and how much its score counts in the score of the text. */
typedef struct translate_term {
    const translate_entry *entry;
    double weight;
} translate_term;

enum { TRANSLATE_WAYS_MAX = 255 };

/* The best ways to choose a version of each piece. All zero is empty; reusable. */
typedef struct translate_ways {
    size_t count;      /* ways, best first; the first takes the best version of each piece */
    double *scores;    /* (count): sums of weighted scores */
    uint8_t *versions; /* (count, terms): the version that a way takes of each piece */
} translate_ways;

/* Finds the best `limit` ways (1 to TRANSLATE_WAYS_MAX; fewer if there are fewer), piece by piece:
 * the best ways for some pieces are made of the best ways for all but the last of them. Takes time
 * for terms * limit * limit steps. Among equal scores the way that differs later comes first. False
 * when memory runs out. */
bool translate_choose(const translate_term *terms, size_t count, size_t limit,
                      translate_ways *ways);
void translate_ways_free(translate_ways *ways);

#endif
