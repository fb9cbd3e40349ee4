/* A translation cut into tokens, each with the source text that it was translated from. */
#ifndef DOCUMENT_TARGET_H
#define DOCUMENT_TARGET_H

#include "document/unit.h"

#include <stdint.h>

#define DOC_NONE SIZE_MAX

/* A word, a Han character or a mark of punctuation; or a protected word of the unit. */
typedef struct doc_token {
    zhen_span text;  /* in the translation; of a protected word: what stands for it, may be empty */
    zhen_span space; /* the blank before it */
    size_t word;     /* DOC_NONE, or the mark that it is */
    bool inserted;   /* a protected word that the translation lacked: set off by blanks as needed */
    size_t source_first, source_count; /* spans of the source text, in doc_target.sources */
} doc_token;

typedef struct doc_target {
    const char *text;
    size_t length;
    doc_token *tokens;
    size_t count, capacity;
    zhen_span *sources;
    size_t source_count, source_capacity;
    const zhen_sentence *sentences; /* of the translation, which need not be sound */
    size_t sentence_count;
} doc_target; /* all zero is empty */

/* Cuts the translation of a text of source_length bytes into tokens. By its links a token gets the
 * source pieces that it came from, none if the model looked nowhere; a sentence without links is
 * taken to be translated in order, evenly. The translation must outlive the target. Returns false
 * when memory runs out. */
bool doc_target_make(const zhen_translation *translation, size_t source_length, doc_target *target);
void doc_target_free(doc_target *target);

/* Cuts every token but the protected words into characters, for texts that have fewer words than
 * marks. */
bool doc_target_shatter(doc_target *target);

/* Removes a token; inserts one before `at`. */
void doc_target_remove(doc_target *target, size_t at);
bool doc_target_insert(doc_target *target, size_t at, const doc_token *token);

/* How much of the token comes from source[span]: 1 all, 0 nothing, -1: nobody knows. */
float doc_target_share(const doc_target *target, size_t token, zhen_span span);

/* The best place between tokens of [begin, end], for something that stood at `offset` of the
 * source: after what came before it, or before what came after. */
size_t doc_target_place(const doc_target *target, size_t begin, size_t end, size_t offset);
/* How far from `offset` the tokens around the place `at` came from, in bytes. */
size_t doc_target_distance(const doc_target *target, size_t begin, size_t end, size_t at,
                           size_t offset);

#endif
