/*
 * Safetensors files: 8 bytes with the little-endian length of a JSON header, the header, which
 * gives every tensor's type, shape and place, and the raw little-endian bytes of the tensors
 * (format description: README of huggingface/safetensors). The reader is as strict as the format's
 * own library: tensors cover the data exactly, without overlap and without holes.
 */
#ifndef MODEL_SAFETENSORS_H
#define MODEL_SAFETENSORS_H

#include "base/arena.h"
#include "base/buffer.h"
#include "base/file.h"
#include "zhen.h"

enum {
    ST_MAX_DIMENSIONS = 8,
    ST_MAX_HEADER =
        16 * 1024 * 1024, /* bytes; the format allows 100 MB, no Marian model needs one */
    ST_ALIGNMENT = 64     /* of the tensors that we write, where sizes permit */
};

typedef enum st_dtype {
    ST_F32,
    ST_F16,
    ST_BF16,
    ST_I8,
    ST_OTHER /* a type of the format that no Marian model uses */
} st_dtype;

typedef struct st_tensor {
    const char *name;
    const char *type; /* as in the file: "F32", "I64", ... */
    st_dtype dtype;
    size_t dimensions, shape[ST_MAX_DIMENSIONS];
    const unsigned char *data; /* any alignment */
    size_t bytes;
} st_tensor;

/* An opened file: all zero is closed. */
typedef struct st_file {
    base_map map;
    base_arena memory;
    st_tensor *tensors; /* by name */
    size_t count;
} st_file;

zhen_status st_open(const char *path, st_file *file, zhen_error *error);
void st_close(st_file *file);
/* NULL if there is no tensor of this name. */
const st_tensor *st_find(const st_file *file, const char *name);

/* Appends a whole file with these tensors to `image`; `type` is ignored, names need no escaping in
 * JSON, and ST_OTHER cannot be written. The same tensors give the same bytes: those whose size is a
 * multiple of ST_ALIGNMENT come first, by name, then the others, wide types before I8, by name; so
 * every tensor is aligned for its type and most are for vector registers, without holes, which the
 * format forbids. `tensors` is in that order on return. False when memory runs out. */
bool st_write(st_tensor *tensors, size_t count, base_buffer *image);

#endif
