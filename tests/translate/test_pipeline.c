/* The whole way with the default model. Nothing here depends on what the model says, since better
 * ones will replace it: only on how its words are put together. */
#include "base/buffer.h"
#include "support/suite.h"
#include "text/random_text.h"
#include "text/text.h"
#include "translate/cores.h"
#include "zhen.h"

#include <pthread.h>
#include <string.h>
#include <utf8proc.h>

static zhen_model *model;

static void open_model(void)
{
    zhen_error error;
    ck_assert_msg(zhen_model_open("models/zh-en", &model, &error) == ZHEN_OK, "%s", error.message);
}

static void close_model(void)
{
    zhen_model_close(model);
}

/* Quick settings: two hypotheses, two threads. */
static zhen_options settings(void)
{
    zhen_options options;
    zhen_options_init(&options, model);
    ck_assert_uint_eq(options.threads, translate_cores());
    options.beam = 2;
    options.threads = 2;
    return options;
}

static zhen_translator *create(const zhen_options *options)
{
    zhen_translator *translator;
    zhen_error error;
    ck_assert_msg(zhen_translator_create(model, options, &translator, &error) == ZHEN_OK, "%s",
                  error.message);
    return translator;
}

static zhen_translations *translate(zhen_translator *translator, const zhen_text *texts,
                                    size_t count)
{
    zhen_translations *translations;
    zhen_error error;
    ck_assert_msg(zhen_translate(translator, texts, count, &translations, &error) == ZHEN_OK, "%s",
                  error.message);
    ck_assert_uint_eq(zhen_translations_count(translations), count);
    return translations;
}

static zhen_text text_of(const char *string)
{
    return (zhen_text){string, strlen(string)};
}

/* What must hold for every translation, whatever the text. */
static void check_form(const zhen_text *text, const zhen_translation *t)
{
    size_t source = 0, target = 0;
    ck_assert_int_eq(t->text[t->length], '\0');
    ck_assert(text_is_valid(t->text, t->length));
    ck_assert_uint_ge(t->alternative_count, 1);
    ck_assert_str_eq(t->alternatives[0].text, t->text);
    ck_assert_uint_eq(t->alternatives[0].length, t->length);
    ck_assert(t->alternatives[0].score == t->score);
    for (size_t i = 0; i < t->sentence_count; i++) {
        const zhen_sentence *s = &t->sentences[i];
        ck_assert(s->source.begin >= source && s->source.begin < s->source.end);
        ck_assert(s->target.begin >= target && s->target.begin < s->target.end);
        source = s->source.end;
        target = s->target.end;
        ck_assert(source <= text->length && target <= t->length);
        if (text_has_han(text->bytes + s->source.begin, s->source.end - s->source.begin))
            ck_assert(!memmem(t->text + s->target.begin, s->target.end - s->target.begin, "  ", 2));
    }
}

static const char *const lines[] = {
    "我爱水课。",
    "",
    "   ",
    "　　他说：“今天天气很好。我们去公园吧。”然后走了。 ",
    "no Chinese  here.  Not at all ",
    "ひらがな。カタカナ！",
    "Hello  world. 你好。Good.",
    "第一行\n\n第二行\r\n  第三行\t第四列\n",
    "好。　　再见。",
    "……",
    "😀😀",
    "𠀀𠀁，々",
    "我爱水课。",
    "他买了3.14斤苹果、梨和橘子；她没买！",
};
enum { LINES = sizeof lines / sizeof *lines };

static void all_lines(zhen_text *texts)
{
    for (size_t i = 0; i < LINES; i++)
        texts[i] = text_of(lines[i]);
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

START_TEST(keeps_the_form_of_texts)
{
    zhen_options options = settings();
    zhen_translator *translator = create(&options);
    zhen_text texts[LINES];
    all_lines(texts);
    zhen_translations *all = translate(translator, texts, LINES);
    for (size_t i = 0; i < LINES; i++) {
        const zhen_translation *t = zhen_translations_get(all, i);
        check_form(&texts[i], t);
        if (!text_has_han(lines[i], strlen(lines[i]))) {
            ck_assert_str_eq(t->text, lines[i]);
            ck_assert(t->score == 0 && t->target_tokens == 0);
            continue;
        }
        ck_assert_uint_gt(t->target_tokens, 0);
        /* Blanks at both ends. */
        size_t length = strlen(lines[i]);
        for (size_t k = 0; k < length && is_space(lines[i][k]); k++)
            ck_assert_int_eq(t->text[k], lines[i][k]);
        for (size_t k = 1; k <= length && is_space(lines[i][length - k]); k++)
            ck_assert_int_eq(t->text[t->length - k], lines[i][length - k]);
    }
    ck_assert_ptr_null(zhen_translations_get(all, LINES));
    ck_assert(strncmp(zhen_translations_get(all, 3)->text, "　　", 6) == 0);
    zhen_translations_free(all);
    zhen_translator_free(translator);
}
END_TEST

START_TEST(keeps_line_structure)
{
    zhen_options options = settings();
    zhen_translator *translator = create(&options);
    zhen_text text = text_of(" 你好。\n\n\t再见。　好。\r\n ab.  Cd\n");
    zhen_translations *all = translate(translator, &text, 1);
    const zhen_translation *t = zhen_translations_get(all, 0);
    ck_assert_uint_eq(t->sentence_count, 5);
    base_buffer expected = {0};
    const char *const between[] = {" ", "\n\n\t", " ", "\r\n ", "  "};
    for (size_t i = 0; i < 5; i++) {
        zhen_span target = t->sentences[i].target;
        ck_assert(base_buffer_append_string(&expected, between[i]));
        ck_assert(base_buffer_append(&expected, t->text + target.begin, target.end - target.begin));
    }
    ck_assert(base_buffer_append_string(&expected, "\n"));
    ck_assert_str_eq(t->text, expected.data);
    base_buffer_free(&expected);
    zhen_translations_free(all);
    zhen_translator_free(translator);
}
END_TEST

/* A sentence's translation does not depend on the sentences around it. */
START_TEST(joins_sentences_with_spaces)
{
    zhen_options options = settings();
    zhen_translator *translator = create(&options);
    zhen_text texts[] = {text_of("我喜欢这本书。"), text_of("他明天来吗？"),
                         text_of("我喜欢这本书。他明天来吗？"),
                         text_of("Hello.我喜欢这本书。 bye")};
    zhen_translations *all = translate(translator, texts, 4);
    base_buffer expected = {0};
    const char *first = zhen_translations_get(all, 0)->text;
    ck_assert(base_buffer_append_string(&expected, first));
    ck_assert(base_buffer_append_string(&expected, " "));
    ck_assert(base_buffer_append_string(&expected, zhen_translations_get(all, 1)->text));
    ck_assert_str_eq(zhen_translations_get(all, 2)->text, expected.data);
    base_buffer_clear(&expected);
    ck_assert(base_buffer_append_string(&expected, "Hello. "));
    ck_assert(base_buffer_append_string(&expected, first));
    ck_assert(base_buffer_append_string(&expected, " bye"));
    ck_assert_str_eq(zhen_translations_get(all, 3)->text, expected.data);
    base_buffer_free(&expected);
    zhen_translations_free(all);
    zhen_translator_free(translator);
}
END_TEST

static void check_same(const zhen_translation *a, const zhen_translation *b)
{
    ck_assert_str_eq(a->text, b->text);
    ck_assert(a->score == b->score);
    ck_assert_uint_eq(a->sentence_count, b->sentence_count);
    ck_assert_uint_eq(a->source_tokens, b->source_tokens);
    ck_assert_uint_eq(a->target_tokens, b->target_tokens);
    for (size_t i = 0; i < a->sentence_count; i++)
        ck_assert(a->sentences[i].score == b->sentences[i].score);
}

/* All at once with two threads, one by one with one thread and with three that share each sentence,
 * again from the translation memory. */
static void check_batches(size_t no_repeat_ngram)
{
    zhen_text texts[LINES];
    all_lines(texts);
    zhen_options options = settings();
    options.no_repeat_ngram = no_repeat_ngram;
    zhen_translator *together = create(&options);
    options.threads = 1;
    zhen_translator *alone = create(&options);
    options.threads = 3;
    zhen_translator *shared = create(&options);
    zhen_translations *all = translate(together, texts, LINES);
    zhen_translations *again = translate(together, texts, LINES);
    for (size_t i = 0; i < LINES; i++) {
        zhen_translations *one = translate(alone, &texts[i], 1);
        zhen_translations *team = translate(shared, &texts[i], 1);
        check_same(zhen_translations_get(all, i), zhen_translations_get(one, 0));
        check_same(zhen_translations_get(all, i), zhen_translations_get(team, 0));
        check_same(zhen_translations_get(all, i), zhen_translations_get(again, i));
        zhen_translations_free(team);
        zhen_translations_free(one);
    }
    ck_assert_str_eq(zhen_translations_get(all, 0)->text, zhen_translations_get(all, 12)->text);
    zhen_translations_free(all);
    zhen_translations_free(again);
    zhen_translator_free(together);
    zhen_translator_free(alone);
    zhen_translator_free(shared);
}

START_TEST(gives_the_same_whatever_the_batch)
{
    check_batches(0);
}
END_TEST

/* Where a word is forbidden the network gives whole rows, and not those of its neighbours only. */
START_TEST(gives_the_same_whatever_is_forbidden)
{
    check_batches(2);
}
END_TEST

/* Five thousand characters with commas but no full stop. */
static void long_sentence(base_buffer *text)
{
    static const char *const words[] = {"我们", "今天", "去",   "图书馆", "看",   "书",
                                        "学生", "老师", "很多", "问题",   "北京", "工作",
                                        "在",   "和",   "新的", "城市"};
    unsigned seed = 7;
    while (text->length < 15000) {
        seed = seed * 1103515245 + 12345;
        ck_assert(base_buffer_append_string(text, words[seed >> 16 & 15]));
        if ((seed >> 20) % 11 == 0)
            ck_assert(base_buffer_append_string(text, "，"));
    }
}

/* Links show that every part of the source was read and led to a part of the translation. */
START_TEST(translates_long_sentences_whole)
{
    zhen_options options = settings();
    options.beam = 1;
    options.alignment = true;
    options.max_new_tokens = 12; /* enough to tell; quick */
    zhen_translator *translator = create(&options);
    base_buffer source = {0};
    long_sentence(&source);
    zhen_text text = {source.data, source.length};
    zhen_translations *all = translate(translator, &text, 1);
    const zhen_translation *t = zhen_translations_get(all, 0);
    check_form(&text, t);
    ck_assert_uint_eq(t->sentence_count, 1);
    ck_assert_uint_eq(t->sentences[0].source.end, text.length);
    ck_assert_uint_eq(t->sentences[0].target.end, t->length);
    bool reached[16] = {false}; /* by thousand bytes */
    for (size_t i = 0; i < t->sentences[0].link_count; i++)
        reached[t->sentences[0].links[i].source.begin / 1000] = true;
    for (size_t i = 0; i < text.length / 1000; i++)
        ck_assert_msg(reached[i], "nothing was translated from byte %zu on", i * 1000);
    base_buffer_free(&source);
    zhen_translations_free(all);
    zhen_translator_free(translator);
}
END_TEST

static bool is_boundary(const char *text, size_t length, size_t at)
{
    return at == length || (at < length && ((unsigned char)text[at] & 0xC0) != 0x80);
}

static void check_links(const zhen_text *text, const zhen_translation *t)
{
    for (size_t i = 0; i < t->sentence_count; i++) {
        const zhen_sentence *s = &t->sentences[i];
        size_t target = s->target.begin;
        for (size_t k = 0; k < s->link_count; k++) {
            zhen_span from = s->links[k].source, to = s->links[k].target;
            ck_assert(from.begin >= s->source.begin && from.begin < from.end &&
                      from.end <= s->source.end);
            ck_assert(to.begin >= target && to.begin < to.end && to.end <= s->target.end);
            ck_assert(is_boundary(t->text, t->length, to.begin));
            ck_assert(is_boundary(t->text, t->length, to.end));
            ck_assert(t->text[to.begin] != ' ');
            ck_assert(is_boundary(text->bytes, text->length, from.begin));
            target = to.begin;
        }
        if (text_has_han(text->bytes + s->source.begin, s->source.end - s->source.begin))
            ck_assert_ptr_nonnull(s->links);
        else
            ck_assert_uint_eq(s->link_count, 0);
    }
}

START_TEST(links_words)
{
    zhen_options options = settings();
    options.alignment = true;
    zhen_translator *translator = create(&options);
    zhen_text texts[LINES];
    all_lines(texts);
    zhen_translations *all = translate(translator, texts, LINES);
    size_t links = 0;
    for (size_t i = 0; i < LINES; i++) {
        const zhen_translation *t = zhen_translations_get(all, i);
        check_links(&texts[i], t);
        for (size_t k = 0; k < t->sentence_count; k++)
            links += t->sentences[k].link_count;
    }
    ck_assert_uint_gt(links, 10);
    zhen_translations_free(all);
    zhen_translator_free(translator);
}
END_TEST

/* Offsets count the bytes of the text as it was given. */
START_TEST(reads_bytes_that_are_no_text)
{
    zhen_options options = settings();
    options.alignment = true;
    zhen_translator *translator = create(&options);
    static const char first[] = "\xE6\x88\xE6\x88\x91爱\xFF水课。\xE4\xBD", second[] = "好\0你。\0";
    zhen_text texts[] = {{first, sizeof first - 1}, {second, sizeof second - 1}};
    zhen_translations *all = translate(translator, texts, 2);
    const zhen_translation *t = zhen_translations_get(all, 0);
    check_form(&texts[0], t);
    ck_assert_uint_eq(t->sentence_count, 2);
    ck_assert_uint_eq(t->sentences[0].source.begin, 0);
    ck_assert_uint_eq(t->sentences[0].source.end, sizeof first - 3);
    ck_assert_uint_eq(t->sentences[1].source.end, sizeof first - 1);
    for (size_t k = 0; k < t->sentences[0].link_count; k++)
        ck_assert_uint_le(t->sentences[0].links[k].source.end, sizeof first - 3);
    t = zhen_translations_get(all, 1);
    ck_assert_uint_eq(t->sentence_count, 2);
    ck_assert_int_eq(t->text[t->sentences[0].target.end], '\0');
    ck_assert_uint_eq(t->sentences[1].target.begin, t->sentences[0].target.end + 1);
    ck_assert_uint_eq(t->length, t->sentences[1].target.end + 1);
    zhen_translations_free(all);
    zhen_translator_free(translator);
}
END_TEST

START_TEST(gives_alternatives)
{
    zhen_options options = settings();
    options.beam = 4;
    options.nbest = 4;
    zhen_translator *translator = create(&options);
    zhen_text texts[] = {text_of("我爱水课。"), text_of("我爱水课。他不爱。\n好的。"),
                         text_of("ok")};
    zhen_translations *all = translate(translator, texts, 3);
    for (size_t i = 0; i < 3; i++) {
        const zhen_translation *t = zhen_translations_get(all, i);
        check_form(&texts[i], t);
        ck_assert_uint_le(t->alternative_count, 4);
        for (size_t k = 1; k < t->alternative_count; k++) {
            ck_assert(t->alternatives[k].score <= t->alternatives[k - 1].score);
            ck_assert_uint_eq(strlen(t->alternatives[k].text), t->alternatives[k].length);
            for (size_t other = 0; other < k; other++)
                ck_assert_str_ne(t->alternatives[k].text, t->alternatives[other].text);
        }
    }
    ck_assert_uint_gt(zhen_translations_get(all, 0)->alternative_count, 1);
    ck_assert_uint_eq(zhen_translations_get(all, 1)->alternative_count, 4);
    ck_assert_uint_eq(zhen_translations_get(all, 2)->alternative_count, 1);
    zhen_translations_free(all);
    zhen_translator_free(translator);
}
END_TEST

START_TEST(translates_nothing)
{
    zhen_options options = settings();
    zhen_translator *translator = create(&options);
    zhen_translations_free(translate(translator, NULL, 0));
    zhen_text empty = {NULL, 0};
    zhen_translations *all = translate(translator, &empty, 1);
    ck_assert_str_eq(zhen_translations_get(all, 0)->text, "");
    zhen_translations_free(all);
    zhen_translations_free(NULL);
    zhen_translator_free(translator);
    zhen_translator_free(NULL);
}
END_TEST

START_TEST(limits_new_tokens)
{
    zhen_options options = settings();
    options.max_new_tokens = 3;
    zhen_translator *translator = create(&options);
    zhen_text text = text_of("我们今天去图书馆看了很多书。");
    zhen_translations *all = translate(translator, &text, 1);
    ck_assert_uint_le(zhen_translations_get(all, 0)->target_tokens, 3);
    zhen_translations_free(all);
    zhen_translator_free(translator);
}
END_TEST

/* Whatever signs stand before a sentence, they come out before it, as they were. */
START_TEST(keeps_leads_in_front)
{
    static const char *const leads[] = {"•", "●",  "※",  "→",  "✓",  "❤️",  "-",
                                        ">", "a.", "b)", "1.", "├─", "👍🏻"};
    enum { LEADS = sizeof leads / sizeof *leads };
    zhen_options options = settings();
    options.beam = 1;
    zhen_translator *translator = create(&options);
    zhen_text texts[LEADS + 1] = {text_of("打开电源。")};
    base_buffer sources[LEADS] = {{0}}, expected = {0};
    for (size_t i = 0; i < LEADS; i++) {
        ck_assert(base_buffer_append_string(&sources[i], leads[i]));
        ck_assert(base_buffer_append_string(&sources[i], " 打开电源。"));
        texts[i + 1] = (zhen_text){sources[i].data, sources[i].length};
    }
    zhen_translations *all = translate(translator, texts, LEADS + 1);
    for (size_t i = 0; i < LEADS; i++) {
        const zhen_translation *t = zhen_translations_get(all, i + 1);
        check_form(&texts[i + 1], t);
        base_buffer_clear(&expected);
        ck_assert(base_buffer_append_string(&expected, leads[i]));
        ck_assert(base_buffer_append_string(&expected, " "));
        ck_assert(base_buffer_append_string(&expected, zhen_translations_get(all, 0)->text));
        ck_assert_str_eq(t->text, expected.data);
        base_buffer_free(&sources[i]);
    }
    base_buffer_free(&expected);
    zhen_translations_free(all);
    zhen_translator_free(translator);
}
END_TEST

/* Characters of all kinds among Chinese; the model has seen few of them. */
static void append_any(uint64_t *state, base_buffer *text)
{
    static const int32_t starts[] = {0x20, 0x80, 0x2000, 0x2190, 0x2500, 0x3000, 0xFE00, 0x1F300};
    static const char *const words[] = {"我们", "今天", "去", "书", "很好", "。"};
    char bytes[4];
    size_t roll = random_next(state) & 0xFFFFFF;
    const char *word = words[roll % 6];
    int32_t character = starts[roll % 8] + (int32_t)(roll >> 8) % 0x180;
    if (roll % 3 == 0)
        ck_assert(base_buffer_append_string(text, word));
    else
        ck_assert(base_buffer_append(
            text, bytes, (size_t)utf8proc_encode_char(character, (utf8proc_uint8_t *)bytes)));
}

START_TEST(writes_no_broken_characters)
{
    enum { TEXTS = 60, CHARACTERS = 12 };
    uint64_t state = 4;
    zhen_options options = settings();
    zhen_translator *translator = create(&options);
    base_buffer sources[TEXTS] = {{0}};
    zhen_text texts[TEXTS];
    for (size_t i = 0; i < TEXTS; i++) {
        for (size_t k = 0; k < CHARACTERS; k++)
            append_any(&state, &sources[i]);
        texts[i] = (zhen_text){sources[i].data, sources[i].length};
    }
    zhen_translations *all = translate(translator, texts, TEXTS);
    for (size_t i = 0; i < TEXTS; i++) {
        const zhen_translation *t = zhen_translations_get(all, i);
        check_form(&texts[i], t);
        ck_assert_msg(!strstr(t->text, "\uFFFD"), "%s\ngave %s", sources[i].data, t->text);
        base_buffer_free(&sources[i]);
    }
    zhen_translations_free(all);
    zhen_translator_free(translator);
}
END_TEST

/* Longer than the windows that long texts are read by. */
START_TEST(keeps_long_texts_without_chinese)
{
    zhen_options options = settings();
    zhen_translator *translator = create(&options);
    base_buffer plain = {0}, mixed = {0};
    for (size_t i = 0; i < 5000; i++)
        ck_assert(base_buffer_append_byte(&plain, i % 700 == 699 ? ' ' : 'A'));
    ck_assert(base_buffer_append(&mixed, plain.data, plain.length));
    ck_assert(base_buffer_append_string(&mixed, "。你好。"));
    zhen_text texts[] = {{plain.data, plain.length}, {mixed.data, mixed.length}};
    zhen_translations *all = translate(translator, texts, 2);
    ck_assert_str_eq(zhen_translations_get(all, 0)->text, plain.data);
    const zhen_translation *t = zhen_translations_get(all, 1);
    ck_assert_uint_eq(t->sentence_count, 2);
    ck_assert_uint_eq(t->sentences[0].target.end, plain.length + strlen("。"));
    ck_assert(strncmp(t->text, mixed.data, t->sentences[0].target.end) == 0);
    base_buffer_free(&plain);
    base_buffer_free(&mixed);
    zhen_translations_free(all);
    zhen_translator_free(translator);
}
END_TEST

/* Parts of a long sentence that have no Chinese are joined as they were. */
START_TEST(joins_parts_without_chinese)
{
    zhen_options options = settings();
    zhen_translator *translator = create(&options);
    base_buffer source = {0};
    for (size_t i = 0; i < 4000; i++)
        ck_assert(base_buffer_append_byte(&source, 'A'));
    ck_assert(base_buffer_append_string(&source, "是密码。"));
    zhen_text text = {source.data, source.length};
    zhen_translations *all = translate(translator, &text, 1);
    ck_assert_uint_ge(strspn(zhen_translations_get(all, 0)->text, "A"), 2560);
    base_buffer_free(&source);
    zhen_translations_free(all);
    zhen_translator_free(translator);
}
END_TEST

START_TEST(keeps_fields_apart)
{
    zhen_options options = settings();
    zhen_translator *translator = create(&options);
    zhen_text text = text_of("时间：三点　地点：北京   编号：7");
    zhen_translations *all = translate(translator, &text, 1);
    const zhen_translation *t = zhen_translations_get(all, 0);
    ck_assert_uint_eq(t->sentence_count, 3);
    ck_assert_uint_eq(t->sentences[1].target.begin, t->sentences[0].target.end + 2);
    ck_assert_uint_eq(t->sentences[2].target.begin, t->sentences[1].target.end + 3);
    zhen_translations_free(all);
    zhen_translator_free(translator);
}
END_TEST

static void *cancel(void *translator)
{
    zhen_translator_cancel(translator);
    return NULL;
}

/* More sentences than could be done before the other thread has cancelled; if they were, the next
 * call must be refused all the same. */
START_TEST(can_be_cancelled)
{
    enum { COUNT = 40 };
    zhen_options options = settings();
    zhen_translator *translator = create(&options);
    base_buffer source = {0};
    long_sentence(&source);
    zhen_text texts[COUNT];
    for (size_t i = 0; i < COUNT; i++)
        texts[i] = (zhen_text){source.data + 30 * i, source.length - 30 * i};
    for (size_t i = 0; i < COUNT; i++) /* start at a character */
        for (; ((unsigned char)*texts[i].bytes & 0xC0) == 0x80; texts[i].bytes++)
            texts[i].length--;
    pthread_t thread;
    zhen_error error = {ZHEN_OK, ""};
    zhen_translations *all = NULL;
    ck_assert_int_eq(pthread_create(&thread, NULL, cancel, translator), 0);
    zhen_status status = zhen_translate(translator, texts, COUNT, &all, &error);
    pthread_join(thread, NULL);
    zhen_translations_free(all);
    ck_assert(status == ZHEN_ERROR_CANCELLED || status == ZHEN_OK);
    ck_assert(zhen_translate(translator, texts, 1, &all, &error) == ZHEN_ERROR_CANCELLED);
    ck_assert(error.status == ZHEN_ERROR_CANCELLED && *error.message);
    ck_assert_ptr_null(all);
    base_buffer_free(&source);
    zhen_translator_free(translator);
}
END_TEST

static void check_refused(const zhen_options *options, const char *name)
{
    zhen_translator *translator;
    zhen_error error;
    ck_assert(zhen_translator_create(model, options, &translator, &error) == ZHEN_ERROR_ARGUMENT);
    ck_assert_msg(strncmp(error.message, name, strlen(name)) == 0, "%s: %s", name, error.message);
    ck_assert_ptr_null(translator);
    ck_assert(zhen_translator_create(model, options, &translator, NULL) == ZHEN_ERROR_ARGUMENT);
}

START_TEST(refuses_senseless_options)
{
    zhen_options options = settings();
    options.beam = 0;
    check_refused(&options, "beam");
    options.beam = 1000;
    check_refused(&options, "beam");
    options = settings();
    options.nbest = 0;
    check_refused(&options, "nbest");
    options.nbest = 3;
    check_refused(&options, "nbest");
    options = settings();
    options.threads = 100000;
    check_refused(&options, "threads");
    options = settings();
    options.length_penalty = 0.0 / 0.0;
    check_refused(&options, "length_penalty");
    options = settings();
    options.repetition_penalty = 0;
    check_refused(&options, "repetition_penalty");
    options = settings();
    options.early_stopping = (zhen_early_stopping)7;
    check_refused(&options, "early_stopping");
    options = settings();
    options.max_new_tokens = 3;
    options.min_new_tokens = 4;
    check_refused(&options, "min_new_tokens");
    options = settings();
    options.max_new_tokens = 1;
    check_refused(&options, "max_new_tokens");
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {keeps_the_form_of_texts,
                                  keeps_line_structure,
                                  joins_sentences_with_spaces,
                                  gives_the_same_whatever_the_batch,
                                  gives_the_same_whatever_is_forbidden,
                                  translates_long_sentences_whole,
                                  links_words,
                                  reads_bytes_that_are_no_text,
                                  gives_alternatives,
                                  translates_nothing,
                                  limits_new_tokens,
                                  keeps_leads_in_front,
                                  writes_no_broken_characters,
                                  keeps_long_texts_without_chinese,
                                  joins_parts_without_chinese,
                                  keeps_fields_apart,
                                  can_be_cancelled,
                                  refuses_senseless_options};
    return run_suite_with("translate_pipeline", tests, sizeof tests / sizeof *tests, open_model,
                          close_model);
}
