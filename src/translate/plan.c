#include "translate/plan.h"

#include "base/error.h"
#include "base/size.h"

#include <stdlib.h>
#include <string.h>

enum {
    /* Models are trained on sentences, and lose the thread in longer texts: of four sentences of
     * flores_dev joined by commas, pieces of 250 tokens at most came out with BLEU 3.9, of 120 with
     * 4.9, of 80 with 5.9. Hardly a real sentence is longer than this. */
    PIECE_TOKENS = 80,
    /* A long text is tokenised by windows of so many bytes for each token that a piece may have. */
    WINDOW_BYTES = 16
};

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

void translate_plan_init(translate_plan *plan, const zhen_model *model, translate_memory *memory,
                         bool alignment)
{
    size_t positions = model->config.max_positions;
    *plan =
        (translate_plan){.model = model,
                         .memory = memory,
                         .alignment = alignment,
                         .max_tokens = smaller(PIECE_TOKENS, positions > 1 ? positions - 1 : 1)};
}

static bool add_piece(translate_plan *plan, zhen_span source, translate_entry *entry)
{
    if (!base_grow((void **)&plan->pieces, &plan->piece_capacity, plan->piece_count + 1,
                   sizeof *plan->pieces))
        return false;
    plan->pieces[plan->piece_count++] = (translate_piece){source, entry};
    return true;
}

/* Gives an entry what the model will read: the tokens of the last tok_encode and </s>. */
static bool fill_entry(const translate_plan *plan, translate_entry *entry)
{
    const tok_source *tokens = &plan->scratch_tokens;
    entry->ids = malloc((tokens->count + 1) * sizeof *entry->ids);
    if (!entry->ids)
        return false;
    memcpy(entry->ids, tokens->ids, tokens->count * sizeof *entry->ids);
    entry->ids[tokens->count] = plan->model->config.eos_id;
    entry->tokens = tokens->count;
    if (!plan->alignment)
        return true;
    entry->spans = malloc(tokens->count * sizeof *entry->spans);
    if (!entry->spans)
        return false;
    memcpy(entry->spans, tokens->spans, tokens->count * sizeof *entry->spans);
    return true;
}

/* Adds the piece that the last tok_encode was about. */
static bool add_encoded(translate_plan *plan, const translate_line *line, zhen_span source)
{
    const char *text = line->text + source.begin;
    size_t length = source.end - source.begin;
    if (plan->scratch_tokens.count == 0) /* nothing that the model could read */
        return add_piece(plan, source, NULL);
    if (!base_grow((void **)&plan->queue, &plan->queue_capacity, plan->queue_count + 1,
                   sizeof(translate_entry *)))
        return false;
    translate_entry *entry = translate_memory_add(plan->memory, text, length);
    if (!entry || !fill_entry(plan, entry) || !add_piece(plan, source, entry))
        return false;
    plan->queue[plan->queue_count++] = entry;
    return true;
}

/* Adds a piece that needs no tokenising: without Han, or known. *added: it was one. */
static bool add_known(translate_plan *plan, const translate_line *line, zhen_span source,
                      bool *added)
{
    const char *text = line->text + source.begin;
    size_t length = source.end - source.begin;
    translate_entry *entry = NULL;
    *added = !text_has_han(text, length);
    if (!*added) {
        entry = translate_memory_find(plan->memory, text, length);
        *added = entry != NULL;
    }
    return !*added || add_piece(plan, source, entry);
}

static zhen_status encode(translate_plan *plan, const translate_line *line, zhen_span source,
                          zhen_error *error)
{
    return tok_encode(plan->model->tokenizer, line->text + source.begin, source.end - source.begin,
                      &plan->scratch_tokens, error);
}

/* Tokens to put into the first part of a text of `count` tokens: parts of about the same length
 * read better than a full one and a rest. `whole`: the count is that of all the text. */
static size_t first_part(const translate_plan *plan, size_t count, bool whole)
{
    if (!whole)
        return plan->max_tokens;
    size_t parts = (count + plan->max_tokens - 1) / plan->max_tokens;
    size_t even = (count + parts - 1) / parts;
    return smaller(plan->max_tokens, even + even / 4);
}

/* The span without the blanks around it. */
static zhen_span trim(const translate_line *line, zhen_span span)
{
    int32_t character;
    while (span.begin < span.end) {
        size_t size = text_decode(line->text + span.begin, span.end - span.begin, &character);
        if (!text_is_blank(character))
            break;
        span.begin += size;
    }
    while (span.begin < span.end) {
        size_t size = text_decode_before(line->text, span.begin, span.end, &character);
        if (!text_is_blank(character))
            break;
        span.end -= size;
    }
    return span;
}

/* Shortens `part`, which begins where the text of the last tok_encode does, until the model can
 * take it, and leaves its tokens in the scratch memory. */
static zhen_status shorten(translate_plan *plan, const translate_line *line, zhen_span *part,
                           size_t tokens, zhen_error *error)
{
    while (plan->scratch_tokens.count > plan->max_tokens) {
        size_t length = part->end - part->begin;
        size_t limit = smaller(plan->scratch_tokens.spans[tokens].begin, length - 1);
        size_t cut = text_cut(line->text + part->begin, length, limit ? limit : 1);
        if (cut == length)
            return base_fail(error, ZHEN_ERROR_UNSUPPORTED,
                             "%s: takes only %zu pieces at a time, fewer than one character of the "
                             "text makes",
                             plan->model->directory, plan->max_tokens);
        *part = trim(line, (zhen_span){part->begin, part->begin + cut});
        tokens = plan->max_tokens;
        zhen_status status = encode(plan, line, *part, error);
        if (status)
            return status;
    }
    return ZHEN_OK;
}

/* Takes a piece off the start of `rest`, all of it if the model can take that. */
static zhen_status take_piece(translate_plan *plan, const translate_line *line, zhen_span *rest,
                              zhen_error *error)
{
    zhen_span part = *rest;
    bool known;
    part.end = part.begin + text_cut(line->text + rest->begin, rest->end - rest->begin,
                                     plan->max_tokens * WINDOW_BYTES);
    bool whole = part.end == rest->end;
    part = trim(line, part);
    if (!add_known(plan, line, part, &known))
        return base_fail_memory(error);
    if (!known) {
        zhen_status status = encode(plan, line, part, error);
        if (!status)
            status = shorten(plan, line, &part, first_part(plan, plan->scratch_tokens.count, whole),
                             error);
        if (status)
            return status;
        if (!add_known(plan, line, part, &known) || (!known && !add_encoded(plan, line, part)))
            return base_fail_memory(error);
    }
    rest->begin = part.end;
    return ZHEN_OK;
}

static zhen_status plan_sentence(translate_plan *plan, const translate_line *line, zhen_span source,
                                 zhen_error *error)
{
    size_t first = plan->piece_count;
    if (!base_grow((void **)&plan->sentences, &plan->sentence_capacity, plan->sentence_count + 1,
                   sizeof *plan->sentences))
        return base_fail_memory(error);
    zhen_span rest = source;
    if (!text_has_han(line->text + rest.begin, rest.end - rest.begin)) { /* however long it is */
        if (!add_piece(plan, source, NULL))
            return base_fail_memory(error);
        rest.begin = rest.end;
    }
    for (; rest.begin < rest.end; rest = trim(line, rest)) {
        zhen_status status = take_piece(plan, line, &rest, error);
        if (status)
            return status;
    }
    plan->sentences[plan->sentence_count++] =
        (translate_sentence){source, first, plan->piece_count - first};
    return ZHEN_OK;
}

static bool repair(translate_line *line, const zhen_text *text)
{
    line->text = text->bytes;
    line->length = text->length;
    if (text_is_valid(text->bytes, text->length))
        return true;
    size_t entries, size;
    if (!base_multiply(text->length, 3, &entries) || !base_add(entries, 1, &entries) ||
        !base_multiply(entries, sizeof *line->origin, &size) || !(line->origin = malloc(size)) ||
        !text_repair(text->bytes, text->length, &line->repaired, line->origin))
        return false;
    line->text = line->repaired.data;
    line->length = line->repaired.length;
    return true;
}

static zhen_status plan_line(translate_plan *plan, translate_line *line, const zhen_text *text,
                             zhen_error *error)
{
    line->first_sentence = plan->sentence_count;
    text_sentences *found = &plan->scratch_sentences;
    if (!repair(line, text) || !text_split_sentences(line->text, line->length, found))
        return base_fail_memory(error);
    for (size_t i = 0; i < found->count; i++) {
        zhen_status status = plan_sentence(plan, line, found->spans[i], error);
        if (status)
            return status;
    }
    line->sentence_count = plan->sentence_count - line->first_sentence;
    return ZHEN_OK;
}

/* Longest first, so that no long piece is left for the end while other workers are idle; pieces of
 * like length in one batch. The text settles the rest, so that the order is always the same. */
static int compare_entries(const void *a, const void *b)
{
    const translate_entry *first = *(translate_entry *const *)a;
    const translate_entry *second = *(translate_entry *const *)b;
    if (first->tokens != second->tokens)
        return first->tokens < second->tokens ? 1 : -1;
    if (first->length != second->length)
        return first->length < second->length ? 1 : -1;
    return memcmp(first->text, second->text, first->length);
}

zhen_status translate_plan_texts(translate_plan *plan, const zhen_text *texts, size_t count,
                                 zhen_error *error)
{
    plan->lines = calloc(count ? count : 1, sizeof *plan->lines);
    if (!plan->lines)
        return base_fail_memory(error);
    plan->line_count = count;
    for (size_t i = 0; i < count; i++) {
        zhen_status status = plan_line(plan, &plan->lines[i], &texts[i], error);
        if (status)
            return status;
    }
    if (plan->queue_count)
        qsort(plan->queue, plan->queue_count, sizeof(translate_entry *), compare_entries);
    return ZHEN_OK;
}

void translate_plan_free(translate_plan *plan)
{
    for (size_t i = 0; i < plan->line_count; i++) {
        base_buffer_free(&plan->lines[i].repaired);
        free(plan->lines[i].origin);
    }
    free(plan->lines);
    free(plan->sentences);
    free(plan->pieces);
    free(plan->queue);
    text_sentences_free(&plan->scratch_sentences);
    tok_source_free(&plan->scratch_tokens);
    *plan = (translate_plan){0};
}

zhen_span translate_line_original(const translate_line *line, zhen_span span)
{
    if (!line->origin)
        return span;
    return (zhen_span){line->origin[span.begin], line->origin[span.end]};
}
