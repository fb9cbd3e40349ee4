/*
 * The one shape of JSON that a vocabulary has, {"piece": 0, "another": 1}, read without a tree: an
 * allocation or two and a strtod for each of tens of thousands of pieces are most of what a cold
 * start would do. Strict, and content with little: whatever is not plainly of this shape is left to
 * a real JSON reader, which also has the words for what is wrong.
 */
#ifndef TOKENIZER_FLAT_JSON_H
#define TOKENIZER_FLAT_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct tok_flat_json {
    const char *at, *end;
    bool begun;
} tok_flat_json;

typedef enum tok_flat_result {
    TOK_FLAT_PAIR,
    TOK_FLAT_END,  /* of the object and of the text */
    TOK_FLAT_OTHER /* something else; nothing more can be read */
} tok_flat_result;

/* The text must be valid UTF-8 and stay where it is. */
tok_flat_json tok_flat_start(const char *text, size_t size);

/* The next name and its number, a whole one below 2^31. The name, without its escapes, goes to
 * `name`, which has room for as many bytes as the text has left; it is never empty nor holds a zero
 * byte. */
tok_flat_result tok_flat_next(tok_flat_json *json, char *name, size_t *length, int32_t *number);

#endif
