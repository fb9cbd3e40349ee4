#include "translate/cores.h"

#include "support/suite.h"

#include <ftw.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char root[] = "/tmp/zhen-cores-XXXXXX";

static void write_file(const char *name, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", root, name);
    for (char *slash = path + strlen(root) + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        mkdir(path, 0700);
        *slash = '/';
    }
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fputs(text, file);
    fclose(file);
}

static void write_siblings(int cpu, const char *list)
{
    char name[128];
    snprintf(name, sizeof name, "devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu);
    write_file(name, list);
}

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *walk)
{
    (void)status;
    (void)type;
    (void)walk;
    return remove(path);
}

static size_t cores_of(size_t first, size_t last)
{
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    for (size_t cpu = first; cpu <= last; cpu++)
        CPU_SET(cpu, &allowed);
    return translate_cores_of(&allowed, root);
}

START_TEST(counts_cores)
{
    ck_assert_ptr_nonnull(mkdtemp(root));
    ck_assert_uint_eq(cores_of(0, 7), 8); /* nothing known: as many as processors */
    for (int cpu = 0; cpu < 4; cpu++) {
        char list[16];
        snprintf(list, sizeof list, "%d,%d\n", cpu, cpu + 4);
        write_siblings(cpu, list);
        write_siblings(cpu + 4, list);
    }
    ck_assert_uint_eq(cores_of(0, 7), 4);
    ck_assert_uint_eq(cores_of(4, 7), 4); /* the first threads of the cores are not allowed */
    ck_assert_uint_eq(cores_of(3, 4), 2);
    ck_assert_uint_eq(cores_of(1, 1), 1);
    ck_assert_uint_eq(cores_of(1, 0), 1); /* none at all */
    write_siblings(8, "8-9\n");
    write_siblings(9, "8-9\n");
    write_siblings(10, "x\n");
    ck_assert_uint_eq(cores_of(8, 9), 1);
    ck_assert_uint_eq(cores_of(8, 10), 2);
    write_file("fs/cgroup/cpu.max", "max 100000\n");
    ck_assert_uint_eq(cores_of(0, 7), 4);
    write_file("fs/cgroup/cpu.max", "250000 100000\n");
    ck_assert_uint_eq(cores_of(0, 7), 2);
    write_file("fs/cgroup/cpu.max", "50000 100000\n");
    ck_assert_uint_eq(cores_of(0, 7), 1);
    write_file("fs/cgroup/cpu.max", "no numbers\n");
    ck_assert_uint_eq(cores_of(0, 7), 4);
    nftw(root, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}
END_TEST

START_TEST(finds_this_machine)
{
    size_t cores = translate_cores();
    ck_assert_uint_ge(cores, 1);
    ck_assert_uint_le(cores, (size_t)sysconf(_SC_NPROCESSORS_CONF));
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {counts_cores, finds_this_machine};
    return run_suite("translate_cores", tests, sizeof tests / sizeof *tests);
}
