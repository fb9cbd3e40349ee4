/* Allocations that fail, for suites that zhen_wrap(NAME allocations) links with them: those of our
 * own code, not those of the libraries that it uses. Any thread may allocate. (Check's assertions
 * do, too.) */
#ifndef TESTS_SUPPORT_ALLOCATIONS_H
#define TESTS_SUPPORT_ALLOCATIONS_H

#include <stdatomic.h>

/* How many there have been since the last call of these two. */
extern atomic_long allocations;

/* Begins to count. The one of this number, from 0, will fail; or it and all that follow, as when
 * memory has run out for good. */
void fail_allocation(long number);
void fail_allocations_from(long number);
/* None will fail from now on. */
void fail_no_allocation(void);

#endif
