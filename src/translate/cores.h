/* How many threads are worth starting on this machine. */
#ifndef TRANSLATE_CORES_H
#define TRANSLATE_CORES_H

#include <sched.h>
#include <stddef.h>

/* Physical cores that this process may use, at least 1: its affinity mask with the threads of one
 * core counted once, and no more than its control group's quota of processor time. */
size_t translate_cores(void);

/* The same for a given mask, and /sys in another place (for tests). */
size_t translate_cores_of(const cpu_set_t *allowed, const char *sys);

#endif
