/*
 * The tokeniser of a model directory: source.spm and target.spm cut text into pieces, vocab.json
 * (and target_vocab.json, if the sides have vocabularies of their own) numbers the pieces.
 * Gives the ids and the text that transformers' MarianTokenizer gives.
 */
#ifndef TOKENIZER_TOKENIZER_H
#define TOKENIZER_TOKENIZER_H

#include "base/buffer.h"
#include "tokenizer/spm.h"
#include "zhen.h"

typedef struct tok_tokenizer tok_tokenizer; /* immutable, shared by threads */

/* Sizes of the embedding tables that the ids must fit into, from config.json. */
typedef struct tok_limits {
    size_t source_size, target_size;
} tok_limits;

/* Opens in two steps: the first starts to read the SentencePiece models on a thread of its own, so
 * that the caller can go on; the second reads the vocabularies and waits. Only then, if there was
 * no error, can the tokeniser be used; it must be closed in any case. */
zhen_status tok_open_start(const char *directory, tok_tokenizer **tokenizer, zhen_error *error);
zhen_status tok_open_finish(tok_tokenizer *tokenizer, const tok_limits *limits, zhen_error *error);
/* Both steps in one; after an error there is nothing to close. */
zhen_status tok_open(const char *directory, const tok_limits *limits, tok_tokenizer **tokenizer,
                     zhen_error *error);
void tok_close(tok_tokenizer *tokenizer); /* NULL is fine */
size_t tok_source_size(const tok_tokenizer *tokenizer);
size_t tok_target_size(const tok_tokenizer *tokenizer);
size_t tok_memory(const tok_tokenizer *tokenizer);

/* How a piece is spelled, `length` bytes without a zero byte, U+2581 for a blank; NULL if there is
 * none with this id. */
const char *tok_source_piece(const tok_tokenizer *tokenizer, int32_t id, size_t *length);
const char *tok_target_piece(const tok_tokenizer *tokenizer, int32_t id, size_t *length);
/* The target id of a piece, or -1. */
int32_t tok_target_find(const tok_tokenizer *tokenizer, const char *piece, size_t length);

/* The ids of a source sentence, without </s>, and where each piece stands in the sentence. */
typedef struct tok_source {
    int32_t *ids;
    zhen_span *spans; /* bytes of the source sentence */
    size_t count, capacity;
    spm_encoding encoding; /* scratch */
} tok_source;              /* all zero is empty; reusable */

zhen_status tok_encode(const tok_tokenizer *tokenizer, const char *text, size_t length,
                       tok_source *source, zhen_error *error);
void tok_source_free(tok_source *source);

/* Appends the text of target ids to `text`, as SentencePiece's decode writes it (special pieces
 * </s>, <pad> and <unk> give nothing; byte pieces that are no valid UTF-8 give U+FFFD). If `spans`
 * is not NULL, spans[i] gets the bytes of `text` that ids[i] wrote (empty for special pieces; the
 * pieces of one byte-spelled character share its span). */
zhen_status tok_decode(const tok_tokenizer *tokenizer, const int32_t *ids, size_t count,
                       base_buffer *text, zhen_span *spans, zhen_error *error);

#endif
