/*
 * How fast the network alone is: encoder and decoding steps, without tokenising and with the least
 * search that keeps the caches busy.
 *
 *     nn_speed MODEL FILE [ROWS [BEAMS [REPEATS]]]
 *
 * FILE holds a source sentence per line (what follows a tab is ignored). ROWS hypotheses are
 * decoded side by side; sentences that are done make room for new ones. Prints target tokens per
 * second, of all time and of each part. ZHEN_ISA chooses the instruction set.
 */
#include "nn/nn.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

enum { MOST_BEAMS = KN_TOP_MAX / 2 }; /* twice as many outputs of each are looked at */

typedef struct sentence {
    int32_t *ids;
    size_t count, order;
} sentence;

typedef struct running {
    nn_sentence *sentence;
    size_t length, limit, beams;
    int32_t tokens[KN_TOP_MAX];
    double scores[KN_TOP_MAX];
} running;

typedef struct speed {
    nn_network *network;
    nn_worker *worker;
    sentence *sentences;
    size_t count, next;
    size_t rows, beams;
    size_t source_tokens, target_tokens, steps, step_rows;
    double encode_seconds, step_seconds, search_seconds;
} speed;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void check(zhen_status status, const zhen_error *error)
{
    if (!status)
        return;
    (void)fprintf(stderr, "nn_speed: %s\n", error->message);
    exit(1);
}

static void *must(void *memory)
{
    if (!memory)
        abort();
    return memory;
}

/* ---- Sentences ------------------------------------------------------------------------------ */

static int longer_first(const void *a, const void *b)
{
    const sentence *x = a, *y = b;
    if (x->count != y->count)
        return x->count < y->count ? 1 : -1;
    return x->order < y->order ? -1 : 1;
}

static void read_sentences(speed *s, const zhen_model *model, const char *path)
{
    FILE *file = fopen(path, "r");
    if (!file) {
        perror(path);
        exit(1);
    }
    char *line = NULL;
    size_t capacity = 0;
    tok_source source = {0};
    zhen_error error;
    while (getline(&line, &capacity, file) > 0) {
        check(tok_encode(model->tokenizer, line, strcspn(line, "\t\n"), &source, &error), &error);
        s->sentences = must(realloc(s->sentences, (s->count + 1) * sizeof *s->sentences));
        sentence *new = &s->sentences[s->count];
        new->count = source.count + 1;
        new->ids = must(malloc(new->count * sizeof *new->ids));
        memcpy(new->ids, source.ids, source.count * sizeof *new->ids);
        new->ids[source.count] = model->config.eos_id;
        new->order = s->count++;
    }
    tok_source_free(&source);
    free(line);
    (void)fclose(file);
    qsort(s->sentences, s->count, sizeof *s->sentences, longer_first);
}

/* ---- Search --------------------------------------------------------------------------------- */

/* Fills the free places with the next sentences. */
static size_t admit(speed *s, running *batch, size_t active, int32_t start)
{
    const size_t places = s->rows / s->beams, first = s->next;
    const size_t room = s->count - s->next;
    size_t count = places - active < room ? places - active : room;
    /* Several at once, so that the encoder has rows to multiply. */
    if (count == 0 || (active > 0 && count < places / 4 && room > count))
        return active;
    nn_source *sources = must(calloc(count, sizeof *sources));
    nn_sentence **made = must(calloc(count, sizeof(nn_sentence *)));
    for (size_t i = 0; i < count; i++) {
        const sentence *from = &s->sentences[first + i];
        sources[i] = (nn_source){.ids = from->ids, .count = from->count, .beams = s->beams};
        sources[i].positions = 2 * from->count + 10;
        s->source_tokens += from->count;
    }
    zhen_error error;
    double start_time = now();
    check(nn_encode(s->worker, sources, count, made, NULL, &error), &error);
    s->encode_seconds += now() - start_time;
    for (size_t i = 0; i < count; i++)
        batch[active + i] = (running){
            .sentence = made[i], .limit = sources[i].positions, .beams = 1, .tokens = {start}};
    free(sources);
    free(made);
    s->next += count;
    return active + count;
}

typedef struct candidate {
    double score;
    uint32_t parent;
    int32_t token;
} candidate;

static int better_first(const void *a, const void *b)
{
    const candidate *x = a, *y = b;
    return x->score < y->score ? 1 : x->score > y->score ? -1 : 0;
}

/* The best continuations of one sentence; false when it is done. */
static bool extend(speed *s, running *r, const kn_top *tops, int32_t eos)
{
    candidate candidates[MOST_BEAMS * 2 * MOST_BEAMS] = {{0}};
    size_t count = 0;
    for (size_t b = 0; b < r->beams; b++) {
        double sum = s->beams > 1 ? kn_top_log_sum(&tops[b]) : 0.0;
        for (size_t k = 0; k < tops[b].count; k++)
            candidates[count++] =
                (candidate){.score = r->scores[b] + (double)tops[b].values[k] - sum,
                            .parent = (uint32_t)b,
                            .token = nn_output_token(s->network, (size_t)tops[b].indices[k])};
    }
    qsort(candidates, count, sizeof *candidates, better_first);
    r->length++;
    if (candidates[0].token == eos || r->length >= r->limit)
        return false;
    uint32_t parents[KN_TOP_MAX];
    size_t kept = 0;
    for (size_t c = 0; c < count && kept < s->beams; c++) {
        if (candidates[c].token == eos)
            continue;
        parents[kept] = candidates[c].parent;
        r->tokens[kept] = candidates[c].token;
        r->scores[kept++] = candidates[c].score;
    }
    if (s->beams > 1)
        nn_sentence_reorder(r->sentence, parents, kept);
    r->beams = kept;
    return true;
}

static void decode(speed *s, const mdl_config *config)
{
    const size_t places = s->rows / s->beams;
    running *batch = must(calloc(places, sizeof *batch));
    nn_row *rows = must(calloc(s->rows, sizeof *rows));
    kn_top *tops = must(calloc(s->rows, sizeof *tops));
    size_t active = 0;
    while ((active = admit(s, batch, active, config->decoder_start_id)) > 0) {
        size_t count = 0;
        for (size_t i = 0; i < active; i++)
            for (size_t b = 0; b < batch[i].beams; b++) {
                kn_top_start(&tops[count], s->beams > 1 ? 2 * s->beams : 1);
                rows[count++] = (nn_row){.sentence = batch[i].sentence,
                                         .token = batch[i].tokens[b],
                                         .slot = (uint32_t)b};
            }
        double start = now();
        nn_step(s->worker, rows, count, NULL, tops, s->beams > 1);
        double middle = now();
        s->step_seconds += middle - start;
        s->steps++;
        s->step_rows += count;
        size_t row = 0, kept = 0;
        for (size_t i = 0; i < active; i++) {
            const size_t beams = batch[i].beams;
            if (extend(s, &batch[i], tops + row, config->eos_id)) {
                batch[kept++] = batch[i];
            } else {
                s->target_tokens += batch[i].length;
                nn_sentence_release(s->worker, batch[i].sentence);
            }
            row += beams;
        }
        active = kept;
        s->search_seconds += now() - middle;
    }
    free(batch);
    free(rows);
    free(tops);
}

static size_t argument(int argc, char **argv, int index, size_t otherwise)
{
    return argc > index ? (size_t)strtoul(argv[index], NULL, 10) : otherwise;
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        (void)fprintf(stderr, "usage: nn_speed MODEL FILE [ROWS [BEAMS [REPEATS]]]\n");
        return 2;
    }
    speed s = {.rows = argument(argc, argv, 3, 64), .beams = argument(argc, argv, 4, 1)};
    if (s.beams < 1 || s.beams > MOST_BEAMS || s.rows < s.beams)
        return 2;
    zhen_error error;
    zhen_model *model;
    check(zhen_model_open(argv[1], &model, &error), &error);
    check(nn_network_create(model, getenv("ZHEN_ISA"), 1, &s.network, &error), &error);
    read_sentences(&s, model, argv[2]);
    const nn_limits limits = {.rows = s.rows, .source_tokens = 4096};
    for (size_t repeat = argument(argc, argv, 5, 1); repeat > 0; repeat--) {
        s.next = s.source_tokens = s.target_tokens = s.steps = s.step_rows = 0;
        s.encode_seconds = s.step_seconds = s.search_seconds = 0.0;
        check(nn_worker_create(s.network, &limits, &s.worker, &error), &error);
        double start = now();
        decode(&s, &model->config);
        double seconds = now() - start;
        nn_worker_free(s.worker);
        struct rusage usage;
        getrusage(RUSAGE_SELF, &usage);
        printf("%zu sentences, %zu source and %zu target tokens in %.3f s: %.0f target tokens/s\n"
               "  encode %.3f s (%.1f us/source token), %zu steps %.3f s (%.1f us/row, %.1f rows), "
               "search %.3f s; peak %.1f MB, weights %.1f MB\n",
               s.count, s.source_tokens, s.target_tokens, seconds,
               (double)s.target_tokens / seconds, s.encode_seconds,
               1e6 * s.encode_seconds / (double)s.source_tokens, s.steps, s.step_seconds,
               1e6 * s.step_seconds / (double)s.step_rows, (double)s.step_rows / (double)s.steps,
               s.search_seconds, (double)usage.ru_maxrss / 1024.0,
               (double)nn_network_memory(s.network) / 1048576.0);
    }
    for (size_t i = 0; i < s.count; i++)
        free(s.sentences[i].ids);
    free(s.sentences);
    nn_network_free(s.network);
    zhen_model_close(model);
    return 0;
}
