#include "document/words.h"

#include <string.h>

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Where the stand-in stands in a token, not as a part of a longer number; DOC_NONE if nowhere. */
static size_t find_inside(const doc_target *target, const doc_token *token, const char *name,
                          size_t length)
{
    if (token->word != DOC_NONE)
        return DOC_NONE;
    const char *text = target->text;
    for (size_t at = token->text.begin; at + length <= token->text.end; at++) {
        if (memcmp(text + at, name, length) != 0)
            continue;
        bool longer = at > token->text.begin && is_digit(text[at - 1]);
        longer = longer || (at + length < token->text.end && is_digit(text[at + length]));
        longer = longer || (at > token->text.begin + 1 && is_digit(text[at - 2]));
        if (!longer)
            return at;
    }
    return DOC_NONE;
}

static bool is_ordinal_ending(const char *text, size_t length)
{
    return length == 2 && (!memcmp(text, "th", 2) || !memcmp(text, "st", 2) ||
                           !memcmp(text, "nd", 2) || !memcmp(text, "rd", 2));
}

/* Makes the stand-in at `at` of the token a token of its own, the word's. What the model glued to
 * it stays beside it, but for the ending of an ordinal number. */
static bool make_word(doc_target *target, size_t index, size_t at, size_t length, size_t word)
{
    doc_token whole = target->tokens[index];
    doc_token *token = &target->tokens[index];
    token->word = word;
    token->text = (zhen_span){at, at + length};
    if (at > whole.text.begin) {
        token->space = (zhen_span){at, at};
        token->inserted = true;
    }
    zhen_span rest = {at + length, whole.text.end};
    if (rest.begin < rest.end &&
        !is_ordinal_ending(target->text + rest.begin, rest.end - rest.begin)) {
        doc_token after = whole;
        after.text = rest;
        after.space = (zhen_span){rest.begin, rest.begin};
        if (!doc_target_insert(target, index + 1, &after))
            return false;
    }
    if (at > whole.text.begin) {
        doc_token before = whole;
        before.text.end = at;
        if (!doc_target_insert(target, index, &before))
            return false;
    }
    return true;
}

/* Keeps the best aligned copy of the stand-in; false only when memory runs out. */
static bool find_word(const doc_unit *unit, size_t word, doc_target *target, bool *found)
{
    zhen_span place = unit->marks[word].place;
    const char *name = unit->text + place.begin;
    size_t length = place.end - place.begin, best = DOC_NONE;
    float best_share = -2;
    for (size_t i = 0; i < target->count; i++) {
        if (find_inside(target, &target->tokens[i], name, length) == DOC_NONE)
            continue;
        float share = doc_target_share(target, i, place);
        if (share > best_share) {
            best = i;
            best_share = share;
        }
    }
    *found = best != DOC_NONE;
    if (!*found)
        return true;
    for (size_t i = target->count; i-- > 0;) {
        if (i == best || find_inside(target, &target->tokens[i], name, length) == DOC_NONE)
            continue;
        doc_target_remove(target, i);
        best -= i < best;
    }
    size_t at = find_inside(target, &target->tokens[best], name, length);
    return make_word(target, best, at, length, word);
}

static bool has_digit(const char *text, zhen_span span)
{
    for (size_t i = span.begin; i < span.end; i++)
        if (is_digit(text[i]))
            return true;
    return false;
}

/* A number that the source does not have, and that was made of the stand-in: a bad copy. */
static size_t find_garbled(const doc_unit *unit, zhen_span place, const doc_target *target)
{
    size_t best = DOC_NONE;
    float best_share = 0.5F;
    for (size_t i = 0; i < target->count; i++) {
        const doc_token *token = &target->tokens[i];
        size_t length = token->text.end - token->text.begin;
        if (token->word != DOC_NONE || !has_digit(target->text, token->text) ||
            memmem(unit->text, unit->length, target->text + token->text.begin, length))
            continue;
        float share = doc_target_share(target, i, place);
        if (share >= best_share) {
            best = i;
            best_share = share;
        }
    }
    return best;
}

static bool restore_word(const doc_unit *unit, size_t word, doc_target *target)
{
    zhen_span place = unit->marks[word].place;
    size_t garbled = find_garbled(unit, place, target);
    if (garbled != DOC_NONE) {
        target->tokens[garbled].word = word;
        return true;
    }
    doc_token token = {.word = word, .inserted = true, .source_first = target->source_count};
    if (!base_grow((void **)&target->sources, &target->source_capacity, target->source_count + 1,
                   sizeof *target->sources))
        return false;
    target->sources[target->source_count++] = place;
    token.source_count = 1;
    size_t at = doc_target_place(target, 0, target->count, place.begin);
    if (at < target->count)
        token.text = (zhen_span){target->tokens[at].text.begin, target->tokens[at].text.begin};
    else
        token.text = (zhen_span){target->length, target->length};
    token.space = token.text;
    return doc_target_insert(target, at, &token);
}

bool doc_words_settle(const doc_unit *unit, doc_target *target)
{
    /* All copies are found before any is restored: a garbled copy must not be another's good one.
     */
    for (int restoring = 0; restoring < 2; restoring++) {
        for (size_t i = 0; i < unit->mark_count; i++) {
            if (unit->marks[i].kind != DOC_WORD)
                continue;
            bool found = false;
            for (size_t t = 0; t < target->count && !found; t++)
                found = target->tokens[t].word == i;
            if (found)
                continue;
            if (restoring ? !restore_word(unit, i, target) : !find_word(unit, i, target, &found))
                return false;
        }
    }
    return true;
}
