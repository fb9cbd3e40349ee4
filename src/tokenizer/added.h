/* Tokens that Python code has added to a tokenizer (add_tokens). */
#ifndef TOKENIZER_ADDED_H
#define TOKENIZER_ADDED_H

#include "tokenizer/vocabulary.h"

#include <cjson/cJSON.h>

/* Their texts and ids stand outside vocab.json: in "added_tokens_decoder" of tokenizer_config.json
 * (`config`, its parsed text, may be NULL), and in added_tokens.json before that. transformers cuts
 * them out of the source ahead of SentencePiece, which is not done here, so a model with any that
 * is not in a vocabulary under its id too (as </s>, <unk> and <pad> are) fails as
 * ZHEN_ERROR_UNSUPPORTED; it would be translated wrongly. */
zhen_status tok_added_check(const cJSON *config, const char *config_path, const char *added_path,
                            const tok_vocabulary *source, const tok_vocabulary *target,
                            zhen_error *error);

/* The parsed text of a JSON file, for cJSON_Delete; NULL if it is missing or no JSON. */
cJSON *tok_added_parse(const char *path);

#endif
