#include "search/constraint.h"

#include <string.h>

static bool is_eos(const mdl_bad_word *word, int32_t eos_id)
{
    return word->count == 1 && word->ids[0] == eos_id;
}

bool search_constraints_init(search_constraints *constraints, base_arena *arena,
                             const nn_network *network, const search_options *options)
{
    *constraints = (search_constraints){
        .network = network,
        .eos_row = nn_output_row(network, options->eos_id),
        .min_new_tokens = options->min_new_tokens,
        .no_repeat_ngram = options->no_repeat_ngram,
        .repetition_penalty = (float)options->repetition_penalty,
        .words = options->bad_words,
        .word_count = options->bad_word_count,
        .always = base_arena_calloc(arena, options->bad_word_count, sizeof(int32_t)),
    };
    if (options->repetition_penalty != 1.0)
        constraints->penalised = base_arena_calloc(arena, nn_output_count(network), 1);
    if (!constraints->always || (options->repetition_penalty != 1.0 && !constraints->penalised))
        return false;
    for (size_t i = 0; i < options->bad_word_count; i++) {
        const mdl_bad_word *word = &options->bad_words[i];
        if (word->count == 0)
            continue;
        ptrdiff_t row = nn_output_row(network, word->ids[word->count - 1]);
        if (word->count > 1)
            constraints->long_words++;
        else if (row >= 0 && !is_eos(word, options->eos_id))
            constraints->always[constraints->always_count++] = (int32_t)row;
    }
    return true;
}

bool search_constraints_need_history(const search_constraints *constraints,
                                     const search_extra *extra)
{
    return constraints->penalised || constraints->no_repeat_ngram > 0 ||
           constraints->long_words > 0 || extra->no_repeat_ngram > 0;
}

size_t search_constraints_most(const search_constraints *constraints, size_t steps, bool guard)
{
    size_t ngrams = (constraints->no_repeat_ngram > 0) + (size_t)guard;
    return constraints->long_words + ngrams * (steps + 1) + 1;
}

static size_t forbid(const search_constraints *constraints, int32_t token, int32_t *rows)
{
    ptrdiff_t row = nn_output_row(constraints->network, token);
    if (row < 0)
        return 0;
    rows[0] = (int32_t)row;
    return 1;
}

/* Forbids what would complete an n-gram that the history already holds. */
static size_t forbid_ngrams(const search_constraints *constraints, size_t n, const int32_t *history,
                            size_t length, int32_t *rows)
{
    size_t count = 0;
    if (n == 0 || length < n)
        return 0;
    const int32_t *tail = history + length - (n - 1);
    for (const int32_t *gram = history; gram + n <= history + length; gram++) {
        if (memcmp(gram, tail, (n - 1) * sizeof *gram) == 0)
            count += forbid(constraints, gram[n - 1], rows + count);
    }
    return count;
}

/* Forbids the last token of every bad word whose other tokens the history ends in. */
static size_t forbid_words(const search_constraints *constraints, const int32_t *history,
                           size_t length, int32_t *rows)
{
    size_t count = 0;
    for (size_t i = 0; constraints->long_words > 0 && i < constraints->word_count; i++) {
        const mdl_bad_word *word = &constraints->words[i];
        size_t before = word->count - 1;
        if (word->count < 2 || before > length)
            continue;
        if (memcmp(history + length - before, word->ids, before * sizeof *history) == 0)
            count += forbid(constraints, word->ids[before], rows + count);
    }
    return count;
}

size_t search_constraints_forbid(const search_constraints *constraints, const search_extra *extra,
                                 const int32_t *history, size_t steps, int32_t *rows)
{
    size_t count = 0;
    bool early = steps < constraints->min_new_tokens || (steps == 0 && extra->never_empty);
    if (early && constraints->eos_row >= 0)
        rows[count++] = (int32_t)constraints->eos_row;
    if (!search_constraints_need_history(constraints, extra))
        return count;
    size_t length = steps + 1;
    count +=
        forbid_ngrams(constraints, constraints->no_repeat_ngram, history, length, rows + count);
    count += forbid_ngrams(constraints, extra->no_repeat_ngram, history, length, rows + count);
    count += forbid_words(constraints, history, length, rows + count);
    return count;
}

void search_constraints_penalise(const search_constraints *constraints, const int32_t *history,
                                 size_t steps, float *scores)
{
    float penalty = constraints->repetition_penalty;
    for (size_t t = 0; t <= steps; t++) {
        ptrdiff_t row = nn_output_row(constraints->network, history[t]);
        if (row < 0 || constraints->penalised[row])
            continue;
        constraints->penalised[row] = 1;
        scores[row] = scores[row] < 0.0F ? scores[row] * penalty : scores[row] / penalty;
    }
    for (size_t t = 0; t <= steps; t++) {
        ptrdiff_t row = nn_output_row(constraints->network, history[t]);
        if (row >= 0)
            constraints->penalised[row] = 0;
    }
}
