/* The float product: OpenBLAS, or our own loops where they are faster. */
#include "kernels/kernels.h"
#include "kernels/table.h"

#include <cblas.h>
#include <string.h>

/* Up to here reading the weights once, in order, is faster than sgemm, which copies them first. */
enum { FEW_ROWS = 8 };

/* On a processor that is younger than itself, OpenBLAS falls back to its oldest kernels, which are
 * slower than our loops. */
static bool blas_is_outdated(const kn_table *table)
{
    return table->loops != &kn_loops_scalar && strcmp(openblas_get_corename(), "Prescott") == 0;
}

static void multiply_blas(const float *x, size_t x_stride, size_t rows, const float *w, size_t in,
                          size_t out, float *y, size_t y_stride)
{
    if (openblas_get_num_threads() != 1)
        openblas_set_num_threads(1);
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (blasint)rows, (blasint)out, (blasint)in,
                1.0F, x, (blasint)x_stride, w, (blasint)in, 0.0F, y, (blasint)y_stride);
}

void kn_multiply_f32(const kn_table *table, const float *x, size_t x_stride, size_t rows,
                     const float *w, const float *bias, size_t in, size_t out,
                     kn_activation activation, float *y, size_t y_stride)
{
    if (rows <= FEW_ROWS || in == 0 || out == 0 || blas_is_outdated(table))
        table->loops->multiply_f32(x, x_stride, rows, w, in, out, y, y_stride);
    else
        multiply_blas(x, x_stride, rows, w, in, out, y, y_stride);
    if (!bias && activation == KN_NONE)
        return;
    for (size_t m = 0; m < rows; m++)
        table->loops->activate(y + m * y_stride, bias, out, activation);
}
