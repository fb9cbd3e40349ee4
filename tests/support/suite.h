/* How a Check program ends: its main function prepares tests and returns what one of these returns,
 * which is the exit status. */
#ifndef TESTS_SUPPORT_SUITE_H
#define TESTS_SUPPORT_SUITE_H

#include <check.h>
#include <stdlib.h>

static inline int run_groups(Suite *suite)
{
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

static inline int run_group(const char *name, TCase *group)
{
    Suite *suite = suite_create(name);
    suite_add_tcase(suite, group);
    return run_groups(suite);
}

/* One group of plain tests, each between `begin` and `end`. */
static inline int run_suite_with(const char *name, const TTest *const *tests, size_t count,
                                 void (*begin)(void), void (*end)(void))
{
    TCase *group = tcase_create(name);
    tcase_set_timeout(group, 0);
    tcase_add_checked_fixture(group, begin, end);
    for (size_t i = 0; i < count; i++)
        tcase_add_test(group, tests[i]);
    return run_group(name, group);
}

static inline int run_suite(const char *name, const TTest *const *tests, size_t count)
{
    return run_suite_with(name, tests, count, NULL, NULL);
}

#endif
