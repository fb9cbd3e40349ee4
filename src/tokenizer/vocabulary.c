#include "tokenizer/vocabulary.h"

#include "base/error.h"
#include "base/file.h"
#include "text/text.h"

#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>

static size_t hash(const char *bytes, size_t length)
{
    uint64_t h = UINT64_C(0xCBF29CE484222325); /* FNV-1a */
    for (size_t i = 0; i < length; i++)
        h = (h ^ (unsigned char)bytes[i]) * UINT64_C(0x100000001B3);
    return (size_t)(h ^ h >> 32);
}

/* The slot that holds a piece, or the unused one where it belongs. */
static size_t find_slot(const tok_vocabulary *vocabulary, const char *piece, size_t length)
{
    const size_t mask = vocabulary->capacity - 1;
    size_t i = hash(piece, length) & mask;
    for (; vocabulary->slots[i] >= 0; i = (i + 1) & mask) {
        tok_name name = vocabulary->names[vocabulary->slots[i]];
        if (name.length == length && !memcmp(vocabulary->text + name.offset, piece, length))
            break;
    }
    return i;
}

int32_t tok_vocabulary_find(const tok_vocabulary *vocabulary, const char *piece, size_t length)
{
    return vocabulary->capacity ? vocabulary->slots[find_slot(vocabulary, piece, length)] : -1;
}

const char *tok_vocabulary_piece(const tok_vocabulary *vocabulary, int32_t id, size_t *length)
{
    if (id < 0 || (size_t)id >= vocabulary->size || !vocabulary->names[id].length)
        return NULL;
    *length = vocabulary->names[id].length;
    return vocabulary->text + vocabulary->names[id].offset;
}

/* ---- Reading -------------------------------------------------------------------------------- */

static bool is_id(const cJSON *item)
{
    return cJSON_IsNumber(item) && item->valuedouble >= 0 && item->valuedouble < INT32_MAX &&
           item->valuedouble == (double)(int32_t)item->valuedouble;
}

static zhen_status check_entry(const cJSON *item, const char *path, size_t limit, zhen_error *error)
{
    const char *piece = item->string;
    if (!*piece)
        return base_fail(error, ZHEN_ERROR_FORMAT, "%s: holds an empty piece", path);
    if (!text_is_valid(piece, strlen(piece)))
        return base_fail(error, ZHEN_ERROR_FORMAT, "%s: a piece is not UTF-8", path);
    if (!is_id(item))
        return base_fail(error, ZHEN_ERROR_FORMAT, "%s: \"%s\": the id is no whole number", path,
                         piece);
    if (item->valuedouble >= (double)limit)
        return base_fail(error, ZHEN_ERROR_FORMAT,
                         "%s: \"%s\": the id %.0f is outside the embedding table, which has %zu "
                         "rows",
                         path, piece, item->valuedouble, limit);
    return ZHEN_OK;
}

static zhen_status check_entries(const cJSON *root, const char *path, size_t limit,
                                 tok_vocabulary *vocabulary, size_t *count, zhen_error *error)
{
    *count = 0;
    const cJSON *item;
    cJSON_ArrayForEach(item, root)
    {
        zhen_status status = check_entry(item, path, limit, error);
        if (status)
            return status;
        size_t id = (size_t)item->valuedouble;
        vocabulary->size = id >= vocabulary->size ? id + 1 : vocabulary->size;
        vocabulary->text_size += strlen(item->string);
        (*count)++;
    }
    return ZHEN_OK;
}

static bool allocate(tok_vocabulary *vocabulary, size_t count)
{
    vocabulary->capacity = 16;
    while (vocabulary->capacity / 2 < count)
        vocabulary->capacity *= 2;
    vocabulary->text = malloc(vocabulary->text_size);
    vocabulary->names = calloc(vocabulary->size, sizeof *vocabulary->names);
    vocabulary->slots = malloc(vocabulary->capacity * sizeof *vocabulary->slots);
    if (!vocabulary->text || !vocabulary->names || !vocabulary->slots)
        return false;
    memset(vocabulary->slots, 0xFF, vocabulary->capacity * sizeof *vocabulary->slots);
    return true;
}

static zhen_status add_entries(const cJSON *root, const char *path, tok_vocabulary *vocabulary,
                               zhen_error *error)
{
    size_t end = 0;
    const cJSON *item;
    cJSON_ArrayForEach(item, root)
    {
        const size_t length = strlen(item->string);
        const size_t id = (size_t)item->valuedouble;
        size_t slot = find_slot(vocabulary, item->string, length);
        if (vocabulary->slots[slot] >= 0)
            return base_fail(error, ZHEN_ERROR_FORMAT, "%s: \"%s\" occurs twice", path,
                             item->string);
        if (vocabulary->names[id].length)
            return base_fail(error, ZHEN_ERROR_FORMAT, "%s: the id %zu occurs twice", path, id);
        memcpy(vocabulary->text + end, item->string, length);
        vocabulary->names[id] = (tok_name){(uint32_t)end, (uint32_t)length};
        vocabulary->slots[slot] = (int32_t)id;
        end += length;
    }
    return ZHEN_OK;
}

static zhen_status take_json(const cJSON *root, const char *path, size_t limit,
                             tok_vocabulary *vocabulary, zhen_error *error)
{
    if (!cJSON_IsObject(root))
        return base_fail(error, ZHEN_ERROR_FORMAT, "%s: not a JSON object", path);
    size_t count;
    zhen_status status = check_entries(root, path, limit, vocabulary, &count, error);
    if (status)
        return status;
    if (!vocabulary->size || !vocabulary->text_size)
        return base_fail(error, ZHEN_ERROR_FORMAT, "%s: holds no pieces", path);
    if (!allocate(vocabulary, count))
        return base_fail_memory(error);
    return add_entries(root, path, vocabulary, error);
}

static bool only_space(const char *at, const char *end)
{
    for (; at < end; at++)
        if (*at != ' ' && *at != '\t' && *at != '\n' && *at != '\r')
            return false;
    return true;
}

static zhen_status read_json(const base_map *file, const char *path, size_t limit,
                             tok_vocabulary *vocabulary, zhen_error *error)
{
    const char *bytes = (const char *)file->bytes, *end = bytes;
    if (file->size > UINT32_MAX)
        return base_fail(error, ZHEN_ERROR_FORMAT, "%s: larger than 4 GiB", path);
    cJSON *root = cJSON_ParseWithLengthOpts(bytes, file->size, &end, false);
    zhen_status status;
    if (!root || !only_space(end, bytes + file->size))
        status = base_fail(error, ZHEN_ERROR_FORMAT, "%s: not JSON, at byte %zu", path,
                           end ? (size_t)(end - bytes) : 0);
    else
        status = take_json(root, path, limit, vocabulary, error);
    cJSON_Delete(root);
    return status;
}

zhen_status tok_vocabulary_open(const char *path, size_t limit, tok_vocabulary *vocabulary,
                                zhen_error *error)
{
    base_map file;
    zhen_status status = base_map_open(path, &file, error);
    if (status)
        return status;
    tok_vocabulary opened = {0};
    status = read_json(&file, path, limit, &opened, error);
    base_map_close(&file);
    if (status)
        tok_vocabulary_close(&opened);
    else
        *vocabulary = opened;
    return status;
}

size_t tok_vocabulary_memory(const tok_vocabulary *vocabulary)
{
    return vocabulary->text_size + vocabulary->size * sizeof *vocabulary->names +
           vocabulary->capacity * sizeof *vocabulary->slots;
}

void tok_vocabulary_close(tok_vocabulary *vocabulary)
{
    free(vocabulary->text);
    free(vocabulary->names);
    free(vocabulary->slots);
    *vocabulary = (tok_vocabulary){0};
}
