/* The reader of flat JSON accepts what a vocabulary is made of, and nothing that cJSON reads in
 * another way; the vocabulary falls back to cJSON for the rest. */
#include "support/suite.h"
#include "tokenizer/flat_json.h"

#include "tokenizer/fixture.h"
#include "tokenizer/vocabulary.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- Reading all pairs ---------------------------------------------------------------------- */

/* What was read, "name=number;" for each pair, and how it ended. */
static tok_flat_result read_all(const char *text, size_t size, base_buffer *pairs)
{
    /* Memory of exactly these sizes, so that a sanitiser sees one byte too many. */
    char *copy = malloc(size ? size : 1);
    ck_assert_ptr_nonnull(copy);
    memcpy(copy, text, size);
    tok_flat_json json = tok_flat_start(copy, size);
    tok_flat_result result;
    base_buffer_clear(pairs);
    ck_assert(base_buffer_reserve(pairs, 0));
    for (;;) {
        const size_t left = size - (size_t)(json.at - copy);
        char *name = malloc(left ? left : 1), number[32];
        size_t length;
        int32_t value;
        ck_assert_ptr_nonnull(name);
        result = tok_flat_next(&json, name, &length, &value);
        if (result == TOK_FLAT_PAIR) {
            snprintf(number, sizeof number, "=%d;", value);
            ck_assert_uint_gt(length, 0);
            ck_assert(base_buffer_append(pairs, name, length));
            ck_assert(base_buffer_append_string(pairs, number));
        }
        free(name);
        if (result != TOK_FLAT_PAIR)
            break;
    }
    free(copy);
    return result;
}

/* The same by cJSON; false if it finds anything but names with numbers. */
static bool read_by_cjson(const char *text, size_t size, base_buffer *pairs)
{
    const char *end = NULL;
    cJSON *root = cJSON_ParseWithLengthOpts(text, size, &end, false);
    bool good = cJSON_IsObject(root);
    base_buffer_clear(pairs);
    ck_assert(base_buffer_reserve(pairs, 0));
    for (const cJSON *item = good ? root->child : NULL; item; item = item->next) {
        char number[32];
        snprintf(number, sizeof number, "=%.0f;", item->valuedouble);
        good = good && cJSON_IsNumber(item);
        ck_assert(base_buffer_append_string(pairs, item->string));
        ck_assert(base_buffer_append_string(pairs, number));
    }
    cJSON_Delete(root);
    return good;
}

/* ---- Cases ---------------------------------------------------------------------------------- */

static const struct {
    const char *json, *pairs;
} accepted[] = {
    {"{}", ""},
    {" \r\n\t{ } \n", ""},
    {"{\"a\":0}", "a=0;"},
    {"{\n  \"</s>\": 0,\n  \"你好\" : 12 , \"\xF0\x9F\x98\x80\":2147483647\n}\n",
     "</s>=0;你好=12;\xF0\x9F\x98\x80=2147483647;"},
    {"{\"\\\"\":1,\"\\\\\":2,\"\\/\":3}", "\"=1;\\=2;/=3;"},
    {"{\"\\u2581the\":4,\"\\u4F60\\u597d\":5}", "▁the=4;你好=5;"},
    {"{\"\\uD83D\\uDE00!\":6}", "\xF0\x9F\x98\x80!=6;"},
};

START_TEST(reads_vocabularies)
{
    base_buffer pairs = {0}, expected = {0};
    const char *json = accepted[_i].json;
    ck_assert_int_eq(read_all(json, strlen(json), &pairs), TOK_FLAT_END);
    ck_assert_str_eq(pairs.data, accepted[_i].pairs);
    ck_assert(read_by_cjson(json, strlen(json), &expected));
    ck_assert_str_eq(pairs.data, expected.data);
    base_buffer_free(&expected);
    base_buffer_free(&pairs);
}
END_TEST

static const char *const refused[] = {
    "",
    " ",
    "[]",
    "1",
    "{\"a\":1}x",
    "{\"a\":1}{}",
    "{\"a\":1,}",
    "{,\"a\":1}",
    "{\"a\":1 \"b\":2}",
    "{\"a\" 1}",
    "{\"a\"::1}",
    "{a:1}",
    "{'a':1}",
    "{\"\":1}",
    "{\"a\":}",
    "{\"a\":-1}",
    "{\"a\":+1}",
    "{\"a\":01}",
    "{\"a\":00}",
    "{\"a\":1.0}",
    "{\"a\":1e2}",
    "{\"a\":2147483648}",
    "{\"a\":99999999999999999999999}",
    "{\"a\":\"1\"}",
    "{\"a\":null}",
    "{\"a\":{}}",
    "{\"a\n\":1}",
    "{\"a\\n\":1}",
    "{\"a\\x\":1}",
    "{\"\\u0000\":1}",
    "{\"\\u12\":1}",
    "{\"\\u12g4\":1}",
    "{\"\\uD83D\":1}",
    "{\"\\uD83D\\u0041\":1}",
    "{\"\\uD83Dxx\":1}",
    "{\"\\uDE00\":1}",
    "{\"a\\",
    "{\"a\\\"",
};

START_TEST(leaves_the_rest_alone)
{
    base_buffer pairs = {0};
    ck_assert_int_eq(read_all(refused[_i], strlen(refused[_i]), &pairs), TOK_FLAT_OTHER);
    base_buffer_free(&pairs);
}
END_TEST

static const char sample[] =
    "{\"</s>\": 0, \"\\u4f60\\ud842\\udfb7\": 31,\n\"a\\\"\\\\\\/b\":7 , \"\xE4\xBD\xA0\": 1024}\n";

START_TEST(every_cut_is_found)
{
    base_buffer pairs = {0};
    for (size_t size = 0; size + 2 < sizeof sample; size++)
        ck_assert_int_eq(read_all(sample, size, &pairs), TOK_FLAT_OTHER);
    base_buffer_free(&pairs);
}
END_TEST

/* Whatever becomes of a text, what is accepted says the same to cJSON. */
START_TEST(accepts_nothing_that_cjson_reads_in_another_way)
{
    static const char bytes[] = "{}[]\":,\\/u0019dDeE.-+ \n\tab\x01\xE4\xBD\xA0";
    base_buffer pairs = {0}, expected = {0};
    unsigned seed = 1, ended = 0;
    for (int i = 0; i < 20000; i++) {
        char text[sizeof sample];
        memcpy(text, sample, sizeof sample);
        size_t size = sizeof sample - 1;
        for (int changes = i % 3; changes >= 0; changes--) {
            seed = seed * 1103515245U + 12345U;
            const size_t at = (seed >> 8) % size;
            const char byte = bytes[(seed >> 20) % (sizeof bytes - 1)];
            if (seed >> 31) {
                text[at] = byte;
            } else {
                memmove(text + at, text + at + 1, size - at);
                size--;
            }
        }
        if (read_all(text, size, &pairs) != TOK_FLAT_END)
            continue;
        ended++;
        ck_assert_msg(read_by_cjson(text, size, &expected), "%s", text);
        ck_assert_msg(!strcmp(pairs.data, expected.data), "%s", text);
    }
    ck_assert_uint_gt(ended, 200);
    base_buffer_free(&expected);
    base_buffer_free(&pairs);
}
END_TEST

/* ---- The vocabulary ------------------------------------------------------------------------- */

static void open_vocabulary(const char *json, size_t size, tok_vocabulary *vocabulary)
{
    zhen_error error;
    const char *path = fixture_temporary(json, size);
    ck_assert_msg(!tok_vocabulary_open(path, 10000, vocabulary, &error), "%s", error.message);
    unlink(path);
}

static int32_t find(const tok_vocabulary *vocabulary, const char *piece)
{
    return tok_vocabulary_find(vocabulary, piece, strlen(piece));
}

START_TEST(a_vocabulary_of_another_shape_is_read_by_cjson)
{
    static const char json[] = "{\"a\": 3.0, \"b\\n\": 1e0, \"\\u4f60\": 0}";
    tok_vocabulary vocabulary;
    open_vocabulary(json, strlen(json), &vocabulary);
    ck_assert_int_eq(find(&vocabulary, "a"), 3);
    ck_assert_int_eq(find(&vocabulary, "b\n"), 1);
    ck_assert_int_eq(find(&vocabulary, "你"), 0);
    ck_assert_int_eq(find(&vocabulary, "b"), -1);
    ck_assert_uint_eq(vocabulary.size, 4);
    ck_assert_uint_eq(vocabulary.text_size, 6);
    tok_vocabulary_close(&vocabulary);
}
END_TEST

/* Read by our reader and, for one number that it leaves alone, by cJSON: the same. */
START_TEST(both_ways_give_the_same_vocabulary)
{
    base_buffer plain = {0}, other = {0};
    fixture_read("marian/vocab", ".json", &plain);
    char *comma = memchr(plain.data, ',', plain.length);
    ck_assert_ptr_nonnull(comma);
    ck_assert(base_buffer_append(&other, plain.data, (size_t)(comma - plain.data)));
    ck_assert(base_buffer_append_string(&other, ".0"));
    ck_assert(base_buffer_append_string(&other, comma));
    base_buffer pairs = {0};
    ck_assert_int_eq(read_all(plain.data, plain.length, &pairs), TOK_FLAT_END);
    ck_assert_int_eq(read_all(other.data, other.length, &pairs), TOK_FLAT_OTHER);
    tok_vocabulary a, b;
    open_vocabulary(plain.data, plain.length, &a);
    open_vocabulary(other.data, other.length, &b);
    ck_assert_uint_eq(a.size, b.size);
    ck_assert_uint_eq(a.text_size, b.text_size);
    ck_assert_mem_eq(a.text, b.text, a.text_size);
    ck_assert_mem_eq(a.names, b.names, a.size * sizeof *a.names);
    ck_assert_uint_eq(a.capacity, b.capacity);
    ck_assert_mem_eq(a.slots, b.slots, a.capacity * sizeof *a.slots);
    tok_vocabulary_close(&b);
    tok_vocabulary_close(&a);
    base_buffer_free(&pairs);
    base_buffer_free(&other);
    base_buffer_free(&plain);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("flat_json");
    tcase_add_loop_test(tests, reads_vocabularies, 0, sizeof accepted / sizeof *accepted);
    tcase_add_loop_test(tests, leaves_the_rest_alone, 0, sizeof refused / sizeof *refused);
    tcase_add_test(tests, every_cut_is_found);
    tcase_add_test(tests, accepts_nothing_that_cjson_reads_in_another_way);
    tcase_add_test(tests, a_vocabulary_of_another_shape_is_read_by_cjson);
    tcase_add_test(tests, both_ways_give_the_same_vocabulary);
    tcase_set_timeout(tests, 0);
    return run_group("tokenizer_flat_json", tests);
}
