/* Text to pieces: normalised, then cut by the model's own algorithm. */
#include "base/error.h"
#include "tokenizer/spm_model.h"

#include <stdlib.h>

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
