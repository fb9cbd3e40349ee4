/* The keys of generation_config.json. */
#ifndef MODEL_GENERATION_H
#define MODEL_GENERATION_H

#include "model/config.h"
#include "model/json.h"

/* Reads the generation keys of a parsed file, checked against the network in `config`; failures
 * are in json->status. */
void mdl_generation_read(mdl_json *json, base_arena *arena, const mdl_config *config,
                         mdl_generation *generation);

/* A token id below `vocabulary`; newer files may give a list of one instead of the number. */
void mdl_generation_token(mdl_json *json, const char *key, size_t vocabulary, int32_t *id);

#endif
