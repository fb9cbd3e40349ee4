#include "translate/assemble.h"

#include "base/arena.h"
#include "base/error.h"
#include "text/punctuation.h"
#include "translate/choose.h"

#include <stdlib.h>

struct zhen_translations {
    zhen_translation *items; /* (count) */
    size_t count;
    base_arena arena; /* all that the items point to */
};

/* Working memory, used again for each text. */
typedef struct assembler {
    const translate_plan *plan;
    size_t nbest;
    base_arena *arena;
    base_buffer text;
    size_t *starts;        /* (pieces of the plan): where each one stands in `text` */
    translate_term *terms; /* the translated pieces of the current text */
    size_t term_count, term_capacity;
    translate_ways ways;
} assembler;

static bool is_translated(const translate_plan *plan, const translate_sentence *sentence)
{
    for (size_t i = 0; i < sentence->piece_count; i++)
        if (plan->pieces[sentence->first_piece + i].entry)
            return true;
    return false;
}

static size_t translated_pieces(const translate_plan *plan, const translate_sentence *sentence)
{
    size_t count = 0;
    for (size_t i = 0; i < sentence->piece_count; i++)
        count += plan->pieces[sentence->first_piece + i].entry != NULL;
    return count;
}

/* ---- Text ----------------------------------------------------------------------------------- */

static bool has_separator(const char *text, zhen_span gap)
{
    while (gap.begin < gap.end) {
        int32_t character;
        gap.begin += text_decode(text + gap.begin, gap.end - gap.begin, &character);
        if (text_is_separator(character))
            return true;
    }
    return false;
}

static bool append_span(base_buffer *text, const translate_line *line, zhen_span span)
{
    return base_buffer_append(text, line->text + span.begin, span.end - span.begin);
}

/* A space, unless there is nothing to part or a blank already. */
static bool append_space(base_buffer *text)
{
    if (text->length == 0 || (unsigned char)text->data[text->length - 1] <= ' ')
        return true;
    return base_buffer_append_byte(text, ' ');
}

/* Whether a mark ends what stands before `end`. */
static bool ends_with_mark(const translate_line *line, zhen_span span)
{
    int32_t character;
    text_decode_before(line->text, span.begin, span.end, &character);
    text_mark mark = text_mark_of(character);
    return (mark != TEXT_MARK_NONE && mark != TEXT_MARK_COMMA) || text_is_closer(character);
}

/* The blanks of a gap as ASCII has them: an ideographic space is two columns wide. */
static bool append_blanks(base_buffer *text, const translate_line *line, zhen_span gap)
{
    while (gap.begin < gap.end) {
        int32_t character;
        gap.begin += text_decode(line->text + gap.begin, gap.end - gap.begin, &character);
        if (!base_buffer_append_string(text, character == 0x3000 ? "  " : " "))
            return false;
    }
    return true;
}

/* What stands between two sentences: line structure as it was, and all of it between two that were
 * not translated; as many blanks as there were where none of the marks that end sentences is, as
 * between 时间：三点　地点：北京; else the one space that English has there, whatever Chinese had.
 */
static bool append_gap(assembler *a, const translate_line *line, const translate_sentence *before,
                       const translate_sentence *after)
{
    zhen_span gap = {before->source.end, after->source.begin};
    if ((!is_translated(a->plan, before) && !is_translated(a->plan, after)) ||
        has_separator(line->text, gap))
        return append_span(&a->text, line, gap);
    if (gap.begin == gap.end || ends_with_mark(line, before->source))
        return append_space(&a->text);
    return append_blanks(&a->text, line, gap);
}

/* What stands between two pieces of a sentence: all of it if neither was translated. */
static bool append_seam(base_buffer *text, const translate_line *line,
                        const translate_piece *before, const translate_piece *after)
{
    if (before->entry || after->entry)
        return append_space(text);
    return append_span(text, line, (zhen_span){before->source.end, after->source.begin});
}

/* Appends the pieces of a sentence; versions: which version of each translated piece. */
static bool append_sentence(assembler *a, const translate_line *line,
                            const translate_sentence *sentence, const uint8_t *versions)
{
    for (size_t i = 0; i < sentence->piece_count; i++) {
        size_t index = sentence->first_piece + i;
        const translate_piece *piece = &a->plan->pieces[index];
        if (i > 0 && !append_seam(&a->text, line, piece - 1, piece))
            return false;
        a->starts[index] = a->text.length;
        if (!piece->entry) {
            if (!append_span(&a->text, line, piece->source))
                return false;
            continue;
        }
        const translate_version *version = &piece->entry->versions[*versions++];
        if (!base_buffer_append(&a->text, version->text, version->length))
            return false;
    }
    return true;
}

/* Writes a whole text into a->text. spans: NULL or room for where each sentence went. */
static bool write_text(assembler *a, const translate_line *line, const uint8_t *versions,
                       zhen_sentence *spans)
{
    const translate_sentence *sentences = a->plan->sentences + line->first_sentence;
    size_t count = line->sentence_count, end = 0;
    base_buffer_clear(&a->text);
    for (size_t i = 0; i < count; i++) {
        bool done = i == 0 ? append_span(&a->text, line, (zhen_span){0, sentences[0].source.begin})
                           : append_gap(a, line, &sentences[i - 1], &sentences[i]);
        size_t begin = a->text.length;
        if (!done || !append_sentence(a, line, &sentences[i], versions))
            return false;
        versions += translated_pieces(a->plan, &sentences[i]);
        end = sentences[i].source.end;
        if (spans)
            spans[i].target = (zhen_span){begin, a->text.length};
    }
    return append_span(&a->text, line, (zhen_span){end, line->length});
}

/* ---- Sentences and links -------------------------------------------------------------------- */

/* The links of a piece, moved to where it stands in the source and in the translation. */
static void move_links(const translate_line *line, const translate_piece *piece, size_t start,
                       zhen_link *out)
{
    for (size_t i = 0; i < piece->entry->link_count; i++) {
        zhen_link link = piece->entry->links[i];
        zhen_span source = {piece->source.begin + link.source.begin,
                            piece->source.begin + link.source.end};
        out[i].source = translate_line_original(line, source);
        out[i].target = (zhen_span){start + link.target.begin, start + link.target.end};
    }
}

static bool fill_links(assembler *a, const translate_line *line, const translate_sentence *sentence,
                       zhen_sentence *out)
{
    const translate_piece *pieces = a->plan->pieces + sentence->first_piece;
    const size_t *starts = a->starts + sentence->first_piece;
    size_t count = 0;
    for (size_t i = 0; i < sentence->piece_count; i++)
        count += pieces[i].entry ? pieces[i].entry->link_count : 0;
    zhen_link *links = base_arena_calloc(a->arena, count, sizeof *links);
    if (!links)
        return false;
    out->links = links;
    for (size_t i = 0; i < sentence->piece_count; i++) {
        if (!pieces[i].entry)
            continue;
        move_links(line, &pieces[i], starts[i], links + out->link_count);
        out->link_count += pieces[i].entry->link_count;
    }
    return true;
}

static double sentence_score(const translate_plan *plan, const translate_sentence *sentence)
{
    size_t count = translated_pieces(plan, sentence);
    double sum = 0;
    for (size_t i = 0; i < sentence->piece_count; i++) {
        const translate_entry *entry = plan->pieces[sentence->first_piece + i].entry;
        sum += entry ? entry->versions[0].score : 0;
    }
    return count ? sum / (double)count : 0;
}

static bool fill_sentences(assembler *a, const translate_line *line, zhen_sentence *out)
{
    for (size_t i = 0; i < line->sentence_count; i++) {
        const translate_sentence *sentence = &a->plan->sentences[line->first_sentence + i];
        out[i].source = translate_line_original(line, sentence->source);
        out[i].score = sentence_score(a->plan, sentence);
        if (a->plan->alignment && !fill_links(a, line, sentence, &out[i]))
            return false;
    }
    return true;
}

/* ---- One text ------------------------------------------------------------------------------- */

/* Collects the translated pieces of a text, weighted so that each translated sentence counts the
 * same. */
static bool collect_terms(assembler *a, const translate_line *line)
{
    const translate_sentence *sentences = a->plan->sentences + line->first_sentence;
    size_t translated = 0;
    a->term_count = 0;
    for (size_t i = 0; i < line->sentence_count; i++)
        translated += is_translated(a->plan, &sentences[i]);
    for (size_t i = 0; i < line->sentence_count; i++) {
        size_t count = translated_pieces(a->plan, &sentences[i]);
        if (!base_grow((void **)&a->terms, &a->term_capacity, a->term_count + count,
                       sizeof *a->terms))
            return false;
        for (size_t k = 0; k < sentences[i].piece_count; k++) {
            const translate_entry *entry = a->plan->pieces[sentences[i].first_piece + k].entry;
            if (entry)
                a->terms[a->term_count++] =
                    (translate_term){entry, 1.0 / (double)count / (double)translated};
        }
    }
    return true;
}

static bool fill_alternatives(assembler *a, const translate_line *line, zhen_translation *out)
{
    size_t count = a->ways.count;
    zhen_alternative *alternatives = base_arena_calloc(a->arena, count, sizeof *alternatives);
    if (!alternatives)
        return false;
    for (size_t way = 0; way < count; way++) {
        const char *text = out->text;
        size_t length = out->length;
        if (way > 0) {
            if (!write_text(a, line, a->ways.versions + way * a->term_count, NULL))
                return false;
            text = base_arena_string(a->arena, a->text.data, a->text.length);
            length = a->text.length;
        }
        if (!text)
            return false;
        alternatives[way] = (zhen_alternative){text, length, a->ways.scores[way]};
    }
    out->alternatives = alternatives;
    out->alternative_count = count;
    return true;
}

static bool assemble_line(assembler *a, const translate_line *line, zhen_translation *out)
{
    zhen_sentence *sentences = base_arena_calloc(a->arena, line->sentence_count, sizeof *sentences);
    if (!sentences || !collect_terms(a, line) ||
        !translate_choose(a->terms, a->term_count, a->nbest, &a->ways) ||
        !write_text(a, line, a->ways.versions, sentences) || !fill_sentences(a, line, sentences))
        return false;
    out->text = base_arena_string(a->arena, a->text.data, a->text.length);
    out->length = a->text.length;
    out->score = a->ways.scores[0];
    out->sentences = sentences;
    out->sentence_count = line->sentence_count;
    for (size_t i = 0; i < a->term_count; i++) {
        out->source_tokens += a->terms[i].entry->tokens;
        out->target_tokens += a->terms[i].entry->versions[0].tokens;
    }
    return out->text && fill_alternatives(a, line, out);
}

/* ---- All texts ------------------------------------------------------------------------------ */

zhen_status translate_assemble(const translate_plan *plan, size_t nbest,
                               zhen_translations **translations, zhen_error *error)
{
    zhen_translations *made = calloc(1, sizeof *made);
    if (!made)
        return base_fail_memory(error);
    assembler a = {.plan = plan, .nbest = nbest, .arena = &made->arena};
    made->count = plan->line_count;
    made->items = base_arena_calloc(&made->arena, made->count, sizeof *made->items);
    a.starts = malloc((plan->piece_count ? plan->piece_count : 1) * sizeof *a.starts);
    bool done = made->items && a.starts;
    for (size_t i = 0; done && i < made->count; i++)
        done = assemble_line(&a, &plan->lines[i], &made->items[i]);
    base_buffer_free(&a.text);
    free(a.starts);
    free(a.terms);
    translate_ways_free(&a.ways);
    if (!done) {
        zhen_translations_free(made);
        return base_fail_memory(error);
    }
    *translations = made;
    return ZHEN_OK;
}

size_t zhen_translations_count(const zhen_translations *translations)
{
    return translations->count;
}

const zhen_translation *zhen_translations_get(const zhen_translations *translations, size_t index)
{
    return index < translations->count ? &translations->items[index] : NULL;
}

void zhen_translations_free(zhen_translations *translations)
{
    if (!translations)
        return;
    base_arena_free(&translations->arena);
    free(translations);
}
