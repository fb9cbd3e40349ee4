#include "document/project.h"

#include "base/error.h"
#include "document/place_words.h"
#include "document/words.h"
#include "text/script.h"
#include "text/utf8.h"

#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

/* What stands for a point among characters: U+FFFC. */
enum { OBJECT = 0xFFFC };

/* ---- Writing ------------------------------------------------------------------------------ */

/* The result while it is written: text is collected and escaped as a whole, up to the next mark. */
typedef struct writing {
    doc_unit *unit;
    const char *source;
    const doc_target *target;
    const doc_steps *steps;
    base_buffer text; /* not yet escaped */
    bool *spaced;     /* of each token: the blank before it is written or not wanted */
    bool *broken;     /* of each token: the blank before it becomes a line break */
    const zhen_translation *translation;
    bool plain;
    bool space_due; /* the next word needs a blank before it */
    int32_t last;   /* last character written, 0 at the beginning */
} writing;

static bool flush(writing *w)
{
    if (w->plain && !base_buffer_append(&w->unit->plain, w->text.data, w->text.length))
        return false;
    if (w->text.length && !w->unit->escape(&w->unit->result, w->text.data, w->text.length))
        return false;
    base_buffer_clear(&w->text);
    return true;
}

static bool write_text(writing *w, const char *text, size_t length)
{
    if (length == 0)
        return true;
    text_decode_before(text, 0, length, &w->last);
    return base_buffer_append(&w->text, text, length);
}

static bool add_hole(writing *w, const doc_mark *mark)
{
    doc_unit *unit = w->unit;
    if (!base_grow((void **)&unit->holes, &unit->hole_capacity, unit->hole_count + 1,
                   sizeof *unit->holes))
        return false;
    size_t begin = (size_t)(mark->raw - w->source);
    unit->holes[unit->hole_count++] =
        (doc_hole){unit->result.length, {begin, begin + mark->raw_length}};
    return true;
}

static bool write_raw(writing *w, const doc_mark *mark)
{
    if (!flush(w))
        return false;
    if (w->plain && (mark->flags & DOC_BLANK) && !base_buffer_append_byte(&w->unit->plain, ' '))
        return false;
    if (w->plain && mark->plain_length &&
        !base_buffer_append(&w->unit->plain, mark->plain, mark->plain_length))
        return false;
    if (mark->flags & DOC_NESTED)
        return add_hole(w, mark);
    return mark->raw ? base_buffer_append(&w->unit->result, mark->raw, mark->raw_length)
                     : w->unit->escape(&w->unit->result, mark->plain, mark->plain_length);
}

/* White space of a translation is blanks; a line break in it would be markup in many formats. */
static bool write_space(writing *w, size_t token)
{
    if (w->spaced[token])
        return true;
    w->spaced[token] = true;
    zhen_span space = w->target->tokens[token].space;
    if (space.begin == space.end || w->last == 0 || text_is_blank(w->last))
        return true;
    w->space_due = false;
    return w->broken[token] ? write_text(w, w->unit->line_break, strlen(w->unit->line_break))
                            : write_text(w, " ", 1);
}

static bool is_word_character(int32_t c)
{
    utf8proc_category_t category = utf8proc_category(c);
    return category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_NO;
}

static bool opens(int32_t c)
{
    utf8proc_category_t category = utf8proc_category(c);
    return category == UTF8PROC_CATEGORY_PS || category == UTF8PROC_CATEGORY_PI;
}

/* A blank before an inserted word, unless there is one or nothing to be set off from. */
static bool set_off(writing *w)
{
    if (w->last == 0 || text_is_blank(w->last) || opens(w->last))
        return true;
    return write_text(w, " ", 1);
}

static bool write_token_text(writing *w, const doc_token *token)
{
    if (token->word != DOC_NONE) {
        bool ok = !token->inserted && !w->space_due ? true : set_off(w);
        w->space_due = token->inserted;
        w->last = 'x';
        return ok && write_raw(w, &w->unit->marks[token->word]);
    }
    int32_t first;
    text_decode(w->target->text + token->text.begin, token->text.end - token->text.begin, &first);
    if (w->space_due && (is_word_character(first) || opens(first)) && !set_off(w))
        return false;
    w->space_due = false;
    return write_text(w, w->target->text + token->text.begin, token->text.end - token->text.begin);
}

/* The sentence that a token belongs to; that of a protected word by its place in the source. */
static size_t sentence_of(const writing *w, const doc_token *token)
{
    const zhen_sentence *sentences = w->translation->sentences;
    bool word = token->word != DOC_NONE;
    size_t at = word ? w->unit->marks[token->word].place.begin : token->text.begin;
    size_t low = 0, high = w->translation->sentence_count;
    while (low + 1 < high) { /* the sentence is in [low, high): they are in order */
        size_t middle = low + (high - low) / 2, before = middle - 1;
        bool later = (word ? sentences[before].source.end : sentences[before].target.end) <= at;
        low = later ? middle : low;
        high = later ? high : middle;
    }
    return low;
}

/* Text is written as it is where sentences are kept, so that places are known before it is. */
static void keep_sentence(const writing *w, const doc_token *token, size_t begin)
{
    doc_unit *unit = w->unit;
    if (unit->sentence_count == 0)
        return;
    zhen_span *span = &unit->sentences[sentence_of(w, token)];
    size_t end = unit->result.length + w->text.length;
    span->begin = span->end && span->begin < begin ? span->begin : begin;
    span->end = end > span->end ? end : span->end;
}

static bool write_token(writing *w, size_t index)
{
    const doc_token *token = &w->target->tokens[index];
    if (!write_space(w, index))
        return false;
    size_t begin = w->unit->result.length + w->text.length;
    if (!write_token_text(w, token))
        return false;
    if (begin == w->unit->result.length + w->text.length)
        return true; /* a tag that is a hole as yet */
    /* A blank that set the word off is not part of it. */
    const char *text = begin >= w->unit->result.length
                           ? w->text.data + (begin - w->unit->result.length)
                           : w->unit->result.data + begin;
    keep_sentence(w, token, *text == ' ' ? begin + 1 : begin);
    return true;
}

/* The first token at or after step `at`, DOC_NONE if there is none. */
static size_t next_token(const writing *w, size_t at)
{
    for (; at < w->steps->count; at++)
        if (!w->steps->items[at].is_mark)
            return w->steps->items[at].index;
    return DOC_NONE;
}

static size_t count_characters(const char *text, zhen_span span)
{
    size_t count = 0;
    for (size_t i = span.begin; i < span.end; i++)
        count += ((unsigned char)text[i] & 0xC0) != 0x80;
    return count;
}

/* Walks over the tokens of a cue, whose steps begin at `at` and end at its closing mark, and
 * measures its text. Breaks it into so many lines, at the blanks nearest behind (or a little
 * before) the multiples of the line length. */
static size_t lay_out(writing *w, size_t at, size_t close, size_t lines, size_t line)
{
    size_t width = 0, end = line;
    for (; at < w->steps->count; at++) {
        const doc_step *step = &w->steps->items[at];
        if (step->is_mark && step->index == close)
            break;
        if (step->is_mark)
            continue;
        const doc_token *token = &w->target->tokens[step->index];
        bool blank = token->space.begin < token->space.end && width > 0;
        size_t characters = count_characters(w->target->text, token->text);
        if (blank && lines > 1 && width + characters / 2 + 1 >= end) {
            w->broken[step->index] = true;
            end += line;
            lines--;
        }
        width += characters + blank;
    }
    return width;
}

/* Lines of about equal length, as many as are needed. */
static void break_lines(writing *w, size_t at, size_t close)
{
    size_t most = w->unit->line_width, width = most ? lay_out(w, at, close, 1, 0) : 0;
    if (width > most) {
        size_t lines = (width + most - 1) / most;
        lay_out(w, at, close, lines, width / lines);
    }
}

/* A cue takes the place of the blank before its first word. */
static bool write_cue(writing *w, size_t at, size_t close)
{
    break_lines(w, at, close);
    size_t token = next_token(w, at);
    if (token != DOC_NONE)
        w->spaced[token] = true;
    w->last = 0;
    w->space_due = false;
    if (w->plain && w->unit->plain.length && !base_buffer_append_byte(&w->text, ' '))
        return false;
    return true;
}

static bool write_open(writing *w, size_t at, const doc_mark *mark)
{
    size_t token = next_token(w, at);
    if (mark->flags & DOC_CUE) {
        if (!write_cue(w, at, mark->partner))
            return false;
    } else if (token != DOC_NONE) {
        if (!write_space(w, token) ||
            ((w->space_due || w->target->tokens[token].inserted) && !set_off(w)))
            return false;
        w->space_due = false;
    }
    if ((mark->flags & DOC_FLANKED) && is_word_character(w->last) && !write_text(w, " ", 1))
        return false;
    return write_raw(w, mark);
}

static bool write_close(writing *w, const doc_mark *mark)
{
    w->space_due = w->space_due || (mark->flags & DOC_FLANKED);
    return write_raw(w, mark);
}

static bool write_point(writing *w, size_t at, const doc_mark *mark)
{
    if (mark->flags & DOC_BLANK) {
        size_t token = next_token(w, at);
        if (token != DOC_NONE)
            w->spaced[token] = true;
        w->last = ' ';
        w->space_due = false;
    } else if (mark->flags & DOC_WORDLIKE) {
        if (!set_off(w))
            return false;
        w->last = 'x';
        w->space_due = true;
    } else if (mark->flags & (DOC_LOOSE | DOC_TRAILED)) {
        if ((mark->flags & DOC_LOOSE) && w->last != OBJECT && !set_off(w))
            return false;
        w->last = OBJECT;
        w->space_due = w->space_due || (mark->flags & DOC_TRAILED);
    }
    return write_raw(w, mark);
}

static bool write_mark(writing *w, size_t at, const doc_mark *mark)
{
    if (mark->kind == DOC_OPEN)
        return write_open(w, at + 1, mark);
    if (mark->kind == DOC_CLOSE)
        return write_close(w, mark);
    return write_point(w, at + 1, mark);
}

/* A blank between the unit and what stands beside it, which is no part of the translation; none
 * where only other units have changed. */
static bool write_gap(writing *w)
{
    return w->translation->text == w->unit->text || w->unit->escape(&w->unit->result, " ", 1);
}

/* Before a word; a mark needs none. */
static bool write_first_gap(writing *w)
{
    size_t token = next_token(w, 0);
    if (!w->unit->gap_before || token == DOC_NONE)
        return true;
    zhen_span first = w->target->tokens[token].text;
    int32_t character = 'x';
    if (w->target->tokens[token].word == DOC_NONE)
        text_decode(w->target->text + first.begin, first.end - first.begin, &character);
    bool needs = is_word_character(character) || opens(character) || character == '"';
    return needs ? write_gap(w) : true;
}

static bool write_last_gap(writing *w)
{
    return !w->unit->gap_after || text_is_blank(w->last) || opens(w->last) || write_gap(w);
}

static bool write_steps(writing *w)
{
    if (!write_first_gap(w))
        return false;
    for (size_t i = 0; i < w->steps->count; i++) {
        const doc_step *step = &w->steps->items[i];
        bool ok = step->is_mark ? write_mark(w, i, &w->unit->marks[step->index])
                                : write_token(w, step->index);
        if (!ok)
            return false;
    }
    return flush(w) && write_last_gap(w);
}

/* Makes room for the places of the sentences in the result. */
static bool begin_sentences(doc_unit *unit, const zhen_translation *translation)
{
    free(unit->sentences);
    unit->sentences = NULL;
    unit->sentence_count = 0;
    if (!unit->origin_count || !translation->sentence_count)
        return true;
    unit->sentences = calloc(translation->sentence_count, sizeof *unit->sentences);
    if (unit->sentences)
        unit->sentence_count = translation->sentence_count;
    return unit->sentences;
}

static bool write_result(doc_unit *unit, const char *source, const zhen_translation *translation,
                         const doc_target *target, const doc_steps *steps, bool plain)
{
    writing w = {.unit = unit,
                 .source = source,
                 .translation = translation,
                 .target = target,
                 .steps = steps,
                 .plain = plain};
    w.spaced = calloc(target->count + 1, sizeof *w.spaced);
    w.broken = calloc(target->count + 1, sizeof *w.broken);
    bool ok = w.spaced && w.broken && begin_sentences(unit, translation) &&
              base_buffer_reserve(&unit->result, unit->length) && write_steps(&w);
    free(w.spaced);
    free(w.broken);
    base_buffer_free(&w.text);
    return ok;
}

/* ---- The whole ------------------------------------------------------------------------------ */

/* A translation is UTF-8, and control characters in it are blanks to us; what is not is made so. */
static bool is_clean(const zhen_translation *translation)
{
    return text_is_valid(translation->text, translation->length);
}

static doc_placing place(const doc_unit *unit, doc_target *target, doc_steps *steps)
{
    if (target->count == 0)
        return DOC_TOO_FEW;
    if (!doc_words_settle(unit, target))
        return DOC_NO_MEMORY;
    doc_placing placing = doc_place(unit, target, false, steps);
    if (placing != DOC_TOO_FEW)
        return placing;
    if (!doc_target_shatter(target))
        return DOC_NO_MEMORY;
    placing = doc_place(unit, target, false, steps);
    return placing == DOC_TOO_FEW ? doc_place_words(unit, target, steps) : placing;
}

static bool project(doc_unit *unit, const char *source, const zhen_translation *translation,
                    bool plain)
{
    doc_target target;
    doc_steps steps = {0};
    bool ok = doc_target_make(translation, unit->length, &target);
    if (ok) {
        doc_placing placing = place(unit, &target, &steps);
        ok = placing != DOC_NO_MEMORY;
        if (placing == DOC_PLACED) {
            ok = write_result(unit, source, translation, &target, &steps, plain);
            unit->changed = ok;
        }
    }
    free(steps.items);
    doc_target_free(&target);
    return ok;
}

static bool project_repaired(doc_unit *unit, const char *source,
                             const zhen_translation *translation, bool plain)
{
    base_buffer clean = {0};
    bool ok = text_repair(translation->text, translation->length, &clean, NULL);
    if (ok) {
        zhen_translation repaired = *translation;
        repaired.text = clean.data;
        repaired.length = clean.length;
        repaired.sentence_count = 0;
        ok = project(unit, source, &repaired, plain);
    }
    base_buffer_free(&clean);
    return ok;
}

zhen_status doc_project(doc_unit *unit, const char *source, const zhen_translation *translation,
                        bool plain, zhen_error *error)
{
    base_buffer_clear(&unit->result);
    base_buffer_clear(&unit->plain);
    unit->hole_count = 0;
    unit->changed = false;
    if (translation->length == unit->length &&
        memcmp(translation->text, unit->text, unit->length) == 0)
        return ZHEN_OK;
    bool ok = is_clean(translation) ? project(unit, source, translation, plain)
                                    : project_repaired(unit, source, translation, plain);
    return ok ? ZHEN_OK : base_fail_memory(error);
}

bool doc_project_unchanged(doc_unit *unit, const char *source)
{
    zhen_translation itself = {.text = unit->text, .length = unit->length};
    base_buffer_clear(&unit->result);
    unit->hole_count = 0;
    bool ok = project(unit, source, &itself, false);
    unit->changed = false;
    return ok;
}

bool doc_unit_source(const doc_unit *unit, base_buffer *out)
{
    size_t at = 0;
    for (size_t i = 0; i < unit->mark_count; i++) {
        const doc_mark *mark = &unit->marks[i];
        if (!base_buffer_append(out, unit->text + at, mark->place.begin - at) ||
            !base_buffer_append(out, mark->plain, mark->plain_length))
            return false;
        at = mark->place.end;
    }
    return base_buffer_append(out, unit->text + at, unit->length - at);
}
