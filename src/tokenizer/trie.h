/*
 * A trie over characters. One open-addressed hash table holds all edges, so that thousands of
 * pieces go in within a millisecond and a step costs one probe: quicker to build than a double
 * array, and three times fewer steps for Chinese text than a trie over bytes.
 */
#ifndef TOKENIZER_TRIE_H
#define TOKENIZER_TRIE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { SPM_TRIE_ROOT = 0, SPM_TRIE_NONE = -1 };

/* The step from a node to its child by one character. */
typedef struct spm_edge {
    uint32_t parent;
    uint32_t character; /* its UTF-8 bytes */
    uint32_t child;     /* 0, the root, in an unused slot */
    int32_t id;         /* of the key that ends at the child, or SPM_TRIE_NONE */
} spm_edge;

/* All zero is empty. */
typedef struct spm_trie {
    spm_edge *edges;
    size_t capacity; /* a power of two, or 0 */
    unsigned shift;  /* 64 - log2(capacity) */
    uint32_t nodes;  /* without the root */
} spm_trie;

typedef enum spm_trie_result {
    SPM_TRIE_ADDED,
    SPM_TRIE_DUPLICATE,
    SPM_TRIE_NO_MEMORY
} spm_trie_result;

/* The length of the character at the beginning of text[0..left), as its first byte tells it, never
 * more than `left`; `character` gets its bytes. Any bytes will do; 0 < left. */
static inline size_t spm_character(const char *text, size_t left, uint32_t *character)
{
    unsigned char lead = (unsigned char)*text;
    size_t length = lead < 0xC0 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    if (length > left)
        length = left;
    *character = 0;
    memcpy(character, text, length);
    return length;
}

static inline size_t spm_trie_slot(const spm_trie *trie, uint32_t parent, uint32_t character)
{
    uint64_t key = parent * UINT64_C(0x9E3779B97F4A7C15) ^ character;
    return (size_t)(key * UINT64_C(0xBF58476D1CE4E5B9) >> (trie->shift & 63));
}

/* The edge from a node by a character, or NULL. */
static inline const spm_edge *spm_trie_step(const spm_trie *trie, uint32_t parent,
                                            uint32_t character)
{
    if (!trie->capacity)
        return NULL;
    for (size_t i = spm_trie_slot(trie, parent, character);; i++) {
        const spm_edge *edge = &trie->edges[i & (trie->capacity - 1)];
        if (!edge->child)
            return NULL;
        if (edge->parent == parent && edge->character == character)
            return edge;
    }
}

/* Makes room for about `keys` keys in an empty trie; without it the trie grows as they come. */
bool spm_trie_reserve(spm_trie *trie, size_t keys);
/* Adds a key that is not empty. */
spm_trie_result spm_trie_add(spm_trie *trie, const char *key, size_t length, int32_t id);
/* The length of the longest key that text[0..length) begins with, or 0. */
size_t spm_trie_longest(const spm_trie *trie, const char *text, size_t length);
size_t spm_trie_memory(const spm_trie *trie);
void spm_trie_free(spm_trie *trie);

#endif
