/* Opening and quantising a model when memory runs out at the first allocation, the second, and so
 * on: each time an error, nothing leaked (the sanitizer and valgrind see to that), no half-written
 * directory. The linker sends the library's allocations here (--wrap), cJSON's come by its hooks.
 */
#include "model/tiny.h"
#include "support/suite.h"
#include "zhen.h"

#include <cjson/cJSON.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Allocations until memory runs out; SIZE_MAX: it does not. Two threads open a model. */
static atomic_size_t allowed = SIZE_MAX;

static bool runs_out(void)
{
    size_t left = atomic_load(&allowed);
    while (left != SIZE_MAX && left > 0 && !atomic_compare_exchange_weak(&allowed, &left, left - 1))
        ;
    return left <= 1;
}

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
char *__real_strdup(const char *text);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *memory, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
char *__wrap_strdup(const char *text);

void *__wrap_malloc(size_t size)
{
    return runs_out() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return runs_out() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *memory, size_t size)
{
    return runs_out() ? NULL : __real_realloc(memory, size);
}

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    return runs_out() ? NULL : __real_aligned_alloc(alignment, size);
}

char *__wrap_strdup(const char *text)
{
    return runs_out() ? NULL : __real_strdup(text);
}

static void *hook_malloc(size_t size)
{
    return __wrap_malloc(size);
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
    allowed = SIZE_MAX;
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
        allowed = n;
        zhen_status status = zhen_model_open(tiny.directory, &model, &error);
        const bool spent = allowed == 0;
        allowed = SIZE_MAX;
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
        allowed = n;
        zhen_status status = zhen_model_quantize(tiny.directory, out, &error);
        done = allowed != 0;
        allowed = SIZE_MAX;
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
