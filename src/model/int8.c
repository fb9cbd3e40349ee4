#include "model/int8.h"

#include <float.h>
#include <math.h>

static float largest_magnitude(const float *row, size_t cols)
{
    float largest = 0;
    for (size_t i = 0; i < cols; i++)
        largest = fmaxf(largest, fabsf(row[i]));
    return largest;
}

float mdl_int8_quantize_row(const float *row, size_t cols, int8_t *values)
{
    const float scale = largest_magnitude(row, cols) / 127;
    const float divisor = scale < FLT_MIN ? INFINITY : scale;
    for (size_t i = 0; i < cols; i++) {
        /* The rounding of the division can lift a value just over 127, never to 127.5. */
        values[i] = (int8_t)rintf(row[i] / divisor);
    }
    return scale < FLT_MIN ? 1 : scale;
}
