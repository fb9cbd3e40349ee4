/* The float product: OpenBLAS, or our own loops where they are faster. */
#include "base/error.h"
#include "kernels/kernels.h"
#include "kernels/table.h"

#include <cblas.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

/* Up to here reading the weights once, in order, is faster than sgemm, which copies them first. */
enum { FEW_ROWS = 8 };

/* ---- The library ---------------------------------------------------------------------------- */

/* What the library holds under the names of cblas.h. */
struct kn_blas {
    void *library;
    __typeof__(cblas_sgemm) *sgemm;
    /* On a processor that is younger than itself, OpenBLAS falls back to its oldest kernels, which
     * are slower than our loops. */
    bool outdated;
};

static zhen_status fail(const char *library, zhen_error *error)
{
    const char *reason = dlerror(); /* begins with the library's name, as a rule */
    return base_fail(error, ZHEN_ERROR_UNSUPPORTED,
                     "%s: float weights need OpenBLAS, which cannot be loaded: %s", library,
                     reason ? reason : "unknown reason");
}

/* Puts the address of a function into a pointer to one, as POSIX defines it for dlsym. */
static bool find(void *library, const char *name, void *function)
{
    void *address = dlsym(library, name);
    memcpy(function, &address, sizeof address);
    return address != NULL;
}

/* Takes what we need out of the library. Our threads each multiply for themselves, so OpenBLAS is
 * to use one; that is a setting of the whole process, not safe to change while others multiply, and
 * therefore made once, here. */
static bool set_up(kn_blas *blas)
{
    __typeof__(openblas_get_num_threads) *get_num_threads;
    __typeof__(openblas_set_num_threads) *set_num_threads;
    __typeof__(openblas_get_corename) *get_corename;
    if (!find(blas->library, "cblas_sgemm", &blas->sgemm) ||
        !find(blas->library, "openblas_get_num_threads", &get_num_threads) ||
        !find(blas->library, "openblas_set_num_threads", &set_num_threads) ||
        !find(blas->library, "openblas_get_corename", &get_corename))
        return false;
    if (get_num_threads() != 1)
        set_num_threads(1);
    blas->outdated = strcmp(get_corename(), "Prescott") == 0;
    return true;
}

zhen_status kn_blas_open(const char *library, kn_blas **blas, zhen_error *error)
{
    *blas = NULL;
    kn_blas *opened = calloc(1, sizeof *opened);
    if (!opened)
        return base_fail_memory(error);
    /* Its threads may be asleep in its code when we close it: once loaded, it stays. */
    opened->library = dlopen(library, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!opened->library || !set_up(opened)) {
        zhen_status status = fail(library, error);
        kn_blas_close(opened);
        return status;
    }
    *blas = opened;
    return ZHEN_OK;
}

void kn_blas_close(kn_blas *blas)
{
    if (blas && blas->library)
        (void)dlclose(blas->library);
    free(blas);
}

/* ---- The product ---------------------------------------------------------------------------- */

static bool own_loops_are_faster(const kn_table *table, const kn_blas *blas, size_t rows)
{
    return !blas || rows <= FEW_ROWS || (blas->outdated && table->loops != &kn_loops_scalar);
}

static void multiply_blas(const kn_blas *blas, const float *x, size_t x_stride, size_t rows,
                          const float *w, size_t in, size_t out, float *y, size_t y_stride)
{
    blas->sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (blasint)rows, (blasint)out, (blasint)in,
                1.0F, x, (blasint)x_stride, w, (blasint)in, 0.0F, y, (blasint)y_stride);
}

void kn_multiply_f32(const kn_table *table, const kn_blas *blas, const float *x, size_t x_stride,
                     size_t rows, const float *w, const float *bias, size_t in, size_t out,
                     kn_activation activation, float *y, size_t y_stride)
{
    if (in == 0 || out == 0 || own_loops_are_faster(table, blas, rows))
        table->loops->multiply_f32(x, x_stride, rows, w, in, out, y, y_stride);
    else
        multiply_blas(blas, x, x_stride, rows, w, in, out, y, y_stride);
    if (!bias && activation == KN_NONE)
        return;
    for (size_t m = 0; m < rows; m++)
        table->loops->activate(y + m * y_stride, bias, out, activation);
}
