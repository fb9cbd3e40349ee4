#include "kernels/checks.h"

#include <check.h>
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
    suite_add_tcase(suite, selection);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
