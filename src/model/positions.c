#include "model/positions.h"

#include <math.h>

/* One column pair: instead of a sine and a cosine for each position, the vector (cos, sin) is
 * turned by w from one position to the next. In double the error after tens of thousands of turns
 * is still far below what a float can show, and a model opens milliseconds sooner. */
static void fill_frequency(float *sines, float *cosines, size_t positions, size_t stride, double w)
{
    const double sin_w = sin(w), cos_w = cos(w);
    double s = 0, c = 1;
    for (size_t p = 0; p < positions; p++) {
        sines[p * stride] = (float)s;
        if (cosines)
            cosines[p * stride] = (float)c;
        const double turned = s * cos_w + c * sin_w;
        c = c * cos_w - s * sin_w;
        s = turned;
    }
}

void mdl_positions_fill(float *table, size_t positions, size_t d_model)
{
    const size_t sines = d_model - d_model / 2;
    for (size_t i = 0; i < sines; i++) {
        const double w = 1 / pow(10000, (double)(2 * i) / (double)d_model);
        float *cosines = sines + i < d_model ? table + sines + i : NULL;
        fill_frequency(table + i, cosines, positions, d_model, w);
    }
}
