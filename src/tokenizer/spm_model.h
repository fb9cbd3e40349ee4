/* What the files behind spm.h share: the model in memory and the scratch of an encoding. */
#ifndef TOKENIZER_SPM_MODEL_H
#define TOKENIZER_SPM_MODEL_H

#include "base/file.h"
#include "tokenizer/normalizer.h"
#include "tokenizer/spm.h"
#include "tokenizer/trie.h"

/* The library's own limit for a piece in bytes; it bounds the work that one piece can make. */
enum { SPM_MAX_LENGTH = 8000 };

typedef struct spm_entry {
    const char *text; /* in the mapped file */
    float score;
    uint16_t length; /* less than SPM_MAX_LENGTH */
    uint8_t kind;    /* an spm_kind */
} spm_entry;

struct spm_model {
    base_map file;
    spm_entry *entries;
    size_t count;          /* at most INT32_MAX */
    spm_trie pieces;       /* normal, user-defined and unused: what text is made of */
    spm_trie user_defined; /* those alone */
    spm_normalizer normalizer;
    bool is_bpe;
    bool byte_fallback;
    bool has_text_pieces;  /* any that text may be made of */
    int32_t unknown_id;    /* -1: none */
    int32_t byte_ids[256]; /* of byte fallback */
    float unknown_score;   /* of a character without a piece, unigram only */
    const char *unknown_surface;
    size_t unknown_surface_length;
};

/* The best way to cut the normalised text up to some byte, unigram. */
typedef struct spm_best {
    float score;
    int32_t id;   /* of the last piece */
    size_t start; /* where it begins; SIZE_MAX: no way leads here */
} spm_best;

/* A piece in the making, BPE: a character at first. */
typedef struct spm_symbol {
    size_t begin, end;     /* empty once merged into its left neighbour */
    size_t previous, next; /* SIZE_MAX: none */
    uint32_t node;         /* in the trie of pieces */
    bool fixed;            /* user-defined: never merged */
    int32_t id;            /* SPM_TRIE_NONE: no piece */
} spm_symbol;

/* Two neighbours that could be merged. */
typedef struct spm_pair {
    float score;
    size_t left, right; /* symbols */
    size_t size; /* of the merged piece when the pair was found; it is stale if that changed */
} spm_pair;

struct spm_scratch {
    spm_normalized normalized; /* its text is the encoding's */
    spm_best *best;
    size_t best_capacity;
    spm_symbol *symbols;
    size_t symbol_count, symbol_capacity;
    spm_pair *heap;
    size_t heap_count, heap_capacity;
    /* Unused pieces are cut again where they were last merged: for each piece the length of its
     * left part, 0 if it was not met, and the pieces to be cleared. */
    uint32_t *splits;
    size_t split_capacity;
    int32_t *met;
    size_t met_count, met_capacity;
};

/* Reads model->file into an otherwise empty model. */
zhen_status spm_read(spm_model *model, const char *path, spm_use use, zhen_error *error);

/* Cut the normalised text of an encoding into pieces; false when memory runs out. */
bool spm_segment_unigram(const spm_model *model, spm_encoding *encoding);
bool spm_segment_bpe(const spm_model *model, spm_encoding *encoding);

/* Appends the piece that covers [begin, end) of the normalised text. */
bool spm_emit(const spm_model *model, spm_encoding *encoding, int32_t id, size_t begin, size_t end);

#endif
