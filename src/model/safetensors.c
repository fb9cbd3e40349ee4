#include "model/safetensors.h"

#include "base/error.h"
#include "base/size.h"
#include "model/json.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LENGTH_BYTES = 8 };

/* The format's types and the bytes of one element. */
static const struct {
    const char *name;
    size_t bytes;
    st_dtype dtype;
} types[] = {
    {"F32", 4, ST_F32},    {"F16", 2, ST_F16},   {"BF16", 2, ST_BF16},     {"I8", 1, ST_I8},
    {"BOOL", 1, ST_OTHER}, {"U8", 1, ST_OTHER},  {"F8_E5M2", 1, ST_OTHER}, {"F8_E4M3", 1, ST_OTHER},
    {"I16", 2, ST_OTHER},  {"U16", 2, ST_OTHER}, {"I32", 4, ST_OTHER},     {"U32", 4, ST_OTHER},
    {"F64", 8, ST_OTHER},  {"I64", 8, ST_OTHER}, {"U64", 8, ST_OTHER},
};
enum { TYPE_COUNT = sizeof types / sizeof types[0] };

/* What the functions below share while a file is opened. */
typedef struct st_reader {
    const char *path;
    st_file *file;
    const unsigned char *data; /* after the header */
    size_t data_bytes;
    zhen_error *error;
} st_reader;

static zhen_status fail(const st_reader *reader, const char *tensor, const char *problem)
{
    return base_fail(reader->error, ZHEN_ERROR_FORMAT, "%s: tensor '%s': %s", reader->path, tensor,
                     problem);
}

/* Reads the type; tensor->bytes is then the size of one element. */
static zhen_status read_type(const st_reader *reader, const cJSON *item, st_tensor *tensor)
{
    const cJSON *dtype = cJSON_GetObjectItemCaseSensitive(item, "dtype");
    if (!cJSON_IsString(dtype))
        return fail(reader, tensor->name, "dtype is missing or no string");
    for (size_t i = 0; i < TYPE_COUNT; i++)
        if (!strcmp(dtype->valuestring, types[i].name)) {
            tensor->type = types[i].name;
            tensor->dtype = types[i].dtype;
            tensor->bytes = types[i].bytes;
            return ZHEN_OK;
        }
    return base_fail(reader->error, ZHEN_ERROR_FORMAT, "%s: tensor '%s': unknown dtype \"%.20s\"",
                     reader->path, tensor->name, dtype->valuestring);
}

/* Reads the shape and multiplies tensor->bytes by it. */
static zhen_status read_shape(const st_reader *reader, const cJSON *item, st_tensor *tensor)
{
    const cJSON *shape = cJSON_GetObjectItemCaseSensitive(item, "shape");
    if (!cJSON_IsArray(shape))
        return fail(reader, tensor->name, "shape is missing or no list");
    for (const cJSON *size = shape->child; size; size = size->next) {
        if (tensor->dimensions == ST_MAX_DIMENSIONS)
            return fail(reader, tensor->name, "more than 8 dimensions");
        size_t *extent = &tensor->shape[tensor->dimensions++];
        if (!mdl_json_is_size(size, 0, SIZE_MAX, extent))
            return fail(reader, tensor->name, "shape holds something that is no size");
        if (!base_multiply(tensor->bytes, *extent, &tensor->bytes))
            return fail(reader, tensor->name, "shape is too large");
    }
    return ZHEN_OK;
}

static zhen_status read_place(const st_reader *reader, const cJSON *item, st_tensor *tensor)
{
    const cJSON *offsets = cJSON_GetObjectItemCaseSensitive(item, "data_offsets");
    const cJSON *first = cJSON_IsArray(offsets) ? offsets->child : NULL;
    size_t begin, end;
    if (!first || !first->next || first->next->next ||
        !mdl_json_is_size(first, 0, SIZE_MAX, &begin) ||
        !mdl_json_is_size(first->next, begin, SIZE_MAX, &end))
        return fail(reader, tensor->name, "data_offsets must be two ascending sizes");
    if (end > reader->data_bytes)
        return base_fail(reader->error, ZHEN_ERROR_FORMAT,
                         "%s: tensor '%s': data ends at byte %zu of %zu: the file is cut short",
                         reader->path, tensor->name, end, reader->data_bytes);
    if (end - begin != tensor->bytes)
        return base_fail(reader->error, ZHEN_ERROR_FORMAT,
                         "%s: tensor '%s': shape needs %zu bytes, data_offsets give %zu",
                         reader->path, tensor->name, tensor->bytes, end - begin);
    tensor->data = reader->data + begin;
    return ZHEN_OK;
}

static zhen_status read_tensor(const st_reader *reader, const cJSON *item, st_tensor *tensor)
{
    *tensor = (st_tensor){0};
    tensor->name = base_arena_string(&reader->file->memory, item->string, strlen(item->string));
    if (!tensor->name)
        return base_fail_memory(reader->error);
    if (!cJSON_IsObject(item))
        return fail(reader, tensor->name, "not an object");
    zhen_status status = read_type(reader, item, tensor);
    if (!status)
        status = read_shape(reader, item, tensor);
    if (!status)
        status = read_place(reader, item, tensor);
    return status;
}

static int compare_places(const void *a, const void *b)
{
    const st_tensor *x = a, *y = b;
    if (x->data != y->data)
        return x->data < y->data ? -1 : 1;
    return x->bytes < y->bytes ? -1 : x->bytes > y->bytes;
}

static int compare_names(const void *a, const void *b)
{
    const st_tensor *x = a, *y = b;
    return strcmp(x->name, y->name);
}

static zhen_status check_coverage(const st_reader *reader)
{
    st_file *file = reader->file;
    qsort(file->tensors, file->count, sizeof *file->tensors, compare_places);
    const unsigned char *end = reader->data;
    for (size_t i = 0; i < file->count; i++) {
        const st_tensor *tensor = &file->tensors[i];
        if (tensor->data < end)
            return base_fail(reader->error, ZHEN_ERROR_FORMAT,
                             "%s: tensor '%s': data overlaps that of '%s'", reader->path,
                             tensor->name, file->tensors[i - 1].name);
        if (tensor->data > end)
            return fail(reader, tensor->name, "unused bytes before its data");
        end = tensor->data + tensor->bytes;
    }
    if (end != reader->data + reader->data_bytes)
        return base_fail(reader->error, ZHEN_ERROR_FORMAT,
                         "%s: %zu unused bytes after the last tensor", reader->path,
                         (size_t)(reader->data + reader->data_bytes - end));
    return ZHEN_OK;
}

static zhen_status read_tensors(const st_reader *reader, const cJSON *header)
{
    st_file *file = reader->file;
    size_t count = 0;
    for (const cJSON *item = header->child; item; item = item->next)
        count++;
    file->tensors = base_arena_calloc(&file->memory, count, sizeof *file->tensors);
    if (!file->tensors)
        return base_fail_memory(reader->error);
    for (const cJSON *item = header->child; item; item = item->next) {
        if (!strcmp(item->string, "__metadata__"))
            continue;
        zhen_status status = read_tensor(reader, item, &file->tensors[file->count++]);
        if (status)
            return status;
    }
    zhen_status status = check_coverage(reader);
    if (!status)
        qsort(file->tensors, file->count, sizeof *file->tensors, compare_names);
    return status;
}

static zhen_status read_file(st_reader *reader)
{
    const base_map *map = &reader->file->map;
    if (map->size < LENGTH_BYTES)
        return base_fail(reader->error, ZHEN_ERROR_FORMAT,
                         "%s: %zu bytes are too few for a safetensors file", reader->path,
                         map->size);
    uint64_t header_bytes = 0;
    for (int i = LENGTH_BYTES - 1; i >= 0; i--)
        header_bytes = header_bytes << 8 | map->bytes[i];
    if (header_bytes > ST_MAX_HEADER)
        return base_fail(reader->error, ZHEN_ERROR_FORMAT,
                         "%s: header of %" PRIu64 " bytes, more than %d", reader->path,
                         header_bytes, ST_MAX_HEADER);
    if (header_bytes > map->size - LENGTH_BYTES)
        return base_fail(reader->error, ZHEN_ERROR_FORMAT,
                         "%s: header of %" PRIu64 " bytes in a file of %zu: the file is cut short",
                         reader->path, header_bytes, map->size);
    const unsigned char *header = map->bytes + LENGTH_BYTES;
    reader->data = header + header_bytes;
    reader->data_bytes = map->size - LENGTH_BYTES - (size_t)header_bytes;
    mdl_json json;
    zhen_status status =
        mdl_json_parse(reader->path, header, (size_t)header_bytes, &json, reader->error);
    if (!status)
        status = read_tensors(reader, json.root);
    mdl_json_close(&json);
    return status;
}

zhen_status st_open(const char *path, st_file *file, zhen_error *error)
{
    *file = (st_file){0};
    zhen_status status = base_map_open(path, &file->map, error);
    if (status)
        return status;
    st_reader reader = {.path = path, .file = file, .error = error};
    status = read_file(&reader);
    if (status)
        st_close(file);
    return status;
}

void st_close(st_file *file)
{
    base_map_close(&file->map);
    base_arena_free(&file->memory);
    *file = (st_file){0};
}

const st_tensor *st_find(const st_file *file, const char *name)
{
    if (!file->count)
        return NULL;
    const st_tensor key = {.name = name};
    return bsearch(&key, file->tensors, file->count, sizeof key, compare_names);
}

/* ---- Writing ------------------------------------------------------------------------------- */

static const char *type_name(st_dtype dtype)
{
    for (size_t i = 0; i < TYPE_COUNT; i++)
        if (types[i].dtype == dtype)
            return types[i].name;
    return "";
}

/* The order in the file, see st_write. I8 is the only type of odd sizes that we write, so that
 * behind the tensors of whole cache lines all others stay aligned if it comes last. */
static int compare_for_writing(const void *a, const void *b)
{
    const st_tensor *x = a, *y = b;
    const bool x_whole = x->bytes % ST_ALIGNMENT == 0, y_whole = y->bytes % ST_ALIGNMENT == 0;
    if (x_whole != y_whole)
        return x_whole ? -1 : 1;
    if (!x_whole && x->dtype != y->dtype)
        return x->dtype < y->dtype ? -1 : 1;
    return compare_names(a, b);
}

static bool append_size(base_buffer *text, size_t value)
{
    char digits[24];
    return snprintf(digits, sizeof digits, "%zu", value) > 0 &&
           base_buffer_append_string(text, digits);
}

static bool append_tensor(base_buffer *text, const st_tensor *tensor, size_t begin)
{
    bool done = base_buffer_append_string(text, ",\"") &&
                base_buffer_append_string(text, tensor->name) &&
                base_buffer_append_string(text, "\":{\"dtype\":\"") &&
                base_buffer_append_string(text, type_name(tensor->dtype)) &&
                base_buffer_append_string(text, "\",\"shape\":[");
    for (size_t i = 0; done && i < tensor->dimensions; i++)
        done = (!i || base_buffer_append_byte(text, ',')) && append_size(text, tensor->shape[i]);
    return done && base_buffer_append_string(text, "],\"data_offsets\":[") &&
           append_size(text, begin) && base_buffer_append_byte(text, ',') &&
           append_size(text, begin + tensor->bytes) && base_buffer_append_string(text, "]}");
}

/* The header is padded with spaces, as the format allows, until the data after it is aligned. The
 * metadata say what transformers wants to see before it loads a file. */
static bool append_header(base_buffer *image, const st_tensor *tensors, size_t count)
{
    const size_t start = image->length;
    unsigned char length[LENGTH_BYTES] = {0};
    bool done = base_buffer_append(image, length, sizeof length) &&
                base_buffer_append_string(image, "{\"__metadata__\":{\"format\":\"pt\"}");
    size_t offset = 0;
    for (size_t i = 0; done && i < count; offset += tensors[i++].bytes)
        done = append_tensor(image, &tensors[i], offset);
    done = done && base_buffer_append_byte(image, '}');
    while (done && (image->length - start) % ST_ALIGNMENT)
        done = base_buffer_append_byte(image, ' ');
    if (!done)
        return false;
    const uint64_t bytes = image->length - start - LENGTH_BYTES;
    for (int i = 0; i < LENGTH_BYTES; i++)
        length[i] = (unsigned char)(bytes >> (8 * i));
    memcpy(image->data + start, length, sizeof length);
    return true;
}

bool st_write(st_tensor *tensors, size_t count, base_buffer *image)
{
    if (count)
        qsort(tensors, count, sizeof *tensors, compare_for_writing);
    bool done = append_header(image, tensors, count);
    for (size_t i = 0; done && i < count; i++)
        done = base_buffer_append(image, tensors[i].data, tensors[i].bytes);
    return done;
}
