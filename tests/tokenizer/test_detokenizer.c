/* Putting pieces together, against the library's decode, and the places that pieces write to. */
#include "support/suite.h"
#include "tokenizer/detokenizer.h"
#include "tokenizer/fixture.h"

#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static zhen_error error;

/* A detokeniser whose vocabulary numbers the pieces as the SentencePiece model does. */
typedef struct test_joiner {
    spm_model *model;
    tok_vocabulary vocabulary;
    tok_detokenizer detokenizer;
} test_joiner;

static void open_vocabulary(const spm_model *model, tok_vocabulary *vocabulary)
{
    cJSON *json = cJSON_CreateObject();
    for (size_t i = 0; i < spm_piece_count(model); i++) {
        size_t length;
        char name[256] = "";
        const char *piece = spm_piece_text(model, (int32_t)i, &length);
        memcpy(name, piece, length);
        cJSON_AddNumberToObject(json, name, (double)i);
    }
    char *text = cJSON_PrintUnformatted(json);
    const char *path = fixture_temporary(text, strlen(text));
    ck_assert_msg(!tok_vocabulary_open(path, spm_piece_count(model), vocabulary, &error), "%s",
                  error.message);
    unlink(path);
    free(text);
    cJSON_Delete(json);
}

static void open_joiner(const char *name, test_joiner *joiner)
{
    ck_assert(!spm_open(fixture_path(name, ".spm"), SPM_TO_JOIN, &joiner->model, &error));
    open_vocabulary(joiner->model, &joiner->vocabulary);
    ck_assert(tok_detokenizer_create(&joiner->detokenizer, joiner->model, &joiner->vocabulary));
}

static void close_joiner(test_joiner *joiner)
{
    tok_detokenizer_free(&joiner->detokenizer);
    tok_vocabulary_close(&joiner->vocabulary);
    spm_close(joiner->model);
}

/* "12 3\tE4BD" -> ids and bytes */
static size_t read_ids(char **text, int32_t *ids, size_t limit)
{
    size_t count = 0;
    while (**text != '\t') {
        ck_assert_uint_lt(count, limit);
        ids[count++] = (int32_t)strtol(*text, text, 10);
    }
    (*text)++;
    return count;
}

static void read_hex(const char *hex, size_t length, base_buffer *bytes)
{
    base_buffer_clear(bytes);
    for (size_t i = 0; i < length; i += 2) {
        const char digits[] = {hex[i], hex[i + 1], '\0'};
        ck_assert(base_buffer_append_byte(bytes, (char)strtol(digits, NULL, 16)));
    }
}

/* Spans ascend, stay inside the text and together cover all of it. */
static void check_spans(const zhen_span *spans, size_t count, size_t begin, size_t end)
{
    for (size_t i = 0; i < count; i++) {
        ck_assert_uint_ge(spans[i].end, spans[i].begin);
        ck_assert_uint_ge(spans[i].begin, begin > 4 ? begin - 4 : 0);
        ck_assert_uint_le(spans[i].begin, begin);
        begin = spans[i].end > begin ? spans[i].end : begin;
    }
    ck_assert_uint_eq(begin, end);
}

START_TEST(text_is_the_librarys)
{
    enum { LIMIT = 1024 };
    const char *name = fixture_variants[_i];
    static int32_t ids[LIMIT];
    static zhen_span spans[LIMIT];
    test_joiner joiner;
    open_joiner(name, &joiner);
    base_buffer texts, expected = {0}, got = {0};
    fixture_read(name, ".texts", &texts);
    fixture_line line = {.text = &texts};
    while (fixture_next(&line)) {
        char *at = line.start;
        size_t count = read_ids(&at, ids, LIMIT);
        read_hex(at, line.length - (size_t)(at - line.start), &expected);
        base_buffer_clear(&got);
        ck_assert(base_buffer_append_string(&got, "before"));
        ck_assert(tok_detokenize(&joiner.detokenizer, ids, count, &got, spans));
        ck_assert_msg(
            got.length == expected.length + 6 &&
                !memcmp(got.data + 6, expected.length ? expected.data : "", expected.length),
            "%s, line %d: %s", name, line.number, got.data);
        check_spans(spans, count, 6, got.length);
    }
    ck_assert_int_gt(line.number, 50);
    base_buffer_free(&texts);
    base_buffer_free(&expected);
    base_buffer_free(&got);
    close_joiner(&joiner);
}
END_TEST

static int32_t find(const test_joiner *joiner, const char *piece)
{
    int32_t id = tok_vocabulary_find(&joiner->vocabulary, piece, strlen(piece));
    ck_assert_msg(id >= 0, "%s", piece);
    return id;
}

START_TEST(pieces_that_spell_a_character_share_its_place)
{
    test_joiner joiner;
    open_joiner("unigram_bytes", &joiner);
    const int32_t ids[] = {
        find(&joiner, "a"),      find(&joiner, "<0xE4>"), find(&joiner, "<0xBD>"),
        find(&joiner, "<0xA0>"), find(&joiner, "<0xE4>"), find(&joiner, "<0x41>"),
        find(&joiner, "</s>"),
    };
    enum { COUNT = sizeof ids / sizeof *ids };
    zhen_span spans[COUNT];
    base_buffer text = {0};
    ck_assert(tok_detokenize(&joiner.detokenizer, ids, COUNT, &text, spans));
    ck_assert_str_eq(text.data, "a你\uFFFDA");
    const zhen_span expected[COUNT] = {{0, 1}, {1, 4}, {1, 4}, {1, 4}, {4, 7}, {7, 8}, {8, 8}};
    for (size_t i = 0; i < COUNT; i++) {
        ck_assert_uint_eq(spans[i].begin, expected[i].begin);
        ck_assert_uint_eq(spans[i].end, expected[i].end);
    }
    base_buffer_free(&text);
    close_joiner(&joiner);
}
END_TEST

START_TEST(special_and_missing_ids_write_nothing)
{
    test_joiner joiner;
    open_joiner("unigram_bytes", &joiner);
    const int32_t first = find(&joiner, "<0xE4>"), second = find(&joiner, "<0xBD>"),
                  third = find(&joiner, "<0xA0>");
    /* nor do they come between the bytes of a character */
    const int32_t ids[] = {-1,        INT32_MAX, 820,      find(&joiner, "</s>"),
                           first,     second,    820,      find(&joiner, "<unk>"),
                           INT32_MIN, third,     INT32_MAX};
    base_buffer text = {0};
    ck_assert(tok_detokenize(&joiner.detokenizer, ids, sizeof ids / sizeof *ids, &text, NULL));
    ck_assert_str_eq(text.data, "你");
    base_buffer_clear(&text);
    ck_assert(tok_detokenize(&joiner.detokenizer, ids, 0, &text, NULL));
    ck_assert_str_eq(text.data, "");
    base_buffer_free(&text);
    close_joiner(&joiner);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("detokenizer");
    tcase_set_timeout(tests, 0);
    tcase_add_loop_test(tests, text_is_the_librarys, 0, fixture_variant_count);
    tcase_add_test(tests, pieces_that_spell_a_character_share_its_place);
    tcase_add_test(tests, special_and_missing_ids_write_nothing);
    return run_group("tokenizer_detokenizer", tests);
}
