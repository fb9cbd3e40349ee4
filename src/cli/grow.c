#include "cli/grow.h"

#include <stdlib.h>

bool cli_grow(void **array, size_t *capacity, size_t need, size_t size)
{
    if (need <= *capacity)
        return true;
    size_t wanted = need < 8 ? 16 : 2 * need;
    void *grown = wanted > need ? reallocarray(*array, wanted, size) : NULL;
    if (!grown)
        return false;
    *array = grown;
    *capacity = wanted;
    return true;
}
