#include "tokenizer/trie.h"

#include <stdlib.h>

/* Nodes are numbered in 32 bits. */
enum { FIRST_BITS = 8, MAX_BITS = 32 };

/* How many edges a table takes: fuller, it is slow; emptier, its memory costs more time, page by
 * page, than short probes save. */
static size_t room(size_t capacity)
{
    return capacity / 4 * 3;
}

static void insert(spm_trie *trie, const spm_edge *edge)
{
    size_t i = spm_trie_slot(trie, edge->parent, edge->character);
    while (trie->edges[i & (trie->capacity - 1)].child)
        i++;
    trie->edges[i & (trie->capacity - 1)] = *edge;
}

static bool grow(spm_trie *trie, unsigned bits)
{
    spm_trie grown = {.shift = 64 - bits, .nodes = trie->nodes, .capacity = (size_t)1 << bits};
    grown.edges = calloc(grown.capacity, sizeof *grown.edges);
    if (!grown.edges)
        return false;
    for (size_t i = 0; i < trie->capacity; i++)
        if (trie->edges[i].child)
            insert(&grown, &trie->edges[i]);
    free(trie->edges);
    *trie = grown;
    return true;
}

bool spm_trie_reserve(spm_trie *trie, size_t keys)
{
    unsigned bits = FIRST_BITS;
    while (bits < MAX_BITS && room((size_t)1 << bits) < keys + keys / 4)
        bits++;
    return grow(trie, bits);
}

static bool make_room(spm_trie *trie)
{
    if (trie->nodes < room(trie->capacity))
        return true;
    unsigned bits = trie->capacity ? 64 - trie->shift + 1 : FIRST_BITS;
    return bits <= MAX_BITS && grow(trie, bits);
}

static spm_edge *find_or_add(spm_trie *trie, uint32_t parent, uint32_t character)
{
    if (!make_room(trie))
        return NULL;
    size_t i = spm_trie_slot(trie, parent, character);
    for (;; i++) {
        spm_edge *edge = &trie->edges[i & (trie->capacity - 1)];
        if (!edge->child) {
            *edge = (spm_edge){parent, character, ++trie->nodes, SPM_TRIE_NONE};
            return edge;
        }
        if (edge->parent == parent && edge->character == character)
            return edge;
    }
}

spm_trie_result spm_trie_add(spm_trie *trie, const char *key, size_t length, int32_t id)
{
    spm_edge *edge = NULL;
    uint32_t node = SPM_TRIE_ROOT, character;
    for (size_t at = 0; at < length;) {
        at += spm_character(key + at, length - at, &character);
        edge = find_or_add(trie, node, character);
        if (!edge)
            return SPM_TRIE_NO_MEMORY;
        node = edge->child;
    }
    if (!edge || edge->id != SPM_TRIE_NONE)
        return SPM_TRIE_DUPLICATE;
    edge->id = id;
    return SPM_TRIE_ADDED;
}

size_t spm_trie_longest(const spm_trie *trie, const char *text, size_t length)
{
    size_t longest = 0;
    uint32_t node = SPM_TRIE_ROOT, character;
    for (size_t at = 0; at < length;) {
        at += spm_character(text + at, length - at, &character);
        const spm_edge *edge = spm_trie_step(trie, node, character);
        if (!edge)
            break;
        if (edge->id != SPM_TRIE_NONE)
            longest = at;
        node = edge->child;
    }
    return longest;
}

size_t spm_trie_memory(const spm_trie *trie)
{
    return trie->capacity * sizeof *trie->edges;
}

void spm_trie_free(spm_trie *trie)
{
    free(trie->edges);
    *trie = (spm_trie){0};
}
