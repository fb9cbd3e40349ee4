#include "translate/plan.h"

#include "support/suite.h"
#include "text/random_text.h"

#include <string.h>

static const char DIRECTORY[] = "models/zh-en";

static zhen_model *open_model(void)
{
    zhen_model *model;
    zhen_error error;
    ck_assert_msg(zhen_model_open(DIRECTORY, &model, &error) == ZHEN_OK, "%s", error.message);
    return model;
}

static void check_blank(const translate_line *line, size_t begin, size_t end)
{
    while (begin < end) {
        int32_t character;
        begin += text_decode(line->text + begin, end - begin, &character);
        ck_assert_msg(text_is_blank(character), "U+%04X is in no piece", (unsigned)character);
    }
}

/* Whether the pieces hold all that is not blank, in order, and the model can take them. */
static void check_plan(const translate_plan *plan)
{
    for (size_t i = 0; i < plan->line_count; i++) {
        const translate_line *line = &plan->lines[i];
        size_t end = 0;
        for (size_t s = 0; s < line->sentence_count; s++) {
            const translate_sentence *sentence = &plan->sentences[line->first_sentence + s];
            ck_assert_uint_ge(sentence->piece_count, 1);
            for (size_t p = 0; p < sentence->piece_count; p++) {
                const translate_piece *piece = &plan->pieces[sentence->first_piece + p];
                size_t length = piece->source.end - piece->source.begin;
                ck_assert(piece->source.begin >= end && length > 0);
                check_blank(line, end, piece->source.begin);
                end = piece->source.end;
                if (!piece->entry)
                    continue;
                ck_assert(piece->entry->length == length);
                ck_assert_mem_eq(piece->entry->text, line->text + piece->source.begin, length);
                ck_assert(piece->entry->tokens >= 1 && piece->entry->tokens <= plan->max_tokens);
            }
            ck_assert_uint_eq(end, sentence->source.end);
        }
        check_blank(line, end, line->length);
    }
    for (size_t i = 1; i < plan->queue_count; i++)
        ck_assert_uint_ge(plan->queue[i - 1]->tokens, plan->queue[i]->tokens);
}

START_TEST(plans_random_texts)
{
    zhen_model *model = open_model();
    uint64_t state = 77;
    for (int round = 0; round < 200; round++) {
        base_buffer buffers[3] = {{0}};
        zhen_text texts[3];
        for (size_t i = 0; i < 3; i++) {
            random_text(&state, 60, &buffers[i]);
            texts[i] = (zhen_text){buffers[i].data, buffers[i].length};
        }
        translate_memory memory = {0};
        translate_plan plan;
        translate_plan_init(&plan, model, &memory, round % 2);
        plan.max_tokens = 8 + random_next(&state) % 100; /* many cuts */
        ck_assert(translate_plan_texts(&plan, texts, 3, NULL) == ZHEN_OK);
        check_plan(&plan);
        translate_plan_free(&plan);
        translate_memory_free(&memory);
        for (size_t i = 0; i < 3; i++)
            base_buffer_free(&buffers[i]);
    }
    zhen_model_close(model);
}
END_TEST

/* A sentence of a hundred thousand characters without any mark. */
START_TEST(plans_a_very_long_sentence)
{
    zhen_model *model = open_model();
    base_buffer text = {0};
    for (int i = 0; i < 50000; i++)
        ck_assert(base_buffer_append_string(&text, i % 7 ? "水课" : "我爱"));
    translate_memory memory = {0};
    translate_plan plan;
    translate_plan_init(&plan, model, &memory, false);
    zhen_text input = {text.data, text.length};
    ck_assert(translate_plan_texts(&plan, &input, 1, NULL) == ZHEN_OK);
    ck_assert_uint_eq(plan.sentence_count, 1);
    ck_assert_uint_gt(plan.piece_count, 100);
    ck_assert_uint_lt(plan.queue_count, plan.piece_count); /* some of them are the same */
    check_plan(&plan);
    translate_plan_free(&plan);
    translate_memory_free(&memory);
    base_buffer_free(&text);
    zhen_model_close(model);
}
END_TEST

START_TEST(queues_each_piece_once)
{
    zhen_model *model = open_model();
    translate_memory memory = {0};
    translate_plan plan;
    translate_plan_init(&plan, model, &memory, true);
    const char *lines[] = {"你好。再见。你好。", "再见。", "no Han. 你好。"};
    zhen_text texts[3];
    for (size_t i = 0; i < 3; i++)
        texts[i] = (zhen_text){lines[i], strlen(lines[i])};
    ck_assert(translate_plan_texts(&plan, texts, 3, NULL) == ZHEN_OK);
    ck_assert_uint_eq(plan.queue_count, 2);
    ck_assert_uint_eq(plan.sentence_count, 6);
    ck_assert_ptr_null(plan.pieces[4].entry);
    ck_assert_ptr_eq(plan.pieces[0].entry, plan.pieces[5].entry);
    check_plan(&plan);
    translate_plan_free(&plan);
    translate_memory_free(&memory);
    zhen_model_close(model);
}
END_TEST

START_TEST(refuses_a_model_that_is_too_short)
{
    zhen_model *model = open_model();
    translate_memory memory = {0};
    translate_plan plan;
    zhen_error error;
    /* A rare character makes at least two pieces: the space before it and itself. */
    zhen_text text = {"𠀀", strlen("𠀀")};
    translate_plan_init(&plan, model, &memory, false);
    plan.max_tokens = 1;
    ck_assert(translate_plan_texts(&plan, &text, 1, &error) == ZHEN_ERROR_UNSUPPORTED);
    ck_assert(strstr(error.message, DIRECTORY));
    translate_plan_free(&plan);
    translate_memory_free(&memory);
    zhen_model_close(model);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {plans_random_texts, plans_a_very_long_sentence,
                                  queues_each_piece_once, refuses_a_model_that_is_too_short};
    return run_suite("translate_plan", tests, sizeof tests / sizeof *tests);
}
