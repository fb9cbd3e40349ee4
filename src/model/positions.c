#include "model/positions.h"

#include <math.h>

enum { BLOCK = 64 }; /* frequencies that are advanced side by side */

/* Instead of a sine and a cosine for each position, the vectors (c, s) are turned by w from one
 * position to the next. In double the error after tens of thousands of turns is still far below
 * what a float can show, and a model opens milliseconds sooner. */
static void fill_block(float *sines, float *cosines, size_t positions, size_t d_model, size_t first,
                       size_t count)
{
    double s[BLOCK] = {0}, c[BLOCK], sin_w[BLOCK] = {0}, cos_w[BLOCK] = {0};
    for (size_t i = 0; i < BLOCK; i++)
        c[i] = 1;
    for (size_t i = 0; i < count; i++) {
        const double w = 1 / pow(10000, (double)(2 * (first + i)) / (double)d_model);
        sin_w[i] = sin(w);
        cos_w[i] = cos(w);
    }
    for (size_t p = 0; p < positions; p++, sines += d_model, cosines += d_model)
        for (size_t i = 0; i < count; i++) {
            sines[i] = (float)s[i];
            cosines[i] = (float)c[i];
            const double turned = s[i] * cos_w[i] + c[i] * sin_w[i];
            c[i] = c[i] * cos_w[i] - s[i] * sin_w[i];
            s[i] = turned;
        }
}

/* The last sine of an odd width has no cosine beside it. */
static void fill_last_sine(float *sines, size_t positions, size_t d_model)
{
    const double w = 1 / pow(10000, (double)(d_model - 1) / (double)d_model);
    for (size_t p = 0; p < positions; p++)
        sines[p * d_model] = (float)sin((double)p * w);
}

void mdl_positions_fill(float *table, size_t positions, size_t d_model)
{
    const size_t pairs = d_model / 2, sines = d_model - pairs;
    for (size_t i = 0; i < pairs; i += BLOCK)
        fill_block(table + i, table + sines + i, positions, d_model, i,
                   pairs - i < BLOCK ? pairs - i : BLOCK);
    if (sines > pairs)
        fill_last_sine(table + pairs, positions, d_model);
}
