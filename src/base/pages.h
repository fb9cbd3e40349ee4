/* Memory for large tables that are read over and over. */
#ifndef BASE_PAGES_H
#define BASE_PAGES_H

#include <stddef.h>

/* `bytes` bytes aligned to 64, to be freed by free(); NULL when memory runs out. Large ones are
 * made of huge pages where the system gives them when asked: a handful of page faults instead of
 * thousands, and fewer misses in the translation of addresses. */
void *base_pages_allocate(size_t bytes);

#endif
