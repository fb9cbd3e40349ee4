#include "nn/synthetic.h"

#include "base/arena.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct mdl_storage {
    base_arena arena;
};

size_t synthetic_random(unsigned *seed, size_t limit)
{
    *seed = *seed * 1664525U + 1013904223U;
    return (size_t)((uint64_t)(*seed >> 8) * limit >> 24);
}

/* Uniform in (-scale, scale). */
static float uniform(unsigned *seed, float scale)
{
    return scale * ((float)synthetic_random(seed, 1U << 23) / (float)(1U << 22) - 1.0F);
}

static void *take(zhen_model *model, size_t count, size_t size)
{
    void *memory = base_arena_calloc(&model->storage->arena, count, size);
    if (!memory)
        abort();
    return memory;
}

static float *vector(zhen_model *model, size_t count, float centre, float scale, unsigned *seed)
{
    float *values = take(model, count, sizeof *values);
    for (size_t i = 0; i < count; i++)
        values[i] = centre + uniform(seed, scale);
    return values;
}

static mdl_matrix matrix(zhen_model *model, size_t rows, size_t cols, unsigned *seed)
{
    float scale = sqrtf(6.0F / (float)(rows + cols));
    return (mdl_matrix){
        .rows = rows, .cols = cols, .f32 = vector(model, rows * cols, 0.0F, scale, seed)};
}

static mdl_linear linear(zhen_model *model, size_t rows, size_t cols, unsigned *seed)
{
    return (mdl_linear){.weight = matrix(model, rows, cols, seed),
                        .bias = vector(model, rows, 0.0F, 0.1F, seed)};
}

static mdl_norm norm(zhen_model *model, size_t d, unsigned *seed)
{
    return (mdl_norm){.weight = vector(model, d, 1.0F, 0.3F, seed),
                      .bias = vector(model, d, 0.0F, 0.2F, seed)};
}

static mdl_attention attention(zhen_model *model, size_t d, unsigned *seed)
{
    return (mdl_attention){.query = linear(model, d, d, seed),
                           .key = linear(model, d, d, seed),
                           .value = linear(model, d, d, seed),
                           .output = linear(model, d, d, seed),
                           .norm = norm(model, d, seed)};
}

static mdl_layer *stack(zhen_model *model, const mdl_stack *shape, bool cross, unsigned *seed)
{
    const size_t d = model->config.d_model;
    mdl_layer *layers = take(model, shape->layers, sizeof *layers);
    for (size_t i = 0; i < shape->layers; i++) {
        layers[i].self = attention(model, d, seed);
        if (cross)
            layers[i].cross = attention(model, d, seed);
        layers[i].fc1 = linear(model, shape->ffn, d, seed);
        layers[i].fc2 = linear(model, d, shape->ffn, seed);
        layers[i].norm = norm(model, d, seed);
    }
    return layers;
}

static float *sinusoids(zhen_model *model, size_t positions, size_t d)
{
    float *values = take(model, positions * d, sizeof *values);
    size_t half = (d + 1) / 2;
    for (size_t p = 0; p < positions; p++)
        for (size_t i = 0; i < d; i++) {
            double angle = (double)p / pow(10000.0, 2.0 * (double)(i % half) / (double)d);
            values[p * d + i] = (float)(i < half ? sin(angle) : cos(angle));
        }
    return values;
}

static zhen_model *new_model(void)
{
    zhen_model *model = calloc(1, sizeof *model);
    if (!model || !(model->storage = calloc(1, sizeof *model->storage)))
        abort();
    return model;
}

zhen_model *synthetic_model(const synthetic_shape *shape, unsigned seed)
{
    zhen_model *model = new_model();
    const size_t d = shape->d_model;
    model->config = (mdl_config){.d_model = d,
                                 .encoder = shape->encoder,
                                 .decoder = shape->decoder,
                                 .activation = shape->activation,
                                 .scale_embedding = true,
                                 .max_positions = shape->max_positions};
    model->source_embedding = matrix(model, shape->encoder.vocabulary, d, &seed);
    model->target_embedding = matrix(model, shape->decoder.vocabulary, d, &seed);
    model->output = matrix(model, shape->decoder.vocabulary, d, &seed);
    float *bias = vector(model, shape->decoder.vocabulary, 0.0F, 1.0F, &seed);
    for (size_t i = 0; i < shape->decoder.vocabulary; i++)
        if ((shape->banned_from && i >= shape->banned_from) ||
            (shape->banned_step && i % shape->banned_step == 0))
            bias[i] = -1e4F;
    model->output_bias = bias;
    model->positions = sinusoids(model, shape->max_positions, d);
    model->encoder = stack(model, &shape->encoder, false, &seed);
    model->decoder = stack(model, &shape->decoder, true, &seed);
    return model;
}

void synthetic_free(zhen_model *model)
{
    base_arena_free(&model->storage->arena);
    free(model->storage);
    free(model);
}

/* ---- The same model in another type --------------------------------------------------------- */

typedef void convert(zhen_model *to, mdl_matrix *matrix);

static void quantize(zhen_model *to, mdl_matrix *matrix)
{
    const size_t cols = matrix->cols;
    int8_t *values = take(to, matrix->rows * cols, 1);
    float *scale = take(to, matrix->rows, sizeof *scale);
    for (size_t r = 0; r < matrix->rows; r++) {
        const float *row = matrix->f32 + r * cols;
        float largest = 0.0F;
        for (size_t c = 0; c < cols; c++)
            largest = fmaxf(largest, fabsf(row[c]));
        scale[r] = largest > 0.0F ? largest / 127.0F : 1.0F;
        for (size_t c = 0; c < cols; c++)
            values[r * cols + c] = (int8_t)lrintf(row[c] / scale[r]);
    }
    matrix->f32 = NULL;
    matrix->s8 = values;
    matrix->scale = scale;
}

static void dequantize(zhen_model *to, mdl_matrix *matrix)
{
    const size_t cols = matrix->cols;
    float *values = take(to, matrix->rows * cols, sizeof *values);
    for (size_t i = 0; i < matrix->rows * cols; i++)
        values[i] = (float)matrix->s8[i] * matrix->scale[i / cols];
    *matrix = (mdl_matrix){.rows = matrix->rows, .cols = cols, .f32 = values};
}

static void convert_attention(zhen_model *to, mdl_attention *attention, convert *change)
{
    change(to, &attention->query.weight);
    change(to, &attention->key.weight);
    change(to, &attention->value.weight);
    change(to, &attention->output.weight);
}

static const mdl_layer *convert_stack(zhen_model *to, const mdl_layer *from, size_t count,
                                      convert *change)
{
    mdl_layer *layers = take(to, count, sizeof *layers);
    for (size_t i = 0; i < count; i++) {
        layers[i] = from[i];
        convert_attention(to, &layers[i].self, change);
        if (from[i].cross.query.weight.rows)
            convert_attention(to, &layers[i].cross, change);
        change(to, &layers[i].fc1.weight);
        change(to, &layers[i].fc2.weight);
    }
    return layers;
}

/* Vectors are shared with `from`, which must outlive the result. */
static zhen_model *convert_model(const zhen_model *from, convert *change)
{
    zhen_model *to = new_model();
    struct mdl_storage *storage = to->storage;
    *to = *from;
    to->storage = storage;
    change(to, &to->source_embedding);
    change(to, &to->target_embedding);
    change(to, &to->output);
    to->encoder = convert_stack(to, from->encoder, from->config.encoder.layers, change);
    to->decoder = convert_stack(to, from->decoder, from->config.decoder.layers, change);
    return to;
}

zhen_model *synthetic_int8(const zhen_model *model)
{
    return convert_model(model, quantize);
}

zhen_model *synthetic_dequantized(const zhen_model *model)
{
    return convert_model(model, dequantize);
}
