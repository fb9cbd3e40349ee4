/*
 * Memory that runs out: every allocation of the tokeniser fails once. Each call must return an
 * error and leak nothing (which a sanitiser or valgrind sees).
 */
#include "support/allocations.h"
#include "support/suite.h"
#include "tokenizer/fixture.h"
#include "tokenizer/tokenizer.h"

#include <stdlib.h>
#include <string.h>

static zhen_error error;
static const tok_limits limits = {SIZE_MAX, SIZE_MAX};
static const char *const directories[] = {FIXTURES "marian", FIXTURES "separate"};

START_TEST(opening_fails_cleanly)
{
    int failures = 0;
    for (zhen_status status = ZHEN_ERROR_MEMORY; status; failures++) {
        tok_tokenizer *tokenizer = NULL;
        fail_allocation(failures);
        status = tok_open(directories[_i], &limits, &tokenizer, &error);
        fail_no_allocation();
        if (status)
            ck_assert_int_eq(status, ZHEN_ERROR_MEMORY);
        tok_close(tokenizer);
    }
    ck_assert_int_gt(failures, 10);
}
END_TEST

/* Encodes in new memory until nothing fails; after each failure the memory is usable as before. */
static int encode_until_done(const tok_tokenizer *tokenizer, const char *text)
{
    int failures = 0;
    for (zhen_status status = ZHEN_ERROR_MEMORY; status; failures++) {
        tok_source source = {0};
        fail_allocation(failures);
        status = tok_encode(tokenizer, text, strlen(text), &source, &error);
        fail_no_allocation();
        if (status) {
            ck_assert_int_eq(status, ZHEN_ERROR_MEMORY);
            ck_assert(!tok_encode(tokenizer, text, strlen(text), &source, &error));
        }
        ck_assert_uint_gt(source.count, 20);
        tok_source_free(&source);
    }
    return failures;
}

START_TEST(encoding_fails_cleanly)
{
    static const char text[] =
        ">>eng<<一二三四五六七八九十，他们说这是一个很长的句子。Hello, world!";
    tok_tokenizer *tokenizer;
    ck_assert(!tok_open(directories[_i], &limits, &tokenizer, &error));
    ck_assert_int_gt(encode_until_done(tokenizer, text), 5);
    tok_close(tokenizer);
}
END_TEST

START_TEST(segmentation_fails_cleanly)
{
    static const char text[] = "aaa bbb 你好 the other people of the world and their governments";
    spm_model *model;
    const char *path = fixture_path(fixture_variants[_i], ".spm");
    ck_assert(!spm_open(path, SPM_TO_SEGMENT, &model, &error));
    for (zhen_status status = ZHEN_ERROR_MEMORY, count = 0; status; count++) {
        spm_encoding encoding = {0};
        fail_allocation(count);
        status = spm_encode(model, text, sizeof text - 1, &encoding, &error);
        fail_no_allocation();
        ck_assert(!status || status == ZHEN_ERROR_MEMORY);
        ck_assert(!spm_encode(model, text, sizeof text - 1, &encoding, &error));
        spm_encoding_free(&encoding);
    }
    spm_close(model);
}
END_TEST

START_TEST(decoding_fails_cleanly_and_restores_the_text)
{
    enum { COUNT = 300 };
    int32_t ids[COUNT];
    for (int i = 0; i < COUNT; i++)
        ids[i] = i + 2;
    tok_tokenizer *tokenizer;
    ck_assert(!tok_open(directories[_i], &limits, &tokenizer, &error));
    int failures = 0;
    for (zhen_status status = ZHEN_ERROR_MEMORY; status; failures++) {
        base_buffer text = {0};
        ck_assert(base_buffer_append_string(&text, "abc"));
        fail_allocation(failures);
        status = tok_decode(tokenizer, ids, COUNT, &text, NULL, &error);
        fail_no_allocation();
        if (status)
            ck_assert_str_eq(text.data, "abc");
        base_buffer_free(&text);
    }
    ck_assert_int_gt(failures, 3);
    tok_close(tokenizer);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("memory");
    tcase_set_timeout(tests, 0);
    tcase_add_loop_test(tests, opening_fails_cleanly, 0, 2);
    tcase_add_loop_test(tests, encoding_fails_cleanly, 0, 2);
    tcase_add_loop_test(tests, segmentation_fails_cleanly, 0, fixture_variant_count);
    tcase_add_loop_test(tests, decoding_fails_cleanly_and_restores_the_text, 0, 2);
    return run_group("tokenizer_memory", tests);
}
