#include "tokenizer/tokenizer.h"

#include "base/error.h"
#include "base/file.h"
#include "base/task.h"
#include "tokenizer/added.h"
#include "tokenizer/detokenizer.h"
#include "tokenizer/vocabulary.h"

#include <stdlib.h>
#include <string.h>

typedef struct model_paths {
    char *source, *target, *vocabulary, *target_vocabulary, *config, *added;
} model_paths;

struct tok_tokenizer {
    spm_model *source, *target;
    tok_vocabulary source_vocabulary;
    tok_vocabulary
        own_target_vocabulary; /* empty unless the sides have vocabularies of their own */
    const tok_vocabulary *target_vocabulary;
    tok_detokenizer detokenizer;
    int32_t *source_ids; /* for each piece of `source` its id in the vocabulary, or -1 */
    int32_t unknown_id;
    /* While it is opened. */
    model_paths paths;
    base_task models; /* reads both SentencePiece models */
    bool models_wanted;
    zhen_status models_status;
    zhen_error models_error;
};

/* ---- Opening -------------------------------------------------------------------------------- */

/* tokenizer_config.json says whether the sides have vocabularies of their own; where it does not,
 * the presence of target_vocab.json does. */
static bool has_separate_vocabularies(const cJSON *config, const char *vocabulary_path)
{
    const cJSON *flag = cJSON_GetObjectItemCaseSensitive(config, "separate_vocabs");
    return cJSON_IsBool(flag) ? cJSON_IsTrue(flag) : base_path_exists(vocabulary_path);
}

static bool join_paths(model_paths *paths, const char *directory)
{
    paths->source = base_path_join(directory, "source.spm");
    paths->target = base_path_join(directory, "target.spm");
    paths->vocabulary = base_path_join(directory, "vocab.json");
    paths->target_vocabulary = base_path_join(directory, "target_vocab.json");
    paths->config = base_path_join(directory, "tokenizer_config.json");
    paths->added = base_path_join(directory, "added_tokens.json");
    return paths->source && paths->target && paths->vocabulary && paths->target_vocabulary &&
           paths->config && paths->added;
}

static void free_paths(model_paths *paths)
{
    free(paths->source);
    free(paths->target);
    free(paths->vocabulary);
    free(paths->target_vocabulary);
    free(paths->config);
    free(paths->added);
}

static void open_models(void *context)
{
    tok_tokenizer *tokenizer = context;
    zhen_error *error = &tokenizer->models_error;
    zhen_status status =
        spm_open(tokenizer->paths.source, SPM_TO_SEGMENT, &tokenizer->source, error);
    if (!status)
        status = spm_open(tokenizer->paths.target, SPM_TO_JOIN, &tokenizer->target, error);
    tokenizer->models_status = status;
}

static void wait_for_models(tok_tokenizer *tokenizer)
{
    if (tokenizer->models_wanted)
        base_task_wait(&tokenizer->models);
    tokenizer->models_wanted = false;
}

static zhen_status open_vocabularies(tok_tokenizer *tokenizer, const cJSON *config,
                                     const tok_limits *limits, zhen_error *error)
{
    static const char unknown[] = "<unk>";
    const model_paths *paths = &tokenizer->paths;
    zhen_status status = tok_vocabulary_open(paths->vocabulary, limits->source_size,
                                             &tokenizer->source_vocabulary, error);
    if (status)
        return status;
    tokenizer->unknown_id =
        tok_vocabulary_find(&tokenizer->source_vocabulary, unknown, sizeof unknown - 1);
    if (tokenizer->unknown_id < 0)
        return base_fail(error, ZHEN_ERROR_FORMAT, "%s: holds no \"<unk>\"", paths->vocabulary);
    tokenizer->target_vocabulary = &tokenizer->source_vocabulary;
    if (!has_separate_vocabularies(config, paths->target_vocabulary))
        return ZHEN_OK;
    tokenizer->target_vocabulary = &tokenizer->own_target_vocabulary;
    return tok_vocabulary_open(paths->target_vocabulary, limits->target_size,
                               &tokenizer->own_target_vocabulary, error);
}

/* All that is JSON. */
static zhen_status open_json_files(tok_tokenizer *tokenizer, const tok_limits *limits,
                                   zhen_error *error)
{
    const model_paths *paths = &tokenizer->paths;
    cJSON *config = tok_added_parse(paths->config);
    zhen_status status = open_vocabularies(tokenizer, config, limits, error);
    if (!status)
        status = tok_added_check(config, paths->config, paths->added, &tokenizer->source_vocabulary,
                                 tokenizer->target_vocabulary, error);
    cJSON_Delete(config);
    return status;
}

static bool map_source_pieces(tok_tokenizer *tokenizer)
{
    const size_t count = spm_piece_count(tokenizer->source);
    tokenizer->source_ids = malloc(count * sizeof *tokenizer->source_ids);
    if (!tokenizer->source_ids)
        return false;
    for (size_t i = 0; i < count; i++) {
        size_t length;
        const char *piece = spm_piece_text(tokenizer->source, (int32_t)i, &length);
        tokenizer->source_ids[i] =
            tok_vocabulary_find(&tokenizer->source_vocabulary, piece, length);
    }
    return true;
}

zhen_status tok_open_start(const char *directory, tok_tokenizer **tokenizer, zhen_error *error)
{
    tok_tokenizer *opened = calloc(1, sizeof *opened);
    if (!opened || !join_paths(&opened->paths, directory)) {
        tok_close(opened);
        return base_fail_memory(error);
    }
    opened->models_wanted = true;
    base_task_start(&opened->models, open_models, opened);
    *tokenizer = opened;
    return ZHEN_OK;
}

zhen_status tok_open_finish(tok_tokenizer *tokenizer, const tok_limits *limits, zhen_error *error)
{
    zhen_status status = open_json_files(tokenizer, limits, error);
    wait_for_models(tokenizer);
    if (status)
        return status;
    if (tokenizer->models_status)
        return base_fail(error, tokenizer->models_status, "%s", tokenizer->models_error.message);
    if (!map_source_pieces(tokenizer) ||
        !tok_detokenizer_create(&tokenizer->detokenizer, tokenizer->target,
                                tokenizer->target_vocabulary))
        return base_fail_memory(error);
    return ZHEN_OK;
}

zhen_status tok_open(const char *directory, const tok_limits *limits, tok_tokenizer **tokenizer,
                     zhen_error *error)
{
    tok_tokenizer *opened;
    zhen_status status = tok_open_start(directory, &opened, error);
    if (status)
        return status;
    status = tok_open_finish(opened, limits, error);
    if (status)
        tok_close(opened);
    else
        *tokenizer = opened;
    return status;
}

void tok_close(tok_tokenizer *tokenizer)
{
    if (!tokenizer)
        return;
    wait_for_models(tokenizer);
    free_paths(&tokenizer->paths);
    tok_detokenizer_free(&tokenizer->detokenizer);
    free(tokenizer->source_ids);
    spm_close(tokenizer->source);
    spm_close(tokenizer->target);
    tok_vocabulary_close(&tokenizer->source_vocabulary);
    tok_vocabulary_close(&tokenizer->own_target_vocabulary);
    free(tokenizer);
}

size_t tok_source_size(const tok_tokenizer *tokenizer)
{
    return tokenizer->source_vocabulary.size;
}

size_t tok_target_size(const tok_tokenizer *tokenizer)
{
    return tokenizer->target_vocabulary->size;
}

size_t tok_memory(const tok_tokenizer *tokenizer)
{
    return sizeof *tokenizer + spm_memory(tokenizer->source) + spm_memory(tokenizer->target) +
           tok_vocabulary_memory(&tokenizer->source_vocabulary) +
           tok_vocabulary_memory(&tokenizer->own_target_vocabulary) +
           spm_piece_count(tokenizer->source) * sizeof *tokenizer->source_ids +
           tokenizer->target_vocabulary->size;
}

const char *tok_source_piece(const tok_tokenizer *tokenizer, int32_t id, size_t *length)
{
    return tok_vocabulary_piece(&tokenizer->source_vocabulary, id, length);
}

const char *tok_target_piece(const tok_tokenizer *tokenizer, int32_t id, size_t *length)
{
    return tok_vocabulary_piece(tokenizer->target_vocabulary, id, length);
}

int32_t tok_target_find(const tok_tokenizer *tokenizer, const char *piece, size_t length)
{
    return tok_vocabulary_find(tokenizer->target_vocabulary, piece, length);
}

/* ---- Text to ids ---------------------------------------------------------------------------- */

static bool append(tok_source *source, int32_t id, zhen_span span)
{
    size_t capacity = source->capacity;
    if (!base_grow((void **)&source->ids, &capacity, source->count + 1, sizeof *source->ids))
        return false;
    if (capacity > source->capacity) {
        /* Both arrays have the same capacity; it counts once both have it. */
        zhen_span *spans = realloc(source->spans, capacity * sizeof *spans);
        if (!spans)
            return false;
        source->spans = spans;
        source->capacity = capacity;
    }
    source->ids[source->count] = id;
    source->spans[source->count++] = span;
    return true;
}

/* The length of a language code, ">>fra<<", at the beginning of a text for a model with several
 * target languages, or 0. One that the vocabulary does not hold is text like any other. */
static size_t find_language(const tok_tokenizer *tokenizer, const char *text, size_t length,
                            int32_t *id)
{
    if (length < 4 || memcmp(text, ">>", 2) != 0)
        return 0;
    const char *end = memmem(text, length, "<<", 2);
    if (!end)
        return 0;
    size_t code_length = (size_t)(end - text) + 2;
    *id = tok_vocabulary_find(&tokenizer->source_vocabulary, text, code_length);
    return *id < 0 ? 0 : code_length;
}

/* The id of a piece. Text that the SentencePiece model does not know may still have a number. */
static int32_t source_id(const tok_tokenizer *tokenizer, const spm_encoding *encoding,
                         const spm_piece *piece)
{
    int32_t id;
    if (piece->id != spm_unknown_id(tokenizer->source))
        id = tokenizer->source_ids[piece->id];
    else
        id = tok_vocabulary_find(&tokenizer->source_vocabulary,
                                 encoding->normal.data + piece->normal.begin,
                                 piece->normal.end - piece->normal.begin);
    return id < 0 ? tokenizer->unknown_id : id;
}

zhen_status tok_encode(const tok_tokenizer *tokenizer, const char *text, size_t length,
                       tok_source *source, zhen_error *error)
{
    source->count = 0;
    int32_t language;
    const size_t begin = find_language(tokenizer, text, length, &language);
    if (begin && !append(source, language, (zhen_span){0, begin}))
        return base_fail_memory(error);
    spm_encoding *encoding = &source->encoding;
    zhen_status status =
        spm_encode(tokenizer->source, text + begin, length - begin, encoding, error);
    if (status)
        return status;
    for (size_t i = 0; i < encoding->count; i++) {
        const spm_piece *piece = &encoding->pieces[i];
        zhen_span span = {piece->original.begin + begin, piece->original.end + begin};
        if (!append(source, source_id(tokenizer, encoding, piece), span))
            return base_fail_memory(error);
    }
    return ZHEN_OK;
}

void tok_source_free(tok_source *source)
{
    free(source->ids);
    free(source->spans);
    spm_encoding_free(&source->encoding);
    *source = (tok_source){0};
}

/* ---- Ids to text ---------------------------------------------------------------------------- */

zhen_status tok_decode(const tok_tokenizer *tokenizer, const int32_t *ids, size_t count,
                       base_buffer *text, zhen_span *spans, zhen_error *error)
{
    return tok_detokenize(&tokenizer->detokenizer, ids, count, text, spans)
               ? ZHEN_OK
               : base_fail_memory(error);
}
