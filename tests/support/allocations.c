#include "support/allocations.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Linked with --wrap: what is called as malloc comes to __wrap_malloc, and so on. */
void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
char *__real_strdup(const char *text);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *memory, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
char *__wrap_strdup(const char *text);

atomic_long allocations;
static atomic_long first = LONG_MAX, last = LONG_MAX; /* of those that fail */

void fail_allocation(long number)
{
    allocations = 0;
    first = last = number;
}

void fail_allocations_from(long number)
{
    allocations = 0;
    first = number;
    last = LONG_MAX;
}

void fail_no_allocation(void)
{
    first = LONG_MAX;
}

static bool fails(void)
{
    const long number = atomic_fetch_add(&allocations, 1);
    if (number < first || number > last)
        return false;
    errno = ENOMEM;
    return true;
}

void *__wrap_malloc(size_t size)
{
    return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return fails() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *memory, size_t size)
{
    return fails() ? NULL : __real_realloc(memory, size);
}

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    return fails() ? NULL : __real_aligned_alloc(alignment, size);
}

char *__wrap_strdup(const char *text)
{
    return fails() ? NULL : __real_strdup(text);
}
