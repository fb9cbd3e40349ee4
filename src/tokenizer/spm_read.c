/* Reads a SentencePiece model file. Field numbers are those of sentencepiece_model.proto. */
#include "base/error.h"
#include "text/text.h"
#include "tokenizer/spm_model.h"
#include "tokenizer/wire.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

enum { MODEL_PIECES = 1, MODEL_TRAINER = 2, MODEL_NORMALIZER = 3, MODEL_DENORMALIZER = 5 };
enum { PIECE_TEXT = 1, PIECE_SCORE = 2, PIECE_KIND = 3 };
enum {
    TRAINER_MODEL_TYPE = 3,
    TRAINER_SPACE_IS_SUFFIX = 24,
    TRAINER_BYTE_FALLBACK = 35,
    TRAINER_UNKNOWN_SURFACE = 44
};
enum {
    NORMALIZER_CHARSMAP = 2,
    NORMALIZER_DUMMY_PREFIX = 3,
    NORMALIZER_EXTRA_WHITESPACES = 4,
    NORMALIZER_ESCAPE_WHITESPACES = 5
};
enum { TYPE_UNIGRAM = 1, TYPE_BPE = 2, TYPE_WORD = 3, TYPE_CHAR = 4 };

/* Half-read state that the model itself does not keep. */
typedef struct model_reader {
    spm_model *model;
    const char *path;
    spm_use use;
    zhen_error *error;
    size_t capacity; /* of the model's entries */
    uint64_t type;
    spm_wire charsmap, denormalizer_charsmap;
    bool has_trainer, has_normalizer;
} model_reader;

static zhen_status fail(const model_reader *reader, const char *what)
{
    return base_fail(reader->error, ZHEN_ERROR_FORMAT, "%s: %s", reader->path, what);
}

static zhen_status fail_piece(const model_reader *reader, size_t index, const char *what)
{
    return base_fail(reader->error, ZHEN_ERROR_FORMAT, "%s: piece %zu %s", reader->path, index,
                     what);
}

static zhen_status malformed(const model_reader *reader)
{
    return fail(reader, "cut short, or not a SentencePiece model");
}

static size_t wire_size(spm_wire bytes)
{
    return (size_t)(bytes.end - bytes.at);
}

static bool set_bool(const spm_field *field, bool *value)
{
    *value = field->value != 0;
    return field->type == SPM_WIRE_VARINT;
}

/* ---- The parts of the file ---------------------------------------------------------------- */

static bool take_piece_field(const spm_field *field, spm_entry *entry)
{
    uint32_t bits = (uint32_t)field->value;
    switch (field->number) {
    case PIECE_TEXT:
        entry->text = (const char *)field->bytes.at;
        entry->length = (uint16_t)wire_size(field->bytes);
        return field->type == SPM_WIRE_BYTES && wire_size(field->bytes) < SPM_MAX_LENGTH;
    case PIECE_SCORE:
        memcpy(&entry->score, &bits, sizeof bits);
        return field->type == SPM_WIRE_FIXED32;
    case PIECE_KIND:
        /* A kind of the future reads as the default, as in every protobuf reader. */
        if (field->value >= SPM_NORMAL && field->value <= SPM_BYTE)
            entry->kind = (uint8_t)field->value;
        return field->type == SPM_WIRE_VARINT;
    default:
        return true;
    }
}

static zhen_status read_piece(model_reader *reader, spm_wire message)
{
    spm_model *model = reader->model;
    const size_t index = model->count;
    spm_entry entry = {.kind = SPM_NORMAL};
    spm_field field;
    spm_wire_result result;
    while ((result = spm_wire_next(&message, &field)) == SPM_WIRE_FIELD)
        if (!take_piece_field(&field, &entry))
            return fail_piece(reader, index, "has a field of the wrong type or size");
    if (result == SPM_WIRE_MALFORMED)
        return fail_piece(reader, index, "is malformed");
    if (index == INT32_MAX)
        return fail(reader, "has too many pieces");
    if (!base_grow((void **)&model->entries, &reader->capacity, index + 1, sizeof entry))
        return base_fail_memory(reader->error);
    model->entries[model->count++] = entry;
    return ZHEN_OK;
}

static bool take_trainer_field(model_reader *reader, const spm_field *field)
{
    spm_model *model = reader->model;
    switch (field->number) {
    case TRAINER_MODEL_TYPE:
        if (field->value >= TYPE_UNIGRAM && field->value <= TYPE_CHAR)
            reader->type = field->value;
        return field->type == SPM_WIRE_VARINT;
    case TRAINER_SPACE_IS_SUFFIX:
        return set_bool(field, &model->normalizer.space_is_suffix);
    case TRAINER_BYTE_FALLBACK:
        return set_bool(field, &model->byte_fallback);
    case TRAINER_UNKNOWN_SURFACE:
        model->unknown_surface = (const char *)field->bytes.at;
        model->unknown_surface_length = wire_size(field->bytes);
        return field->type == SPM_WIRE_BYTES;
    default:
        return true;
    }
}

static bool take_normalizer_field(model_reader *reader, const spm_field *field)
{
    spm_normalizer *normalizer = &reader->model->normalizer;
    switch (field->number) {
    case NORMALIZER_CHARSMAP:
        reader->charsmap = field->bytes;
        return field->type == SPM_WIRE_BYTES;
    case NORMALIZER_DUMMY_PREFIX:
        return set_bool(field, &normalizer->add_dummy_prefix);
    case NORMALIZER_EXTRA_WHITESPACES:
        return set_bool(field, &normalizer->remove_extra_whitespaces);
    case NORMALIZER_ESCAPE_WHITESPACES:
        return set_bool(field, &normalizer->escape_whitespaces);
    default:
        return true;
    }
}

static bool take_denormalizer_field(model_reader *reader, const spm_field *field)
{
    if (field->number != NORMALIZER_CHARSMAP)
        return true;
    reader->denormalizer_charsmap = field->bytes;
    return field->type == SPM_WIRE_BYTES;
}

static zhen_status read_specification(model_reader *reader, const char *name, spm_wire message,
                                      bool (*take_field)(model_reader *, const spm_field *))
{
    spm_field field;
    spm_wire_result result;
    while ((result = spm_wire_next(&message, &field)) == SPM_WIRE_FIELD)
        if (!take_field(reader, &field))
            return base_fail(reader->error, ZHEN_ERROR_FORMAT,
                             "%s: field %u of the %s has the wrong type", reader->path,
                             (unsigned)field.number, name);
    if (result == SPM_WIRE_MALFORMED)
        return base_fail(reader->error, ZHEN_ERROR_FORMAT, "%s: the %s is malformed", reader->path,
                         name);
    return ZHEN_OK;
}

static zhen_status read_part(model_reader *reader, const spm_field *field)
{
    if (field->number > MODEL_DENORMALIZER || field->number == 4)
        return ZHEN_OK;
    if (field->type != SPM_WIRE_BYTES)
        return malformed(reader);
    switch (field->number) {
    case MODEL_PIECES:
        return read_piece(reader, field->bytes);
    case MODEL_TRAINER:
        reader->has_trainer = true;
        return read_specification(reader, "trainer specification", field->bytes,
                                  take_trainer_field);
    case MODEL_NORMALIZER:
        reader->has_normalizer = true;
        return read_specification(reader, "normaliser specification", field->bytes,
                                  take_normalizer_field);
    default:
        return read_specification(reader, "denormaliser specification", field->bytes,
                                  take_denormalizer_field);
    }
}

static zhen_status read_parts(model_reader *reader)
{
    const base_map *file = &reader->model->file;
    spm_wire wire = {file->bytes, file->bytes + file->size};
    spm_field field;
    spm_wire_result result = SPM_WIRE_END;
    zhen_status status = ZHEN_OK;
    while (!status && (result = spm_wire_next(&wire, &field)) == SPM_WIRE_FIELD)
        status = read_part(reader, &field);
    if (!status && result == SPM_WIRE_MALFORMED)
        return malformed(reader);
    if (!status && !reader->model->count)
        return fail(reader, "has no pieces");
    /* Every trainer writes both. They come after the pieces, so that a file that was cut between
     * two pieces, a smaller but well-formed model, is found out. */
    if (!status && (!reader->has_trainer || !reader->has_normalizer))
        return fail(reader,
                    "has no trainer or normaliser specification; it may have been cut short");
    return status;
}

/* ---- What the pieces have to be ------------------------------------------------------------- */

static zhen_status add_to_trie(const model_reader *reader, spm_trie *trie, size_t index)
{
    const spm_entry *entry = &reader->model->entries[index];
    switch (spm_trie_add(trie, entry->text, entry->length, (int32_t)index)) {
    case SPM_TRIE_ADDED:
        return ZHEN_OK;
    case SPM_TRIE_DUPLICATE:
        return fail_piece(reader, index, "occurs twice");
    default:
        return base_fail_memory(reader->error);
    }
}

/* Adds a piece that text may be made of. */
static zhen_status add_to_index(const model_reader *reader, size_t index)
{
    spm_model *model = reader->model;
    model->has_text_pieces = true;
    if (reader->use == SPM_TO_JOIN)
        return ZHEN_OK;
    if (model->entries[index].kind == SPM_USER_DEFINED) {
        zhen_status status = add_to_trie(reader, &model->user_defined, index);
        if (status)
            return status;
    }
    return add_to_trie(reader, &model->pieces, index);
}

static int hex_digit(char digit)
{
    if (digit >= '0' && digit <= '9')
        return digit - '0';
    return digit >= 'A' && digit <= 'F' ? digit - 'A' + 10 : -1;
}

/* The byte that "<0xE4>" spells, or -1. */
static int byte_of(const spm_entry *entry)
{
    const char *text = entry->text;
    if (entry->length != 6 || memcmp(text, "<0x", 3) != 0 || text[5] != '>')
        return -1;
    int high = hex_digit(text[3]), low = hex_digit(text[4]);
    return high < 0 || low < 0 ? -1 : high * 16 + low;
}

static zhen_status add_byte(const model_reader *reader, size_t index, spm_trie *reserved)
{
    spm_model *model = reader->model;
    int byte = byte_of(&model->entries[index]);
    if (byte < 0)
        return fail_piece(reader, index, "is no byte, as it says");
    if (!model->byte_fallback)
        return fail_piece(reader, index, "is a byte, but there is no byte fallback");
    model->byte_ids[byte] = (int32_t)index;
    return add_to_trie(reader, reserved, index);
}

/* Some converters add a piece of one zero byte beside "<0x00>"; the library ignores it. */
static bool is_stray_zero(const spm_model *model, const spm_entry *entry)
{
    return entry->length == 1 && *entry->text == '\0' &&
           (model->byte_fallback || entry->kind == SPM_UNUSED);
}

static zhen_status check_text(const model_reader *reader, size_t index)
{
    const spm_entry *entry = &reader->model->entries[index];
    if (!entry->length)
        return fail_piece(reader, index, "is empty");
    if (memchr(entry->text, '\0', entry->length))
        return fail_piece(reader, index, "holds a zero byte");
    if (!text_is_valid(entry->text, entry->length))
        return fail_piece(reader, index, "is not UTF-8");
    if (!isfinite(entry->score))
        return fail_piece(reader, index, "has a score that is not finite");
    return ZHEN_OK;
}

static zhen_status add_piece(const model_reader *reader, size_t index, spm_trie *reserved)
{
    spm_model *model = reader->model;
    spm_entry *entry = &model->entries[index];
    if (is_stray_zero(model, entry)) {
        entry->kind = SPM_UNUSED;
        return ZHEN_OK;
    }
    zhen_status status = check_text(reader, index);
    if (status)
        return status;
    switch ((spm_kind)entry->kind) {
    case SPM_UNKNOWN:
        if (model->unknown_id >= 0)
            return fail_piece(reader, index, "is a second unknown piece");
        model->unknown_id = (int32_t)index;
        return add_to_trie(reader, reserved, index);
    case SPM_BYTE:
        return add_byte(reader, index, reserved);
    case SPM_CONTROL:
        return add_to_trie(reader, reserved, index);
    case SPM_NORMAL:
    case SPM_USER_DEFINED:
    case SPM_UNUSED:
        break;
    }
    return add_to_index(reader, index);
}

static zhen_status add_pieces(const model_reader *reader)
{
    spm_model *model = reader->model;
    spm_trie reserved = {0}; /* only to find those that occur twice */
    zhen_status status = ZHEN_OK;
    if (reader->use == SPM_TO_SEGMENT && !spm_trie_reserve(&model->pieces, model->count))
        status = base_fail_memory(reader->error);
    for (size_t i = 0; i < model->count && !status; i++)
        status = add_piece(reader, i, &reserved);
    spm_trie_free(&reserved);
    return status;
}

static zhen_status check_whole(const model_reader *reader)
{
    const spm_model *model = reader->model;
    if (!model->has_text_pieces)
        return fail(reader, "has no pieces that text is made of");
    if (!text_is_valid(model->unknown_surface, model->unknown_surface_length))
        return fail(reader, "the unknown piece's surface is not UTF-8");
    if (model->unknown_id < 0 && !model->byte_fallback)
        return fail(reader, "has no unknown piece");
    for (int byte = 0; model->byte_fallback && byte < 256; byte++)
        if (model->byte_ids[byte] < 0)
            return fail(reader, "falls back to bytes but lacks some of the 256 byte pieces");
    return ZHEN_OK;
}

/* ---- Scores --------------------------------------------------------------------------------- */

/* An unknown character costs this much more than the least likely piece (unigram_model.cc). */
static const float UNKNOWN_PENALTY = 10.0F;

static void set_scores(spm_model *model)
{
    float least = FLT_MAX;
    for (size_t i = 0; i < model->count; i++) {
        spm_entry *entry = &model->entries[i];
        if (entry->kind == SPM_NORMAL && entry->score < least)
            least = entry->score;
        /* Never below a sum of log probabilities, and the longer the better. */
        if (entry->kind == SPM_USER_DEFINED && !model->is_bpe)
            entry->score = (float)(0.1 * ((double)entry->length - 1));
    }
    model->unknown_score = least - UNKNOWN_PENALTY;
}

static zhen_status take_specifications(const model_reader *reader)
{
    spm_model *model = reader->model;
    if (reader->type == TYPE_WORD || reader->type == TYPE_CHAR)
        return base_fail(reader->error, ZHEN_ERROR_UNSUPPORTED,
                         "%s: word and character models are not supported", reader->path);
    if (wire_size(reader->denormalizer_charsmap))
        return base_fail(reader->error, ZHEN_ERROR_UNSUPPORTED,
                         "%s: denormalisation rules are not supported", reader->path);
    model->is_bpe = reader->type == TYPE_BPE;
    size_t charsmap_size = wire_size(reader->charsmap);
    if (charsmap_size && reader->use == SPM_TO_SEGMENT &&
        !spm_charsmap_read(&model->normalizer.charsmap, reader->charsmap.at, charsmap_size))
        return fail(reader, "the character map of the normaliser is malformed");
    return ZHEN_OK;
}

zhen_status spm_read(spm_model *model, const char *path, spm_use use, zhen_error *error)
{
    static const char default_surface[] = " \xE2\x81\x87 ";
    model->unknown_id = -1;
    for (int byte = 0; byte < 256; byte++)
        model->byte_ids[byte] = -1;
    model->unknown_surface = default_surface;
    model->unknown_surface_length = sizeof default_surface - 1;
    model->normalizer = (spm_normalizer){
        .user_defined = &model->user_defined,
        .add_dummy_prefix = true,
        .remove_extra_whitespaces = true,
        .escape_whitespaces = true,
    };
    model_reader reader = {
        .model = model, .path = path, .use = use, .error = error, .type = TYPE_UNIGRAM};
    zhen_status status = read_parts(&reader);
    if (!status)
        status = take_specifications(&reader);
    if (!status)
        status = add_pieces(&reader);
    if (!status)
        status = check_whole(&reader);
    if (!status)
        set_scores(model);
    return status;
}
