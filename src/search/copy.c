#include "search/copy.h"

#include <string.h>

/* In units of log probability. A word that is missing may be begun a little sooner than the model
 * would; one that is begun is spelled to its end, unless the model is sure that it means another
 * one with the same beginning; and a name is gone on with. Chosen on the FLORES-200 dev set, where
 * values half as large do nearly as well. */
static const float BEGIN_BONUS = 3.0F, SPELL_BONUS = 8.0F, NAME_BONUS = 7.0F;

static const char PLURAL[] = "s";
static const char SPACE[] = "\xE2\x96\x81"; /* as SentencePiece has it in its pieces */
enum { SPACE_BYTES = sizeof SPACE - 1, LEAST_LETTERS = 2, LEAST_SURPLUS = 3 };

static bool holds(uint32_t set, size_t word)
{
    return set >> word & 1U;
}

/* ---- Letters ------------------------------------------------------------------------------ */

/* The bytes of the Latin letter (to U+024F) at `at`, or 0. */
static size_t letter_bytes(const char *at, size_t left)
{
    unsigned char lead = left > 0 ? (unsigned char)*at : 0;
    if ((lead | 0x20) >= 'a' && (lead | 0x20) <= 'z')
        return 1;
    bool sign = lead == 0xC3 && left > 1 && (at[1] == '\x97' || at[1] == '\xB7'); /* × ÷ */
    return lead >= 0xC3 && lead <= 0xC9 && left > 1 && !sign ? 2 : 0;
}

static char fold(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
}

/* A piece that stands for a byte or for nothing, <0xE4> or </s>, spells no word. */
static bool is_spelling(const char *piece, size_t length)
{
    return piece && (length < 2 || piece[0] != '<' || piece[length - 1] != '>');
}

static bool begins_with_blank(const char *text, size_t length)
{
    return length >= SPACE_BYTES && memcmp(text, SPACE, SPACE_BYTES) == 0;
}

static bool all_letters(const char *piece, size_t length)
{
    size_t at = 0;
    while (at < length) {
        size_t bytes = letter_bytes(piece + at, length - at);
        if (bytes == 0)
            return false;
        at += bytes;
    }
    return length > 0;
}

/* ---- The words of a source ---------------------------------------------------------------- */

typedef struct reader {
    search_copies *copies;
    size_t used;    /* bytes of the letters, those of the open word included */
    bool full;      /* nothing more fits */
    size_t letters; /* of the open word */
    bool near;      /* nothing but blanks since the last word */
} reader;

static void end_word(reader *r)
{
    search_copies *copies = r->copies;
    if (r->letters > 0)
        r->near = r->letters >= LEAST_LETTERS && !r->full;
    if (r->letters > 0 && r->near)
        copies->begins[++copies->count] = (uint16_t)r->used;
    r->used = copies->begins[copies->count];
    r->letters = 0;
    r->full = copies->count == SEARCH_COPY_WORDS;
}

static void read_letter(reader *r, const char *letter, size_t bytes)
{
    search_copies *copies = r->copies;
    r->full = r->full || r->used + bytes > SEARCH_COPY_BYTES;
    if (r->full)
        return;
    if (r->letters == 0)
        copies->joined = (copies->joined & ((1U << copies->count) - 1)) | (uint32_t)r->near
                                                                              << copies->count;
    memcpy(copies->letters + r->used, letter, bytes);
    r->used += bytes;
    r->letters++;
}

static void read_piece(reader *r, const char *piece, size_t length)
{
    for (size_t at = 0, bytes; at < length; at += bytes) {
        bytes = letter_bytes(piece + at, length - at);
        if (bytes > 0) {
            read_letter(r, piece + at, bytes);
            continue;
        }
        bool blank = begins_with_blank(piece + at, length - at);
        end_word(r);
        r->near = r->near && blank;
        bytes = blank ? SPACE_BYTES : 1;
    }
}

void search_copies_read(const tok_tokenizer *tokenizer, const int32_t *ids, size_t count,
                        search_copies *copies)
{
    reader r = {.copies = copies};
    copies->count = 0;
    copies->joined = 0;
    copies->begins[0] = 0;
    for (size_t i = 0; i < count; i++) {
        size_t length;
        const char *piece = tok_source_piece(tokenizer, ids[i], &length);
        if (is_spelling(piece, length))
            read_piece(&r, piece, length);
        else
            end_word(&r);
    }
    end_word(&r);
}

static const char *word_at(const search_copies *copies, size_t word, size_t *length)
{
    *length = (size_t)(copies->begins[word + 1] - copies->begins[word]);
    return copies->letters + copies->begins[word];
}

/* ---- How far a translation has come ------------------------------------------------------- */

typedef struct progress {
    uint32_t said;    /* the words that are there, a bit each */
    uint32_t fitting; /* the words that begin with what is spelled of the open one */
    size_t spelled;   /* bytes of the open word; 0 between words */
    size_t surplus;   /* words said once too often or broken off */
    bool tight;       /* the next word may follow without a blank: behind a bracket, a hyphen */
} progress;

static void start_word(const search_copies *copies, progress *p)
{
    p->fitting = copies->count == 32 ? UINT32_MAX : (1U << copies->count) - 1;
    p->spelled = 0;
}

/* Whether a fitting word that is still missing is spelled out, in its plural perhaps (three bug are
 * three bugs). */
static bool is_whole(const search_copies *copies, const progress *p, size_t *word)
{
    for (*word = 0; *word < copies->count && p->spelled > 0; ++*word) {
        size_t length;
        (void)word_at(copies, *word, &length);
        if (holds(p->fitting & ~p->said, *word) &&
            (length == p->spelled || length + 1 == p->spelled))
            return true;
    }
    return false;
}

/* Whether the open word is the beginning of one of the words, or one that was said before. */
static bool is_surplus(const progress *p)
{
    return p->spelled >= LEAST_SURPLUS && p->fitting != 0;
}

static void leave_word(const search_copies *copies, progress *p)
{
    size_t word;
    if (is_whole(copies, p, &word))
        p->said |= 1U << word;
    else if (is_surplus(p))
        p->surplus++;
    start_word(copies, p);
}

/* Whether the word, or its plural, goes on with these bytes, in capitals or not. */
static bool goes_on_with(const search_copies *copies, size_t word, size_t from, const char *text,
                         size_t bytes)
{
    size_t length;
    const char *letters = word_at(copies, word, &length);
    for (size_t i = 0; i < bytes; i++) {
        char wanted = from + i < length ? letters[from + i] : PLURAL[0];
        if (from + i > length || fold(wanted) != fold(text[i]))
            return false;
    }
    return true;
}

static void go_on(const search_copies *copies, progress *p, const char *text, size_t bytes)
{
    for (size_t word = 0; word < copies->count; word++) {
        if (holds(p->fitting, word) && !goes_on_with(copies, word, p->spelled, text, bytes))
            p->fitting &= ~(1U << word);
    }
    p->spelled += bytes;
}

/* A blank, and ", ( and the like after one, stand before a word; -, / and digits join. */
static bool is_tight_after(const char *piece, size_t length)
{
    return begins_with_blank(piece, length) || strchr("([{-/_@0123456789", piece[length - 1]);
}

static void say(const search_copies *copies, progress *p, const char *piece, size_t length)
{
    if (!is_spelling(piece, length)) {
        leave_word(copies, p);
        p->tight = false;
        return;
    }
    p->tight = is_tight_after(piece, length);
    for (size_t at = 0, bytes; at < length; at += bytes) {
        bytes = letter_bytes(piece + at, length - at);
        if (bytes > 0) {
            go_on(copies, p, piece + at, bytes);
        } else {
            leave_word(copies, p);
            bytes = 1;
        }
    }
}

static progress begin(const search_copies *copies)
{
    progress p = {.tight = true};
    start_word(copies, &p);
    return p;
}

static progress follow(const search_copies *copies, const tok_tokenizer *tokenizer,
                       const int32_t *tokens, size_t count)
{
    progress p = begin(copies);
    for (size_t i = 0; i < count; i++) {
        size_t length;
        const char *piece = tok_target_piece(tokenizer, tokens[i], &length);
        say(copies, &p, piece, length);
    }
    return p;
}

search_copied search_copies_judge(const search_copies *copies, const tok_tokenizer *tokenizer,
                                  const int32_t *tokens, size_t count)
{
    progress p = follow(copies, tokenizer, tokens, count);
    leave_word(copies, &p);
    search_copied copied = {.surplus = p.surplus};
    for (size_t word = 0; word < copies->count; word++)
        copied.missing += !holds(p.said, word);
    return copied;
}

/* ---- What may follow ---------------------------------------------------------------------- */

/* Whether one of the words has just this text from byte `from` on. */
static bool any_has(const search_copies *copies, uint32_t words, size_t from, const char *text,
                    size_t bytes)
{
    for (size_t word = 0; word < copies->count; word++) {
        size_t length;
        const char *letters = word_at(copies, word, &length);
        if (holds(words, word) && from + bytes <= length &&
            memcmp(letters + from, text, bytes) == 0)
            return true;
    }
    return false;
}

/* The words that may be begun if the open one ends here: those that are missing then, but not the
 * one that has just been broken off. */
static uint32_t missing_then(const search_copies *copies, const progress *p)
{
    progress then = *p;
    leave_word(copies, &then);
    return then.surplus > p->surplus ? ~then.said & ~p->fitting : ~then.said;
}

/* The words that a piece without a blank may spell on, or begin. */
static uint32_t fitting_now(const progress *p)
{
    return p->spelled > 0 || p->tight ? p->fitting & ~p->said : 0;
}

/* Of these, the one that goes on with the name whose last word the open one is. */
static uint32_t next_of_name(const search_copies *copies, const progress *p, uint32_t missing)
{
    size_t word;
    bool whole = is_whole(copies, p, &word) && word + 1 < copies->count;
    return whole ? copies->joined & missing & 1U << (word + 1) : 0;
}

/* What is added to the score of one piece. */
static float bonus_of(const search_copies *copies, const progress *p, const char *piece,
                      size_t length)
{
    size_t word;
    if (!is_spelling(piece, length))
        return 0.0F;
    if (begins_with_blank(piece, length)) {
        const char *text = piece + SPACE_BYTES;
        size_t bytes = length - SPACE_BYTES;
        uint32_t missing = missing_then(copies, p);
        if (!all_letters(text, bytes) || !any_has(copies, missing, 0, text, bytes))
            return 0.0F;
        bool next = any_has(copies, next_of_name(copies, p, missing), 0, text, bytes);
        return next ? NAME_BONUS : BEGIN_BONUS;
    }
    if (!all_letters(piece, length))
        return 0.0F;
    if (any_has(copies, fitting_now(p), p->spelled, piece, length))
        return p->spelled > 0 ? SPELL_BONUS : BEGIN_BONUS;
    bool plural = length == 1 && *piece == PLURAL[0];
    return !plural && is_whole(copies, p, &word) ? -SPELL_BONUS : 0.0F;
}

double search_copies_bonus(const search_copies *copies, const tok_tokenizer *tokenizer,
                           const int32_t *tokens, size_t count)
{
    double sum = 0.0;
    progress p = begin(copies);
    for (size_t i = 0; i < count; i++) {
        size_t length;
        const char *piece = tok_target_piece(tokenizer, tokens[i], &length);
        sum += (double)bonus_of(copies, &p, piece, length);
        say(copies, &p, piece, length);
    }
    return sum;
}

bool search_speller_init(search_speller *speller, base_arena *arena, const tok_tokenizer *tokenizer,
                         const nn_network *network)
{
    *speller = (search_speller){.tokenizer = tokenizer, .network = network};
    speller->goes_on = base_arena_calloc(arena, nn_output_count(network), sizeof(bool));
    return speller->goes_on;
}

static void learn_pieces(search_speller *speller)
{
    size_t outputs = nn_output_count(speller->network);
    for (size_t row = 0; row < outputs && !speller->known; row++) {
        size_t length;
        int32_t token = nn_output_token(speller->network, row);
        const char *piece = tok_target_piece(speller->tokenizer, token, &length);
        speller->goes_on[row] = is_spelling(piece, length) && all_letters(piece, length);
    }
    speller->known = true;
}

/* A prefix with and without a blank, what is left of a word, and the plural. */
enum { FAVOURS_MAX = 3 * SEARCH_COPY_BYTES + 1 };

/* The rows that get a bonus, each once, and their scores with it. */
typedef struct favours {
    size_t count;
    struct {
        int32_t row;
        float score;
    } rows[FAVOURS_MAX];
} favours;

static void favour(favours *f, const search_speller *speller, const char *piece, size_t length,
                   float bonus, const float *scores)
{
    int32_t token = tok_target_find(speller->tokenizer, piece, length);
    ptrdiff_t row = token < 0 ? -1 : nn_output_row(speller->network, token);
    size_t i = 0;
    if (row < 0)
        return;
    while (i < f->count && f->rows[i].row != row)
        i++;
    if (i == f->count) {
        f->rows[f->count].row = (int32_t)row;
        f->rows[f->count++].score = scores[row] + bonus;
    } else if (scores[row] + bonus > f->rows[i].score) {
        f->rows[i].score = scores[row] + bonus;
    }
}

/* The pieces that a missing word can begin with. */
static void favour_beginnings(favours *f, const search_speller *speller, const char *letters,
                              size_t length, float bonus, const float *scores)
{
    char piece[SPACE_BYTES + SEARCH_COPY_BYTES];
    memcpy(piece, SPACE, SPACE_BYTES);
    memcpy(piece + SPACE_BYTES, letters, length);
    for (size_t end = 1; end <= length; end++)
        favour(f, speller, piece, SPACE_BYTES + end, bonus, scores);
}

static void favour_all(favours *f, const search_speller *speller, const search_copies *copies,
                       const progress *p, const float *scores)
{
    uint32_t missing = missing_then(copies, p), next = next_of_name(copies, p, missing);
    float bonus = p->spelled > 0 ? SPELL_BONUS : BEGIN_BONUS;
    for (size_t word = 0; word < copies->count; word++) {
        size_t length;
        const char *letters = word_at(copies, word, &length);
        if (holds(missing, word))
            favour_beginnings(f, speller, letters, length,
                              holds(next, word) ? NAME_BONUS : BEGIN_BONUS, scores);
        if (!holds(fitting_now(p), word))
            continue;
        for (size_t end = p->spelled + 1; end <= length; end++)
            favour(f, speller, letters + p->spelled, end - p->spelled, bonus, scores);
    }
}

void search_copies_favour(const search_copies *copies, search_speller *speller,
                          const int32_t *tokens, size_t count, float *scores)
{
    size_t whole;
    favours f = {0};
    const progress p = follow(copies, speller->tokenizer, tokens, count);
    favour_all(&f, speller, copies, &p, scores);
    if (is_whole(copies, &p, &whole)) {
        size_t outputs = nn_output_count(speller->network);
        learn_pieces(speller);
        favour(&f, speller, PLURAL, sizeof PLURAL - 1, 0.0F, scores);
        for (size_t row = 0; row < outputs; row++)
            scores[row] -= speller->goes_on[row] ? SPELL_BONUS : 0.0F;
    }
    for (size_t i = 0; i < f.count; i++)
        scores[f.rows[i].row] = f.rows[i].score;
}
