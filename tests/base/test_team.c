/* Teams: every part is done once a round, whoever is awake. */
#include "base/team.h"
#include "support/suite.h"
#include "support/threads.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

enum { SIZE_MOST = 9 };

static void sleep_for(long microseconds)
{
    const struct timespec time = {0, microseconds * 1000};
    nanosleep(&time, NULL);
}

typedef struct counts {
    long plain[SIZE_MOST]; /* of each part: what one thread writes the next one must see */
    atomic_long all;
    size_t parts;
    long nap; /* microseconds that parts but the first take */
    bool wrong;
} counts;

static void count_part(void *context, size_t part, size_t parts)
{
    counts *c = context;
    if (parts != c->parts || part >= parts) {
        c->wrong = true;
        return;
    }
    c->plain[part]++;
    atomic_fetch_add(&c->all, 1);
    if (c->nap && part)
        sleep_for(c->nap);
}

static void check_rounds(base_team *team, size_t parts, long rounds, long pause, long nap)
{
    counts c = {.parts = parts, .nap = nap};
    for (long round = 1; round <= rounds; round++) {
        base_team_run(team, count_part, &c);
        ck_assert_int_eq(atomic_load(&c.all), round * (long)parts);
        for (size_t i = 0; i < parts; i++)
            ck_assert_int_eq(c.plain[i], round);
        if (pause)
            sleep_for(pause);
    }
    ck_assert(!c.wrong);
}

START_TEST(every_part_is_done_once_a_round)
{
    const size_t size = (size_t)_i;
    base_team_past past = {0};
    base_team *team = base_team_create(size, &past);
    ck_assert_ptr_nonnull(team);
    check_rounds(team, size, 3000, 0, 0);
    check_rounds(team, size, 20, 500, 0); /* asleep before each round */
    check_rounds(team, size, 20, 0, 300); /* the caller waits, or works alone */
    base_team_free(team);
}
END_TEST

typedef struct meeting {
    atomic_bool begun; /* part 1 has */
    long nap;          /* microseconds that it takes */
    pthread_t threads[2];
} meeting;

/* Part 0 waits until part 1 has begun on another thread. */
static void meet(void *context, size_t part, size_t parts)
{
    (void)parts;
    meeting *m = context;
    m->threads[part] = pthread_self();
    if (part == 0) {
        while (!atomic_load(&m->begun))
            sleep_for(10);
    } else {
        atomic_store(&m->begun, true);
        sleep_for(m->nap);
    }
}

static void note_thread(void *context, size_t part, size_t parts)
{
    (void)parts;
    ((meeting *)context)->threads[part] = pthread_self();
}

START_TEST(after_a_delay_the_caller_works_alone_for_a_while)
{
    base_team_past past = {0};
    base_team *team = base_team_create(2, &past);
    meeting m = {.nap = 20000};
    base_team_run(team, meet, &m);
    ck_assert(!pthread_equal(m.threads[0], m.threads[1]));
    const size_t first = past.alone;
    ck_assert_uint_gt(first, 0);
    for (size_t round = 0; round < first; round++) {
        ck_assert_uint_eq(past.alone, first - round);
        base_team_run(team, note_thread, &m);
        ck_assert(pthread_equal(m.threads[0], m.threads[1]));
    }
    /* Then they meet again, and a second delay costs more. Another team knows of it. */
    m.begun = false;
    base_team_run(team, meet, &m);
    ck_assert(!pthread_equal(m.threads[0], m.threads[1]));
    ck_assert_uint_eq(past.alone, 2 * first);
    base_team_free(team);
    team = base_team_create(2, &past);
    base_team_run(team, note_thread, &m);
    ck_assert_uint_eq(past.alone, 2 * first - 1);
    base_team_free(team);
}
END_TEST

START_TEST(a_team_without_work_can_go)
{
    base_team_past past = {0};
    for (size_t size = 1; size < SIZE_MOST; size++)
        base_team_free(base_team_create(size, &past));
    base_team_free(NULL);
}
END_TEST

START_TEST(nobody_is_a_team_of_one)
{
    check_rounds(NULL, 1, 10, 0, 0);
}
END_TEST

START_TEST(the_caller_does_it_all_without_threads)
{
    without_threads = true;
    base_team_past past = {0};
    base_team *team = base_team_create(4, &past);
    ck_assert_ptr_nonnull(team);
    check_rounds(team, 4, 100, 0, 0);
    ck_assert_uint_gt(past.alone, 0); /* it has stopped asking for help */
    base_team_free(team);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("team");
    tcase_add_loop_test(tests, every_part_is_done_once_a_round, 1, SIZE_MOST);
    tcase_add_test(tests, after_a_delay_the_caller_works_alone_for_a_while);
    tcase_add_test(tests, a_team_without_work_can_go);
    tcase_add_test(tests, nobody_is_a_team_of_one);
    tcase_add_test(tests, the_caller_does_it_all_without_threads);
    tcase_set_timeout(tests, 0);
    return run_group("base_team", tests);
}
