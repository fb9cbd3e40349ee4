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

static bool append(spm_encoding *encoding, int32_t id, zhen_span normal, zhen_span original)
{
    if (!base_grow((void **)&encoding->pieces, &encoding->capacity, encoding->count + 1,
                   sizeof *encoding->pieces))
        return false;
    encoding->pieces[encoding->count++] = (spm_piece){id, normal, original};
    return true;
}

bool spm_emit(const spm_model *model, spm_encoding *encoding, int32_t id, size_t begin, size_t end)
{
    const size_t *origin = encoding->scratch->normalized.origin;
    const zhen_span original = {origin[begin], origin[end]};
    if (id != model->unknown_id)
        return append(encoding, id, (zhen_span){begin, end}, original);
    if (model->byte_fallback) {
        for (size_t i = begin; i < end; i++) {
            unsigned char byte = (unsigned char)encoding->normal.data[i];
            if (!append(encoding, model->byte_ids[byte], (zhen_span){i, i + 1}, original))
                return false;
        }
        return true;
    }
    spm_piece *last = encoding->count ? &encoding->pieces[encoding->count - 1] : NULL;
    if (!last || last->id != id)
        return append(encoding, id, (zhen_span){begin, end}, original);
    last->normal.end = end;
    last->original.end = original.end;
    return true;
}

static bool encode(const spm_model *model, const char *text, size_t length, spm_encoding *encoding)
{
    encoding->count = 0;
    if (!encoding->scratch) {
        encoding->scratch = calloc(1, sizeof *encoding->scratch);
        if (!encoding->scratch)
            return false;
    }
    encoding->scratch->normalized.text = &encoding->normal;
    if (!spm_normalize(&model->normalizer, text, length, &encoding->scratch->normalized))
        return false;
    if (!encoding->normal.length)
        return true;
    return model->is_bpe ? spm_segment_bpe(model, encoding) : spm_segment_unigram(model, encoding);
}

zhen_status spm_encode(const spm_model *model, const char *text, size_t length,
                       spm_encoding *encoding, zhen_error *error)
{
    return encode(model, text, length, encoding) ? ZHEN_OK : base_fail_memory(error);
}

void spm_encoding_free(spm_encoding *encoding)
{
    if (encoding->scratch) {
        free(encoding->scratch->normalized.origin);
        free(encoding->scratch->best);
        free(encoding->scratch->symbols);
        free(encoding->scratch->heap);
        free(encoding->scratch->splits);
        free(encoding->scratch->met);
        free(encoding->scratch);
    }
    free(encoding->pieces);
    base_buffer_free(&encoding->normal);
    *encoding = (spm_encoding){0};
}
