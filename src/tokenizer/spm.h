/*
 * SentencePiece models: reads the protobuf file (sentencepiece_model.proto of google/sentencepiece)
 * and turns text into pieces, exactly as version 0.2.3 of the library does. Unigram and BPE models;
 * word and character models and denormalisation rules are refused. Text is normalised by the
 * model's own character map and by nothing else: a model without one takes text as it is, whatever
 * name it gives to its rule, because that is what the library does.
 */
#ifndef TOKENIZER_SPM_H
#define TOKENIZER_SPM_H

#include "base/buffer.h"
#include "zhen.h"

/* An opened model; immutable, shared by threads. */
typedef struct spm_model spm_model;

/* What a piece is, numbered as in the file. */
typedef enum spm_kind {
    SPM_NORMAL = 1,
    SPM_UNKNOWN,      /* stands for text that no piece covers; one at most */
    SPM_CONTROL,      /* </s> and the like: never comes from text, writes nothing */
    SPM_USER_DEFINED, /* a string that is never cut nor normalised */
    SPM_UNUSED,       /* takes part in BPE merges, but never comes from text */
    SPM_BYTE          /* "<0xE4>": a byte of a character that no piece covers */
} spm_kind;

/* One piece of an encoded text. A run of characters that no piece covers is one piece, the unknown
 * one, or a piece for each of its bytes if the model falls back to bytes. */
typedef struct spm_piece {
    int32_t id;         /* in the SentencePiece model, not in vocab.json */
    zhen_span normal;   /* bytes in the normalised text */
    zhen_span original; /* bytes of the original text that the piece came from; pieces that spell
                           one character in bytes share them */
} spm_piece;

/* Reusable memory of one thread for spm_encode: pieces and the normalised text are the result, the
 * rest is scratch. All zero is empty. */
typedef struct spm_encoding {
    spm_piece *pieces;
    size_t count, capacity;
    base_buffer normal;
    struct spm_scratch *scratch;
} spm_encoding;

/* What a model is opened for. Segmentation needs the normaliser's character map and an index of the
 * pieces, which takes most of the time and memory; putting pieces together does not. */
typedef enum spm_use { SPM_TO_SEGMENT, SPM_TO_JOIN } spm_use;

zhen_status spm_open(const char *path, spm_use use, spm_model **model, zhen_error *error);
void spm_close(spm_model *model); /* NULL is fine */

size_t spm_piece_count(const spm_model *model);
/* The text of a piece, `length` bytes without a zero byte; NULL for an id out of range. */
const char *spm_piece_text(const spm_model *model, int32_t id, size_t *length);
/* Only for ids in range. */
spm_kind spm_piece_kind(const spm_model *model, int32_t id);
/* The id of the unknown piece; -1 if there is none, which only byte fallback allows. */
int32_t spm_unknown_id(const spm_model *model);
/* What the unknown piece writes, usually " ⁇ ". */
const char *spm_unknown_surface(const spm_model *model, size_t *length);
/* Whether a space at the beginning is taken off when pieces are put together: the first one (it
 * was added by the normaliser), or all of them. */
bool spm_strips_first_space(const spm_model *model);
bool spm_strips_leading_spaces(const spm_model *model);
/* Private memory of the open model in bytes. */
size_t spm_memory(const spm_model *model);

/* Segments a text; the model must have been opened SPM_TO_SEGMENT. Bytes that are no UTF-8 count as
 * U+FFFD each (text_repair, which replaces whole sequences, should come first). Fails only when
 * memory runs out. */
zhen_status spm_encode(const spm_model *model, const char *text, size_t length,
                       spm_encoding *encoding, zhen_error *error);
void spm_encoding_free(spm_encoding *encoding);

#endif
