#include "kernels/checks.h"
#include "support/suite.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

/* _i counts through the sets and, for each, through the checks. */
START_TEST(set_is_right)
{
    const kn_table *table;
    const size_t i = (size_t)_i;
    if (kn_select(check_sets[i / check_count], &table, NULL) != ZHEN_OK)
        return; /* not on this machine */
    const check *c = &checks[i % check_count];
    char message[256] = "";
    ck_assert_msg(c->run(table, message), "%s: %s: %s", kn_name(table), c->name, message);
}
END_TEST

START_TEST(selects_by_name)
{
    const kn_table *table = NULL;
    zhen_error error;
    ck_assert_int_eq(kn_select("scalar", &table, &error), ZHEN_OK);
    ck_assert_str_eq(kn_name(table), "scalar");
    ck_assert_int_eq(kn_select(NULL, &table, &error), ZHEN_OK);
    const char *best = kn_name(table);
    ck_assert_int_eq(kn_select(best, &table, &error), ZHEN_OK);
    ck_assert_str_eq(kn_name(table), best);
    /* The best one is the first of those available in the list of all. */
    for (const char *const *set = check_sets; strcmp(*set, best) != 0; set++)
        ck_assert_int_eq(kn_select(*set, &table, NULL), ZHEN_ERROR_UNSUPPORTED);
}
END_TEST

START_TEST(names_those_available)
{
    const kn_table *table = NULL;
    zhen_error error;
    ck_assert_int_eq(kn_select("mmx", &table, &error), ZHEN_ERROR_UNSUPPORTED);
    ck_assert_ptr_null(table);
    ck_assert_int_eq(error.status, ZHEN_ERROR_UNSUPPORTED);
    ck_assert_ptr_nonnull(strstr(error.message, "'mmx'"));
    ck_assert_ptr_nonnull(strstr(error.message, "scalar"));
    ck_assert_int_eq(kn_select("", &table, NULL), ZHEN_ERROR_UNSUPPORTED);
}
END_TEST

START_TEST(needs_a_library_that_is_openblas)
{
    zhen_error error = {0};
    kn_blas *blas;
    ck_assert_int_eq(kn_blas_open("libno-such.so.0", &blas, &error), ZHEN_ERROR_UNSUPPORTED);
    ck_assert_ptr_null(blas);
    ck_assert_int_eq(error.status, ZHEN_ERROR_UNSUPPORTED);
    ck_assert_ptr_nonnull(strstr(error.message, "OpenBLAS"));
    ck_assert_ptr_nonnull(strstr(error.message, "libno-such.so.0"));
    ck_assert_int_eq(kn_blas_open("libm.so.6", &blas, &error), ZHEN_ERROR_UNSUPPORTED);
    ck_assert_ptr_nonnull(strstr(error.message, "cblas_sgemm"));
    ck_assert_int_eq(kn_blas_open("libm.so.6", &blas, NULL), ZHEN_ERROR_UNSUPPORTED);
    kn_blas_close(NULL);
}
END_TEST

/* Against sums in double; both the loops for few rows and OpenBLAS, with strides and remainders. */
static void check_multiply_f32(const kn_blas *blas)
{
    static const size_t shapes[][3] = {{1, 5, 3},    {3, 33, 7},  {4, 64, 64},  {8, 17, 5},
                                       {9, 100, 70}, {37, 48, 9}, {13, 1, 130}, {2, 0, 3}};
    for (const char *const *set = check_sets; *set; set++)
        for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
            const kn_table *table;
            if (kn_select(*set, &table, NULL) != ZHEN_OK)
                continue;
            const size_t rows = shapes[i][0], in = shapes[i][1], out = shapes[i][2];
            const size_t x_stride = in + 3, y_stride = out + 2;
            float *x = calloc(rows * x_stride, sizeof *x), *w = calloc(in * out + 1, sizeof *w);
            float *y = calloc(rows * y_stride, sizeof *y), *bias = calloc(out, sizeof *bias);
            ck_assert(x && w && y && bias);
            for (size_t k = 0; k < rows * x_stride; k++)
                x[k] = (float)(k * 7919 % 201) / 100.0F - 1.0F;
            for (size_t k = 0; k < in * out; k++)
                w[k] = (float)(k * 104729 % 301) / 150.0F - 1.0F;
            for (size_t n = 0; n < out; n++)
                bias[n] = (float)(n % 5) - 2.0F;
            const kn_activation activation = i % 2 ? KN_RELU : KN_NONE;
            kn_multiply_f32(table, blas, x, x_stride, rows, w, i % 3 ? bias : NULL, in, out,
                            activation, y, y_stride);
            for (size_t m = 0; m < rows; m++)
                for (size_t n = 0; n < out; n++) {
                    double sum = i % 3 ? (double)bias[n] : 0.0;
                    for (size_t k = 0; k < in; k++)
                        sum += (double)x[m * x_stride + k] * (double)w[n * in + k];
                    if (activation == KN_RELU && sum < 0)
                        sum = 0;
                    ck_assert_double_eq_tol((double)y[m * y_stride + n], sum, 2e-5);
                }
            ck_assert_float_eq(y[out], 0.0F); /* between the rows nothing is written */
            free(bias);
            free(y);
            free(w);
            free(x);
        }
}

/* The number of threads is the process's: set when the library is opened, and never again. */
START_TEST(sets_threads_of_openblas_once)
{
    kn_blas *blas;
    void *library = dlopen(KN_BLAS_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    ck_assert_ptr_nonnull(library);
    void *address = dlsym(library, "openblas_get_num_threads");
    int (*get_num_threads)(void);
    memcpy(&get_num_threads, &address, sizeof address);
    void (*set_num_threads)(int);
    address = dlsym(library, "openblas_set_num_threads");
    memcpy(&set_num_threads, &address, sizeof address);
    set_num_threads(2);
    ck_assert_int_eq(kn_blas_open(KN_BLAS_LIBRARY, &blas, NULL), ZHEN_OK);
    ck_assert_int_eq(get_num_threads(), 1);
    set_num_threads(2);
    int threads = get_num_threads(); /* 1 if the library was built without threads */
    check_multiply_f32(blas);
    ck_assert_int_eq(get_num_threads(), threads);
    kn_blas_close(blas);
    ck_assert_int_eq(dlclose(library), 0);
}
END_TEST

START_TEST(multiplies_floats)
{
    kn_blas *blas, *again;
    ck_assert_int_eq(kn_blas_open(KN_BLAS_LIBRARY, &blas, NULL), ZHEN_OK);
    ck_assert_int_eq(kn_blas_open(KN_BLAS_LIBRARY, &again, NULL), ZHEN_OK);
    kn_blas_close(again);
    check_multiply_f32(blas);
    check_multiply_f32(NULL);
    kn_blas_close(blas);
}
END_TEST

int main(void)
{
    size_t sets = 0;
    while (check_sets[sets])
        sets++;
    Suite *suite = suite_create("kernels");
    TCase *sets_case = tcase_create("sets");
    tcase_add_loop_test(sets_case, set_is_right, 0, (int)(sets * check_count));
    tcase_set_timeout(sets_case, 0);
    suite_add_tcase(suite, sets_case);
    TCase *selection = tcase_create("selection");
    tcase_add_test(selection, selects_by_name);
    tcase_add_test(selection, names_those_available);
    tcase_add_test(selection, needs_a_library_that_is_openblas);
    tcase_add_test(selection, sets_threads_of_openblas_once);
    tcase_add_test(selection, multiplies_floats);
    suite_add_tcase(suite, selection);
    return run_groups(suite);
}
