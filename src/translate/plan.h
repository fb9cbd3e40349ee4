/* What a call has to do: its texts cut into sentences, and these into pieces that the model can
 * take. */
#ifndef TRANSLATE_PLAN_H
#define TRANSLATE_PLAN_H

#include "base/buffer.h"
#include "model/model.h"
#include "text/text.h"
#include "tokenizer/tokenizer.h"
#include "translate/memory.h"

/* A sentence or a part of a long one. */
typedef struct translate_piece {
    zhen_span source;       /* in the repaired text */
    translate_entry *entry; /* NULL: has no Han and stays as it is */
} translate_piece;

typedef struct translate_sentence {
    zhen_span source; /* in the repaired text */
    size_t first_piece, piece_count;
} translate_sentence;

typedef struct translate_line {
    const char *text; /* valid UTF-8: the caller's bytes, or `repaired` */
    size_t length;
    base_buffer repaired;
    size_t *origin; /* (length + 1): offsets in the caller's text; NULL if they are the same */
    size_t first_sentence, sentence_count;
} translate_line;

typedef struct translate_plan {
    const zhen_model *model;
    translate_memory *memory;
    bool alignment;    /* keep the spans of tokens */
    size_t max_tokens; /* of a piece, without </s> */

    translate_line *lines; /* (line_count): one for each text */
    size_t line_count;
    translate_sentence *sentences;
    size_t sentence_count, sentence_capacity;
    translate_piece *pieces;
    size_t piece_count, piece_capacity;
    translate_entry **queue; /* pieces that the memory does not hold yet, each once */
    size_t queue_count, queue_capacity;

    text_sentences scratch_sentences;
    tok_source scratch_tokens;
} translate_plan;

/* Starts a plan; options: whether tokens' spans are wanted. */
void translate_plan_init(translate_plan *plan, const zhen_model *model, translate_memory *memory,
                         bool alignment);
/* Cuts the texts up and fills the queue, longest piece first. */
zhen_status translate_plan_texts(translate_plan *plan, const zhen_text *texts, size_t count,
                                 zhen_error *error);
void translate_plan_free(translate_plan *plan);

/* A span of a line in offsets of the caller's text. */
zhen_span translate_line_original(const translate_line *line, zhen_span span);

#endif
