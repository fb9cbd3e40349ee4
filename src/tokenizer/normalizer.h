/* The normaliser of a SentencePiece model: replaces characters, tidies and marks white space. */
#ifndef TOKENIZER_NORMALIZER_H
#define TOKENIZER_NORMALIZER_H

#include "base/buffer.h"
#include "tokenizer/charsmap.h"
#include "tokenizer/trie.h"

#define SPM_SPACE "\xE2\x96\x81" /* U+2581, which stands for a space inside pieces */
enum { SPM_SPACE_LENGTH = sizeof SPM_SPACE - 1 };

typedef struct spm_normalizer {
    spm_charsmap charsmap;
    const spm_trie *user_defined; /* strings that stay as they are */
    bool add_dummy_prefix;        /* a space before the text, or after it with space_is_suffix */
    bool remove_extra_whitespaces;
    bool escape_whitespaces; /* write SPM_SPACE for a space */
    bool space_is_suffix;
} spm_normalizer;

/* A normalised text, and for each of its bytes and one past the end the offset in the original
 * text that it came from. All zero is empty; reusable. */
typedef struct spm_normalized {
    base_buffer *text;
    size_t *origin;
    size_t capacity; /* of origin */
} spm_normalized;

/* Replaces what `normalized` holds. False when memory runs out. */
bool spm_normalize(const spm_normalizer *normalizer, const char *text, size_t length,
                   spm_normalized *normalized);

#endif
