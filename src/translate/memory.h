/* A translation memory: every piece of text that goes through the model in one call stands in it
 * once, and stays for later calls as long as there is room. */
#ifndef TRANSLATE_MEMORY_H
#define TRANSLATE_MEMORY_H

#include "zhen.h"

#include <stdint.h>

/* One translation of a piece. */
typedef struct translate_version {
    char *text; /* zero-terminated */
    size_t length;
    double score;
    size_t tokens;
} translate_version;

/* A piece of source text, what the model reads of it and what it made of it. */
typedef struct translate_entry translate_entry;
struct translate_entry {
    translate_entry *chain;   /* the next one with the same place in the table */
    translate_entry *younger; /* the one that was added after it */
    uint64_t hash;
    int32_t *ids;     /* with </s>; NULL once translated */
    zhen_span *spans; /* (tokens): where in the piece they stand; NULL unless links are wanted */
    size_t tokens;    /* ids without </s> */
    translate_version *versions; /* best first; NULL until translated */
    size_t version_count;
    zhen_link *links; /* of the best version, in offsets of piece and version; NULL unless wanted */
    size_t link_count;
    size_t length;
    char *text; /* (length), not terminated; in the same block of memory */
};

/* All zero is empty. */
typedef struct translate_memory {
    translate_entry **table; /* (places) */
    size_t places;           /* a power of two, or 0 */
    size_t count;
    translate_entry *oldest, *youngest;
    translate_entry *settled; /* the youngest one that translate_memory_settle has counted */
    size_t bytes;             /* of the settled ones */
} translate_memory;

translate_entry *translate_memory_find(const translate_memory *memory, const char *text,
                                       size_t length);
/* Adds a piece that is not there yet; NULL when memory runs out. */
translate_entry *translate_memory_add(translate_memory *memory, const char *text, size_t length);
/* Forgets the pieces that were not translated, and then the oldest ones until the rest takes no
 * more than `limit` bytes. */
void translate_memory_settle(translate_memory *memory, size_t limit);
void translate_memory_free(translate_memory *memory);

#endif
