#include "translate/cores.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* The first of the processors in a list such as "0-1,8" that is allowed, or -1. */
static long first_allowed(const char *list, const cpu_set_t *allowed)
{
    while (*list >= '0' && *list <= '9') {
        char *end;
        long first = strtol(list, &end, 10), last = first;
        if (*end == '-')
            last = strtol(end + 1, &end, 10);
        for (long cpu = first; cpu <= last && cpu < CPU_SETSIZE; cpu++)
            if (CPU_ISSET((size_t)cpu, allowed))
                return cpu;
        list = *end == ',' ? end + 1 : end;
    }
    return -1;
}

static bool read_line(const char *path, char *line, int size)
{
    FILE *file = fopen(path, "re");
    if (!file)
        return false;
    bool read = fgets(line, size, file) != NULL;
    (void)fclose(file);
    return read;
}

/* Whether a processor is the first allowed one of its core; so is one of which nothing is known. */
static bool leads_core(long cpu, const cpu_set_t *allowed, const char *sys)
{
    char path[256], list[256];
    (void)snprintf(path, sizeof path, "%s/devices/system/cpu/cpu%ld/topology/thread_siblings_list",
                   sys, cpu);
    if (!read_line(path, list, sizeof list))
        return true;
    long first = first_allowed(list, allowed);
    return first < 0 || first == cpu;
}

/* Whole processors' worth of time that the control group (version 2) grants, or SIZE_MAX. */
static size_t quota(const char *sys)
{
    char path[256], line[64];
    (void)snprintf(path, sizeof path, "%s/fs/cgroup/cpu.max", sys);
    if (!read_line(path, line, sizeof line))
        return SIZE_MAX;
    char *end;
    unsigned long granted = strtoul(line, &end, 10), period = strtoul(end, NULL, 10);
    if (end == line || period == 0) /* "max 100000" */
        return SIZE_MAX;
    return granted < period ? 1 : granted / period;
}

size_t translate_cores_of(const cpu_set_t *allowed, const char *sys)
{
    size_t cores = 0, granted = quota(sys);
    for (long cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET((size_t)cpu, allowed) && leads_core(cpu, allowed, sys))
            cores++;
    if (cores > granted)
        cores = granted;
    return cores ? cores : 1;
}

size_t translate_cores(void)
{
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    /* Fails on machines with more processors than the set has room for: 64 threads will do. */
    if (sched_getaffinity(0, sizeof allowed, &allowed))
        return 64;
    return translate_cores_of(&allowed, "/sys");
}
