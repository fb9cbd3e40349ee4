/* Every allocation of reading, projecting and writing each format fails once, and nothing is lost.
 */
#include "document/mock.h"
#include "document/samples.h"
#include "support/allocations.h"
#include "support/suite.h"

#include <stdlib.h>
#include <string.h>

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
    options.json_path = s->format == ZHEN_FORMAT_JSON ? "$, none" : NULL;
    options.columns = strcmp(s->name, "table.csv") == 0 ? "none,名" : NULL;
    /* Every allocation of the beginning, then every few: documents repeat themselves. */
    long step = 1;
    for (long at = 0;; at += step) {
        zhen_error error = {0};
        fail_allocation(at);
        zhen_status status = run(&options, bytes, size, &error);
        fail_no_allocation();
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
    TCase *group = tcase_create("memory");
    tcase_set_timeout(group, 0);
    tcase_add_loop_test(group, each_allocation_may_fail, 0, samples);
    return run_group("document/memory", group);
}
