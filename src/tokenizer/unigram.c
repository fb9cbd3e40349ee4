/*
 * Unigram segmentation: the cut whose pieces' log probabilities have the greatest sum (Kudo, 2018),
 * found from left to right with the best cut up to each character. Sums are float and compared in
 * the library's order, so that rounding and ties come out as there.
 */
#include "tokenizer/spm_model.h"

/* Beyond this the scores of everything ahead are lifted, as the library does, to keep their
 * precision in long texts. */
static const float SCORE_LIMIT = 100000.0F;

static void relax(spm_best *target, float score, int32_t id, size_t start)
{
    if (target->start == SIZE_MAX || score > target->score)
        *target = (spm_best){score, id, start};
}

/* Tries every piece that begins at `start`. Returns the end of the farthest one, at least that of
 * the character there, which becomes unknown if it is no piece itself. */
static size_t relax_from(const spm_model *model, const char *text, size_t size, size_t start,
                         spm_best *best)
{
    const float score = best[start].score;
    uint32_t node = SPM_TRIE_ROOT, character;
    const size_t first_end = start + spm_character(text + start, size - start, &character);
    size_t end = first_end, farthest = first_end;
    bool covered = false;
    for (;;) {
        const spm_edge *edge = spm_trie_step(&model->pieces, node, character);
        if (!edge)
            break;
        if (edge->id != SPM_TRIE_NONE && model->entries[edge->id].kind != SPM_UNUSED) {
            relax(&best[end], model->entries[edge->id].score + score, edge->id, start);
            covered = covered || end == first_end;
            farthest = end;
        }
        if (end == size)
            break;
        node = edge->child;
        end += spm_character(text + end, size - end, &character);
    }
    if (!covered)
        relax(&best[first_end], model->unknown_score + score, model->unknown_id, start);
    return farthest;
}

static void lift_scores(spm_best *best, size_t start, size_t farthest)
{
    const float lift = best[start].score;
    if (lift >= -SCORE_LIMIT && lift <= SCORE_LIMIT)
        return;
    for (size_t i = start; i <= farthest; i++)
        if (best[i].start != SIZE_MAX)
            best[i].score -= lift;
}

static void find_best(const spm_model *model, const char *text, size_t size, spm_best *best)
{
    best[0] = (spm_best){0, SPM_TRIE_NONE, 0};
    for (size_t i = 1; i <= size; i++)
        best[i].start = SIZE_MAX;
    size_t farthest = 0;
    uint32_t character;
    for (size_t start = 0; start < size;) {
        lift_scores(best, start, farthest);
        size_t end = relax_from(model, text, size, start, best);
        farthest = end > farthest ? end : farthest;
        start += spm_character(text + start, size - start, &character);
    }
}

/* Turns the links from each piece to the one before it into links to the one after it: the piece
 * that begins at i ends at best[i].start and has the id best[i].id. */
static void reverse_links(spm_best *best, size_t size)
{
    size_t end = size, next_start = SIZE_MAX;
    int32_t next_id = SPM_TRIE_NONE;
    for (;;) {
        spm_best here = best[end];
        best[end].start = next_start;
        best[end].id = next_id;
        if (end == 0)
            return;
        next_start = end;
        next_id = here.id;
        end = here.start;
    }
}

bool spm_segment_unigram(const spm_model *model, spm_encoding *encoding)
{
    struct spm_scratch *scratch = encoding->scratch;
    const size_t size = encoding->normal.length;
    if (!base_grow((void **)&scratch->best, &scratch->best_capacity, size + 1,
                   sizeof *scratch->best))
        return false;
    spm_best *best = scratch->best;
    find_best(model, encoding->normal.data, size, best);
    reverse_links(best, size);
    for (size_t begin = 0; begin < size; begin = best[begin].start)
        if (!spm_emit(model, encoding, best[begin].id, begin, best[begin].start))
            return false;
    return true;
}
