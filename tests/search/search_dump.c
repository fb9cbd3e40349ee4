/*
 * Searches what stdin gives, for parity.py: each line holds the ids of a sentence with </s>; each
 * line of stdout the score, a tab and the ids of its best hypothesis.
 *
 *     search_dump MODEL BEAMS [guard] [rows=N] < ids > hypotheses
 *
 * With parity in mind the guard is off unless asked for. Time goes to stderr.
 */
#include "search/search.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct source {
    int32_t *ids;
    size_t count;
    char *result;
} source;

typedef struct batch {
    source *sources;
    size_t count, next;
    size_t tokens;
} batch;

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static bool next(void *context, const int32_t **ids, size_t *count, size_t *tag)
{
    batch *all = context;
    if (all->next == all->count)
        return false;
    *ids = all->sources[all->next].ids;
    *count = all->sources[all->next].count;
    *tag = all->next++;
    return true;
}

static zhen_status done(void *context, size_t tag, const search_hypothesis *hypotheses,
                        size_t count)
{
    batch *all = context;
    size_t room = 32 + 12 * hypotheses[0].count;
    char *text = malloc(room);
    int length = snprintf(text, room, "%.7f\t", hypotheses[0].score);
    for (size_t i = 0; i < hypotheses[0].count; i++)
        length += snprintf(text + length, room - (size_t)length, i ? " %d" : "%d",
                           hypotheses[0].tokens[i]);
    all->sources[tag].result = text;
    all->tokens += hypotheses[0].count;
    (void)count;
    return ZHEN_OK;
}

static void read_line(char *line, source *out)
{
    size_t room = strlen(line) / 2 + 1;
    out->ids = calloc(room, sizeof *out->ids);
    out->count = 0;
    out->result = NULL;
    for (char *word = strtok(line, " \n"); word; word = strtok(NULL, " \n"))
        out->ids[out->count++] = (int32_t)strtol(word, NULL, 10);
}

static void read_all(batch *all)
{
    char *line = NULL;
    size_t room = 0;
    while (getline(&line, &room, stdin) > 0) {
        all->sources = realloc(all->sources, (all->count + 1) * sizeof *all->sources);
        read_line(line, &all->sources[all->count++]);
    }
    free(line);
}

static zhen_status search(const zhen_model *model, batch *all, int argc, char **argv,
                          zhen_error *error)
{
    size_t rows = 64;
    search_options options;
    search_options_init(&options, &model->config, &model->generation);
    options.beams = strtoul(argv[2], NULL, 10);
    options.guard = false;
    for (int i = 3; i < argc; i++) {
        options.guard = options.guard || strcmp(argv[i], "guard") == 0;
        options.scores = options.scores || strcmp(argv[i], "scores") == 0;
        if (strncmp(argv[i], "rows=", 5) == 0)
            rows = strtoul(argv[i] + 5, NULL, 10);
    }
    nn_network *network = NULL;
    search_worker *worker = NULL;
    zhen_status status = nn_network_create(model, getenv("ZHEN_ISA"), 1, &network, error);
    if (!status)
        status = search_worker_create(network, &options, rows, &worker, error);
    if (!status) {
        search_feed feed = {.context = all, .next = next, .done = done};
        double began = now();
        status = search_run(worker, &feed, error);
        (void)fprintf(stderr, "beam %zu: %zu sentences, %zu tokens in %.2f s\n", options.beams,
                      all->count, all->tokens, now() - began);
    }
    search_worker_free(worker);
    nn_network_free(network);
    return status;
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        (void)fprintf(stderr, "usage: %s MODEL BEAMS [guard] [scores] [rows=N] < ids\n", argv[0]);
        return 2;
    }
    zhen_error error = {0};
    zhen_model *model = NULL;
    batch all = {0};
    read_all(&all);
    zhen_status status = zhen_model_open(argv[1], &model, &error);
    if (!status)
        status = search(model, &all, argc, argv, &error);
    if (status)
        (void)fprintf(stderr, "%s\n", error.message);
    for (size_t i = 0; i < all.count; i++) {
        if (!status)
            (void)puts(all.sources[i].result);
        free(all.sources[i].result);
        free(all.sources[i].ids);
    }
    free(all.sources);
    zhen_model_close(model);
    return status ? 1 : 0;
}
