/*
 * SentencePiece models: reads the protobuf file (sentencepiece_model.proto of google/sentencepiece)
 * and turns text into pieces and pieces into text, exactly as the library itself does.
 */
#ifndef TOKENIZER_SPM_H
#define TOKENIZER_SPM_H

#include "base/buffer.h"
#include "zhen.h"

/* An opened model; immutable, shared by threads. */
typedef struct spm_model spm_model;

/* One piece of an encoded text. */
typedef struct spm_piece {
    int32_t id;         /* in the SentencePiece model, not in vocab.json */
    zhen_span normal;   /* bytes in the normalised text */
    zhen_span original; /* bytes of the original text that the piece came from */
} spm_piece;

/* Reusable memory of one thread for spm_encode: pieces and the normalised text are the result, the
 * rest is scratch. All zero is empty. */
typedef struct spm_encoding {
    spm_piece *pieces;
    size_t count, capacity;
    base_buffer normal;
    void *scratch;
} spm_encoding;

zhen_status spm_open(const char *path, spm_model **model, zhen_error *error);
void spm_close(spm_model *model);

size_t spm_piece_count(const spm_model *model);
/* The text of a piece; `length` may be NULL. NULL for an id out of range. */
const char *spm_piece_text(const spm_model *model, int32_t id, size_t *length);
/* Private memory of the open model in bytes. */
size_t spm_memory(const spm_model *model);

/* Segments a text. The text must be valid UTF-8 (text_repair makes it so). Fails only when memory
 * runs out. */
zhen_status spm_encode(const spm_model *model, const char *text, size_t length,
                       spm_encoding *encoding, zhen_error *error);
void spm_encoding_free(spm_encoding *encoding);

#endif
