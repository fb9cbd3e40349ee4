#include "model/json.h"

#include "base/error.h"
#include "base/file.h"
#include "text/text.h"

#include <stdlib.h>
#include <string.h>

enum { FILE_LIMIT = 1024 * 1024, SMALL_OBJECT = 8 };

/* Doubles hold every whole number up to here. */
#define EXACT_LIMIT 9007199254740992.0

static int compare_keys(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static const char *find_duplicate_sorted(const char **keys, size_t count)
{
    qsort(keys, count, sizeof *keys, compare_keys);
    for (size_t i = 1; i < count; i++)
        if (!strcmp(keys[i - 1], keys[i]))
            return keys[i];
    return NULL;
}

/* Sets *duplicate to a key that the object has twice; false when memory runs out. */
static bool find_duplicate_in(const cJSON *object, const char **duplicate)
{
    size_t count = 0;
    for (const cJSON *item = object->child; item; item = item->next)
        count++;
    const char *few[SMALL_OBJECT];
    const char **keys = count > SMALL_OBJECT ? malloc(count * sizeof *keys) : few;
    if (!keys)
        return false;
    size_t i = 0;
    for (const cJSON *item = object->child; item; item = item->next)
        keys[i++] = item->string;
    *duplicate = find_duplicate_sorted(keys, count);
    if (keys != few)
        free(keys);
    return true;
}

/* The same for an object and all objects inside it; cJSON bounds the depth at 1000. */
static bool find_duplicate(const cJSON *value, const char **duplicate)
{
    if (cJSON_IsObject(value) && !find_duplicate_in(value, duplicate))
        return false;
    for (const cJSON *item = value->child; item && !*duplicate; item = item->next)
        if (item->child && !find_duplicate(item, duplicate))
            return false;
    return true;
}

static zhen_status parse_text(mdl_json *json, const char *text, size_t size, zhen_error *error)
{
    const char *end = NULL;
    json->root = cJSON_ParseWithLengthOpts(text, size + 1, &end, true);
    if (!json->root)
        return base_fail(error, ZHEN_ERROR_FORMAT, "%s: not valid JSON at byte %zu", json->path,
                         end ? (size_t)(end - text) : 0);
    if (!cJSON_IsObject(json->root))
        return base_fail(error, ZHEN_ERROR_FORMAT, "%s: not a JSON object", json->path);
    const char *duplicate = NULL;
    if (!find_duplicate(json->root, &duplicate))
        return base_fail_memory(error);
    if (duplicate)
        return base_fail(error, ZHEN_ERROR_FORMAT, "%s: %s: key appears twice", json->path,
                         duplicate);
    return ZHEN_OK;
}

/* cJSON is given a copy that ends in a zero byte: its string reader may look one byte too far. A
 * zero character inside would end a string too early, so files that spell one are refused. */
static zhen_status parse(mdl_json *json, const void *bytes, size_t size, zhen_error *error)
{
    if (!size)
        return base_fail(error, ZHEN_ERROR_FORMAT, "%s: empty file", json->path);
    if (!text_is_valid(bytes, size))
        return base_fail(error, ZHEN_ERROR_FORMAT, "%s: not valid UTF-8", json->path);
    if (memchr(bytes, '\0', size) || memmem(bytes, size, "\\u0000", 6))
        return base_fail(error, ZHEN_ERROR_FORMAT, "%s: holds a zero character", json->path);
    char *text = malloc(size + 1);
    if (!text)
        return base_fail_memory(error);
    memcpy(text, bytes, size);
    text[size] = '\0';
    zhen_status status = parse_text(json, text, size, error);
    free(text);
    return status;
}

zhen_status mdl_json_parse(const char *path, const void *bytes, size_t size, mdl_json *json,
                           zhen_error *error)
{
    *json = (mdl_json){.path = strdup(path), .error = error};
    json->status = json->path ? parse(json, bytes, size, error) : base_fail_memory(error);
    return json->status;
}

zhen_status mdl_json_open(const char *directory, const char *name, mdl_json *json,
                          zhen_error *error)
{
    *json = (mdl_json){.path = base_path_join(directory, name), .error = error};
    if (!json->path)
        return json->status = base_fail_memory(error);
    base_map map;
    json->status = base_map_open(json->path, &map, error);
    if (json->status)
        return json->status;
    if (map.size > FILE_LIMIT)
        json->status =
            base_fail(error, ZHEN_ERROR_FORMAT, "%s: larger than %d bytes", json->path, FILE_LIMIT);
    else
        json->status = parse(json, map.bytes, map.size, error);
    base_map_close(&map);
    return json->status;
}

void mdl_json_close(mdl_json *json)
{
    cJSON_Delete(json->root);
    free(json->path);
    *json = (mdl_json){0};
}

const cJSON *mdl_json_get(const mdl_json *json, const char *key)
{
    if (json->status)
        return NULL;
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(json->root, key);
    return cJSON_IsNull(item) ? NULL : item;
}

void mdl_json_require(mdl_json *json, const char *key)
{
    if (!json->status && !mdl_json_get(json, key))
        json->status =
            base_fail(json->error, ZHEN_ERROR_FORMAT, "%s: %s: key is missing", json->path, key);
}

void mdl_json_reject(mdl_json *json, const char *key, const char *expected)
{
    if (!json->status)
        json->status = base_fail(json->error, ZHEN_ERROR_FORMAT, "%s: %s: must be %s", json->path,
                                 key, expected);
}

bool mdl_json_is_size(const cJSON *item, size_t minimum, size_t maximum, size_t *value)
{
    if (!cJSON_IsNumber(item))
        return false;
    double number = item->valuedouble;
    if (!(number >= 0 && number <= EXACT_LIMIT) || number != (double)(size_t)number)
        return false;
    if ((size_t)number < minimum || (size_t)number > maximum)
        return false;
    *value = (size_t)number;
    return true;
}

void mdl_json_size(mdl_json *json, const char *key, size_t minimum, size_t maximum, size_t *value)
{
    const cJSON *item = mdl_json_get(json, key);
    if (item && !mdl_json_is_size(item, minimum, maximum, value))
        json->status = base_fail(json->error, ZHEN_ERROR_FORMAT,
                                 "%s: %s: must be a whole number from %zu to %zu", json->path, key,
                                 minimum, maximum);
}

void mdl_json_number(mdl_json *json, const char *key, double minimum, double maximum, double *value)
{
    const cJSON *item = mdl_json_get(json, key);
    if (!item)
        return;
    if (cJSON_IsNumber(item) && item->valuedouble >= minimum && item->valuedouble <= maximum)
        *value = item->valuedouble;
    else
        json->status =
            base_fail(json->error, ZHEN_ERROR_FORMAT, "%s: %s: must be a number from %g to %g",
                      json->path, key, minimum, maximum);
}

void mdl_json_bool(mdl_json *json, const char *key, bool *value)
{
    const cJSON *item = mdl_json_get(json, key);
    if (!item)
        return;
    if (cJSON_IsBool(item))
        *value = cJSON_IsTrue(item);
    else
        mdl_json_reject(json, key, "true or false");
}

void mdl_json_string(mdl_json *json, const char *key, const char **value)
{
    const cJSON *item = mdl_json_get(json, key);
    if (!item)
        return;
    if (cJSON_IsString(item))
        *value = item->valuestring;
    else
        mdl_json_reject(json, key, "a string");
}
