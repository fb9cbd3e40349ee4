/*
 * How fast the kernels are, alone and in one thread: the int8 product for the shapes of the default
 * model in GMAC/s (10^9 multiply-accumulates per second), the vector loops in nanoseconds a call,
 * and what the caches and the memory deliver, which bounds a product with one row. Times are of the
 * thread, not of the clock.
 *
 *     bench_kernels [SET...]      default: all sets that this machine has
 *     bench_kernels bandwidth     the last part only
 */
#include "kernels/kernels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROWS_MAX = 256, OUTS_MAX = 10000, COLS_MAX = 1024, OUTS_BLOCK = 1024 };

typedef struct shape {
    size_t outs, cols;
    const char *name;
} shape;

static const shape shapes[] = {
    {256, 256, "256x256"},
    {768, 256, "768x256 (query, key, value)"},
    {1024, 256, "1024x256 (ffn in)"},
    {256, 1024, "256x1024 (ffn out)"},
    {10000, 256, "10000x256 (output)"},
};
static const size_t row_counts[] = {1, 2, 4, 8, 16, 32, 64, 256};
#define COUNT(array) (sizeof(array) / sizeof *(array))

/* Of the processor, so that it matters little what else the machine does. */
static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void *take(size_t bytes)
{
    void *memory = aligned_alloc(64, (bytes + 63) / 64 * 64);
    if (!memory) {
        (void)fputs("out of memory\n", stderr);
        exit(1);
    }
    memset(memory, 0, (bytes + 63) / 64 * 64);
    return memory;
}

/* What is measured: one call. */
typedef struct task {
    void (*run)(struct task *task);
    const kn_table *table;
    kn_blas *blas; /* NULL where there is no OpenBLAS */
    size_t rows, outs, cols;
    kn_packed *packed;
    void *quantized;
    float *x, *w, *y;
    uint64_t seen;
} task;

/* Seconds per call: the best of 20 runs of at least 2 ms. */
static double seconds(task *t)
{
    size_t calls = 1;
    double best = 1e9;
    for (int run = 0; run < 20;) {
        double start = now();
        for (size_t i = 0; i < calls; i++)
            t->run(t);
        double took = now() - start;
        if (took < 0.002) {
            calls *= 2;
            continue;
        }
        best = took / (double)calls < best ? took / (double)calls : best;
        run++;
    }
    return best;
}

static void multiply(task *t)
{
    /* The output layer's rows are looked at block by block, never kept. */
    for (size_t n = 0; n < t->outs; n += OUTS_BLOCK)
        kn_multiply(t->table, t->quantized, t->rows, t->packed, n,
                    n + OUTS_BLOCK < t->outs ? n + OUTS_BLOCK : t->outs, KN_NONE, t->y, OUTS_BLOCK);
}

static void multiply_f32(task *t)
{
    kn_multiply_f32(t->table, t->blas, t->x, t->cols, t->rows, t->w, NULL, t->cols, t->outs,
                    KN_NONE, t->y, t->outs);
}

static void quantize(task *t)
{
    kn_quantize(t->table, t->x, t->cols, t->rows, t->cols, t->quantized);
}

static void add_norm(task *t)
{
    kn_add_norm(t->table, t->y, t->x, t->w, t->w, t->rows, t->cols);
}

static void attend(task *t)
{
    const float *rows[64];
    for (size_t j = 0; j < 64; j++)
        rows[j] = t->x + j * t->cols;
    const kn_memory memory = {.rows = rows, .count = t->outs, .dim = 64, .v_offset = 64};
    kn_attend(t->table, t->x, t->cols, t->rows, &memory, 0.125F, t->w, t->y, 64);
}

/* `rows` is whether the sum is wanted too. */
static void top(task *t)
{
    kn_top best;
    kn_top_start(&best, t->cols);
    kn_top_update(t->table, &best, t->x, t->outs, 0, t->rows != 0);
}

static void read_all(task *t)
{
    const uint64_t *p = (const void *)t->x;
    uint64_t sum[8] = {0};
    for (size_t i = 0; i < t->rows; i += 8)
        for (size_t l = 0; l < 8; l++)
            sum[l] += p[i + l];
    for (size_t l = 0; l < 8; l++)
        t->seen += sum[l];
}

static void products(task *t)
{
    printf("%-32s", "GMAC/s, rows:");
    for (size_t r = 0; r < COUNT(row_counts); r++)
        printf("%8zu", row_counts[r]);
    printf("\n");
    for (size_t i = 0; i < COUNT(shapes); i++) {
        t->outs = shapes[i].outs;
        t->cols = shapes[i].cols;
        int8_t *w = take(t->outs * t->cols);
        for (size_t k = 0; k < t->outs * t->cols; k++)
            w[k] = (int8_t)(k * 7919 % 255 - 127);
        const kn_weights weights = {w, t->w, NULL, t->outs};
        size_t size = 0;
        kn_packed_size(&weights, 1, t->cols, &size);
        t->packed = kn_pack(t->table, &weights, 1, t->cols, take(size));
        printf("  %-30s", shapes[i].name);
        for (size_t r = 0; r < COUNT(row_counts); r++) {
            t->rows = row_counts[r];
            quantize(t);
            t->run = multiply;
            printf("%8.0f", (double)(t->rows * t->outs * t->cols) * 1e-9 / seconds(t));
        }
        printf("\n");
        free(t->packed);
        free(w);
    }
    printf("  %-30s", "256x256 float32");
    t->outs = t->cols = 256;
    for (size_t r = 0; r < COUNT(row_counts); r++) {
        t->rows = row_counts[r];
        t->run = multiply_f32;
        printf("%8.1f", (double)(t->rows * t->outs * t->cols) * 1e-9 / seconds(t));
    }
    printf("\n");
}

static void loop(task *t, const char *name, void (*run)(task *), size_t rows, size_t outs,
                 size_t cols)
{
    t->run = run;
    t->rows = rows;
    t->outs = outs;
    t->cols = cols;
    printf("  %-44s%10.0f ns\n", name, seconds(t) * 1e9);
}

static void loops(task *t)
{
    loop(t, "quantise 64 rows of 256", quantize, 64, 0, 256);
    loop(t, "add and norm, 64 rows of 256", add_norm, 64, 0, 256);
    loop(t, "attend, 1 query, 30 positions of 64", attend, 1, 30, 256);
    loop(t, "attend, 30 queries, 30 positions of 64", attend, 30, 30, 256);
    loop(t, "best 1 of 10000", top, 0, 10000, 1);
    loop(t, "best 8 of 10000", top, 0, 10000, 8);
    loop(t, "best 8 of 10000 and their log-sum-exp", top, 1, 10000, 8);
}

static void bandwidth(void)
{
    static const size_t kilobytes[] = {16, 512, 8192, 262144};
    for (size_t i = 0; i < COUNT(kilobytes); i++) {
        task t = {.run = read_all, .rows = kilobytes[i] * 1024 / 8};
        t.x = take(kilobytes[i] * 1024);
        printf("reading %7zu KB again and again: %6.1f GB/s\n", kilobytes[i],
               (double)kilobytes[i] * 1024e-9 / seconds(&t));
        free(t.x);
        if (t.seen) /* so that the reading is not optimised away */
            printf("\n");
    }
}

int main(int argc, char **argv)
{
    static const char *const all[] = {"amx",     "avx512vnni", "avxvnni", "avx2",
                                      "neondot", "neon",       "scalar"};
    if (argc == 2 && !strcmp(argv[1], "bandwidth")) {
        bandwidth();
        return 0;
    }
    const size_t count = argc > 1 ? (size_t)argc - 1 : COUNT(all);
    task t = {.x = take((size_t)ROWS_MAX * COLS_MAX * sizeof(float)),
              .w = take((size_t)ROWS_MAX * COLS_MAX * sizeof(float)),
              .y = take((size_t)ROWS_MAX * OUTS_MAX * sizeof(float))};
    for (size_t i = 0; i < (size_t)ROWS_MAX * COLS_MAX; i++)
        t.x[i] = t.w[i] = (float)(i * 7919 % 2001) / 1000.0F - 1.0F;
    zhen_error error;
    if (kn_blas_open(KN_BLAS_LIBRARY, &t.blas, &error) != ZHEN_OK)
        (void)fprintf(stderr, "%s\n", error.message);
    for (size_t i = 0; i < count; i++) {
        if (kn_select(argc > 1 ? argv[i + 1] : all[i], &t.table, &error) != ZHEN_OK) {
            if (argc > 1)
                (void)fprintf(stderr, "%s\n", error.message);
            continue;
        }
        printf("\n%s\n", kn_name(t.table));
        t.quantized = take(kn_quantized_size(t.table, ROWS_MAX, COLS_MAX));
        products(&t);
        loops(&t);
        free(t.quantized);
    }
    printf("\n");
    bandwidth();
    kn_blas_close(t.blas);
    free(t.x);
    free(t.w);
    free(t.y);
    return 0;
}
