/* Opening and quantising a model when memory runs out at the first allocation, the second, and so
 * on: each time an error, nothing leaked (the sanitizer and valgrind see to that), no half-written
 * directory. cJSON's allocations fail, too, by its hooks.
 */
#include "model/tiny.h"
#include "support/allocations.h"
#include "support/suite.h"
#include "zhen.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void *hook_malloc(size_t size)
{
    return malloc(size);
}

static tiny_model tiny;

static void setup(void)
{
    cJSON_Hooks hooks = {hook_malloc, free};
    cJSON_InitHooks(&hooks);
    tiny_create(&tiny);
}

static void teardown(void)
{
    fail_no_allocation();
    tiny_remove(&tiny);
}

START_TEST(test_open)
{
    zhen_model *model = NULL;
    zhen_error error;
    size_t failures = 0;
    for (size_t n = 1; !model; n++) {
        ck_assert_uint_lt(n, 20000);
        error.message[0] = '\0';
        fail_allocations_from((long)n - 1);
        zhen_status status = zhen_model_open(tiny.directory, &model, &error);
        const bool spent = allocations >= (long)n;
        fail_no_allocation();
        if (!spent) {
            ck_assert_msg(!status, "%s", error.message);
        } else if (status) {
            ck_assert_ptr_null(model);
            ck_assert(error.message[0]);
            failures++;
        } else {
            /* Memory that only a nicety needed, such as the licence. */
            zhen_model_close(model);
            model = NULL;
        }
    }
    ck_assert_uint_gt(failures, 100);
    zhen_model_close(model);
}
END_TEST

START_TEST(test_quantize)
{
    char out[256];
    zhen_error error;
    snprintf(out, sizeof out, "%s/out", tiny.directory);
    bool done = false;
    for (size_t n = 1; !done; n += n < 40 ? 1 : 7) {
        ck_assert_uint_lt(n, 20000);
        fail_allocations_from((long)n - 1);
        zhen_status status = zhen_model_quantize(tiny.directory, out, &error);
        done = allocations < (long)n;
        fail_no_allocation();
        ck_assert(!done || !status);
        ck_assert_int_eq(access(out, F_OK) == 0, !status);
        tiny_remove_path(out);
    }
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("memory");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, test_open);
    tcase_add_test(tests, test_quantize);
    tcase_set_timeout(tests, 0);
    return run_group("model memory", tests);
}
