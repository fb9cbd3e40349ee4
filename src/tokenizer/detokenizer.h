/* Puts target pieces together into text. */
#ifndef TOKENIZER_DETOKENIZER_H
#define TOKENIZER_DETOKENIZER_H

#include "base/buffer.h"
#include "tokenizer/spm.h"
#include "tokenizer/vocabulary.h"

typedef enum tok_kind {
    TOK_TEXT,    /* its own text */
    TOK_SPECIAL, /* </s>, <unk>, <pad>: as if it were not there */
    TOK_CONTROL, /* a control piece of the SentencePiece model: nothing */
    TOK_UNKNOWN, /* the model's unknown piece under another name: its surface, " ⁇ " */
    TOK_BYTE     /* a byte of a character */
} tok_kind;

typedef struct tok_detokenizer {
    const spm_model *model;
    const tok_vocabulary *vocabulary;
    unsigned char *kinds; /* a tok_kind for each id of the vocabulary */
} tok_detokenizer;

/* The model and the vocabulary must outlive it. False when memory runs out. */
bool tok_detokenizer_create(tok_detokenizer *detokenizer, const spm_model *model,
                            const tok_vocabulary *vocabulary);
void tok_detokenizer_free(tok_detokenizer *detokenizer);

/* See tok_decode. False when memory runs out; `text` is as before then. */
bool tok_detokenize(const tok_detokenizer *detokenizer, const int32_t *ids, size_t count,
                    base_buffer *text, zhen_span *spans);

#endif
