/* Every allocation of reading, projecting and writing each format fails once, and nothing is lost.
 */
#include "document/mock.h"
#include "document/samples.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

/* Linked with --wrap: allocations of the code under test come here first; those of the libraries
 * that parse do not. */
void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
char *__real_strdup(const char *text);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *memory, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
char *__wrap_strdup(const char *text);

static long allocations, failing = -1; /* the allocation that fails; -1: none */

static bool fails(void)
{
    return allocations++ == failing;
}

void *__wrap_malloc(size_t size)
{
    return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return fails() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *memory, size_t size)
{
    return fails() ? NULL : __real_realloc(memory, size);
}

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    return fails() ? NULL : __real_aligned_alloc(alignment, size);
}

char *__wrap_strdup(const char *text)
{
    return fails() ? NULL : __real_strdup(text);
}

/* A translation without links: the text with a letter before it. */
static zhen_status set_all(zhen_document *document, zhen_error *error)
{
    char text[4096] = "x";
    zhen_status status = ZHEN_OK;
    for (size_t i = 0; !status && i < zhen_document_count(document); i++) {
        zhen_text source = zhen_document_text(document, i);
        size_t length = source.length < sizeof text - 1 ? source.length : sizeof text - 1;
        memcpy(text + 1, source.bytes, length);
        zhen_translation translation = {.text = text, .length = length + 1};
        status = zhen_document_set(document, i, &translation, error);
    }
    return status;
}

static zhen_status translate(zhen_reader *reader, zhen_error *error)
{
    for (;;) {
        zhen_document *document;
        zhen_text output;
        zhen_status status = zhen_reader_next(reader, false, &document, error);
        if (status || !document)
            return status;
        status = set_all(document, error);
        if (!status)
            status = zhen_document_render(document, &output, error);
        zhen_document_free(document);
        if (status)
            return status;
    }
}

static zhen_status run(const zhen_document_options *options, const char *bytes, size_t size,
                       zhen_error *error)
{
    zhen_reader *reader;
    zhen_status status = zhen_reader_create(options, &reader, error);
    if (status)
        return status;
    status = zhen_reader_feed(reader, bytes, size, error);
    if (!status)
        status = zhen_reader_finish(reader, error);
    if (!status)
        status = translate(reader, error);
    zhen_reader_free(reader);
    return status;
}

START_TEST(each_allocation_may_fail)
{
    const sample *s = sample_at(_i);
    size_t size;
    char *bytes = sample_read(s, &size);
    zhen_document_options options;
    zhen_document_options_init(&options, s->format);
    options.name = s->name;
    /* Every allocation of the beginning, then every few: documents repeat themselves. */
    long step = 1;
    for (long at = 0;; at += step) {
        zhen_error error = {0};
        allocations = 0;
        failing = at;
        zhen_status status = run(&options, bytes, size, &error);
        failing = -1;
        if (allocations <= at) {
            ck_assert_int_eq(status, ZHEN_OK);
            break;
        }
        ck_assert_int_eq(status, ZHEN_ERROR_MEMORY);
        ck_assert_str_eq(error.message, "out of memory");
        step = at < 300 ? 1 : 7;
    }
    free(bytes);
}
END_TEST

int main(void)
{
    int samples = samples_list();
    Suite *suite = suite_create("document/memory");
    TCase *group = tcase_create("memory");
    tcase_set_timeout(group, 0);
    tcase_add_loop_test(group, each_allocation_may_fail, 0, samples);
    suite_add_tcase(suite, group);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
