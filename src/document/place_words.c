#include "document/place_words.h"

/* Takes the protected words out. */
static void remove_words(doc_target *target)
{
    size_t kept = 0;
    for (size_t i = 0; i < target->count; i++)
        if (target->tokens[i].word == DOC_NONE)
            target->tokens[kept++] = target->tokens[i];
    target->count = kept;
}

/* The innermost element around the word, DOC_NONE if there is none. */
static size_t element_of(const doc_unit *unit, size_t word)
{
    for (size_t i = word; i-- > 0;) {
        if (unit->marks[i].kind == DOC_OPEN && unit->marks[i].partner > word)
            return i;
        if (unit->marks[i].kind == DOC_CLOSE)
            i = unit->marks[i].partner; /* an element beside the word */
    }
    return DOC_NONE;
}

/* The step of the mark; behind the last step if there is none. */
static size_t find_step(const doc_steps *steps, size_t mark)
{
    size_t at = 0;
    while (at < steps->count && !(steps->items[at].is_mark && steps->items[at].index == mark))
        at++;
    return at;
}

/* The tokens of the translation, the first `count` of the target, between two steps. */
static zhen_span tokens_between(const doc_steps *steps, size_t begin, size_t end, size_t count)
{
    zhen_span tokens = {count, 0};
    for (size_t i = begin; i < end; i++) {
        const doc_step *step = &steps->items[i];
        if (step->is_mark || step->index >= count)
            continue;
        tokens.begin = step->index < tokens.begin ? step->index : tokens.begin;
        tokens.end = step->index + 1;
    }
    return tokens.begin < tokens.end ? tokens : (zhen_span){0, 0};
}

/* The step in [begin, end) before which the word goes: outside of the elements that are there, and
 * before the first token at or behind `place`. */
static size_t choose_step(const doc_unit *unit, const doc_steps *steps, size_t begin, size_t end,
                          size_t place, size_t count)
{
    size_t outside = begin, depth = 0;
    for (size_t i = begin; i < end; i++) {
        const doc_step *step = &steps->items[i];
        if (depth == 0)
            outside = i;
        if (step->is_mark) {
            depth += unit->marks[step->index].kind == DOC_OPEN;
            depth -= unit->marks[step->index].kind == DOC_CLOSE;
        } else if (step->index < count && step->index >= place) {
            return outside;
        }
    }
    return end;
}

static bool insert_step(doc_steps *steps, size_t at, size_t token)
{
    if (!base_grow((void **)&steps->items, &steps->capacity, steps->count + 1,
                   sizeof *steps->items))
        return false;
    for (size_t i = steps->count++; i > at; i--)
        steps->items[i] = steps->items[i - 1];
    steps->items[at] = (doc_step){.is_mark = false, .index = token};
    return true;
}

/* Puts a word back, as a token behind those of the translation. */
static bool insert_word(const doc_unit *unit, size_t word, size_t count, doc_target *target,
                        doc_steps *steps)
{
    size_t element = element_of(unit, word), begin = 0, end = steps->count;
    if (element != DOC_NONE) {
        begin = find_step(steps, element) + 1;
        end = find_step(steps, unit->marks[element].partner);
    }
    zhen_span tokens = tokens_between(steps, begin, end, count);
    size_t place =
        doc_target_place(target, tokens.begin, tokens.end, unit->marks[word].place.begin);
    size_t at = choose_step(unit, steps, begin, end, place, count);
    doc_token token = {.word = word, .inserted = true};
    token.text = token.space = (zhen_span){target->length, target->length};
    return insert_step(steps, at, target->count) &&
           doc_target_insert(target, target->count, &token);
}

doc_placing doc_place_words(const doc_unit *unit, doc_target *target, doc_steps *steps)
{
    remove_words(target);
    size_t count = target->count;
    doc_placing placing = doc_place(unit, target, true, steps);
    for (size_t i = 0; placing == DOC_PLACED && i < unit->mark_count; i++)
        if (unit->marks[i].kind == DOC_WORD && !insert_word(unit, i, count, target, steps))
            placing = DOC_NO_MEMORY;
    return placing;
}
