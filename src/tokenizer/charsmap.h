/*
 * The precompiled character map of a SentencePiece model: which strings its normaliser replaces by
 * which. A little-endian uint32, the size of the trie in bytes; the trie, a double array of Yata's
 * darts-clone; the replacements, each ended by a zero byte.
 */
#ifndef TOKENIZER_CHARSMAP_H
#define TOKENIZER_CHARSMAP_H

#include <stdbool.h>
#include <stddef.h>

/* All zero is a map that replaces nothing. */
typedef struct spm_charsmap {
    const unsigned char *units; /* of four bytes each, not aligned; NULL: none */
    const char *strings;
} spm_charsmap;

/* Reads a map in place; its bytes must outlive it. False if it is not a well-formed one: after
 * this check no text whatever can lead a search out of the trie or the replacements. */
bool spm_charsmap_read(spm_charsmap *map, const unsigned char *bytes, size_t size);

/* The length of the longest string that text[0..length) begins with and the map replaces, or 0;
 * `replacement` gets a zero-terminated string. */
size_t spm_charsmap_longest(const spm_charsmap *map, const char *text, size_t length,
                            const char **replacement);

#endif
