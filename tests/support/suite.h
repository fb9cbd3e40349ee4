/* The main function of a Check program with one group of tests, each between `begin` and `end`. */
#ifndef TESTS_SUPPORT_SUITE_H
#define TESTS_SUPPORT_SUITE_H

#include <check.h>
#include <stdlib.h>

static inline int run_suite_with(const char *name, const TTest *const *tests, size_t count,
                                 void (*begin)(void), void (*end)(void))
{
    Suite *suite = suite_create(name);
    TCase *group = tcase_create(name);
    tcase_set_timeout(group, 0);
    tcase_add_checked_fixture(group, begin, end);
    for (size_t i = 0; i < count; i++)
        tcase_add_test(group, tests[i]);
    suite_add_tcase(suite, group);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

static inline int run_suite(const char *name, const TTest *const *tests, size_t count)
{
    return run_suite_with(name, tests, count, NULL, NULL);
}

#endif
