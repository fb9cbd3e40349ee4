/* Arithmetic on sizes that come from files: false on overflow, the result untouched. */
#ifndef BASE_SIZE_H
#define BASE_SIZE_H

#include <stdbool.h>
#include <stddef.h>

static inline bool base_add(size_t a, size_t b, size_t *sum)
{
    size_t r;
    if (__builtin_add_overflow(a, b, &r))
        return false;
    *sum = r;
    return true;
}

static inline bool base_multiply(size_t a, size_t b, size_t *product)
{
    size_t r;
    if (__builtin_mul_overflow(a, b, &r))
        return false;
    *product = r;
    return true;
}

/* `size` rounded up to a multiple of `step`, a power of two; the caller knows that it fits. */
static inline size_t base_round_up(size_t size, size_t step)
{
    return (size + step - 1) & ~(step - 1);
}

#endif
