/* The program as its users meet it. Nothing here depends on what the model says: it will change. */
#include "process.h"
#include "support/folder.h"
#include "support/suite.h"

#include <cjson/cJSON.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static bool has_latin(const char *text)
{
    return strpbrk(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") != NULL;
}

START_TEST(arguments_give_a_line_each)
{
    char *both = process_translate("", ARGUMENTS("我爱水课。", "你好！"));
    char *one = process_translate("", ARGUMENTS("我爱水课。"));
    ck_assert(has_latin(one));
    ck_assert_int_eq(strncmp(both, one, strlen(one)), 0);
    ck_assert(has_latin(both + strlen(one)));
    ck_assert_int_eq(both[strlen(both) - 1], '\n');
    free(both);
    free(one);
}
END_TEST

START_TEST(arguments_are_paragraphs_of_their_own)
{
    char *plain = process_translate("", ARGUMENTS("今天天气很好。", "plain", "你好！"));
    char *joined =
        process_translate("", ARGUMENTS("--paragraphs", "今天天气\n很好。", "plain", "你好！"));
    ck_assert_str_eq(plain, joined);
    free(plain);
    free(joined);
}
END_TEST

START_TEST(filter_gives_what_arguments_give)
{
    char *argument = process_translate("", ARGUMENTS("今天天气很好。"));
    char *filtered = process_translate("今天天气很好。\n", NO_ARGUMENTS);
    ck_assert_str_eq(argument, filtered);
    free(argument);
    free(filtered);
}
END_TEST

START_TEST(text_without_han_passes_unchanged)
{
    static const char text[] = "Hello, world.\n\n  \t\nカタカナ\r\n 3.14  x \nno newline";
    char *out = process_translate(text, NO_ARGUMENTS);
    ck_assert_str_eq(out, text);
    free(out);
}
END_TEST

START_TEST(line_structure_is_kept)
{
    char *out =
        process_translate("\xEF\xBB\xBF  你好。\r\n\r\n\t我爱你。 \r\nplain\r\n你好", NO_ARGUMENTS);
    char *line[5], *rest = out;
    for (int i = 0; i < 5; i++)
        line[i] = strsep(&rest, "\n");
    ck_assert_ptr_null(rest);
    ck_assert_int_eq(strncmp(line[0], "\xEF\xBB\xBF  ", 5), 0);
    ck_assert_int_eq(line[0][strlen(line[0]) - 1], '\r');
    ck_assert_str_eq(line[1], "\r");
    ck_assert_int_eq(line[2][0], '\t');
    ck_assert_str_eq(line[2] + strlen(line[2]) - 2, " \r");
    ck_assert_str_eq(line[3], "plain\r");
    ck_assert(has_latin(line[4]));
    free(out);
}
END_TEST

START_TEST(empty_input_gives_empty_output)
{
    char *out = process_translate("", NO_ARGUMENTS);
    ck_assert_str_eq(out, "");
    free(out);
}
END_TEST

START_TEST(junk_gives_a_line_for_each_line)
{
    char junk[4096];
    unsigned state = 1, lines = 0;
    for (size_t i = 0; i < sizeof junk; i++) {
        state = state * 1664525u + 1013904223u;
        junk[i] = (char)(state >> 24);
        lines += junk[i] == '\n';
    }
    result outcome = process_run(junk, sizeof junk, ARGUMENTS("--greedy"));
    ck_assert_int_eq(outcome.code, 0);
    size_t got = 0;
    for (size_t i = 0; i < outcome.output.length; i++)
        got += outcome.output.data[i] == '\n';
    ck_assert_uint_eq(got, lines);
    outcome_free(&outcome);
}
END_TEST

/* Hangs if a line is held back. */
static void expect_answers(const char *line, char *const arguments[])
{
    program process = process_start(arguments);
    base_buffer output = {0};
    for (size_t i = 1; i <= 3; i++) {
        process_write(&process, line, strlen(line));
        process_read_lines(&process, &output, i);
    }
    result outcome = process_finish(&process);
    ck_assert_int_eq(outcome.code, 0);
    ck_assert_str_eq(outcome.output.data, "");
    outcome_free(&outcome);
    base_buffer_free(&output);
}

START_TEST(interactive_input_is_answered_at_once)
{
    expect_answers("你好。\n", ARGUMENTS("--greedy"));
    expect_answers("你好。\n", ARGUMENTS("--greedy", "--json"));
    expect_answers("\xC4\xE3\xBA\xC3\xA1\xA3\n", ARGUMENTS("--greedy", "--json"));
}
END_TEST

START_TEST(order_is_kept_over_many_lines)
{
    base_buffer input = {0}, expected = {0};
    char *han = process_translate("", ARGUMENTS("你好。"));
    for (int i = 0; i < 700; i++) {
        char line[32];
        snprintf(line, sizeof line, "line %d\n", i);
        base_buffer_append_string(&input, i % 50 ? line : "你好。\n");
        base_buffer_append_string(&expected, i % 50 ? line : han);
    }
    char *out = process_translate(input.data, NO_ARGUMENTS);
    ck_assert_str_eq(out, expected.data);
    free(out);
    free(han);
    base_buffer_free(&input);
    base_buffer_free(&expected);
}
END_TEST

START_TEST(huge_line_stays_one_line)
{
    base_buffer input = {0};
    while (input.length < 2500000)
        base_buffer_append_string(&input, "some words without any Chinese in them. ");
    base_buffer_append_string(&input, "\nend\n");
    char *out = process_translate(input.data, NO_ARGUMENTS);
    char *newline = strchr(out, '\n');
    ck_assert_ptr_nonnull(newline);
    ck_assert_str_eq(newline, "\nend\n");
    ck_assert_uint_ge((size_t)(newline - out), 2500000);
    free(out);
    base_buffer_free(&input);
}
END_TEST

static const cJSON *member(const cJSON *object, const char *name)
{
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(object, name);
    ck_assert_msg(value != NULL, "no member %s", name);
    return value;
}

START_TEST(json_describes_each_line)
{
    char *out = process_translate("他说：\"你好\\。\"我走了。\n\n", ARGUMENTS("--json", "-n", "2"));
    char *second = strchr(out, '\n') + 1;
    cJSON *object = cJSON_Parse(out);
    ck_assert_ptr_nonnull(object);
    ck_assert_str_eq(member(object, "source")->valuestring, "他说：\"你好\\。\"我走了。");
    const char *translation = member(object, "translation")->valuestring;
    ck_assert(member(object, "score")->valuedouble < 0);
    const cJSON *alternatives = member(object, "alternatives");
    ck_assert_int_eq(cJSON_GetArraySize(alternatives), 2);
    ck_assert_str_eq(member(alternatives->child, "translation")->valuestring, translation);
    const cJSON *sentences = member(object, "sentences");
    ck_assert_int_ge(cJSON_GetArraySize(sentences), 1);
    const cJSON *span = member(sentences->child, "translation_span");
    const char *sentence = member(sentences->child, "translation")->valuestring;
    size_t begin = (size_t)span->child->valuedouble;
    ck_assert_int_eq(strncmp(translation + begin, sentence, strlen(sentence)), 0);
    cJSON_Delete(object);
    object = cJSON_Parse(second);
    ck_assert_str_eq(member(object, "translation")->valuestring, "");
    cJSON_Delete(object);
    free(out);
}
END_TEST

START_TEST(json_is_valid_whatever_the_bytes)
{
    static const char input[] = "\x01\xFF\xED\xA0\x80\"\\\t\n";
    result outcome = process_run(input, sizeof input - 1, ARGUMENTS("--json", "--encoding=UTF-8"));
    ck_assert_int_eq(outcome.code, 0);
    cJSON *object = cJSON_Parse(outcome.output.data);
    ck_assert_ptr_nonnull(object);
    ck_assert_ptr_nonnull(strstr(member(object, "source")->valuestring, "\xEF\xBF\xBD"));
    cJSON_Delete(object);
    outcome_free(&outcome);
}
END_TEST

START_TEST(nbest_and_bilingual_are_tables)
{
    char *best = process_translate("\n你好。\n", ARGUMENTS("-n", "3"));
    int line, rank, at;
    double score, last = 0;
    char *row = best;
    ck_assert_int_eq(sscanf(row, "%d\t%d\t%lf\t%n", &line, &rank, &score, &at), 3);
    row = strchr(row, '\n') + 1; /* the blank line has one row */
    for (int i = 1; i <= 3; i++) {
        ck_assert_int_eq(sscanf(row, "%d\t%d\t%lf\t%n", &line, &rank, &score, &at), 3);
        ck_assert_int_eq(line, 2);
        ck_assert_int_eq(rank, i);
        ck_assert(i == 1 || score <= last);
        last = score;
        row = strchr(row, '\n') + 1;
    }
    ck_assert_str_eq(row, "");
    free(best);
    char *pairs = process_translate("a\tb\n", ARGUMENTS("--bilingual"));
    ck_assert_str_eq(pairs, "a b\ta b\n");
    free(pairs);
    pairs = process_translate("a\r\n\r\n\r", ARGUMENTS("--bilingual"));
    ck_assert_str_eq(pairs, "a\ta\n\t\n \t \n");
    free(pairs);
}
END_TEST

static void expect_same_records(const char *bytes, size_t length, const char *encoding)
{
    char option[64];
    snprintf(option, sizeof option, "--encoding=%s", encoding);
    static const char *const styles[] = {"--json", "--bilingual", "--nbest=2"};
    for (size_t i = 0; i < sizeof styles / sizeof *styles; i++) {
        char *style = (char *)styles[i];
        char *expected = process_translate("上海很大。我爱你。\n你好。", ARGUMENTS(style));
        result told = process_run(bytes, length, ARGUMENTS(style, option));
        ck_assert_str_eq(told.output.data, expected);
        ck_assert_str_eq(told.error.data, "");
        result guessed = process_run(bytes, length, ARGUMENTS(style));
        ck_assert_str_eq(guessed.output.data, expected);
        ck_assert_ptr_nonnull(strstr(guessed.error.data, "standard input: read as "));
        outcome_free(&told);
        outcome_free(&guessed);
        free(expected);
    }
}

/* In UTF-16, half of the first character is a newline. */
START_TEST(records_are_of_decoded_lines)
{
    static const char gb18030[] =
        "\xC9\xCF\xBA\xA3\xBA\xDC\xB4\xF3\xA1\xA3\xCE\xD2\xB0\xAE\xC4\xE3\xA1"
        "\xA3\n\xC4\xE3\xBA\xC3\xA1\xA3";
    static const char utf16[] =
        "\x0A\x4E\x77\x6D\x88\x5F\x27\x59\x02\x30\x11\x62\x31\x72\x60\x4F\x02"
        "\x30\x0A\x00\x60\x4F\x7D\x59\x02\x30";
    expect_same_records(gb18030, sizeof gb18030 - 1, "GB18030");
    expect_same_records(utf16, sizeof utf16 - 1, "UTF-16LE");
}
END_TEST

START_TEST(arguments_are_utf8)
{
    char *plain = process_translate("", ARGUMENTS("--json", "你好。"));
    char *other = process_translate("", ARGUMENTS("--json", "--encoding=utf-8", "你好。"));
    ck_assert_str_eq(plain, other);
    free(other);
    free(plain);
    process_fail(2, "arguments are UTF-8", ARGUMENTS("--encoding=GB18030", "你好。"));
}
END_TEST

START_TEST(records_that_fail_are_failures)
{
    static const char *const styles[] = {"--json", "--bilingual", "--nbest=2"};
    for (size_t i = 0; i < sizeof styles / sizeof *styles; i++)
        process_fail(1, "standard input: encoding no-such is not known",
                     ARGUMENTS("--encoding=no-such", (char *)styles[i]));
    int code = system("\"$ZHEN_PROGRAM\" --json < / 2> /dev/null");
    ck_assert(WIFEXITED(code) && WEXITSTATUS(code) == 1);
}
END_TEST

START_TEST(closed_pipe_ends_quietly)
{
    program process = process_start(ARGUMENTS("--greedy"));
    close(process.output);
    process.output = -1;
    process_write(&process, "plain\n", 6);
    result outcome = process_finish(&process);
    ck_assert_int_eq(outcome.signal, SIGPIPE);
    ck_assert_str_eq(outcome.error.data, "");
    outcome_free(&outcome);
}
END_TEST

/* In the program, the first file it opened had been taken for the closed stream, and waited for. */
START_TEST(closed_streams_are_errors)
{
    ck_assert_int_eq(system("\"$ZHEN_PROGRAM\" --greedy 2>&1 <&- |"
                            " grep -q '^zhen: standard input: Bad file descriptor$'"),
                     0);
    ck_assert_int_eq(system("\"$ZHEN_PROGRAM\" --greedy plain 2>&1 >&- |"
                            " grep -q '^zhen: standard output: Bad file descriptor$'"),
                     0);
    int code = system("\"$ZHEN_PROGRAM\" --greedy <&- 2>&-");
    ck_assert(WIFEXITED(code) && WEXITSTATUS(code) == 1);
}
END_TEST

START_TEST(interrupt_keeps_what_was_finished)
{
    program process = process_start(NO_ARGUMENTS);
    base_buffer output = {0};
    process_write(&process, "done\n", 5);
    process_read_lines(&process, &output, 1);
    kill(process.id, SIGINT);
    result outcome = process_finish(&process);
    ck_assert_int_eq(outcome.signal, SIGINT);
    ck_assert_str_eq(output.data, "done\n");
    ck_assert_str_eq(outcome.error.data, "");
    outcome_free(&outcome);
    base_buffer_free(&output);
}
END_TEST

START_TEST(wrong_command_lines_are_refused)
{
    process_fail(2, "--beam: '0' is not a whole number", ARGUMENTS("--beam=0", "x"));
    process_fail(2, "--beam: '4x'", ARGUMENTS("-b", "4x", "x"));
    process_fail(2, "--threads: '-1'", ARGUMENTS("-t", "-1", "x"));
    process_fail(2, "--length-penalty: 'nan'", ARGUMENTS("--length-penalty=nan", "x"));
    process_fail(2, "--nbest=4 needs a beam", ARGUMENTS("-b2", "-n4", "x"));
    process_fail(2, "cannot be combined", ARGUMENTS("--json", "--bilingual", "x"));
    process_fail(2, "no files given", ARGUMENTS("-i"));
    process_fail(2, "unrecognized option '--frobnicate'", ARGUMENTS("--frobnicate"));
    process_fail(2, "usage: zhen quantize", ARGUMENTS("quantize", "x"));
    process_fail(2, "would both become", ARGUMENTS("-o", "d", "a/x.txt", "b/x.txt"));
    process_fail(2, "--column is for csv and tsv", ARGUMENTS("--column=1"));
    process_fail(2, "--column is for csv and tsv",
                 ARGUMENTS("--column=1", "-f", "json", "-i", "x"));
    process_fail(2, "--json-path is for json and jsonl", ARGUMENTS("--json-path=a", "x"));
    process_fail(2, "--paragraphs is for text", ARGUMENTS("--paragraphs", "-f", "srt"));
}
END_TEST

START_TEST(messages_show_control_characters)
{
    process_fail(1, "no\\x1b[2J\\x0a\\xc2\\x9b\\x7f\xc2\xa0: ",
                 ARGUMENTS("-i", "no\x1b[2J\n\xc2\x9b\x7f\xc2\xa0"));
}
END_TEST

START_TEST(bad_models_are_refused)
{
    process_fail(3, "missing-directory", ARGUMENTS("-m", "missing-directory", "你好"));
    process_fail(3, "config.json", ARGUMENTS("-m", folder_path(""), "你好"));
    process_fail(3, "config.json", ARGUMENTS("info", folder_path("")));
    process_fail(3, "config.json", ARGUMENTS("quantize", folder_path(""), folder_path("out")));
}
END_TEST

START_TEST(help_fits_a_screen_and_version_is_short)
{
    char *help = process_translate("", ARGUMENTS("--help"));
    size_t lines = 0, column = 0;
    for (char *c = help; *c; c++) {
        column = *c == '\n' ? 0 : column + ((*c & 0xC0) != 0x80);
        lines += *c == '\n';
        ck_assert_uint_le(column, 100);
    }
    ck_assert_uint_le(lines, 40);
    ck_assert_ptr_nonnull(strstr(help, "Examples:"));
    free(help);
    char *version = process_translate("", ARGUMENTS("-V"));
    ck_assert_int_eq(strncmp(version, "zhen ", 5), 0);
    free(version);
}
END_TEST

START_TEST(info_describes_the_default_model)
{
    char *info = process_translate("", ARGUMENTS("info"));
    static const char *const words[] = {"parameters", "encoder", "vocabulary", "licence", "int8"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        ck_assert_msg(strstr(info, words[i]) != NULL, "no '%s' in: %s", words[i], info);
    free(info);
}
END_TEST

START_TEST(verbose_sums_up_on_standard_error)
{
    result outcome = process_run("你好。\n", strlen("你好。\n"), ARGUMENTS("-v"));
    ck_assert_int_eq(outcome.code, 0);
    ck_assert_ptr_nonnull(strstr(outcome.error.data, "zhen: 1 texts, 1 sentences"));
    outcome_free(&outcome);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        arguments_give_a_line_each,
        arguments_are_paragraphs_of_their_own,
        filter_gives_what_arguments_give,
        text_without_han_passes_unchanged,
        line_structure_is_kept,
        empty_input_gives_empty_output,
        junk_gives_a_line_for_each_line,
        interactive_input_is_answered_at_once,
        order_is_kept_over_many_lines,
        huge_line_stays_one_line,
        json_describes_each_line,
        json_is_valid_whatever_the_bytes,
        nbest_and_bilingual_are_tables,
        records_are_of_decoded_lines,
        arguments_are_utf8,
        records_that_fail_are_failures,
        closed_pipe_ends_quietly,
        closed_streams_are_errors,
        interrupt_keeps_what_was_finished,
        wrong_command_lines_are_refused,
        messages_show_control_characters,
        bad_models_are_refused,
        help_fits_a_screen_and_version_is_short,
        info_describes_the_default_model,
        verbose_sums_up_on_standard_error,
    };
    return run_suite_with("cli", tests, sizeof tests / sizeof *tests, folder_make, folder_remove);
}
