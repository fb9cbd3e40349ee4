#include "nn/layer.h"

void nn_embed(const nn_network *network, const mdl_matrix *table, int32_t id, size_t position,
              float *x)
{
    const size_t d = network->d_model, row = (size_t)id;
    const float *sinusoids = network->model->positions + position * d;
    if (table->f32) {
        const float *embedding = table->f32 + row * d;
        for (size_t i = 0; i < d; i++)
            x[i] = embedding[i] * network->embedding_scale + sinusoids[i];
        return;
    }
    const int8_t *embedding = table->s8 + row * d;
    const float scale = table->scale[row] * network->embedding_scale;
    for (size_t i = 0; i < d; i++)
        x[i] = (float)embedding[i] * scale + sinusoids[i];
}

nn_input nn_activations(const nn_worker *worker, const float *x, size_t rows, size_t cols)
{
    return (nn_input){.x = x, .rows = rows, .cols = cols, .quantized = worker->quantized};
}

/* A product that a team shares. */
typedef struct product {
    const nn_linear *linear;
    const kn_table *table;
    nn_input *input;
    kn_activation activation;
    float *y;
    size_t y_stride;
} product;

static void multiply_part(void *context, size_t part, size_t parts)
{
    const product *p = context;
    const size_t out = p->linear->out, steps = (out + NN_LINEAR_STEP - 1) / NN_LINEAR_STEP;
    const size_t begin = steps * part / parts * NN_LINEAR_STEP;
    const size_t end = part + 1 < parts ? steps * (part + 1) / parts * NN_LINEAR_STEP : out;
    if (begin < end)
        nn_linear_apply_range(p->linear, p->table, p->input, begin, end, p->activation,
                              p->y + begin, p->y_stride);
}

void nn_multiply(const nn_worker *worker, const nn_linear *linear, nn_input *input,
                 kn_activation activation, float *y, size_t y_stride)
{
    const kn_table *table = worker->network->table;
    if (!worker->team || !linear->packed) {
        nn_linear_apply(linear, table, input, activation, y, y_stride);
        return;
    }
    product shared = {linear, table, input, activation, y, y_stride};
    nn_input_quantize(input, table);
    base_team_run(worker->team, multiply_part, &shared);
}

/* x = norm(x + linear(input)); x: (input->rows, d_model). */
static void project_and_add(nn_worker *worker, const nn_linear *linear, const mdl_norm *norm,
                            nn_input *input, float *x)
{
    const nn_network *network = worker->network;
    const size_t d = network->d_model;
    nn_multiply(worker, linear, input, KN_NONE, worker->projected, d);
    kn_add_norm(network->table, x, worker->projected, norm->weight, norm->bias, input->rows, d);
}

void nn_finish_attention(nn_worker *worker, const nn_linear *linear, const mdl_norm *norm,
                         size_t rows)
{
    nn_input input = nn_activations(worker, worker->attended, rows, worker->network->d_model);
    project_and_add(worker, linear, norm, &input, worker->x);
}

void nn_feed_forward(nn_worker *worker, const nn_layer *layer, size_t rows)
{
    const nn_network *network = worker->network;
    const size_t d = network->d_model, ffn = layer->fc1.out;
    /* A few rows at a time, whose hidden values stay in the cache. */
    for (size_t begin = 0; begin < rows; begin += NN_FFN_ROWS) {
        const size_t count = rows - begin < NN_FFN_ROWS ? rows - begin : NN_FFN_ROWS;
        float *x = worker->x + begin * d; /* (count, d_model) */
        nn_input input = nn_activations(worker, x, count, d);
        nn_multiply(worker, &layer->fc1, &input, network->activation, worker->hidden, ffn);
        nn_input hidden = nn_activations(worker, worker->hidden, count, ffn);
        project_and_add(worker, &layer->fc2, &layer->norm, &hidden, x);
    }
}
