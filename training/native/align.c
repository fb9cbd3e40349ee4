/* Word alignments of packed pairs, for the guided attention head.
 *
 * usage: align DIRECTORY ROUNDS
 *
 * Reads train.{src,tgt}.npy and their .index.npy (recipe/data.py), writes train.align.npy: for each
 * target token the position of its source token in the sentence, one byte, or 255 for none.
 *
 * IBM model 1 (Brown et al., 1993) with a prior for the diagonal, as in fast_align (Dyer et al.,
 * 2013), is trained in both directions; a link is kept where the two agree. The tables of word
 * translation are dense, 8 bytes for each pair of source and target piece: 2 GB for 24,000 x
 * 10,000.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 254, NONE = 255, GRID = 256 };

static const float EMPTY_WORD = 0.05f; /* share of target words that come from no source word */
static const float DIAGONAL = 2.5f;    /* how fast the prior falls off it */

typedef struct {
    uint16_t *token;
    int64_t *index;
    size_t tokens, sentences, types;
} Side;

typedef struct {
    float *given, *count;       /* (types of x, types of y): p(y | x), and its expected counts */
    float *empty, *empty_count; /* (types of y): the same for the empty word */
} Table;

/* prior[j][i]: weight of source position i/255 of its sentence for target position j/255. */
static float prior[GRID][GRID];

static void die(const char *what, const char *path)
{
    fprintf(stderr, "align: %s %s\n", what, path);
    exit(1);
}

static void *allocate(size_t count, size_t size)
{
    void *p = calloc(count, size);
    if (!p)
        die("out of memory", "");
    return p;
}

/* The values of a one-dimensional .npy file. */
static void *read_array(const char *directory, const char *name, size_t size, size_t *count)
{
    char path[4096];
    unsigned char head[10];
    snprintf(path, sizeof path, "%s/%s.npy", directory, name);
    FILE *f = fopen(path, "rb");
    if (!f || fread(head, 1, sizeof head, f) != sizeof head ||
        memcmp(head, "\x93NUMPY\x01", 7) != 0)
        die("cannot read", path);
    fseek(f, 0, SEEK_END);
    long start = (long)sizeof head + head[8] + 256 * head[9], end = ftell(f);
    if (end < start)
        die("cut short:", path);
    *count = (size_t)(end - start) / size;
    void *p = allocate(*count + 1, size);
    fseek(f, start, SEEK_SET);
    if (fread(p, size, *count, f) != *count)
        die("cannot read", path);
    fclose(f);
    return p;
}

static Side read_side(const char *directory, const char *name)
{
    char index[64];
    Side s = {0};
    snprintf(index, sizeof index, "%s.index", name);
    s.token = read_array(directory, name, sizeof *s.token, &s.tokens);
    s.index = read_array(directory, index, sizeof *s.index, &s.sentences);
    s.sentences--;
    for (size_t i = 0; i < s.tokens; i++)
        if (s.token[i] >= s.types)
            s.types = s.token[i] + 1u;
    return s;
}

static void write_bytes(const char *directory, const char *name, const uint8_t *bytes, size_t count)
{
    char path[4096], head[128];
    snprintf(path, sizeof path, "%s/%s.npy", directory, name);
    FILE *f = fopen(path, "wb");
    if (!f)
        die("cannot write", path);
    int length = snprintf(head, sizeof head,
                          "{'descr': '|u1', 'fortran_order': False, 'shape': (%zu,), }", count);
    while ((10 + length + 1) % 64)
        head[length++] = ' ';
    head[length++] = '\n';
    fwrite("\x93NUMPY\x01\x00", 1, 8, f);
    fputc(length & 255, f);
    fputc(length >> 8, f);
    fwrite(head, 1, (size_t)length, f);
    if (fwrite(bytes, 1, count, f) != count || fclose(f) != 0)
        die("cannot write", path);
}

/* Share of each source position in one target token; p[m] is the empty word's. Returns their sum
 * before scaling. */
static float posterior(const Table *t, const uint16_t *x, int m, size_t types, uint16_t y,
                       const float *weight, float *p)
{
    float z = 0, sum = EMPTY_WORD * t->empty[y];
    p[m] = sum;
    for (int i = 0; i < m; i++)
        z += weight[i * 255 / m];
    for (int i = 0; i < m; i++)
        sum += p[i] = (1 - EMPTY_WORD) / z * weight[i * 255 / m] * t->given[x[i] * types + y];
    return sum + 1e-30f;
}

static uint8_t best_of(const float *p, int m)
{
    int best = m;
    for (int i = 0; i < m; i++)
        if (p[i] > p[best])
            best = i;
    return best == m ? NONE : (uint8_t)best;
}

/* One pass: collects counts, or, with links, writes the best position of each token of y instead.
 */
static double pass(const Side *x, const Side *y, const Table *t, uint8_t *links)
{
    double likelihood = 0;
    float p[GRID];
    for (size_t s = 0; s < x->sentences; s++) {
        const uint16_t *f = x->token + x->index[s], *e = y->token + y->index[s];
        int m = (int)(x->index[s + 1] - x->index[s]), n = (int)(y->index[s + 1] - y->index[s]);
        if (m > LONGEST || n > LONGEST || m == 0) {
            if (links)
                memset(links + y->index[s], NONE, (size_t)n);
            continue;
        }
        for (int j = 0; j < n; j++) {
            float sum = posterior(t, f, m, y->types, e[j], prior[j * 255 / n], p);
            likelihood += log(sum);
            if (links) {
                links[y->index[s] + j] = best_of(p, m);
                continue;
            }
            for (int i = 0; i < m; i++)
                t->count[f[i] * y->types + e[j]] += p[i] / sum;
            t->empty_count[e[j]] += p[m] / sum;
        }
    }
    return likelihood / (double)y->tokens;
}

/* counts become probabilities, counts are cleared. */
static void normalise(float *row, float *count, size_t n, float more)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += count[i];
    for (size_t i = 0; i < n; i++) {
        row[i] = (float)((count[i] + more) / (sum + more * (double)n + 1e-20));
        count[i] = 0;
    }
}

/* Best position in x for every token of y. */
static uint8_t *links_of(const Side *x, const Side *y, int rounds)
{
    size_t cells = x->types * y->types;
    Table t = {allocate(cells, sizeof(float)), allocate(cells, sizeof(float)),
               allocate(y->types, sizeof(float)), allocate(y->types, sizeof(float))};
    uint8_t *links = allocate(y->tokens + 1, 1);
    for (size_t i = 0; i < cells; i++)
        t.given[i] = 1;
    for (size_t i = 0; i < y->types; i++)
        t.empty[i] = 1;
    for (int round = 0; round < rounds; round++) {
        printf("align: round %d, log-likelihood per token %.4f\n", round, pass(x, y, &t, NULL));
        for (size_t i = 0; i < x->types; i++)
            normalise(t.given + i * y->types, t.count + i * y->types, y->types, 1e-6f);
        normalise(t.empty, t.empty_count, y->types, 0);
    }
    pass(x, y, &t, links);
    free(t.given);
    free(t.count);
    free(t.empty);
    free(t.empty_count);
    return links;
}

/* Keep the links of `there` that `back` agrees with. */
static size_t intersect(const Side *x, const Side *y, uint8_t *there, const uint8_t *back)
{
    size_t kept = 0;
    for (size_t s = 0; s < y->sentences; s++)
        for (int64_t j = y->index[s]; j < y->index[s + 1]; j++) {
            if (there[j] != NONE && back[x->index[s] + there[j]] != (uint8_t)(j - y->index[s]))
                there[j] = NONE;
            kept += there[j] != NONE;
        }
    return kept;
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: align DIRECTORY ROUNDS\n");
        return 2;
    }
    Side source = read_side(argv[1], "train.src"), target = read_side(argv[1], "train.tgt");
    for (int j = 0; j < GRID; j++)
        for (int i = 0; i < GRID; i++)
            prior[j][i] = expf(-DIAGONAL * fabsf((float)(i - j)) / 255);
    uint8_t *there = links_of(&source, &target, atoi(argv[2])),
            *back = links_of(&target, &source, atoi(argv[2]));
    size_t kept = intersect(&source, &target, there, back);
    write_bytes(argv[1], "train.align", there, target.tokens);
    printf("align: %.1f %% of target tokens linked\n",
           100.0 * (double)kept / (double)target.tokens);
    return 0;
}
