#include "document/place.h"

#include "base/size.h"
#include "text/script.h"
#include "text/utf8.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

/* An element or a point among its siblings. */
typedef struct child {
    size_t mark;
    zhen_span source; /* its text in the source */
    size_t need;      /* tokens that it must hold at least; a point 0 */
    double key;       /* where its words went */
    size_t tail;      /* of a point at the end of its sentence: its place; else DOC_NONE */
    zhen_span tokens; /* where it goes */
} child;

typedef struct placing {
    const doc_unit *unit;
    const doc_target *target;
    bool wordless;
    size_t *need; /* of each mark */
    doc_steps *steps;
} placing;

/* Scores of a protected word: it must not leave its element. */
static const float PROTECTED = 1000.0F;
/* A token that the model took from nowhere is a little more welcome outside than inside. */
static const float UNLINKED = -0.1F;
/* Between subtitle cues there is nothing. */
static const float NOWHERE = -1.0e6F;

/* ---- What elements need -----------------------------------------------------------------------
 */

/* Whether anything of the source's text lies in the element. */
static bool holds_text(const doc_unit *unit, size_t open)
{
    return unit->marks[open].place.begin < unit->marks[unit->marks[open].partner].place.begin;
}

static bool holds_word(const doc_unit *unit, size_t open)
{
    for (size_t i = open + 1; i < unit->marks[open].partner; i++)
        if (unit->marks[i].kind == DOC_WORD)
            return true;
    return false;
}

/* An element needs a token, or as many as the elements in it. */
static void count_needs(placing *p)
{
    const doc_unit *unit = p->unit;
    for (size_t i = unit->mark_count; i-- > 0;) {
        p->need[i] = 0;
        if (unit->marks[i].kind != DOC_OPEN)
            continue;
        size_t sum = 0;
        for (size_t j = i + 1; j < unit->marks[i].partner; j++) {
            sum += p->need[j];
            if (unit->marks[j].kind == DOC_OPEN)
                j = unit->marks[j].partner;
        }
        bool filled = p->wordless && holds_word(unit, i);
        p->need[i] = sum == 0 && holds_text(unit, i) && !filled ? 1 : sum;
    }
}

/* ---- Weights -------------------------------------------------------------------------------- */

/* How much of the token comes from the cue if the words were spread evenly over the text. */
static float even_share(const placing *p, const child *c, size_t token)
{
    float scale = (float)p->unit->length / (float)p->target->count;
    float begin = (float)token * scale, end = begin + scale;
    float from = begin > (float)c->source.begin ? begin : (float)c->source.begin;
    float to = end < (float)c->source.end ? end : (float)c->source.end;
    return from < to ? (to - from) / scale : 0;
}

/* Cues follow one another whatever the order of the words, so that where a word stands says as much
 * as where it comes from, and a little more: without order, cues keep their lengths. */
static float cue_weight(const placing *p, const child *c, size_t token)
{
    float share = doc_target_share(p->target, token, c->source);
    float even = even_share(p, c, token);
    return share < 0 ? 2 * even - 1 : share + 1.1F * even - 1.05F;
}

/* An element that must hold something of which nothing is known rather holds a word than a mark. */
static bool is_punctuation(const placing *p, const doc_token *token)
{
    unsigned char first = (unsigned char)p->target->text[token->text.begin];
    return first < 0x80 && !(first >= '0' && first <= '9') &&
           !((first | 0x20) >= 'a' && (first | 0x20) <= 'z');
}

static float weight(const placing *p, const child *c, size_t token)
{
    const doc_token *t = &p->target->tokens[token];
    if (t->word != DOC_NONE) {
        size_t at = p->unit->marks[t->word].place.begin;
        return at >= c->source.begin && at < c->source.end ? PROTECTED : -PROTECTED;
    }
    if (p->unit->marks[c->mark].flags & DOC_CUE)
        return cue_weight(p, c, token);
    float share = doc_target_share(p->target, token, c->source);
    float w = share < 0 ? UNLINKED : 2 * share - 1;
    return w <= 0 && is_punctuation(p, t) ? w - 0.2F : w;
}

/* The mean of the places of the element's tokens; without any, the place of its text. */
static double element_key(const placing *p, const child *c, zhen_span range)
{
    double sum = 0, total = 0;
    for (size_t i = range.begin; i < range.end; i++) {
        float w = weight(p, c, i);
        if (w > 0) {
            sum += (double)w * ((double)i + 0.5);
            total += (double)w;
        }
    }
    if (total > 0)
        return sum / total;
    return (double)doc_target_place(p->target, range.begin, range.end, c->source.begin);
}

/* ---- Points at the end of a sentence --------------------------------------------------------
 */

/* The sentence that the point stands in or behind, NULL: none is known. */
static const zhen_sentence *sentence_of(const placing *p, size_t offset)
{
    for (size_t i = 0; i < p->target->sentence_count; i++) {
        const zhen_sentence *s = &p->target->sentences[i];
        if (offset > s->source.begin && offset <= s->source.end && s->source.end <= p->unit->length)
            return s;
    }
    return NULL;
}

/* Counts the marks between the point and the end of its sentence; false: there are words. */
static bool count_marks(const placing *p, size_t offset, size_t end, size_t *marks)
{
    *marks = 0;
    while (offset < end) {
        int32_t character;
        offset += text_decode(p->unit->text + offset, end - offset, &character);
        if (text_is_content(character))
            return false;
        *marks += !text_is_blank(character);
    }
    return true;
}

static bool ends_sentence(const placing *p, size_t token)
{
    const doc_token *t = &p->target->tokens[token];
    return t->word == DOC_NONE && t->text.begin < t->text.end &&
           strchr(".,;:!?\"')]", p->target->text[t->text.begin]);
}

/* Alignment says little about a point that no word of its sentence follows (今天好开心😀！). Behind
 * the last word it stays behind the last word, among the marks it has as many of them behind it. */
static size_t find_tail(const placing *p, size_t offset, zhen_span range)
{
    size_t marks, at = range.begin;
    int32_t before;
    const zhen_sentence *s = sentence_of(p, offset);
    if (!s || !count_marks(p, offset, s->source.end, &marks))
        return DOC_NONE;
    text_decode_before(p->unit->text, 0, offset, &before);
    if (text_is_content(before) && marks)
        marks = SIZE_MAX;
    while (at < range.end && p->target->tokens[at].text.begin < s->target.end)
        at++;
    for (; at > range.begin && marks && ends_sentence(p, at - 1); marks--)
        at--;
    return at;
}

static double point_key(const placing *p, const child *c, zhen_span range)
{
    if (c->tail != DOC_NONE)
        return (double)c->tail;
    return (double)doc_target_place(p->target, range.begin, range.end, c->source.begin);
}

/* ---- Siblings ------------------------------------------------------------------------------- */

static int by_key(const void *a, const void *b)
{
    const child *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return x->mark < y->mark ? -1 : x->mark > y->mark;
}

/* The elements and points directly inside marks (begin, end). */
static size_t list_children(const placing *p, size_t begin, size_t end, child *children)
{
    const doc_mark *marks = p->unit->marks;
    size_t count = 0;
    for (size_t i = begin; i < end; i++) {
        if (marks[i].kind != DOC_OPEN && marks[i].kind != DOC_POINT)
            continue;
        size_t last = marks[i].kind == DOC_OPEN ? marks[i].partner : i;
        if (children)
            children[count] = (child){.mark = i,
                                      .source = {marks[i].place.begin, marks[last].place.begin},
                                      .need = p->need[i]};
        count++;
        i = last;
    }
    return count;
}

static void order_children(const placing *p, child *children, size_t count, zhen_span range)
{
    for (size_t i = 0; i < count; i++) {
        child *c = &children[i];
        bool is_point = p->unit->marks[c->mark].kind == DOC_POINT;
        c->tail = is_point ? find_tail(p, c->source.begin, range) : DOC_NONE;
        c->key = is_point ? point_key(p, c, range) : element_key(p, c, range);
    }
    qsort(children, count, sizeof *children, by_key);
}

/* The table of the dynamic programme: score[i] of the best way to put the first j children among
 * the first i tokens, and from[j][i]: where child j begins if it ends at i, or PASSED if token i -
 * 1 lies behind it. */
typedef struct table {
    float *score, *before, *sums;
    uint32_t *from;
    size_t width; /* tokens + 1 */
    float between;
} table;

static const uint32_t PASSED = UINT32_MAX;

/* How far the token is from where the point belongs. */
static size_t distance(const placing *p, const child *c, zhen_span range, size_t token)
{
    if (c->tail == DOC_NONE)
        return doc_target_distance(p->target, range.begin, range.end, token, c->source.begin);
    return token < c->tail ? c->tail - token : token - c->tail;
}

static void fill_row(const placing *p, table *t, const child *c, size_t row, zhen_span range)
{
    uint32_t *from = t->from + row * t->width;
    bool is_point = p->unit->marks[c->mark].kind == DOC_POINT;
    float best = -FLT_MAX;
    uint32_t best_begin = PASSED;
    for (size_t i = 0; i < t->width; i++) {
        if (i > 0)
            t->sums[i] = t->sums[i - 1] + (is_point ? 0 : weight(p, c, range.begin + i - 1));
        else
            t->sums[0] = 0;
        t->score[i] = i > 0 && t->score[i - 1] > -FLT_MAX ? t->score[i - 1] + t->between : -FLT_MAX;
        from[i] = PASSED;
        if (i >= c->need) {
            size_t begin = i - c->need;
            float start = t->before[begin] - t->sums[begin];
            if (t->before[begin] > -FLT_MAX && (start > best || is_point)) {
                best = start;
                best_begin = (uint32_t)begin;
            }
        }
        if (best_begin == PASSED)
            continue;
        float here = best + t->sums[i];
        if (is_point) {
            size_t away = distance(p, c, range, range.begin + i);
            here = t->before[i] > -FLT_MAX ? t->before[i] - 0.02F * (float)(away > 40 ? 40 : away)
                                           : -FLT_MAX;
            best_begin = (uint32_t)i;
        }
        if (here > t->score[i]) {
            t->score[i] = here;
            from[i] = best_begin;
        }
    }
}

static bool make_table(table *t, size_t children, size_t tokens)
{
    size_t cells;
    t->width = tokens + 1;
    if (!base_multiply(children, t->width, &cells))
        return false;
    t->score = calloc(t->width, sizeof *t->score);
    t->before = calloc(t->width, sizeof *t->before);
    t->sums = calloc(t->width, sizeof *t->sums);
    t->from = calloc(cells, sizeof *t->from);
    return t->score && t->before && t->sums && t->from;
}

static void free_table(table *t)
{
    free(t->score);
    free(t->before);
    free(t->sums);
    free(t->from);
}

/* Chooses the children's tokens; they are in order and need no more tokens than there are. */
static doc_placing choose_tokens(const placing *p, child *children, size_t count, zhen_span range,
                                 bool partition)
{
    table t = {.between = partition ? NOWHERE : 0};
    if (!make_table(&t, count, range.end - range.begin)) {
        free_table(&t);
        return DOC_NO_MEMORY;
    }
    for (size_t i = 0; i < t.width; i++)
        t.score[i] = (float)i * t.between;
    for (size_t j = 0; j < count; j++) {
        float *swap = t.before;
        t.before = t.score;
        t.score = swap;
        fill_row(p, &t, &children[j], j, range);
    }
    size_t at = t.width - 1;
    for (size_t j = count; j-- > 0;) {
        while (t.from[j * t.width + at] == PASSED)
            at--;
        size_t begin = t.from[j * t.width + at];
        children[j].tokens = (zhen_span){range.begin + begin, range.begin + at};
        at = begin;
    }
    free_table(&t);
    return DOC_PLACED;
}

/* A protected word that ended up in another element than its own: there were too few tokens. */
static bool misplaces_words(const placing *p, const child *children, size_t count, zhen_span range)
{
    for (size_t i = range.begin; i < range.end; i++) {
        size_t word = p->target->tokens[i].word;
        if (word == DOC_NONE)
            continue;
        size_t at = p->unit->marks[word].place.begin;
        for (size_t j = 0; j < count; j++) {
            const child *c = &children[j];
            bool belongs = at >= c->source.begin && at < c->source.end;
            if (belongs != (i >= c->tokens.begin && i < c->tokens.end))
                return true;
        }
    }
    return false;
}

/* ---- Steps ---------------------------------------------------------------------------------- */

static bool add_step(placing *p, bool is_mark, size_t index)
{
    doc_steps *steps = p->steps;
    if (!base_grow((void **)&steps->items, &steps->capacity, steps->count + 1,
                   sizeof *steps->items))
        return false;
    steps->items[steps->count++] = (doc_step){is_mark, index};
    return true;
}

static bool add_tokens(placing *p, size_t begin, size_t end)
{
    for (size_t i = begin; i < end; i++)
        if (!add_step(p, false, i))
            return false;
    return true;
}

static doc_placing place_marks(placing *p, size_t begin, size_t end, zhen_span range);

static doc_placing place_child(placing *p, const child *c)
{
    if (!add_step(p, true, c->mark))
        return DOC_NO_MEMORY;
    if (p->unit->marks[c->mark].kind == DOC_POINT)
        return DOC_PLACED;
    size_t partner = p->unit->marks[c->mark].partner;
    doc_placing result = place_marks(p, c->mark + 1, partner, c->tokens);
    if (result == DOC_PLACED && !add_step(p, true, partner))
        return DOC_NO_MEMORY;
    return result;
}

static doc_placing place_children(placing *p, child *children, size_t count, zhen_span range)
{
    bool partition = (p->unit->marks[children[0].mark].flags & DOC_CUE) != 0;
    if (!partition)
        order_children(p, children, count, range);
    size_t need = 0;
    for (size_t i = 0; i < count; i++)
        need += children[i].need;
    if (need > range.end - range.begin)
        return DOC_TOO_FEW;
    doc_placing result = choose_tokens(p, children, count, range, partition);
    if (result == DOC_PLACED && misplaces_words(p, children, count, range))
        return DOC_TOO_FEW;
    size_t at = range.begin;
    for (size_t i = 0; i < count && result == DOC_PLACED; i++) {
        if (!add_tokens(p, at, children[i].tokens.begin))
            return DOC_NO_MEMORY;
        result = place_child(p, &children[i]);
        at = children[i].tokens.end;
    }
    if (result == DOC_PLACED && !add_tokens(p, at, range.end))
        return DOC_NO_MEMORY;
    return result;
}

/* Places marks [begin, end), which nest, among the tokens of `range`. The depth of recursion is
 * that of the elements, which doc_flow_pair limits. */
static doc_placing place_marks(placing *p, size_t begin, size_t end, zhen_span range)
{
    size_t count = list_children(p, begin, end, NULL);
    if (count == 0)
        return add_tokens(p, range.begin, range.end) ? DOC_PLACED : DOC_NO_MEMORY;
    child *children = calloc(count, sizeof *children);
    if (!children)
        return DOC_NO_MEMORY;
    list_children(p, begin, end, children);
    doc_placing result = place_children(p, children, count, range);
    free(children);
    return result;
}

doc_placing doc_place(const doc_unit *unit, const doc_target *target, bool wordless,
                      doc_steps *steps)
{
    placing p = {.unit = unit, .target = target, .wordless = wordless, .steps = steps};
    steps->count = 0;
    p.need = calloc(unit->mark_count + 1, sizeof *p.need);
    if (!p.need)
        return DOC_NO_MEMORY;
    count_needs(&p);
    doc_placing result = place_marks(&p, 0, unit->mark_count, (zhen_span){0, target->count});
    free(p.need);
    return result;
}
