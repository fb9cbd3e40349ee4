#include "base/team.h"

#include "base/task.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

enum {
    LINE = 64,
    /* How often a thread looks for work before it sleeps, and for the end of work before it lets
     * others run: some ten microseconds, several times what waking costs. */
    LOOKS = 1000
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

base_team *base_team_create(size_t size)
{
    base_team *team = aligned_alloc(LINE, sizeof *team);
    member *members = aligned_alloc(LINE, size * sizeof *members);
    if (!team || !members) {
        free(team);
        free(members);
        return NULL;
    }
    *team = (base_team){.size = size, .members = members};
    pthread_mutex_init(&team->lock, NULL);
    pthread_cond_init(&team->woken, NULL);
    for (size_t i = 0; i < size; i++)
        members[i] = (member){.team = team, .part = i};
    for (size_t i = 1; i < size; i++)
        base_task_start(&members[i].task, take_part, &members[i]);
    return team;
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
    for (size_t i = 1; i < team->size; i++)
        base_task_wait(&team->members[i].task);
    pthread_cond_destroy(&team->woken);
    pthread_mutex_destroy(&team->lock);
    free(team->members);
    free(team);
}

void base_team_run(base_team *team, base_part *work, void *context)
{
    if (!team) {
        work(context, 0, 1);
        return;
    }
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
    for (unsigned look = 0; atomic_load(&team->done) < others; look++) {
        if (look < LOOKS)
            pause_briefly();
        else
            sched_yield();
    }
}
