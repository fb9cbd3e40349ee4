#include "translate/choose.h"

#include "support/suite.h"

#include <math.h>
#include <string.h>

enum { TERMS = 5, VERSIONS = 4 };

static unsigned seed = 12345;

static double random_score(void)
{
    seed = seed * 1664525 + 1013904223;
    return -(double)(seed >> 8) / (1 << 20);
}

/* Entries with 1 to VERSIONS versions of descending score. */
static void make_terms(translate_term *terms, translate_entry *entries,
                       translate_version versions[][VERSIONS])
{
    for (size_t t = 0; t < TERMS; t++) {
        double score = 0;
        entries[t].version_count = 1 + (seed >> 16) % VERSIONS;
        for (size_t v = 0; v < entries[t].version_count; v++)
            versions[t][v].score = score += random_score();
        entries[t].versions = versions[t];
        terms[t] = (translate_term){&entries[t], 1.0 / (double)(1 + t)};
    }
}

static int descending(const void *a, const void *b)
{
    double difference = *(const double *)b - *(const double *)a;
    return difference > 0 ? 1 : difference < 0 ? -1 : 0;
}

static double total(const translate_term *terms, const uint8_t *versions)
{
    double sum = 0;
    for (size_t t = 0; t < TERMS; t++)
        sum += terms[t].weight * terms[t].entry->versions[versions[t]].score;
    return sum;
}

/* The scores of all ways, best first. */
static size_t all_ways(const translate_term *terms, double *scores)
{
    uint8_t versions[TERMS] = {0};
    size_t count = 0, at;
    do {
        scores[count++] = total(terms, versions);
        for (at = 0; at < TERMS && ++versions[at] == terms[at].entry->version_count; at++)
            versions[at] = 0;
    } while (at < TERMS);
    qsort(scores, count, sizeof *scores, descending);
    return count;
}

START_TEST(finds_the_best_ways)
{
    static double scores[1024];
    translate_ways ways = {0};
    for (size_t round = 0; round < 200; round++) {
        translate_term terms[TERMS];
        translate_entry entries[TERMS];
        translate_version versions[TERMS][VERSIONS];
        memset(entries, 0, sizeof entries);
        make_terms(terms, entries, versions);
        size_t count = all_ways(terms, scores), limit = 1 + round % 24;
        ck_assert(translate_choose(terms, TERMS, limit, &ways));
        ck_assert_uint_eq(ways.count, count < limit ? count : limit);
        for (size_t way = 0; way < ways.count; way++) {
            const uint8_t *chosen = ways.versions + way * TERMS;
            ck_assert(fabs(ways.scores[way] - scores[way]) < 1e-9);
            ck_assert(fabs(total(terms, chosen) - scores[way]) < 1e-9);
            for (size_t other = 0; other < way; other++)
                ck_assert(memcmp(chosen, ways.versions + other * TERMS, TERMS) != 0);
        }
        for (size_t t = 0; t < TERMS; t++)
            ck_assert_uint_eq(ways.versions[t], 0);
    }
    translate_ways_free(&ways);
}
END_TEST

START_TEST(chooses_among_nothing)
{
    translate_ways ways = {0};
    ck_assert(translate_choose(NULL, 0, 3, &ways));
    ck_assert_uint_eq(ways.count, 1);
    ck_assert(ways.scores[0] == 0);
    translate_ways_free(&ways);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {finds_the_best_ways, chooses_among_nothing};
    return run_suite("translate_choose", tests, sizeof tests / sizeof *tests);
}
