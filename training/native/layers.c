#include "layers.h"

void norm_forward(const float *x, size_t rows, size_t d, const float *gain, const float *bias,
                  bf16 *y, bf16 *normal, float *inverse)
{
    for (size_t i = 0; i < rows; i++, x += d, y += d, normal += d) {
        float sum = 0, square = 0;
        for (size_t j = 0; j < d; j++)
            sum += x[j];
        float mean = sum / (float)d;
        for (size_t j = 0; j < d; j++)
            square += (x[j] - mean) * (x[j] - mean);
        float r = 1.0f / sqrtf(square / (float)d + 1e-5f);
        for (size_t j = 0; j < d; j++) {
            float n = (x[j] - mean) * r;
            normal[j] = narrow(n);
            y[j] = narrow(n * gain[j] + bias[j]);
        }
        inverse[i] = r;
    }
}

void norm_backward(float *restrict g, size_t rows, size_t d, const float *restrict gain,
                   const bf16 *restrict normal, const float *inverse, bf16 *restrict g16,
                   float *restrict dgain, float *restrict dbias, float *restrict dlinear)
{
    for (size_t i = 0; i < rows; i++, g += d, g16 += d, normal += d) {
        float sum = 0, dot = 0;
        for (size_t j = 0; j < d; j++) {
            float n = widen(normal[j]), v = g[j];
            dgain[j] += v * n;
            dbias[j] += v;
            v *= gain[j];
            sum += v;
            dot += v * n;
            g[j] = v;
        }
        sum /= (float)d;
        dot /= (float)d;
        for (size_t j = 0; j < d; j++) {
            float v = (g[j] - sum - widen(normal[j]) * dot) * inverse[i];
            g[j] = v;
            g16[j] = narrow(v);
            dlinear[j] += v;
        }
    }
}

void add_columns(const bf16 *restrict x, size_t rows, size_t columns, float *restrict sum)
{
    for (size_t j = 0; j < columns; j += 64) {
        float part[64] = {0};
        for (size_t i = 0; i < rows; i++)
            for (size_t k = 0; k < 64; k++)
                part[k] += widen(x[i * columns + j + k]);
        for (size_t k = 0; k < 64; k++)
            sum[j + k] += part[k];
    }
}
