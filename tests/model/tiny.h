/* A valid model of a few kilobytes that tests write to a temporary directory, then damage. */
#ifndef TESTS_MODEL_TINY_H
#define TESTS_MODEL_TINY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    TINY_D = 8,
    TINY_ENCODER_FFN = 16,
    TINY_DECODER_FFN = 12,
    TINY_VOCABULARY = 12,
    TINY_POSITIONS = 16,
    TINY_TENSORS = 44, /* one encoder layer, one decoder layer, shared table, final_logits_bias */
    TINY_MAX_TENSORS = TINY_TENSORS + 4
};

/* A tensor to be written; `header` replaces the whole JSON value if it is set. */
typedef struct tiny_tensor {
    char name[128];
    char dtype[16];
    size_t rows, cols; /* rows 0: a vector */
    float values[256];
    const char *header;
} tiny_tensor;

typedef struct tiny_model {
    char directory[128];
    tiny_tensor tensors[TINY_MAX_TENSORS];
    size_t count;
} tiny_model;

/* Creates the directory and writes all files. */
void tiny_create(tiny_model *model);
/* Removes the directory with the files and directories in it. */
void tiny_remove(tiny_model *model);
void tiny_remove_path(const char *path);

/* The tensor of a name, which must exist. */
tiny_tensor *tiny_find(tiny_model *model, const char *name);
/* Adds a (rows, cols) tensor or, with rows 0, a vector of small random numbers. */
tiny_tensor *tiny_add(tiny_model *model, const char *name, size_t rows, size_t cols);
void tiny_drop(tiny_model *model, const char *name);

/* Writes model.safetensors from the tensors as they now are. */
void tiny_write_weights(const tiny_model *model);
/* Writes the safetensors file with this header, its length and `data_bytes` zero bytes of data. */
void tiny_write_header(const tiny_model *model, const char *header, size_t data_bytes);
void tiny_write(const tiny_model *model, const char *name, const void *bytes, size_t size);
void tiny_write_text(const tiny_model *model, const char *name, const char *text);
/* The file's bytes, followed by a zero byte; free() them. */
unsigned char *tiny_read(const char *directory, const char *name, size_t *size);

/* config.json with `old` replaced by `new`; `old` must be in it. */
void tiny_edit_config(const tiny_model *model, const char *old, const char *new);
extern const char tiny_config[], tiny_generation_config[];

/* A fixed sequence of pseudo-random numbers. */
uint32_t tiny_random(uint32_t *state);

#endif
