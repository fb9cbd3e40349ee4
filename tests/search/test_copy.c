/* Words in Latin letters: which are read from a source, when a translation has them, what is done
 * for those that it lacks. On the default model, whose pieces and habits are those of real ones. */
#include "search/copy.h"

#include "model/model.h"
#include "support/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TOKENS = 256 };
static const char SPACE[] = "\xE2\x96\x81";

static zhen_model *model;
static nn_network *network;
static search_copies copies;

static void begin(void)
{
    zhen_error error;
    ck_assert_msg(!zhen_model_open("models/zh-en", &model, &error), "%s", error.message);
    ck_assert_msg(!nn_network_create(model, NULL, 1, &network, &error), "%s", error.message);
}

static void end(void)
{
    nn_network_free(network);
    zhen_model_close(model);
}

static void read_source(const char *text)
{
    tok_source source = {0};
    zhen_error error;
    ck_assert_msg(!tok_encode(model->tokenizer, text, strlen(text), &source, &error), "%s",
                  error.message);
    search_copies_read(model->tokenizer, source.ids, source.count, &copies);
    tok_source_free(&source);
}

/* The tokens of an English text with single blanks, cut from left to right into longest pieces. */
static size_t spell(const char *text, int32_t tokens[TOKENS])
{
    char marked[1024], *end = marked;
    end = stpcpy(end, SPACE);
    for (const char *c = text; *c; c++) {
        if (*c == ' ')
            end = stpcpy(end, SPACE);
        else
            *end++ = *c;
    }
    *end = '\0';
    size_t count = 0;
    for (const char *at = marked; *at;) {
        size_t length = strlen(at);
        while (tok_target_find(model->tokenizer, at, length) < 0)
            ck_assert_uint_gt(--length, 0);
        ck_assert_uint_lt(count, TOKENS);
        tokens[count++] = tok_target_find(model->tokenizer, at, length);
        at += length;
    }
    return count;
}

static void expect_words(const char *text, const char *wanted)
{
    char joined[1024] = "";
    read_source(text);
    for (size_t i = 0; i < copies.count; i++) {
        strncat(joined, copies.letters + copies.begins[i],
                (size_t)(copies.begins[i + 1] - copies.begins[i]));
        strcat(joined, i + 1 < copies.count ? " " : "");
    }
    ck_assert_str_eq(joined, wanted);
}

START_TEST(words_are_read)
{
    expect_words("飞行员是迪罗里·帕塔维 (Dilokrit Pattavee)。", "Dilokrit Pattavee");
    expect_words("他在Ａ１ＧＰ和ＣＮＮ工作，读O'Brien。", "GP CNN Brien");
    expect_words("Rio Grande do Sul是南里奥格兰德do", "Rio Grande do Sul do");
    expect_words("café在Zürich", "café Zürich");
    expect_words("我爱水课。A和B。", "");
    expect_words("", "");
}
END_TEST

static search_copied judge(const char *translation)
{
    int32_t tokens[TOKENS];
    size_t count = spell(translation, tokens);
    return search_copies_judge(&copies, model->tokenizer, tokens, count);
}

static void expect_missing(const char *translation, size_t wanted)
{
    ck_assert_uint_eq(judge(translation).missing, wanted);
}

START_TEST(missing_words_are_counted)
{
    read_source("迪罗里·帕塔维 (Dilokrit Pattavee) 会Python，Python。");
    expect_missing("Dilokrit Pattavee knows Python, Python.", 0);
    expect_missing("Dilokrit Pattavee knows Python.", 1);
    expect_missing("Dilokritt Pattavee knows python, PYTHON", 1);
    expect_missing("Dilokrits Pattavees: Pythons Pythonss", 1);
    expect_missing("(Dilokrit)", 3);
    expect_missing("Dilo krit Pattave", 4);
    expect_missing("He knows it.", 4);
    ck_assert_uint_eq(search_copies_judge(&copies, model->tokenizer, NULL, 0).missing, 4);
}
END_TEST

START_TEST(surplus_words_are_counted)
{
    read_source("雷蒙德·达马迪安 (Raymond Damadian)");
    ck_assert_uint_eq(judge("Raymond Damadian's").surplus, 0);
    ck_assert_uint_eq(judge("Raymond Damad Damad Damadian").surplus, 2);
    ck_assert_uint_eq(judge("Raymond Raymond Damadian").surplus, 1);
    ck_assert_uint_eq(judge("Raymond Damadian, a damn ray").surplus, 1); /* ray */
}
END_TEST

/* What each piece gets in bulk is what it counts by itself, wherever the translation is. */
static void check_bonuses(const char *translation)
{
    int32_t tokens[TOKENS];
    base_arena arena = {0};
    search_speller speller;
    size_t count = spell(translation, tokens), outputs = nn_output_count(network);
    float *scores = malloc(outputs * sizeof *scores);
    ck_assert_ptr_nonnull(scores);
    ck_assert(search_speller_init(&speller, &arena, model->tokenizer, network));
    for (size_t at = 0; at <= count; at++) {
        double before = search_copies_bonus(&copies, model->tokenizer, tokens, at);
        int32_t next = tokens[at];
        memset(scores, 0, outputs * sizeof *scores);
        search_copies_favour(&copies, &speller, tokens, at, scores);
        for (size_t row = 0; row < outputs; row++) {
            tokens[at] = nn_output_token(network, row);
            double after = search_copies_bonus(&copies, model->tokenizer, tokens, at + 1);
            ck_assert_msg(after - before == (double)scores[row], "token %d at %zu: %f, not %f",
                          tokens[at], at, (double)scores[row], after - before);
        }
        tokens[at] = next;
    }
    base_arena_free(&arena);
    free(scores);
}

START_TEST(bonuses_are_as_counted)
{
    read_source("迪罗里·帕塔维 (Dilokrit Pattavee)，Na和Nancy。");
    check_bonuses("The (Dilokrit Nan");
    check_bonuses("Na Nana Pattave? Dilokrit");
}
END_TEST

static float bonus_after(const char *translation, const char *piece)
{
    int32_t tokens[TOKENS];
    size_t count = spell(translation, tokens);
    double before = search_copies_bonus(&copies, model->tokenizer, tokens, count);
    tokens[count] = tok_target_find(model->tokenizer, piece, strlen(piece));
    ck_assert_int_ge(tokens[count], 0);
    return (float)(search_copies_bonus(&copies, model->tokenizer, tokens, count + 1) - before);
}

START_TEST(what_spells_a_missing_word_is_favoured)
{
    read_source("(Dilokrit Pattavee)、Peter");
    float begins = bonus_after("The", "\xE2\x96\x81"
                                      "D");
    float spells = bonus_after("The D", "il");
    ck_assert(begins > 0 && spells > begins);
    ck_assert(bonus_after("The", "\xE2\x96\x81"
                                 "the") == 0);
    ck_assert(bonus_after("The D", "e") == 0);
    ck_assert(bonus_after("The Dilokrit", "t") < 0);
    ck_assert(bonus_after("The Dilokrit", "s") == 0);
    ck_assert(bonus_after("The Dilokrit", ",") == 0);
    ck_assert(bonus_after("Dilokrit", "\xE2\x96\x81"
                                      "D") == 0); /* it is there already */
    ck_assert(bonus_after("(", "D") == begins);
    float name = bonus_after("Dilokrit", "\xE2\x96\x81"
                                         "P");
    ck_assert(begins < name && name < spells); /* before any other */
    ck_assert(bonus_after("Dilokrit (", "P") == begins);
    ck_assert(bonus_after("Dilokrit:", "P") == 0); /* a blank is wanted */
    ck_assert(bonus_after("Dilok", "\xE2\x96\x81"
                                   "D") == 0); /* just broken off */
}
END_TEST

/* More words, and longer ones, than are watched. */
START_TEST(many_words)
{
    enum { MANY = 400 };
    char text[8 * MANY + 1] = "";
    for (size_t i = 0; i < MANY; i++)
        (void)snprintf(text + strlen(text), 8, "Ab%c%c的", (char)('a' + i % 26),
                       (char)('a' + i / 26));
    read_source(text);
    ck_assert_uint_eq(copies.count, SEARCH_COPY_WORDS);
    memset(text, 'x', 8 * (size_t)MANY);
    read_source(text);
    ck_assert_uint_eq(copies.count, 0);
    memcpy(text, "Abc ", 4);
    read_source(text);
    ck_assert_uint_eq(copies.count, 1);
    ck_assert_uint_eq(copies.begins[1], 3);
}
END_TEST

/* ---- The whole way ------------------------------------------------------------------------ */

enum { NAMED = 6 };

/* Sentences of FLORES-200 with names in Latin letters; fields end at a tab. */
static size_t read_named(zhen_text texts[NAMED])
{
    static char lines[NAMED][2048];
    FILE *file = fopen("data/flores_dev.tsv", "r");
    size_t count = 0;
    ck_assert_ptr_nonnull(file);
    while (count < NAMED && fgets(lines[count], sizeof lines[count], file)) {
        lines[count][strcspn(lines[count], "\t")] = '\0';
        read_source(lines[count]);
        if (copies.count < 2)
            continue;
        texts[count] = (zhen_text){lines[count], strlen(lines[count])};
        count++;
    }
    (void)fclose(file);
    return count;
}

/* Of how many words the translations of all texts, made in one call, do not hold the letters. */
static size_t count_lost(const zhen_options *options, const zhen_text *texts, size_t count,
                         zhen_translations **made)
{
    zhen_error error;
    zhen_translator *translator;
    size_t lost = 0;
    ck_assert_msg(!zhen_translator_create(model, options, &translator, &error), "%s",
                  error.message);
    ck_assert_msg(!zhen_translate(translator, texts, count, made, &error), "%s", error.message);
    for (size_t i = 0; i < count; i++) {
        read_source(texts[i].bytes);
        for (size_t word = 0; word < copies.count; word++) {
            char letters[SEARCH_COPY_BYTES + 1] = "";
            strncat(letters, copies.letters + copies.begins[word],
                    (size_t)(copies.begins[word + 1] - copies.begins[word]));
            lost += !strstr(zhen_translations_get(*made, i)->text, letters);
        }
    }
    zhen_translator_free(translator);
    return lost;
}

/* What two lists of alternatives both have has the same score: bonuses are no probabilities. */
static void compare_scores(const zhen_translation *one, const zhen_translation *other)
{
    for (size_t i = 0; i < one->alternative_count; i++) {
        for (size_t k = 0; k < other->alternative_count; k++) {
            const zhen_alternative *a = &one->alternatives[i], *b = &other->alternatives[k];
            if (strcmp(a->text, b->text) == 0)
                ck_assert_double_eq_tol(a->score, b->score, 1e-4);
        }
    }
}

START_TEST(scores_are_probabilities)
{
    static const char text[] = "用户需要安装cmake和ninja。"; /* found with and without copying */
    zhen_text texts[NAMED + 1];
    zhen_options options;
    zhen_translations *guarded, *unguarded;
    size_t count = read_named(texts);
    texts[count++] = (zhen_text){text, sizeof text - 1};
    zhen_options_init(&options, model);
    options.threads = 1;
    options.nbest = options.beam = 4;
    (void)count_lost(&options, texts, count, &guarded);
    options.guard = false;
    (void)count_lost(&options, texts, count, &unguarded);
    for (size_t i = 0; i < count; i++)
        compare_scores(zhen_translations_get(guarded, i), zhen_translations_get(unguarded, i));
    zhen_translations_free(guarded);
    zhen_translations_free(unguarded);
}
END_TEST

START_TEST(names_are_copied)
{
    zhen_text texts[NAMED];
    zhen_options options;
    zhen_translations *guarded, *unguarded, *alone;
    size_t count = read_named(texts);
    ck_assert_uint_eq(count, NAMED);
    zhen_options_init(&options, model);
    options.threads = 1;
    options.beam = _i ? 4 : 1;
    options.scores = true;
    size_t lost = count_lost(&options, texts, count, &guarded);
    options.guard = false;
    ck_assert_uint_lt(2 * lost, count_lost(&options, texts, count, &unguarded));
    options.guard = true;
    for (size_t i = 0; i < count; i += 2) {
        const zhen_translation *made = zhen_translations_get(guarded, i);
        /* Its neighbours change nothing, and the bonuses are no part of the score. */
        (void)count_lost(&options, &texts[i], 1, &alone);
        ck_assert_str_eq(made->text, zhen_translations_get(alone, 0)->text);
        ck_assert(made->score == zhen_translations_get(alone, 0)->score);
        ck_assert(made->score < 0);
        zhen_translations_free(alone);
    }
    zhen_translations_free(guarded);
    zhen_translations_free(unguarded);
}
END_TEST

int main(void)
{
    TCase *words = tcase_create("words"), *way = tcase_create("the whole way");
    tcase_set_timeout(words, 0);
    tcase_set_timeout(way, 0);
    tcase_add_checked_fixture(words, begin, end);
    tcase_add_checked_fixture(way, begin, end);
    tcase_add_test(words, words_are_read);
    tcase_add_test(words, missing_words_are_counted);
    tcase_add_test(words, surplus_words_are_counted);
    tcase_add_test(words, bonuses_are_as_counted);
    tcase_add_test(words, what_spells_a_missing_word_is_favoured);
    tcase_add_test(words, many_words);
    tcase_add_test(way, scores_are_probabilities);
    tcase_add_loop_test(way, names_are_copied, 0, 2);
    Suite *suite = suite_create("search_copy");
    suite_add_tcase(suite, words);
    suite_add_tcase(suite, way);
    return run_groups(suite);
}
