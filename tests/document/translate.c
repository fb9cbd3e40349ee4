#include "document/translate.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

void expect_output(const zhen_document_options *options, mock_kind kind, const char *text,
                   const char *expected)
{
    zhen_error error = {0};
    size_t size;
    char *out = mock_run(options, text, strlen(text), 64, kind, &size, &error);
    ck_assert_msg(out != NULL, "%s", error.message);
    ck_assert_str_eq(out, expected);
    ck_assert_uint_eq(size, strlen(expected));
    free(out);
}

void expect_gloss(const zhen_document_options *options, const char *text, const char *expected)
{
    expect_output(options, MOCK_GLOSS, text, expected);
}

void expect_failure(const zhen_document_options *options, const char *text, const char *message)
{
    zhen_error error = {0};
    size_t size;
    char *out = mock_run(options, text, strlen(text), 64, MOCK_GLOSS, &size, &error);
    ck_assert_msg(out == NULL, "no failure: %s", out);
    ck_assert_str_eq(error.message, message);
    free(out);
}
