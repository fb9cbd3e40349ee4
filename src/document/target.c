#include "document/target.h"

#include "text/script.h"
#include "text/utf8.h"

#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

/* ---- Tokens ------------------------------------------------------------------------------- */

typedef enum character_kind { BLANK, WORD, DIGIT, SINGLE } character_kind;

static character_kind kind_of(int32_t c)
{
    if (text_is_blank(c))
        return BLANK;
    if (c >= '0' && c <= '9')
        return DIGIT;
    utf8proc_category_t category = utf8proc_category(c);
    if (category < UTF8PROC_CATEGORY_LU || category > UTF8PROC_CATEGORY_NO)
        return SINGLE;
    bool spaceless = text_is_han(c) || (c >= 0x3040 && c <= 0x30FF);
    return spaceless ? SINGLE : WORD;
}

static character_kind kind_at(const char *text, size_t length, size_t at, size_t *bytes)
{
    int32_t character;
    if (at >= length) {
        *bytes = 0;
        return BLANK;
    }
    *bytes = text_decode(text + at, length - at, &character);
    return kind_of(character);
}

/* Marks inside words: don't, 3.5, 1,000. */
static bool joins(const char *text, size_t length, size_t at, character_kind before)
{
    size_t bytes;
    if (text[at] == '\'' && before == WORD)
        return kind_at(text, length, at + 1, &bytes) == WORD;
    if (strncmp(text + at, "\xE2\x80\x99", 3) == 0 && before == WORD)
        return kind_at(text, length, at + 3, &bytes) == WORD;
    if ((text[at] == '.' || text[at] == ',') && before == DIGIT)
        return kind_at(text, length, at + 1, &bytes) == DIGIT;
    return false;
}

static size_t token_end(const char *text, size_t length, size_t begin)
{
    size_t bytes, at = begin;
    character_kind before = kind_at(text, length, at, &bytes);
    at += bytes;
    if (before == SINGLE) {
        /* Combining marks stay with their character. */
        while (at < length) {
            int32_t character;
            bytes = text_decode(text + at, length - at, &character);
            if (utf8proc_category(character) != UTF8PROC_CATEGORY_MN)
                break;
            at += bytes;
        }
        return at;
    }
    while (at < length) {
        character_kind kind = kind_at(text, length, at, &bytes);
        if ((kind == BLANK || kind == SINGLE) && !joins(text, length, at, before))
            break;
        before = kind == SINGLE ? before : kind;
        at += bytes;
    }
    return at;
}

static bool add_tokens(doc_target *target)
{
    for (size_t at = 0; at < target->length;) {
        size_t bytes, begin = at;
        while (begin < target->length &&
               kind_at(target->text, target->length, begin, &bytes) == BLANK)
            begin += bytes;
        if (begin == target->length)
            break;
        doc_token token = {.space = {at, begin}, .word = DOC_NONE};
        token.text = (zhen_span){begin, token_end(target->text, target->length, begin)};
        if (!doc_target_insert(target, target->count, &token))
            return false;
        at = token.text.end;
    }
    return true;
}

/* ---- Where they come from ------------------------------------------------------------------- */

static bool add_source(doc_target *target, doc_token *token, zhen_span source)
{
    if (!base_grow((void **)&target->sources, &target->source_capacity, target->source_count + 1,
                   sizeof *target->sources))
        return false;
    target->sources[target->source_count++] = source;
    token->source_count++;
    return true;
}

/* Without links: the part of the source sentence that is as far into it as the token is into its
 * translation. */
static zhen_span even_share(const zhen_sentence *sentence, zhen_span token)
{
    size_t from = sentence->source.end - sentence->source.begin;
    size_t to = sentence->target.end - sentence->target.begin;
    double scale = to ? (double)from / (double)to : 0;
    size_t begin = (size_t)((double)(token.begin - sentence->target.begin) * scale);
    size_t end = (size_t)((double)(token.end - sentence->target.begin) * scale);
    return (zhen_span){sentence->source.begin + begin, sentence->source.begin + end};
}

static bool link_token(doc_target *target, doc_token *token, const zhen_sentence *sentence,
                       size_t *next, size_t source_length)
{
    token->source_first = target->source_count;
    if (sentence->link_count == 0)
        return add_source(target, token, even_share(sentence, token->text));
    const zhen_link *links = sentence->links;
    while (*next < sentence->link_count && links[*next].target.end <= token->text.begin)
        ++*next;
    for (size_t i = *next; i < sentence->link_count && links[i].target.begin < token->text.end;
         i++) {
        zhen_span source = links[i].source;
        if (source.begin < source.end && source.end <= source_length &&
            !add_source(target, token, source))
            return false;
    }
    return true;
}

static bool link_tokens(doc_target *target, const zhen_translation *translation,
                        size_t source_length)
{
    const zhen_sentence whole = {.source = {0, source_length}, .target = {0, target->length}};
    const zhen_sentence *sentences = translation->sentences;
    size_t count = translation->sentence_count, s = 0, next = 0;
    if (count == 0) {
        sentences = &whole;
        count = 1;
    }
    for (size_t i = 0; i < target->count; i++) {
        doc_token *token = &target->tokens[i];
        while (s + 1 < count && sentences[s].target.end <= token->text.begin) {
            s++;
            next = 0;
        }
        token->source_first = target->source_count;
        bool inside = token->text.begin >= sentences[s].target.begin &&
                      token->text.end <= sentences[s].target.end &&
                      sentences[s].source.begin <= sentences[s].source.end &&
                      sentences[s].source.end <= source_length;
        if (inside && !link_token(target, token, &sentences[s], &next, source_length))
            return false;
    }
    return true;
}

bool doc_target_make(const zhen_translation *translation, size_t source_length, doc_target *target)
{
    *target = (doc_target){.text = translation->text,
                           .length = translation->length,
                           .sentences = translation->sentences,
                           .sentence_count = translation->sentence_count};
    return add_tokens(target) && link_tokens(target, translation, source_length);
}

void doc_target_free(doc_target *target)
{
    free(target->tokens);
    free(target->sources);
    *target = (doc_target){0};
}

/* ---- Changes ------------------------------------------------------------------------------ */

void doc_target_remove(doc_target *target, size_t at)
{
    memmove(target->tokens + at, target->tokens + at + 1,
            (target->count - at - 1) * sizeof *target->tokens);
    target->count--;
}

bool doc_target_insert(doc_target *target, size_t at, const doc_token *token)
{
    if (!base_grow((void **)&target->tokens, &target->capacity, target->count + 1,
                   sizeof *target->tokens))
        return false;
    if (at < target->count)
        memmove(target->tokens + at + 1, target->tokens + at,
                (target->count - at) * sizeof *target->tokens);
    target->tokens[at] = *token;
    target->count++;
    return true;
}

static bool shatter_token(const char *text, const doc_token *token, doc_target *target)
{
    utf8proc_int32_t state = 0;
    int32_t before = 0;
    doc_token piece = *token;
    piece.text.end = piece.text.begin;
    while (piece.text.end < token->text.end) {
        int32_t character;
        size_t at = piece.text.end;
        size_t bytes = text_decode(text + at, token->text.end - at, &character);
        bool first = at == token->text.begin;
        if (!first && utf8proc_grapheme_break_stateful(before, character, &state)) {
            if (!doc_target_insert(target, target->count, &piece))
                return false;
            piece.text.begin = at;
            piece.space = (zhen_span){at, at};
        }
        piece.text.end = at + bytes;
        before = character;
    }
    return doc_target_insert(target, target->count, &piece);
}

bool doc_target_shatter(doc_target *target)
{
    doc_target fine = *target;
    fine.tokens = NULL;
    fine.count = fine.capacity = 0;
    for (size_t i = 0; i < target->count; i++) {
        const doc_token *token = &target->tokens[i];
        bool ok = token->word != DOC_NONE ? doc_target_insert(&fine, fine.count, token)
                                          : shatter_token(target->text, token, &fine);
        if (!ok) {
            free(fine.tokens);
            return false;
        }
    }
    free(target->tokens);
    *target = fine;
    return true;
}

/* ---- Questions ---------------------------------------------------------------------------- */

static size_t overlap(zhen_span a, zhen_span b)
{
    size_t begin = a.begin > b.begin ? a.begin : b.begin;
    size_t end = a.end < b.end ? a.end : b.end;
    return begin < end ? end - begin : 0;
}

float doc_target_share(const doc_target *target, size_t token, zhen_span span)
{
    const doc_token *t = &target->tokens[token];
    size_t shared = 0, all = 0;
    for (size_t i = 0; i < t->source_count; i++) {
        zhen_span source = target->sources[t->source_first + i];
        shared += overlap(source, span);
        all += source.end - source.begin;
    }
    return all ? (float)shared / (float)all : -1.0F;
}

static size_t difference(size_t a, size_t b)
{
    return a < b ? b - a : a - b;
}

/* Bytes between `offset` and the nearest end (of what came before) or beginning (of what came
 * after) of the token's sources; what lies on the wrong side is twice as far. */
static size_t token_distance(const doc_target *target, size_t token, size_t offset, bool before)
{
    const doc_token *t = &target->tokens[token];
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < t->source_count; i++) {
        zhen_span source = target->sources[t->source_first + i];
        size_t edge = before ? source.end : source.begin;
        bool wrong = before ? edge > offset : edge < offset;
        size_t distance = difference(edge, offset) * (wrong ? 2 : 1) + (wrong ? 1 : 0);
        best = distance < best ? distance : best;
    }
    return best;
}

size_t doc_target_distance(const doc_target *target, size_t begin, size_t end, size_t at,
                           size_t offset)
{
    size_t left = at > begin ? token_distance(target, at - 1, offset, true) : SIZE_MAX;
    size_t right = at < end ? token_distance(target, at, offset, false) : SIZE_MAX;
    return left < right ? left : right;
}

size_t doc_target_place(const doc_target *target, size_t begin, size_t end, size_t offset)
{
    size_t best = begin, nearest = SIZE_MAX;
    for (size_t at = begin; at <= end; at++) {
        size_t left = at > begin ? token_distance(target, at - 1, offset, true) : SIZE_MAX;
        size_t right = at < end ? token_distance(target, at, offset, false) : SIZE_MAX;
        /* What came before binds tighter than what came after, and its last token most. */
        size_t distance = left <= right ? left : right;
        if (distance < nearest || (distance == nearest && left == distance)) {
            nearest = distance;
            best = at;
        }
    }
    return best;
}
