#include "base/team.h"

#include "base/task.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

enum {
    LINE = 64,
    /* How often a thread looks for work before it sleeps, and for the end of work before it lets
     * others run: some ten microseconds, several times what waking costs. */
    LOOKS = 1000,
    /* After those, this is a delay, in nanoseconds: a thread was interrupted. */
    DELAY = 200000,
    /* What a round counts in which a thread did not come in time, against 1 for others, and when it
     * is too much. The first rounds of a team, whose threads are about to start, are not. */
    MISS = 4,
    MISSED_MOST = 64,
    /* Rounds that the caller then works alone: twice as many each time, until it has gone smoothly
     * for so many rounds. A sentence takes several hundred. */
    PENALTY_LEAST = 512,
    PENALTY_MOST = 65536,
    SMOOTH = 2048
};

/* Work is numbered by rounds. In each, every part is claimed once: by its member or, if that has
 * not come in time, by the caller. */
typedef struct member {
    base_team *team;
    size_t part;
    base_task task;
    _Alignas(LINE) atomic_uint claimed; /* the last round in which the part was claimed */
} member;

struct base_team {
    size_t size;
    base_team_past *past;
    bool started;
    base_part *work;
    void *context;
    member *members; /* (size); the first is the caller and has no task */
    pthread_mutex_t lock;
    pthread_cond_t woken;
    _Alignas(LINE) atomic_uint round;
    atomic_bool ended;
    atomic_size_t asleep;
    _Alignas(LINE) atomic_size_t done; /* parts of this round that members have done */
};

static void pause_briefly(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static bool is_over(const base_team *team, unsigned round)
{
    return atomic_load(&team->round) != round || atomic_load(&team->ended);
}

static void sleep_until_over(base_team *team, unsigned round)
{
    pthread_mutex_lock(&team->lock);
    atomic_fetch_add(&team->asleep, 1);
    while (!is_over(team, round))
        pthread_cond_wait(&team->woken, &team->lock);
    atomic_fetch_sub(&team->asleep, 1);
    pthread_mutex_unlock(&team->lock);
}

/* The next round after `round`; *ended: there is none. */
static unsigned wait_for_round(base_team *team, unsigned round, bool *ended)
{
    for (unsigned look = 0; look < LOOKS && !is_over(team, round); look++)
        pause_briefly();
    if (!is_over(team, round))
        sleep_until_over(team, round);
    *ended = atomic_load(&team->ended);
    return atomic_load(&team->round);
}

static bool claim(member *m, unsigned round)
{
    unsigned last = round - 1;
    return atomic_compare_exchange_strong(&m->claimed, &last, round);
}

static void take_part(void *context)
{
    member *self = context;
    base_team *team = self->team;
    bool ended = false;
    for (unsigned round = wait_for_round(team, 0, &ended); !ended;
         round = wait_for_round(team, round, &ended))
        if (claim(self, round)) {
            team->work(team->context, self->part, team->size);
            atomic_fetch_add(&team->done, 1);
        }
}

base_team *base_team_create(size_t size, base_team_past *past)
{
    base_team *team = aligned_alloc(LINE, sizeof *team);
    member *members = aligned_alloc(LINE, size * sizeof *members);
    if (!team || !members) {
        free(team);
        free(members);
        return NULL;
    }
    *team = (base_team){.size = size, .past = past, .members = members};
    pthread_mutex_init(&team->lock, NULL);
    pthread_cond_init(&team->woken, NULL);
    for (size_t i = 0; i < size; i++)
        members[i] = (member){.team = team, .part = i};
    return team;
}

static void start(base_team *team)
{
    for (size_t i = 1; i < team->size && !team->started; i++)
        base_task_start(&team->members[i].task, take_part, &team->members[i]);
    team->started = true;
}

static void wake(base_team *team)
{
    if (atomic_load(&team->asleep) == 0)
        return;
    pthread_mutex_lock(&team->lock);
    pthread_cond_broadcast(&team->woken);
    pthread_mutex_unlock(&team->lock);
}

void base_team_free(base_team *team)
{
    if (!team)
        return;
    atomic_store(&team->ended, true);
    wake(team);
    for (size_t i = 1; i < team->size && team->started; i++)
        base_task_wait(&team->members[i].task);
    pthread_cond_destroy(&team->woken);
    pthread_mutex_destroy(&team->lock);
    free(team->members);
    free(team);
}

static int64_t nanoseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Waits for the parts that `others` have begun; true if that took too long. */
static bool wait_for_others(base_team *team, size_t others)
{
    for (unsigned look = 0; look < LOOKS; look++) {
        if (atomic_load(&team->done) == others)
            return false;
        pause_briefly();
    }
    const int64_t begin = nanoseconds();
    while (atomic_load(&team->done) < others)
        sched_yield();
    return nanoseconds() - begin > DELAY;
}

static void go_alone(base_team_past *past)
{
    const size_t twice = 2 * past->penalty;
    past->penalty = twice < PENALTY_LEAST  ? PENALTY_LEAST
                    : twice > PENALTY_MOST ? PENALTY_MOST
                                           : twice;
    past->alone = past->penalty;
    past->missed = past->smooth = 0;
}

static void remember(base_team_past *past, bool missed, bool delayed)
{
    if (missed)
        past->missed += MISS;
    else if (past->missed > 0)
        past->missed--;
    if (delayed || past->missed > MISSED_MOST)
        go_alone(past);
    else if (++past->smooth == SMOOTH)
        past->penalty = 0;
}

static void run_alone(const base_team *team, base_part *work, void *context)
{
    for (size_t i = 0; i < team->size; i++)
        work(context, i, team->size);
}

static void run_together(base_team *team, base_part *work, void *context)
{
    start(team);
    team->work = work;
    team->context = context;
    atomic_store(&team->done, 0);
    const unsigned round = atomic_fetch_add(&team->round, 1) + 1;
    wake(team);
    work(context, 0, team->size);
    size_t others = 0;
    for (size_t i = 1; i < team->size; i++) {
        if (claim(&team->members[i], round))
            work(context, i, team->size);
        else
            others++;
    }
    const bool delayed = wait_for_others(team, others);
    remember(team->past, others < team->size - 1, delayed);
}

void base_team_run(base_team *team, base_part *work, void *context)
{
    if (!team) {
        work(context, 0, 1);
    } else if (team->past->alone > 0) {
        team->past->alone--;
        run_alone(team, work, context);
    } else {
        run_together(team, work, context);
    }
}
