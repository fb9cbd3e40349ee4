#include "tokenizer/spm.h"

#include "base/error.h"
#include "tokenizer/spm_model.h"

#include <stdlib.h>

zhen_status spm_open(const char *path, spm_use use, spm_model **model, zhen_error *error)
{
    spm_model *opened = calloc(1, sizeof *opened);
    if (!opened)
        return base_fail_memory(error);
    zhen_status status = base_map_open(path, &opened->file, error);
    if (!status)
        status = spm_read(opened, path, use, error);
    if (status) {
        spm_close(opened);
        return status;
    }
    *model = opened;
    return ZHEN_OK;
}

void spm_close(spm_model *model)
{
    if (!model)
        return;
    spm_trie_free(&model->pieces);
    spm_trie_free(&model->user_defined);
    free(model->entries);
    base_map_close(&model->file);
    free(model);
}

size_t spm_piece_count(const spm_model *model)
{
    return model->count;
}

const char *spm_piece_text(const spm_model *model, int32_t id, size_t *length)
{
    if (id < 0 || (size_t)id >= model->count)
        return NULL;
    *length = model->entries[id].length;
    return model->entries[id].text;
}

spm_kind spm_piece_kind(const spm_model *model, int32_t id)
{
    return (spm_kind)model->entries[id].kind;
}

int32_t spm_unknown_id(const spm_model *model)
{
    return model->unknown_id;
}

const char *spm_unknown_surface(const spm_model *model, size_t *length)
{
    *length = model->unknown_surface_length;
    return model->unknown_surface;
}

bool spm_strips_first_space(const spm_model *model)
{
    return model->normalizer.add_dummy_prefix || model->normalizer.remove_extra_whitespaces;
}

bool spm_strips_leading_spaces(const spm_model *model)
{
    return model->normalizer.remove_extra_whitespaces;
}

size_t spm_memory(const spm_model *model)
{
    return sizeof *model + model->count * sizeof *model->entries + spm_trie_memory(&model->pieces) +
           spm_trie_memory(&model->user_defined);
}
