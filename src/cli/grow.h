/* Arrays that grow. */
#ifndef CLI_GROW_H
#define CLI_GROW_H

#include <stdbool.h>
#include <stddef.h>

/* Makes room in *array for `need` elements of `size` bytes, and for more to come; false when memory
 * runs out. */
bool cli_grow(void **array, size_t *capacity, size_t need, size_t size);

#endif
