#include "tokenizer/vocabulary.h"

#include "base/buffer.h"
#include "base/error.h"
#include "base/file.h"
#include "text/text.h"
#include "tokenizer/flat_json.h"

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

/* A piece and its id, in the order of the file. */
typedef struct vocabulary_entry {
    tok_name name;
    int32_t id;
} vocabulary_entry;

/* What has been read; the pieces' text is in the vocabulary already. */
typedef struct vocabulary_reader {
    tok_vocabulary *vocabulary;
    const char *path;
    size_t limit;
    vocabulary_entry *entries;
    size_t count, capacity;
    zhen_error *error;
} vocabulary_reader;

static bool push(vocabulary_reader *reader, size_t length, int32_t id)
{
    if (!base_grow((void **)&reader->entries, &reader->capacity, reader->count + 1,
                   sizeof *reader->entries))
        return false;
    tok_vocabulary *vocabulary = reader->vocabulary;
    const tok_name name = {(uint32_t)vocabulary->text_size, (uint32_t)length};
    reader->entries[reader->count++] = (vocabulary_entry){name, id};
    vocabulary->text_size += length;
    if ((size_t)id >= vocabulary->size)
        vocabulary->size = (size_t)id + 1;
    return true;
}

/* Reads a file of the usual shape. *done: it was one, and nothing was wrong with it. */
static zhen_status read_flat(vocabulary_reader *reader, const base_map *file, bool *done)
{
    tok_vocabulary *vocabulary = reader->vocabulary;
    *done = false;
    if (!text_is_valid((const char *)file->bytes, file->size))
        return ZHEN_OK;
    tok_flat_json json = tok_flat_start((const char *)file->bytes, file->size);
    tok_flat_result result;
    size_t length;
    int32_t id;
    while ((result = tok_flat_next(&json, vocabulary->text + vocabulary->text_size, &length,
                                   &id)) == TOK_FLAT_PAIR) {
        if ((size_t)id >= reader->limit)
            return ZHEN_OK;
        if (!push(reader, length, id))
            return base_fail_memory(reader->error);
    }
    *done = result == TOK_FLAT_END && reader->count > 0;
    return ZHEN_OK;
}

static bool is_id(const cJSON *item)
{
    return cJSON_IsNumber(item) && item->valuedouble >= 0 && item->valuedouble < INT32_MAX &&
           item->valuedouble == (double)(int32_t)item->valuedouble;
}

static zhen_status check_item(const vocabulary_reader *reader, const cJSON *item)
{
    const char *piece = item->string;
    if (!*piece)
        return base_fail(reader->error, ZHEN_ERROR_FORMAT, "%s: holds an empty piece",
                         reader->path);
    if (!text_is_valid(piece, strlen(piece)))
        return base_fail(reader->error, ZHEN_ERROR_FORMAT, "%s: a piece is not UTF-8",
                         reader->path);
    if (!is_id(item))
        return base_fail(reader->error, ZHEN_ERROR_FORMAT, "%s: \"%s\": the id is no whole number",
                         reader->path, piece);
    if (item->valuedouble >= (double)reader->limit)
        return base_fail(reader->error, ZHEN_ERROR_FORMAT,
                         "%s: \"%s\": the id %.0f is outside the embedding table, which has %zu "
                         "rows",
                         reader->path, piece, item->valuedouble, reader->limit);
    return ZHEN_OK;
}

static zhen_status take_items(vocabulary_reader *reader, const cJSON *root)
{
    if (!cJSON_IsObject(root))
        return base_fail(reader->error, ZHEN_ERROR_FORMAT, "%s: not a JSON object", reader->path);
    tok_vocabulary *vocabulary = reader->vocabulary;
    const cJSON *item;
    cJSON_ArrayForEach(item, root)
    {
        zhen_status status = check_item(reader, item);
        if (status)
            return status;
        const size_t length = strlen(item->string);
        memcpy(vocabulary->text + vocabulary->text_size, item->string, length);
        if (!push(reader, length, (int32_t)item->valuedouble))
            return base_fail_memory(reader->error);
    }
    if (!reader->count)
        return base_fail(reader->error, ZHEN_ERROR_FORMAT, "%s: holds no pieces", reader->path);
    return ZHEN_OK;
}

static bool only_space(const char *at, const char *end)
{
    for (; at < end; at++)
        if (*at != ' ' && *at != '\t' && *at != '\n' && *at != '\r')
            return false;
    return true;
}

/* Reads any other file, and finds the words for what is wrong with it. */
static zhen_status read_json(vocabulary_reader *reader, const base_map *file)
{
    const char *bytes = (const char *)file->bytes, *end = bytes;
    cJSON *root = cJSON_ParseWithLengthOpts(bytes, file->size, &end, false);
    zhen_status status;
    if (!root || !only_space(end, bytes + file->size))
        status = base_fail(reader->error, ZHEN_ERROR_FORMAT, "%s: not JSON, at byte %zu",
                           reader->path, end ? (size_t)(end - bytes) : 0);
    else
        status = take_items(reader, root);
    cJSON_Delete(root);
    return status;
}

static bool allocate(tok_vocabulary *vocabulary, size_t count)
{
    vocabulary->capacity = 16;
    while (vocabulary->capacity / 2 < count)
        vocabulary->capacity *= 2;
    vocabulary->names = calloc(vocabulary->size, sizeof *vocabulary->names);
    vocabulary->slots = malloc(vocabulary->capacity * sizeof *vocabulary->slots);
    if (!vocabulary->names || !vocabulary->slots)
        return false;
    memset(vocabulary->slots, 0xFF, vocabulary->capacity * sizeof *vocabulary->slots);
    return true;
}

static zhen_status make_index(const vocabulary_reader *reader)
{
    tok_vocabulary *vocabulary = reader->vocabulary;
    if (!allocate(vocabulary, reader->count))
        return base_fail_memory(reader->error);
    for (size_t i = 0; i < reader->count; i++) {
        const vocabulary_entry *entry = &reader->entries[i];
        const char *piece = vocabulary->text + entry->name.offset;
        const size_t slot = find_slot(vocabulary, piece, entry->name.length);
        if (vocabulary->slots[slot] >= 0)
            return base_fail(reader->error, ZHEN_ERROR_FORMAT, "%s: \"%.*s\" occurs twice",
                             reader->path, (int)entry->name.length, piece);
        if (vocabulary->names[entry->id].length)
            return base_fail(reader->error, ZHEN_ERROR_FORMAT, "%s: the id %d occurs twice",
                             reader->path, (int)entry->id);
        vocabulary->names[entry->id] = entry->name;
        vocabulary->slots[slot] = entry->id;
    }
    return ZHEN_OK;
}

static zhen_status read_file(vocabulary_reader *reader, const base_map *file)
{
    tok_vocabulary *vocabulary = reader->vocabulary;
    if (file->size > UINT32_MAX)
        return base_fail(reader->error, ZHEN_ERROR_FORMAT, "%s: larger than 4 GiB", reader->path);
    /* No piece is longer than what spells it; lines of 16 bytes are usual. */
    vocabulary->text = malloc(file->size + 1);
    if (!vocabulary->text || !base_grow((void **)&reader->entries, &reader->capacity,
                                        file->size / 16, sizeof *reader->entries))
        return base_fail_memory(reader->error);
    bool done;
    zhen_status status = read_flat(reader, file, &done);
    if (status)
        return status;
    if (!done) {
        reader->count = vocabulary->size = vocabulary->text_size = 0;
        status = read_json(reader, file);
    }
    if (status)
        return status;
    char *text = realloc(vocabulary->text, vocabulary->text_size);
    if (!text)
        return base_fail_memory(reader->error);
    vocabulary->text = text;
    return make_index(reader);
}

zhen_status tok_vocabulary_open(const char *path, size_t limit, tok_vocabulary *vocabulary,
                                zhen_error *error)
{
    base_map file;
    zhen_status status = base_map_open(path, &file, error);
    if (status)
        return status;
    tok_vocabulary opened = {0};
    vocabulary_reader reader = {
        .vocabulary = &opened, .path = path, .limit = limit, .error = error};
    status = read_file(&reader, &file);
    free(reader.entries);
    base_map_close(&file);
    if (status) {
        tok_vocabulary_close(&opened);
        return status;
    }
    *vocabulary = opened;
    return ZHEN_OK;
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
