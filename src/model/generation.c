#include "model/generation.h"

#include "base/error.h"

#include <string.h>

enum { LENGTH_LIMIT = 1000000, BEAM_LIMIT = 1000 };

/* Settings that change what `generate` returns and that our search does not have, each with the
 * value that switches it off (besides null, false and empty lists). */
static const struct {
    const char *key;
    double off;
} unsupported[] = {
    {"do_sample", 0},
    {"num_beam_groups", 1},
    {"diversity_penalty", 0},
    {"penalty_alpha", 0},
    {"guidance_scale", 1},
    {"encoder_repetition_penalty", 1},
    {"encoder_no_repeat_ngram_size", 0},
    {"exponential_decay_length_penalty", 0},
    {"suppress_tokens", 0},
    {"begin_suppress_tokens", 0},
    {"sequence_bias", 0},
    {"constraints", 0},
    {"force_words_ids", 0},
    {"stop_strings", 0},
    {"dola_layers", 0},
    {"watermarking_config", 0},
};

static bool is_off(const cJSON *item, double off)
{
    if (cJSON_IsNumber(item))
        return item->valuedouble >= off && item->valuedouble <= off;
    if (cJSON_IsString(item))
        return !item->valuestring[0];
    return !cJSON_IsTrue(item) && !item->child;
}

static void refuse_unsupported(mdl_json *json)
{
    for (size_t i = 0; i < sizeof unsupported / sizeof unsupported[0]; i++) {
        const cJSON *item = mdl_json_get(json, unsupported[i].key);
        if (item && !is_off(item, unsupported[i].off))
            json->status = base_fail(json->error, ZHEN_ERROR_UNSUPPORTED,
                                     "%s: %s: this kind of search is not supported", json->path,
                                     unsupported[i].key);
    }
}

void mdl_generation_token(mdl_json *json, const char *key, size_t vocabulary, int32_t *id)
{
    const cJSON *item = mdl_json_get(json, key);
    if (!item)
        return;
    if (cJSON_IsArray(item)) {
        if (item->child && item->child->next) {
            json->status = base_fail(json->error, ZHEN_ERROR_UNSUPPORTED,
                                     "%s: %s: only one id is supported", json->path, key);
            return;
        }
        item = item->child;
    }
    size_t value;
    if (mdl_json_is_size(item, 0, vocabulary - 1, &value))
        *id = (int32_t)value;
    else
        mdl_json_reject(json, key, "a token id in the vocabulary");
}

static void read_early_stopping(mdl_json *json, zhen_early_stopping *value)
{
    const cJSON *item = mdl_json_get(json, "early_stopping");
    if (!item)
        return;
    if (cJSON_IsBool(item))
        *value = cJSON_IsTrue(item) ? ZHEN_EARLY_STOPPING_TRUE : ZHEN_EARLY_STOPPING_FALSE;
    else if (cJSON_IsString(item) && !strcmp(item->valuestring, "never"))
        *value = ZHEN_EARLY_STOPPING_NEVER;
    else
        mdl_json_reject(json, "early_stopping", "true, false or \"never\"");
}

/* The elements of a list of lists; NULL, and a failure if the value is there and no list. */
static const cJSON *first_element(mdl_json *json, const char *key, const char *expected,
                                  size_t *count)
{
    *count = 0;
    const cJSON *list = mdl_json_get(json, key);
    if (!list)
        return NULL;
    if (!cJSON_IsArray(list)) {
        mdl_json_reject(json, key, expected);
        return NULL;
    }
    for (const cJSON *item = list->child; item; item = item->next)
        (*count)++;
    return list->child;
}

static bool read_bad_word(const cJSON *list, base_arena *arena, size_t vocabulary,
                          mdl_bad_word *word, zhen_status *status)
{
    if (!cJSON_IsArray(list) || !list->child)
        return false;
    size_t count = 0, value;
    for (const cJSON *item = list->child; item; item = item->next)
        count++;
    int32_t *ids = base_arena_calloc(arena, count, sizeof *ids);
    if (!ids) {
        *status = ZHEN_ERROR_MEMORY;
        return false;
    }
    *word = (mdl_bad_word){ids, count};
    for (const cJSON *item = list->child; item; item = item->next) {
        if (!mdl_json_is_size(item, 0, vocabulary - 1, &value))
            return false;
        *ids++ = (int32_t)value;
    }
    return true;
}

static void read_bad_words(mdl_json *json, base_arena *arena, const mdl_config *config,
                           mdl_generation *generation)
{
    static const char key[] = "bad_words_ids";
    static const char expected[] = "a list of lists of token ids in the vocabulary";
    size_t count;
    const cJSON *item = first_element(json, key, expected, &count);
    if (!item)
        return;
    mdl_bad_word *words = base_arena_calloc(arena, count, sizeof *words);
    if (!words) {
        json->status = base_fail_memory(json->error);
        return;
    }
    zhen_status status = ZHEN_OK;
    size_t kept = 0;
    for (; item; item = item->next) {
        mdl_bad_word *word = &words[kept];
        if (!read_bad_word(item, arena, config->decoder.vocabulary, word, &status)) {
            if (status)
                json->status = base_fail_memory(json->error);
            else
                mdl_json_reject(json, key, expected);
            return;
        }
        kept += word->count != 1 || word->ids[0] != config->eos_id;
    }
    generation->bad_words = words;
    generation->bad_word_count = kept;
}

static bool read_head(const cJSON *pair, const mdl_stack *decoder, mdl_head *head)
{
    return cJSON_IsArray(pair) && pair->child && pair->child->next && !pair->child->next->next &&
           mdl_json_is_size(pair->child, 0, decoder->layers - 1, &head->layer) &&
           mdl_json_is_size(pair->child->next, 0, decoder->heads - 1, &head->head);
}

static void read_alignment_heads(mdl_json *json, base_arena *arena, const mdl_stack *decoder,
                                 mdl_generation *generation)
{
    static const char key[] = "alignment_heads";
    static const char expected[] = "a list of [layer, head] of the decoder";
    size_t count, i = 0;
    const cJSON *item = first_element(json, key, expected, &count);
    if (!item)
        return;
    mdl_head *heads = base_arena_calloc(arena, count, sizeof *heads);
    if (!heads) {
        json->status = base_fail_memory(json->error);
        return;
    }
    for (; item; item = item->next)
        if (!read_head(item, decoder, &heads[i++])) {
            mdl_json_reject(json, key, expected);
            return;
        }
    generation->alignment_heads = heads;
    generation->alignment_head_count = count;
}

/* max_length and min_length count the decoder's start token: a max_length of 1 would leave room for
 * nothing. What counts new tokens only wins over them. */
static void read_lengths(mdl_json *json, mdl_generation *generation)
{
    size_t longest = 0, shortest = 0;
    mdl_json_size(json, "max_length", 2, LENGTH_LIMIT, &longest);
    mdl_json_size(json, "min_length", 0, LENGTH_LIMIT, &shortest);
    if (longest > 0)
        generation->max_new_tokens = longest - 1;
    if (shortest > 0)
        generation->min_new_tokens = shortest - 1;
    mdl_json_size(json, "max_new_tokens", 1, LENGTH_LIMIT, &generation->max_new_tokens);
    mdl_json_size(json, "min_new_tokens", 0, LENGTH_LIMIT, &generation->min_new_tokens);
}

void mdl_generation_read(mdl_json *json, base_arena *arena, const mdl_config *config,
                         mdl_generation *generation)
{
    *generation = (mdl_generation){
        .num_beams = 1,
        .max_new_tokens = 20,
        .length_penalty = 1,
        .repetition_penalty = 1,
        .forced_eos_id = -1,
        .forced_bos_id = -1,
    };
    const size_t vocabulary = config->decoder.vocabulary;
    mdl_json_size(json, "num_beams", 1, BEAM_LIMIT, &generation->num_beams);
    read_lengths(json, generation);
    mdl_json_size(json, "no_repeat_ngram_size", 0, LENGTH_LIMIT, &generation->no_repeat_ngram);
    mdl_json_number(json, "length_penalty", -1000, 1000, &generation->length_penalty);
    mdl_json_number(json, "repetition_penalty", 0.001, 1000, &generation->repetition_penalty);
    mdl_json_bool(json, "renormalize_logits", &generation->renormalize_logits);
    mdl_generation_token(json, "forced_eos_token_id", vocabulary, &generation->forced_eos_id);
    mdl_generation_token(json, "forced_bos_token_id", vocabulary, &generation->forced_bos_id);
    read_early_stopping(json, &generation->early_stopping);
    read_bad_words(json, arena, config, generation);
    read_alignment_heads(json, arena, &config->decoder, generation);
    refuse_unsupported(json);
}
