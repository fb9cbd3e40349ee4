/* Translates lines from stdin with the settings of the model alone, without our guard: for
 * parity.py. Usage: translate_dump MODEL BEAM; writes "sentences TAB translation" for each line. */
#include "zhen.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int fail(const zhen_error *error)
{
    fprintf(stderr, "translate_dump: %s\n", error->message);
    return EXIT_FAILURE;
}

static bool dump(zhen_translator *translator, const zhen_text *text, zhen_error *error)
{
    zhen_translations *all;
    if (zhen_translate(translator, text, 1, &all, error))
        return false;
    const zhen_translation *t = zhen_translations_get(all, 0);
    printf("%zu\t%s\n", t->sentence_count, t->text);
    zhen_translations_free(all);
    return true;
}

int main(int count, char **arguments)
{
    zhen_error error = {ZHEN_OK, "usage: translate_dump MODEL BEAM"};
    zhen_model *model;
    zhen_translator *translator;
    if (count != 3 || zhen_model_open(arguments[1], &model, &error))
        return fail(&error);
    zhen_options options;
    zhen_options_init(&options, model);
    options.beam = (unsigned)strtoul(arguments[2], NULL, 10);
    options.guard = false;
    if (zhen_translator_create(model, &options, &translator, &error))
        return fail(&error);
    char *line = NULL;
    size_t capacity = 0;
    ssize_t length;
    bool done = true;
    while (done && (length = getline(&line, &capacity, stdin)) > 0) {
        zhen_text text = {line, (size_t)length - (line[length - 1] == '\n')};
        done = dump(translator, &text, &error);
    }
    free(line);
    zhen_translator_free(translator);
    zhen_model_close(model);
    return done ? EXIT_SUCCESS : fail(&error);
}
