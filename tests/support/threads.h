/* Threads that cannot be had, for suites that zhen_wrap(NAME threads) links with them. */
#ifndef TESTS_SUPPORT_THREADS_H
#define TESTS_SUPPORT_THREADS_H

#include <stdbool.h>

/* While this is true no thread can be started. */
extern bool without_threads;

#endif
