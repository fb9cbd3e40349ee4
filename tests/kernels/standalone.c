/* Runs the checks of every instruction set that this machine has, for machines without Check. The
 * arguments are sets that must be there. */
#include "kernels/checks.h"

#include <stdio.h>

static int failures_of(const kn_table *table)
{
    int failures = 0;
    for (size_t i = 0; i < check_count; i++) {
        char message[256] = "";
        if (!checks[i].run(table, message)) {
            printf("%s: %s: %s\n", kn_name(table), checks[i].name, message);
            failures++;
        }
    }
    printf("%s: %zu checks, %d failures\n", kn_name(table), check_count, failures);
    return failures;
}

int main(int argc, char **argv)
{
    int failures = 0;
    const kn_table *table;
    zhen_error error;
    for (int i = 1; i < argc; i++)
        if (kn_select(argv[i], &table, &error) != ZHEN_OK) {
            printf("%s\n", error.message);
            failures++;
        }
    for (const char *const *set = check_sets; *set; set++)
        if (kn_select(*set, &table, NULL) == ZHEN_OK)
            failures += failures_of(table);
    return failures ? 1 : 0;
}
