#include "nn/linear.h"

static bool list_pieces(nn_linear *linear, const mdl_linear *const *layers, size_t count,
                        base_arena *arena)
{
    kn_weights *pieces = base_arena_calloc(arena, count, sizeof *pieces);
    if (!pieces)
        return false;
    for (size_t i = 0; i < count; i++) {
        pieces[i].values = layers[i]->weight.s8;
        pieces[i].scale = layers[i]->weight.scale;
        pieces[i].bias = layers[i]->bias;
        pieces[i].rows = layers[i]->weight.rows;
    }
    linear->pieces = pieces;
    linear->count = count;
    return kn_packed_size(pieces, count, linear->in, &linear->packed_size);
}

static bool keep_in_place(nn_linear *linear, const mdl_linear *const *layers, size_t count,
                          base_arena *arena)
{
    nn_part *parts = base_arena_calloc(arena, count, sizeof *parts);
    if (!parts)
        return false;
    for (size_t i = 0; i < count; i++) {
        parts[i].weight = layers[i]->weight.f32;
        parts[i].bias = layers[i]->bias;
        parts[i].rows = layers[i]->weight.rows;
    }
    linear->parts = parts;
    linear->count = count;
    return true;
}

bool nn_linear_create(nn_linear *linear, const mdl_linear *const *layers, size_t count,
                      base_arena *arena)
{
    *linear = (nn_linear){.in = layers[0]->weight.cols};
    for (size_t i = 0; i < count; i++)
        linear->out += layers[i]->weight.rows;
    return layers[0]->weight.s8 ? list_pieces(linear, layers, count, arena)
                                : keep_in_place(linear, layers, count, arena);
}

void nn_linear_pack(nn_linear *linear, const kn_table *table, void *memory)
{
    linear->packed = kn_pack(table, linear->pieces, linear->count, linear->in, memory);
}

void nn_input_quantize(nn_input *input, const kn_table *table)
{
    if (input->ready) /* and perhaps read by others: not to be written again */
        return;
    kn_quantize(table, input->x, input->cols, input->rows, input->cols, input->quantized);
    input->ready = true;
}

static void multiply_packed(const nn_linear *linear, const kn_table *table, nn_input *input,
                            size_t begin, size_t end, kn_activation activation, float *y,
                            size_t y_stride)
{
    nn_input_quantize(input, table);
    kn_multiply(table, input->quantized, input->rows, linear->packed, begin, end, activation, y,
                y_stride);
}

void nn_linear_apply(const nn_linear *linear, const kn_table *table, nn_input *input,
                     kn_activation activation, float *y, size_t y_stride)
{
    if (linear->packed) {
        multiply_packed(linear, table, input, 0, linear->out, activation, y, y_stride);
        return;
    }
    for (size_t i = 0; i < linear->count; i++) {
        const nn_part *part = &linear->parts[i];
        kn_multiply_f32(table, linear->blas, input->x, input->cols, input->rows, part->weight,
                        part->bias, linear->in, part->rows, activation, y, y_stride);
        y += part->rows;
    }
}

void nn_linear_apply_range(const nn_linear *linear, const kn_table *table, nn_input *input,
                           size_t begin, size_t end, kn_activation activation, float *y,
                           size_t y_stride)
{
    if (linear->packed) {
        multiply_packed(linear, table, input, begin, end, activation, y, y_stride);
        return;
    }
    const nn_part *part = &linear->parts[0];
    kn_multiply_f32(table, linear->blas, input->x, input->cols, input->rows,
                    part->weight + begin * linear->in, part->bias ? part->bias + begin : NULL,
                    linear->in, end - begin, activation, y, y_stride);
}
