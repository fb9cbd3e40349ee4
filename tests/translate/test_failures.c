/* Every allocation on the way fails once: the call must say so, leak nothing and leave the
 * translator usable. Run under a leak checker to see the leaks. Threads that cannot be started are
 * no failure. */
#include "support/allocations.h"
#include "support/suite.h"
#include "support/threads.h"
#include "zhen.h"

#include <string.h>

/* A short way through everything: repair, two lines, a cut, alternatives, links. */
static zhen_status translate(zhen_translator *translator, zhen_translations **all,
                             zhen_error *error)
{
    static const char bytes[] = "好\xFF。ok. 你好。\n再见";
    const zhen_text texts[] = {{bytes, sizeof bytes - 1}, {"", 0}};
    return zhen_translate(translator, texts, 2, all, error);
}

static zhen_status create(const zhen_model *model, unsigned threads, zhen_translator **translator,
                          zhen_error *error)
{
    zhen_options options;
    zhen_options_init(&options, model);
    options.threads = threads;
    options.beam = options.nbest = 2;
    options.alignment = true;
    options.max_new_tokens = 4;
    return zhen_translator_create(model, &options, translator, error);
}

/* Lets the first, second, third ... allocation fail until the call succeeds. */
static void fail_each(const zhen_model *model, unsigned threads)
{
    zhen_status status = ZHEN_ERROR_MEMORY;
    size_t failures = 0;
    for (long failing = 0; status; failing += 1 + failing / 8) {
        zhen_translator *translator;
        zhen_translations *all = NULL;
        zhen_error error = {ZHEN_OK, ""};
        fail_allocation(failing);
        status = create(model, threads, &translator, &error);
        bool created = !status;
        if (created)
            status = translate(translator, &all, &error);
        bool failed = allocations > failing;
        fail_no_allocation();
        ck_assert(status == ZHEN_OK || (status == ZHEN_ERROR_MEMORY && failed));
        failures += status == ZHEN_ERROR_MEMORY;
        ck_assert((status == ZHEN_OK) == (all != NULL));
        ck_assert(status == ZHEN_OK || strcmp(error.message, "out of memory") == 0);
        zhen_translations_free(all);
        if (created && status) {
            ck_assert(translate(translator, &all, &error) == ZHEN_OK);
            zhen_translations_free(all);
        }
        zhen_translator_free(created ? translator : NULL);
    }
    ck_assert_uint_gt(failures, 10);
}

static zhen_model *open_model(void)
{
    zhen_model *model;
    zhen_error error;
    ck_assert_msg(zhen_model_open("models/zh-en", &model, &error) == ZHEN_OK, "%s", error.message);
    return model;
}

START_TEST(survives_failed_allocations)
{
    zhen_model *model = open_model();
    fail_each(model, 1);
    fail_each(model, 2);
    zhen_model_close(model);
}
END_TEST

START_TEST(does_without_threads)
{
    zhen_model *model = open_model();
    zhen_translations *all[2];
    for (int i = 0; i < 2; i++) {
        zhen_translator *translator;
        without_threads = i > 0;
        ck_assert(create(model, 3, &translator, NULL) == ZHEN_OK);
        ck_assert(translate(translator, &all[i], NULL) == ZHEN_OK);
        zhen_translator_free(translator);
    }
    without_threads = false;
    ck_assert_str_eq(zhen_translations_get(all[0], 0)->text,
                     zhen_translations_get(all[1], 0)->text);
    zhen_translations_free(all[0]);
    zhen_translations_free(all[1]);
    zhen_model_close(model);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {survives_failed_allocations, does_without_threads};
    return run_suite("translate_failures", tests, sizeof tests / sizeof *tests);
}
