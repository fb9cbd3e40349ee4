/*
 * What must hold for the kernels of every instruction set, without Check or OpenBLAS, so that the
 * same checks run in the test suite and, cross-built, under qemu.
 */
#ifndef TESTS_KERNELS_CHECKS_H
#define TESTS_KERNELS_CHECKS_H

#include "kernels/kernels.h"

typedef struct check {
    const char *name;
    /* Returns false and fills `message` (256 bytes) when it does not hold for this set. */
    bool (*run)(const kn_table *table, char *message);
} check;

extern const check checks[];
extern const size_t check_count;

/* The names of all instruction sets, this machine's or not; NULL at the end. */
extern const char *const check_sets[];

#endif
