/* Model directories: ids and texts against transformers' MarianTokenizer, and broken directories.
 */
#include "support/suite.h"
#include "tokenizer/fixture.h"
#include "tokenizer/tokenizer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static zhen_error error;

/* A model directory and the fixtures that say what becomes of text. */
static const struct {
    const char *directory, *fixture;
} models[] = {
    {FIXTURES "marian", "marian/expected"},
    {FIXTURES "separate", "separate/expected"},
    {"models/zh-en", "zh-en"},
};
enum { MODEL_COUNT = sizeof models / sizeof *models };

static tok_tokenizer *open_tokenizer(const char *directory)
{
    const tok_limits limits = {32768, 32768};
    tok_tokenizer *tokenizer;
    ck_assert_msg(!tok_open(directory, &limits, &tokenizer, &error), "%s", error.message);
    return tokenizer;
}

static void print_ids(const tok_source *source, base_buffer *text)
{
    base_buffer_clear(text);
    for (size_t i = 0; i < source->count; i++) {
        char item[16];
        int length = snprintf(item, sizeof item, i ? " %" PRId32 : "%" PRId32, source->ids[i]);
        ck_assert(base_buffer_append(text, item, (size_t)length));
    }
}

START_TEST(ids_are_those_of_marian)
{
    tok_tokenizer *tokenizer = open_tokenizer(models[_i].directory);
    base_buffer sources, expected, got = {0};
    fixture_read(models[_i].fixture, ".sources", &sources);
    fixture_read(models[_i].fixture, ".ids", &expected);
    fixture_line line = {.text = &sources}, want = {.text = &expected};
    tok_source source = {0};
    while (fixture_next(&line)) {
        ck_assert(fixture_next(&want));
        ck_assert(!tok_encode(tokenizer, line.start, line.length, &source, &error));
        print_ids(&source, &got);
        ck_assert_msg(got.length == want.length &&
                          !memcmp(got.length ? got.data : "", want.start, want.length),
                      "line %d (%.*s): %s", line.number, (int)line.length, line.start, got.data);
        for (size_t i = 0; i < source.count; i++)
            ck_assert(source.spans[i].begin <= source.spans[i].end &&
                      source.spans[i].end <= line.length);
    }
    ck_assert(!fixture_next(&want));
    ck_assert_int_gt(line.number, 100);
    tok_source_free(&source);
    base_buffer_free(&sources);
    base_buffer_free(&expected);
    base_buffer_free(&got);
    tok_close(tokenizer);
}
END_TEST

/* Marian strips the text; SentencePiece, whom tok_decode follows, does not. */
static void strip(const char **text, size_t *length)
{
    for (; *length && **text == ' '; (*text)++)
        (*length)--;
    while (*length && (*text)[*length - 1] == ' ')
        (*length)--;
}

START_TEST(texts_are_those_of_marian)
{
    enum { LIMIT = 1024 };
    static int32_t ids[LIMIT];
    tok_tokenizer *tokenizer = open_tokenizer(models[_i].directory);
    base_buffer texts, got = {0};
    fixture_read(models[_i].fixture, ".texts", &texts);
    fixture_line line = {.text = &texts};
    while (fixture_next(&line)) {
        char *hex = line.start;
        size_t count = 0;
        for (; *hex != '\t' && count < LIMIT; count++)
            ids[count] = (int32_t)strtol(hex, &hex, 10);
        hex++;
        base_buffer_clear(&got);
        ck_assert(!tok_decode(tokenizer, ids, count, &got, NULL, &error));
        const char *text = got.data;
        size_t length = got.length;
        strip(&text, &length);
        ck_assert_uint_eq(length * 2, line.length - (size_t)(hex - line.start));
        for (size_t i = 0; i < length; i++) {
            char digits[3];
            (void)snprintf(digits, sizeof digits, "%02x", (unsigned char)text[i]);
            ck_assert_msg(!memcmp(digits, hex + 2 * i, 2), "line %d: %s", line.number, got.data);
        }
    }
    ck_assert_int_ge(line.number, 40);
    base_buffer_free(&texts);
    base_buffer_free(&got);
    tok_close(tokenizer);
}
END_TEST

START_TEST(a_language_code_is_one_piece_if_it_is_known)
{
    tok_tokenizer *tokenizer = open_tokenizer(FIXTURES "marian");
    tok_source source = {0};
    static const char known[] = ">>fra<< 你好", other[] = ">>zzz<<";
    ck_assert(!tok_encode(tokenizer, known, sizeof known - 1, &source, &error));
    ck_assert_uint_eq(source.spans[0].begin, 0);
    ck_assert_uint_eq(source.spans[0].end, 7);
    ck_assert_uint_eq(source.spans[source.count - 1].end, sizeof known - 1);
    ck_assert(!tok_encode(tokenizer, other, sizeof other - 1, &source, &error));
    ck_assert_uint_gt(source.count, 1);
    tok_source_free(&source);
    tok_close(tokenizer);
}
END_TEST

START_TEST(sizes_are_those_of_the_vocabularies)
{
    tok_tokenizer *shared = open_tokenizer(FIXTURES "marian");
    tok_tokenizer *separate = open_tokenizer(FIXTURES "separate");
    ck_assert_uint_eq(tok_source_size(shared), tok_target_size(shared));
    ck_assert_uint_ne(tok_source_size(separate), tok_target_size(separate));
    ck_assert_uint_gt(tok_memory(shared), 10000);
    /* the tables of the model must hold every id */
    const size_t source = tok_source_size(separate), target = tok_target_size(separate);
    tok_tokenizer *tokenizer;
    tok_limits limits = {source, target};
    ck_assert(!tok_open(FIXTURES "separate", &limits, &tokenizer, &error));
    tok_close(tokenizer);
    limits = (tok_limits){source - 1, target};
    ck_assert(tok_open(FIXTURES "separate", &limits, &tokenizer, &error) == ZHEN_ERROR_FORMAT);
    ck_assert_ptr_nonnull(strstr(error.message, "separate/vocab.json: \"<pad>\""));
    limits = (tok_limits){source, target - 1};
    ck_assert(tok_open(FIXTURES "separate", &limits, &tokenizer, &error) == ZHEN_ERROR_FORMAT);
    ck_assert_ptr_nonnull(strstr(error.message, "target_vocab.json: \"<pad>\""));
    tok_close(shared);
    tok_close(separate);
}
END_TEST

/* ---- Broken directories ------------------------------------------------------------------- */

static const char *const files[] = {
    "source.spm",       "target.spm", "vocab.json", "target_vocab.json", "tokenizer_config.json",
    "added_tokens.json"};
enum { FILE_COUNT = sizeof files / sizeof *files, NEEDED = 4 };

static void make_directory(char *directory)
{
    static const char template[] = "/tmp/zhen-test-XXXXXX";
    memcpy(directory, template, sizeof template);
    ck_assert_ptr_nonnull(mkdtemp(directory));
}

static void write_file(const char *directory, const char *name, const char *text)
{
    char path[128];
    (void)snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *file = fopen(path, "wb");
    ck_assert_ptr_nonnull(file);
    ck_assert(fputs(text, file) >= 0 && !fclose(file));
}

static void link_file(const char *directory, const char *name)
{
    char here[512], path[1024], link[128];
    ck_assert_ptr_nonnull(getcwd(here, sizeof here));
    (void)snprintf(path, sizeof path, "%s/" FIXTURES "separate/%s", here, name);
    (void)snprintf(link, sizeof link, "%s/%s", directory, name);
    ck_assert(!symlink(path, link));
}

static void remove_directory(const char *directory)
{
    for (int i = 0; i < FILE_COUNT; i++) {
        char path[128];
        (void)snprintf(path, sizeof path, "%s/%s", directory, files[i]);
        unlink(path);
    }
    ck_assert(!rmdir(directory));
}

static zhen_status open_and_close(const char *directory)
{
    const tok_limits limits = {SIZE_MAX, SIZE_MAX};
    tok_tokenizer *tokenizer;
    zhen_status status = tok_open(directory, &limits, &tokenizer, &error);
    if (!status)
        tok_close(tokenizer);
    return status;
}

START_TEST(a_missing_file_is_named)
{
    for (int missing = 0; missing < NEEDED; missing++) {
        char directory[32];
        make_directory(directory);
        for (int i = 0; i <= NEEDED; i++)
            if (i != missing)
                link_file(directory, files[i]);
        ck_assert_int_eq(open_and_close(directory), ZHEN_ERROR_IO);
        ck_assert_msg(strstr(error.message, files[missing]) != NULL, "%s", error.message);
        remove_directory(directory);
    }
}
END_TEST

START_TEST(without_a_configuration_the_files_tell)
{
    char directory[32];
    make_directory(directory);
    for (int i = 0; i < NEEDED; i++)
        link_file(directory, files[i]);
    const tok_limits limits = {SIZE_MAX, SIZE_MAX};
    tok_tokenizer *tokenizer;
    ck_assert(!tok_open(directory, &limits, &tokenizer, &error));
    ck_assert_uint_ne(tok_source_size(tokenizer), tok_target_size(tokenizer));
    tok_close(tokenizer);
    /* the flag, if there is one, overrules them */
    write_file(directory, "tokenizer_config.json", "{\"separate_vocabs\": false}");
    ck_assert(!tok_open(directory, &limits, &tokenizer, &error));
    ck_assert_uint_eq(tok_source_size(tokenizer), tok_target_size(tokenizer));
    tok_close(tokenizer);
    write_file(directory, "tokenizer_config.json", "{\"separate_vocabs\": 1");
    ck_assert(!open_and_close(directory));
    remove_directory(directory);
}
END_TEST

/* What Python's add_tokens leaves beside vocab.json. <unk> has the id 1 in both vocabularies. */
static const struct {
    const char *file, *json, *message; /* NULL: fine */
} added[] = {
    {"tokenizer_config.json", "{\"added_tokens_decoder\": {\"1\": {\"content\": \"<unk>\"}}}",
     NULL},
    {"tokenizer_config.json", "{\"added_tokens_decoder\": {\"9\": {\"content\": \"水课\"}}}",
     "tokenizer_config.json: \"水课\" was added"},
    {"tokenizer_config.json", "{\"added_tokens_decoder\": [3, {\"content\": 3}]}", NULL},
    {"added_tokens.json", "{\"<unk>\": 1}", NULL},
    {"added_tokens.json", "{\"<unk>\": 9}", "added_tokens.json: \"<unk>\" was added"},
    {"added_tokens.json", "{\"水课\": 9, \"<unk>\": 1}", "\"水课\" was added"},
    {"added_tokens.json", "[9]", NULL},
};

START_TEST(added_tokens_are_refused)
{
    char directory[32];
    make_directory(directory);
    for (int i = 0; i < NEEDED; i++)
        link_file(directory, files[i]);
    write_file(directory, added[_i].file, added[_i].json);
    const char *message = added[_i].message;
    ck_assert_int_eq(open_and_close(directory), message ? ZHEN_ERROR_UNSUPPORTED : ZHEN_OK);
    if (message)
        ck_assert_msg(strstr(error.message, message) != NULL, "%s", error.message);
    remove_directory(directory);
}
END_TEST

static const struct {
    const char *json, *message;
} vocabularies[] = {
    {"", "not JSON, at byte 0"},
    {"{", "not JSON"},
    {"{\"<unk>\": 1", "not JSON"},
    {"{\"<unk>\": 1} x", "not JSON, at byte 12"},
    {"[1]", "not a JSON object"},
    {"3", "not a JSON object"},
    {"{}", "holds no pieces"},
    {"{\"a\": 0}", "no \"<unk>\""},
    {"{\"<unk>\": -1}", "\"<unk>\": the id is no whole number"},
    {"{\"<unk>\": 0.5}", "no whole number"},
    {"{\"<unk>\": 1e400}", "no whole number"},
    {"{\"<unk>\": 2147483647}", "no whole number"},
    {"{\"<unk>\": 9223372036854775808}", "no whole number"},
    {"{\"<unk>\": \"0\"}", "no whole number"},
    {"{\"<unk>\": null}", "no whole number"},
    {"{\"<unk>\": [0]}", "no whole number"},
    {"{\"<unk>\": 0, \"\": 1}", "empty piece"},
    {"{\"<unk>\": 0, \"<unk>\": 1}", "\"<unk>\" occurs twice"},
    {"{\"<unk>\": 0, \"a\": 0}", "the id 0 occurs twice"},
    {"{\"<unk>\": 0, \"\xE4\xBD\": 1}", "not UTF-8"},
    {"{\"<unk>\": 0, \"\xED\xA0\x80\": 1}", "not UTF-8"},
    {"{\"<unk>\": 0, \"\\ud800\": 1}", "not JSON"},
    {"{\"<unk>\": 0, \"a\": 1000}", "outside the embedding table, which has 1000 rows"},
};

START_TEST(a_broken_vocabulary_is_described)
{
    char directory[32];
    make_directory(directory);
    link_file(directory, "source.spm");
    link_file(directory, "target.spm");
    write_file(directory, "vocab.json", vocabularies[_i].json);
    const tok_limits limits = {1000, 1000};
    tok_tokenizer *tokenizer;
    ck_assert_int_eq(tok_open(directory, &limits, &tokenizer, &error), ZHEN_ERROR_FORMAT);
    ck_assert_msg(strstr(error.message, vocabularies[_i].message) &&
                      strstr(error.message, "/vocab.json"),
                  "%s", error.message);
    remove_directory(directory);
}
END_TEST

START_TEST(ids_may_have_gaps)
{
    char directory[32];
    make_directory(directory);
    link_file(directory, "source.spm");
    link_file(directory, "target.spm");
    write_file(directory, "vocab.json", " {\"<unk>\": 7, \"\\u4f60\\ud842\\udfb7\": 3} \r\n");
    const tok_limits limits = {8, 8};
    tok_tokenizer *tokenizer;
    ck_assert_msg(!tok_open(directory, &limits, &tokenizer, &error), "%s", error.message);
    const int32_t ids[] = {0, 3, 5, 7};
    base_buffer text = {0};
    ck_assert(!tok_decode(tokenizer, ids, 4, &text, NULL, &error));
    ck_assert_str_eq(text.data, "你𠮷");
    base_buffer_free(&text);
    tok_close(tokenizer);
    remove_directory(directory);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("tokenizer");
    tcase_set_timeout(tests, 0);
    tcase_add_loop_test(tests, ids_are_those_of_marian, 0, MODEL_COUNT);
    tcase_add_loop_test(tests, texts_are_those_of_marian, 0, MODEL_COUNT);
    tcase_add_test(tests, a_language_code_is_one_piece_if_it_is_known);
    tcase_add_test(tests, sizes_are_those_of_the_vocabularies);
    tcase_add_test(tests, a_missing_file_is_named);
    tcase_add_test(tests, without_a_configuration_the_files_tell);
    tcase_add_loop_test(tests, added_tokens_are_refused, 0, sizeof added / sizeof *added);
    tcase_add_loop_test(tests, a_broken_vocabulary_is_described, 0,
                        sizeof vocabularies / sizeof *vocabularies);
    tcase_add_test(tests, ids_may_have_gaps);
    return run_group("tokenizer_tokenizer", tests);
}
