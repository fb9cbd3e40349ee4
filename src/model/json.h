/*
 * JSON files, read strictly: valid UTF-8, no key twice in one object, no text after the value, and
 * every value of the type and in the range that its reader asks for. Parsed by cJSON.
 */
#ifndef MODEL_JSON_H
#define MODEL_JSON_H

#include "zhen.h"

#include <cjson/cJSON.h>

/* A parsed file, whose top value is an object. The getters below share one rule: after the first
 * failure `status` stays what it is and every later call does nothing, so that a reader is a list
 * of calls and one look at `status`. A key that is absent or null leaves the value as it was. */
typedef struct mdl_json {
    char *path; /* names the file in messages */
    cJSON *root;
    zhen_status status;
    zhen_error *error;
} mdl_json;

/* Parses `size` bytes that came from `path`; mdl_json_close in any case. */
zhen_status mdl_json_parse(const char *path, const void *bytes, size_t size, mdl_json *json,
                           zhen_error *error);
/* Reads directory/name, at most a mebibyte; mdl_json_close in any case. */
zhen_status mdl_json_open(const char *directory, const char *name, mdl_json *json,
                          zhen_error *error);
void mdl_json_close(mdl_json *json);

/* The value of a key; NULL if it is absent or null, or after a failure. */
const cJSON *mdl_json_get(const mdl_json *json, const char *key);
/* Fails if the key is absent or null. */
void mdl_json_require(mdl_json *json, const char *key);
/* Records that the value of `key` is not `expected` ("a number"). */
void mdl_json_reject(mdl_json *json, const char *key, const char *expected);

void mdl_json_size(mdl_json *json, const char *key, size_t minimum, size_t maximum, size_t *value);
void mdl_json_number(mdl_json *json, const char *key, double minimum, double maximum,
                     double *value);
void mdl_json_bool(mdl_json *json, const char *key, bool *value);
/* The string belongs to the parsed file. */
void mdl_json_string(mdl_json *json, const char *key, const char **value);

/* Whether the item is a whole number in [minimum, maximum], and which. */
bool mdl_json_is_size(const cJSON *item, size_t minimum, size_t maximum, size_t *value);

#endif
