/* The float product: OpenBLAS, or our own loop for the few rows of a decoding step. */
#include "kernels/kernels.h"
#include "kernels/table.h"

#include <cblas.h>

/* Up to here reading the weights once in order is faster than sgemm, which copies them first. */
enum { FEW_ROWS = 4 };

void kn_multiply_f32(const kn_table *table, const float *x, size_t x_stride, size_t rows,
                     const float *w, const float *bias, size_t in, size_t out,
                     kn_activation activation, float *y, size_t y_stride)
{
    if (rows == 0 || out == 0)
        return;
    if (rows <= FEW_ROWS || in == 0) {
        table->loops->multiply_few(x, x_stride, rows, w, in, out, y, y_stride);
    } else {
        if (openblas_get_num_threads() != 1)
            openblas_set_num_threads(1);
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (blasint)rows, (blasint)out,
                    (blasint)in, 1.0F, x, (blasint)x_stride, w, (blasint)in, 0.0F, y,
                    (blasint)y_stride);
    }
    if (!bias && activation == KN_NONE)
        return;
    for (size_t m = 0; m < rows; m++)
        table->loops->activate(y + m * y_stride, bias, out, activation);
}
