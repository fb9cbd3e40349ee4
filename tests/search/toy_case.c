#include "search/toy_case.h"

#include "search/toy_network.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

void toy_options(search_options *options)
{
    *options = (search_options){.beams = 1,
                                .returns = 1,
                                .length_penalty = 1.0,
                                .max_new_tokens = 20,
                                .repetition_penalty = 1.0,
                                .forced_eos_id = -1,
                                .forced_bos_id = -1,
                                .scores = true,
                                .start_id = TOY_PAD,
                                .eos_id = TOY_EOS,
                                .max_positions = TOY_POSITIONS};
}

/* Reads the whole numbers of a line, one space between two. */
static size_t read_ids(const char *text, int32_t *ids)
{
    size_t count = 0;
    char *end;
    for (long id = strtol(text, &end, 10); end != text; id = strtol(text, &end, 10)) {
        ck_assert_uint_lt(count, TOY_TOKENS);
        ids[count++] = (int32_t)id;
        text = end;
    }
    return count;
}

/* "4;7,9": words apart by semicolons, their tokens by commas. */
static void read_words(toy_case *out, const char *text)
{
    int32_t *ids = out->word_ids;
    size_t count = 0;
    while (*text) {
        ck_assert_uint_lt(count, TOY_WORDS);
        mdl_bad_word *word = &out->words[count++];
        *word = (mdl_bad_word){.ids = ids};
        do {
            char *end;
            *ids++ = (int32_t)strtol(text, &end, 10);
            word->count++;
            text = end;
        } while (*text == ',' && text++);
        if (*text == ';')
            text++;
    }
    out->options.bad_words = out->words;
    out->options.bad_word_count = count;
}

static zhen_early_stopping early_stopping(const char *value)
{
    if (strcmp(value, "never") == 0)
        return ZHEN_EARLY_STOPPING_NEVER;
    return strcmp(value, "true") == 0 ? ZHEN_EARLY_STOPPING_TRUE : ZHEN_EARLY_STOPPING_FALSE;
}

static void read_option(toy_case *out, const char *name, const char *value)
{
    search_options *options = &out->options;
    size_t number = (size_t)strtoul(value, NULL, 10);
    if (strcmp(name, "beams") == 0)
        options->beams = number;
    else if (strcmp(name, "returns") == 0)
        options->returns = number;
    else if (strcmp(name, "length_penalty") == 0)
        options->length_penalty = strtod(value, NULL);
    else if (strcmp(name, "early_stopping") == 0)
        options->early_stopping = early_stopping(value);
    else if (strcmp(name, "min_new_tokens") == 0)
        options->min_new_tokens = number;
    else if (strcmp(name, "max_new_tokens") == 0)
        options->max_new_tokens = number;
    else if (strcmp(name, "no_repeat_ngram") == 0)
        options->no_repeat_ngram = number;
    else if (strcmp(name, "repetition_penalty") == 0)
        options->repetition_penalty = strtod(value, NULL);
    else if (strcmp(name, "renormalize_logits") == 0)
        options->renormalize_logits = strcmp(value, "true") == 0;
    else if (strcmp(name, "forced_eos") == 0)
        options->forced_eos_id = (int32_t)number;
    else if (strcmp(name, "forced_bos") == 0)
        options->forced_bos_id = (int32_t)number;
    else if (strcmp(name, "bad_words") == 0)
        read_words(out, value);
    else if (strcmp(name, "model") == 0)
        (void)snprintf(out->model, sizeof out->model, "%s", value);
    else
        ck_abort_msg("unknown option %s", name);
}

static void read_options(toy_case *out, char *line)
{
    char *rest;
    for (char *word = strtok_r(line, " \n", &rest); word; word = strtok_r(NULL, " \n", &rest)) {
        char *value = strchr(word, '=');
        ck_assert_ptr_nonnull(value);
        *value = '\0';
        read_option(out, word, value + 1);
    }
}

static void read_expected(toy_source *source, const char *text)
{
    ck_assert_uint_lt(source->expected_count, TOY_RETURNS);
    toy_expected *expected = &source->expected[source->expected_count++];
    char *end;
    expected->score = strtod(text, &end);
    expected->complete = strtol(end, &end, 10) != 0;
    expected->count = read_ids(end, expected->tokens);
}

bool toy_case_read(FILE *file, toy_case *out)
{
    static const char case_word[] = "case ";
    static const char source_word[] = "source ";
    static const char hypothesis_word[] = "hypothesis ";
    char line[sizeof out->line];
    *out = (toy_case){0};
    toy_options(&out->options);
    for (;;) {
        long place = ftell(file);
        if (!fgets(line, sizeof line, file))
            return out->source_count > 0;
        if (strncmp(line, case_word, sizeof case_word - 1) == 0) {
            if (out->source_count > 0) {
                ck_assert_int_eq(fseek(file, place, SEEK_SET), 0);
                return true;
            }
            memcpy(out->line, line, sizeof line);
            read_options(out, line + sizeof case_word - 1);
        } else if (strncmp(line, source_word, sizeof source_word - 1) == 0) {
            ck_assert_uint_lt(out->source_count, TOY_SOURCES);
            toy_source *source = &out->sources[out->source_count++];
            source->count = read_ids(line + sizeof source_word - 1, source->ids);
        } else if (strncmp(line, hypothesis_word, sizeof hypothesis_word - 1) == 0) {
            ck_assert_uint_gt(out->source_count, 0);
            read_expected(&out->sources[out->source_count - 1], line + sizeof hypothesis_word - 1);
        }
    }
}
