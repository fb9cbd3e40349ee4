#include "translate/crew.h"

#include "base/error.h"
#include "base/task.h"
#include "translate/cores.h"
#include "translate/finish.h"

#include <stdlib.h>

enum {
    /* Hypotheses side by side in one worker. More of them take more memory for keys and values, and
     * brought no more speed. */
    GREEDY_ROWS = 32,
    BEAM_ROWS = 64,
    /* Threads that share the steps of one worker; the smaller layers have four parts. */
    TEAM_MAX = 8
};

typedef struct worker {
    translate_crew *crew;
    search_worker *search; /* NULL until needed */
    size_t rows;           /* that `search` has room for */
    size_t next;           /* its next entry, if the entries are dealt */
    translate_finisher finisher;
    base_task task;      /* of all but the first worker */
    base_team_past past; /* of the teams that shared its steps */
    /* The outcome of its part of the run. */
    zhen_status status;
    zhen_error error;
} worker;

struct translate_crew {
    const nn_network *network;
    search_options options;
    const atomic_bool *cancel;
    worker *workers; /* (threads); the first one belongs to the calling thread */
    size_t threads;
    size_t processors; /* of the threads, those that can run at once */
    /* The run. */
    translate_entry *const *entries;
    size_t count;
    size_t parts; /* workers that the entries are for */
    size_t batch_rows;
    bool dealt;         /* worker i takes entries i, i + parts, ...; else the next one left */
    atomic_size_t next; /* the first entry that nobody has taken */
    atomic_bool failed; /* a worker has failed: the others stop */
};

zhen_status translate_crew_create(const zhen_model *model, const nn_network *network,
                                  const search_options *options, size_t threads,
                                  const atomic_bool *cancel, translate_crew **crew,
                                  zhen_error *error)
{
    const size_t cores = threads > 1 ? translate_cores() : 1;
    translate_crew *made = calloc(1, sizeof *made);
    worker *workers = calloc(threads, sizeof *workers);
    if (!made || !workers) {
        free(made);
        free(workers);
        return base_fail_memory(error);
    }
    *made = (translate_crew){.network = network,
                             .options = *options,
                             .cancel = cancel,
                             .workers = workers,
                             .threads = threads,
                             .processors = cores < threads ? cores : threads};
    for (size_t i = 0; i < threads; i++) {
        workers[i].crew = made;
        workers[i].finisher.tokenizer = model->tokenizer;
        workers[i].finisher.guard = options->guard;
    }
    *crew = made;
    return ZHEN_OK;
}

void translate_crew_free(translate_crew *crew)
{
    if (!crew)
        return;
    for (size_t i = 0; i < crew->threads; i++) {
        search_worker_free(crew->workers[i].search);
        translate_finisher_free(&crew->workers[i].finisher);
    }
    free(crew->workers);
    free(crew);
}

/* ---- The feed of one worker's search -------------------------------------------------------- */

static bool next_entry(void *context, const int32_t **ids, size_t *count, size_t *tag)
{
    worker *self = context;
    translate_crew *crew = self->crew;
    size_t index = self->next;
    if (crew->dealt)
        self->next += crew->parts;
    else /* past the end the counter stays near it: no worker asks again after a "no" */
        index = atomic_fetch_add(&crew->next, 1);
    if (index >= crew->count)
        return false;
    *ids = crew->entries[index]->ids;
    *count = crew->entries[index]->tokens + 1;
    *tag = index;
    return true;
}

static zhen_status entry_done(void *context, size_t tag, const search_hypothesis *hypotheses,
                              size_t count)
{
    worker *self = context;
    return translate_finish(&self->finisher, self->crew->entries[tag], hypotheses, count,
                            &self->error);
}

static bool is_cancelled(void *context)
{
    const translate_crew *crew = ((const worker *)context)->crew;
    return atomic_load(crew->cancel) || atomic_load(&crew->failed);
}

/* ---- A run ---------------------------------------------------------------------------------- */

/* Search memory grows with the rows, so a worker starts with as many as the work needs. */
static zhen_status prepare(worker *self)
{
    const translate_crew *crew = self->crew;
    if (self->search && self->rows >= crew->batch_rows)
        return ZHEN_OK;
    search_worker_free(self->search);
    self->search = NULL;
    self->rows = crew->batch_rows;
    return search_worker_create(crew->network, &crew->options, self->rows, &self->search,
                                &self->error);
}

/* Threads that would have nothing to do, because there are fewer pieces than threads, share the
 * steps of those that do. */
static zhen_status search(worker *self)
{
    const translate_crew *crew = self->crew;
    const search_feed feed = {self, next_entry, entry_done, is_cancelled};
    const size_t share = crew->processors / crew->parts;
    base_team *team = NULL;
    if (share > 1 && !(team = base_team_create(share < TEAM_MAX ? share : TEAM_MAX, &self->past)))
        return base_fail_memory(&self->error);
    search_worker_set_team(self->search, team);
    zhen_status status = search_run(self->search, &feed, &self->error);
    search_worker_set_team(self->search, NULL);
    base_team_free(team);
    return status;
}

static void work(void *context)
{
    worker *self = context;
    self->status = prepare(self);
    if (!self->status)
        self->status = search(self);
    if (self->status)
        atomic_store(&self->crew->failed, true);
}

static size_t rounded_up_power(size_t number)
{
    size_t power = 1;
    while (power < number)
        power *= 2;
    return power;
}

/* Decides how many workers share the work, and how. Two pieces side by side in one worker take less
 * work than in two, but more time: a thread is worth it for each. Pieces that all fit into the
 * batches at once are dealt out evenly; the first worker would take most of them otherwise. */
static void divide_work(translate_crew *crew)
{
    size_t beams = crew->options.beams, most = beams == 1 ? GREEDY_ROWS : BEAM_ROWS;
    crew->parts = crew->count < crew->threads ? crew->count : crew->threads;
    size_t share = (crew->count + crew->parts - 1) / crew->parts;
    crew->dealt = share <= most / beams;
    /* A power of two, so that slowly growing work does not grow the memory each time. */
    size_t rows = rounded_up_power(share * beams);
    crew->batch_rows = rows < most ? rows : most;
    for (size_t i = 0; i < crew->parts; i++)
        crew->workers[i].next = i;
    atomic_store(&crew->next, 0);
    atomic_store(&crew->failed, false);
}

/* The failure that made the others stop, or a cancellation. */
static zhen_status outcome(const translate_crew *crew, zhen_error *error)
{
    const worker *failed = NULL;
    for (size_t i = 0; i < crew->parts; i++) {
        const worker *w = &crew->workers[i];
        if (w->status && (!failed || failed->status == ZHEN_ERROR_CANCELLED))
            failed = w;
    }
    if (!failed)
        return ZHEN_OK;
    if (failed->status == ZHEN_ERROR_CANCELLED)
        return base_fail(error, ZHEN_ERROR_CANCELLED, "cancelled");
    return base_fail(error, failed->status, "%s", failed->error.message);
}

zhen_status translate_crew_run(translate_crew *crew, translate_entry *const *entries, size_t count,
                               zhen_error *error)
{
    if (count == 0)
        return ZHEN_OK;
    crew->entries = entries;
    crew->count = count;
    divide_work(crew);
    for (size_t i = 1; i < crew->parts; i++)
        base_task_start(&crew->workers[i].task, work, &crew->workers[i]);
    work(&crew->workers[0]);
    for (size_t i = 1; i < crew->parts; i++)
        base_task_wait(&crew->workers[i].task);
    return outcome(crew, error);
}
