#include "base/pages.h"

#include "base/size.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { LINE = 64, HUGE_PAGE = 2 * 1024 * 1024 };

void *base_pages_allocate(size_t bytes)
{
    if (bytes > SIZE_MAX / 2)
        return NULL;
    if (bytes < HUGE_PAGE)
        return aligned_alloc(LINE, base_round_up(bytes ? bytes : 1, LINE));
    bytes = base_round_up(bytes, HUGE_PAGE);
    void *memory = aligned_alloc(HUGE_PAGE, bytes);
#ifdef MADV_HUGEPAGE
    if (memory)
        (void)madvise(memory, bytes, MADV_HUGEPAGE); /* small pages will do, too */
#endif
    return memory;
}
