/* vocab.json: a flat JSON object that numbers pieces. */
#ifndef TOKENIZER_VOCABULARY_H
#define TOKENIZER_VOCABULARY_H

#include "zhen.h"

/* Where a piece stands in the vocabulary's text. */
typedef struct tok_name {
    uint32_t offset, length; /* an empty one: no piece has this id */
} tok_name;

/* All zero is empty. */
typedef struct tok_vocabulary {
    char *text;
    size_t text_size;
    tok_name *names; /* by id */
    size_t size;     /* one more than the greatest id */
    int32_t *slots;  /* hash table of ids, -1 in an unused slot */
    size_t capacity; /* of slots; a power of two */
} tok_vocabulary;

/* Reads the file; every id must be less than `limit`. */
zhen_status tok_vocabulary_open(const char *path, size_t limit, tok_vocabulary *vocabulary,
                                zhen_error *error);
void tok_vocabulary_close(tok_vocabulary *vocabulary);

/* The id of a piece, or -1. */
int32_t tok_vocabulary_find(const tok_vocabulary *vocabulary, const char *piece, size_t length);
/* The piece with an id, `length` bytes without a zero byte; NULL if there is none. */
const char *tok_vocabulary_piece(const tok_vocabulary *vocabulary, int32_t id, size_t *length);
size_t tok_vocabulary_memory(const tok_vocabulary *vocabulary);

#endif
