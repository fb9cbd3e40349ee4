/* How the pieces of an encoding are written down: unknown ones joined, or as bytes. */
#include "tokenizer/spm_model.h"

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
