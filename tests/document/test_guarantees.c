/*
 * What documents promise for any translation at all: marks come out once, nest and are not emptied,
 * protected words survive, bytes outside the prose stay, and nothing crashes.
 */
#include "document/mock.h"
#include "document/samples.h"

#include "base/buffer.h"
#include "document/document.h"
#include "support/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static zhen_document_options options_of(const sample *s)
{
    zhen_document_options options;
    zhen_document_options_init(&options, s->format);
    options.name = s->name;
    options.paragraphs = strcmp(s->name, "wrapped.txt") == 0;
    return options;
}

START_TEST(identity_reproduces_every_byte)
{
    const sample *s = sample_at(_i);
    size_t size, out_size;
    char *bytes = sample_read(s, &size);
    zhen_document_options options = options_of(s);
    for (size_t step = 1 + size / 4000; step <= size; step = step * 7 + 1) {
        zhen_error error = {0};
        char *out = mock_run(&options, bytes, size, step, MOCK_IDENTITY, &out_size, &error);
        ck_assert_msg(out != NULL, "%s: %s", s->name, error.message);
        ck_assert_msg(out_size == size && memcmp(out, bytes, size) == 0,
                      "%s has changed:\n%s\nexpected:\n%.*s", s->name, out, (int)size, bytes);
        free(out);
    }
    free(bytes);
}
END_TEST

START_TEST(chunks_do_not_matter)
{
    const sample *s = sample_at(_i);
    size_t size, whole_size, out_size;
    char *bytes = sample_read(s, &size);
    zhen_document_options options = options_of(s);
    char *whole = mock_run(&options, bytes, size, size, MOCK_GLOSS, &whole_size, NULL);
    ck_assert(whole != NULL);
    for (options.chunk_bytes = 1; options.chunk_bytes < 100; options.chunk_bytes += 13) {
        char *out = mock_run(&options, bytes, size, 5, MOCK_GLOSS, &out_size, NULL);
        ck_assert(out != NULL);
        ck_assert_msg(out_size == whole_size && memcmp(out, whole, out_size) == 0,
                      "%s differs in chunks of %zu:\n%s\nexpected:\n%s", s->name,
                      options.chunk_bytes, out, whole);
        free(out);
    }
    free(whole);
    free(bytes);
}
END_TEST

/* The marks of a unit's result, read back: each must be there once, in nesting order, and elements
 * that held text must hold some. Works on units whose marks are written literally and differ. */
static const char *find_once(const doc_unit *unit, const doc_mark *mark)
{
    const char *first = memmem(unit->result.data, unit->result.length, mark->raw, mark->raw_length);
    ck_assert_msg(first != NULL, "%.*s is gone: %s", (int)mark->raw_length, mark->raw,
                  unit->result.data);
    return first;
}

static size_t count_in(const char *text, size_t length, const doc_mark *mark)
{
    size_t found = 0;
    for (const char *at = text, *end = text + length;
         (at = memmem(at, (size_t)(end - at), mark->raw, mark->raw_length)); at += mark->raw_length)
        found++;
    return found;
}

/* As often as among the marks, or as in the source, where it may stand unprotected as well. */
static void count_marks(const doc_unit *unit, const char *source)
{
    for (size_t i = 0; i < unit->mark_count; i++) {
        const doc_mark *mark = &unit->marks[i];
        if (mark->raw_length < 3 || (mark->flags & DOC_NESTED))
            continue; /* a * may also stand in the text, escaped */
        find_once(unit, mark);
        size_t expected = 0, found = count_in(unit->result.data, unit->result.length, mark);
        for (size_t j = 0; j < unit->mark_count; j++)
            if (!(unit->marks[j].flags & DOC_NESTED))
                expected += count_in(unit->marks[j].raw, unit->marks[j].raw_length, mark);
        size_t before = count_in(source + unit->raw.begin, unit->raw.end - unit->raw.begin, mark);
        ck_assert_msg(found == expected || found == before, "%.*s is there %zu times, not %zu: %s",
                      (int)mark->raw_length, mark->raw, found, expected, unit->result.data);
    }
}

/* Marks stand in the text in their order. */
static void check_places(const doc_unit *unit)
{
    size_t at = 0;
    for (size_t i = 0; i < unit->mark_count; i++) {
        ck_assert_uint_ge(unit->marks[i].place.begin, at);
        ck_assert_uint_ge(unit->marks[i].place.end, unit->marks[i].place.begin);
        at = unit->marks[i].place.end;
    }
    ck_assert_uint_ge(unit->length, at);
}

/* Every unit of every sample with every translator. */
START_TEST(marks_survive_any_translation)
{
    const sample *s = sample_at(_i);
    size_t size;
    char *bytes = sample_read(s, &size);
    zhen_document_options options = options_of(s);
    zhen_reader *reader;
    zhen_document *document;
    ck_assert_int_eq(zhen_reader_create(&options, &reader, NULL), ZHEN_OK);
    ck_assert_int_eq(zhen_reader_feed(reader, bytes, size, NULL), ZHEN_OK);
    ck_assert_int_eq(zhen_reader_finish(reader, NULL), ZHEN_OK);
    ck_assert_int_eq(zhen_reader_next(reader, false, &document, NULL), ZHEN_OK);
    ck_assert(document != NULL);
    ck_assert(zhen_document_count(document) > 0 || getenv("ZHEN_SAMPLES"));
    for (size_t u = 0; u < document->units.count; u++)
        check_places(&document->units.items[u]);
    for (mock_kind kind = MOCK_IDENTITY; kind < MOCK_KINDS; kind++) {
        mock_translate(document, kind);
        for (size_t u = 0; u < document->units.count; u++) {
            const doc_unit *unit = &document->units.items[u];
            if (unit->changed && kind != MOCK_GARBLED && kind != MOCK_RANDOM)
                count_marks(unit, document->source.data);
        }
        zhen_text output;
        ck_assert_int_eq(zhen_document_render(document, &output, NULL), ZHEN_OK);
    }
    zhen_document_free(document);
    zhen_reader_free(reader);
    free(bytes);
}
END_TEST

/* ---- Random paragraphs of HTML ----------------------------------------------------------------
 */

static void add_random_content(base_buffer *out, mock_random *random, size_t depth, size_t *id)
{
    static const char *const texts[] = {"水", "我爱", "。",    " ", "x",     "课程，",
                                        "3",  "\n",   "&amp;", "😀", "&nbsp;"};
    size_t count = 1 + mock_below(random, 5);
    for (size_t i = 0; i < count; i++) {
        char tag[32];
        if (depth < 4 && mock_below(random, 3) == 0) {
            size_t number = (*id)++;
            snprintf(tag, sizeof tag, "<b id=%zu>", number);
            base_buffer_append_string(out, tag);
            add_random_content(out, random, depth + 1, id);
            base_buffer_append_string(out, "</b>");
        } else if (mock_below(random, 8) == 0) {
            snprintf(tag, sizeof tag, "<img id=%zu>", (*id)++);
            base_buffer_append_string(out, tag);
        } else if (mock_below(random, 8) == 0) {
            snprintf(tag, sizeof tag, "<code>%zu</code>", (*id)++);
            base_buffer_append_string(out, tag);
        } else {
            base_buffer_append_string(out, texts[mock_below(random, sizeof texts / sizeof *texts)]);
        }
    }
}

/* Checks the tags of the output against those of the input: the same ids, each once; balanced; an
 * element that held text in the input holds some in the output. */
typedef struct element {
    bool seen, has_text;
    size_t parent;
} element;

enum { MOST_ELEMENTS = 2048 };

static void read_elements(const char *html, element elements[MOST_ELEMENTS])
{
    size_t open[64], depth = 0;
    for (const char *at = html; *at;) {
        size_t id;
        if (sscanf(at, "<b id=%zu>", &id) == 1 || sscanf(at, "<img id=%zu>", &id) == 1 ||
            sscanf(at, "<code>%zu</code>", &id) == 1) {
            ck_assert_uint_lt(id, MOST_ELEMENTS);
            ck_assert_msg(!elements[id].seen, "%zu is doubled: %s", id, html);
            elements[id].seen = true;
            elements[id].parent = depth ? open[depth - 1] + 1 : 0;
            if (at[1] == 'b')
                open[depth++] = id;
            if (at[1] == 'c')
                for (size_t i = 0; i < depth; i++)
                    elements[open[i]].has_text = true;
            at = strstr(at, at[1] == 'c' ? "</code>" : ">") + (at[1] == 'c' ? 7 : 1);
        } else if (strncmp(at, "</b>", 4) == 0) {
            ck_assert_msg(depth > 0, "unbalanced: %s", html);
            depth--;
            at += 4;
        } else if (*at == '<') {
            at = strchr(at, '>') + 1;
        } else {
            for (size_t i = 0; i < depth && *at != ' ' && *at != '\n'; i++)
                elements[open[i]].has_text = true;
            at++;
        }
    }
    ck_assert_uint_eq(depth, 0);
}

START_TEST(random_markup_keeps_its_shape)
{
    static element before[MOST_ELEMENTS], after[MOST_ELEMENTS];
    mock_random random = {(uint64_t)_i + 1};
    base_buffer html = {0};
    size_t ids = 0, size;
    base_buffer_append_string(&html, "<p>");
    for (int i = 0; i < 3; i++)
        add_random_content(&html, &random, 0, &ids);
    base_buffer_append_string(&html, "</p>");
    memset(before, 0, sizeof before);
    read_elements(html.data, before);
    zhen_document_options options;
    zhen_document_options_init(&options, ZHEN_FORMAT_HTML);
    for (mock_kind kind = MOCK_IDENTITY; kind < MOCK_KINDS; kind++) {
        char *out = mock_run(&options, html.data, html.length, html.length, kind, &size, NULL);
        ck_assert(out != NULL);
        memset(after, 0, sizeof after);
        read_elements(out, after);
        for (size_t i = 0; i < ids; i++) {
            ck_assert_msg(after[i].seen, "%zu is lost by %d: %s\nfrom %s", i, kind, out, html.data);
            ck_assert_msg(after[i].parent == before[i].parent, "%zu has moved by %d: %s\nfrom %s",
                          i, kind, out, html.data);
            ck_assert_msg(after[i].has_text || !before[i].has_text,
                          "%zu is empty by %d: %s\nfrom %s", i, kind, out, html.data);
        }
        if (kind == MOCK_IDENTITY)
            ck_assert_str_eq(out, html.data);
        free(out);
    }
    options.bilingual = ZHEN_BILINGUAL_TSV;
    char *pairs = mock_run(&options, html.data, html.length, html.length, MOCK_GLOSS, &size, NULL);
    ck_assert(pairs != NULL);
    free(pairs);
    base_buffer_free(&html);
}
END_TEST

/* ---- Hostile files ----------------------------------------------------------------------------
 */

static void mutate(char *bytes, size_t *size, mock_random *random)
{
    static const char special[] = "<>&\"'\\{}[]()*_`~#-=|,;:%\n\r\t\0 \xFF\xE4";
    size_t changes = 1 + mock_below(random, 8);
    for (size_t i = 0; i<changes && * size> 1; i++) {
        size_t at = mock_below(random, *size), length = mock_below(random, 16);
        switch (mock_below(random, 5)) {
        case 0:
            bytes[at] = (char)mock_next(random);
            break;
        case 1:
            bytes[at] = special[mock_below(random, sizeof special)];
            break;
        case 2: /* remove */
            length = length < *size - at ? length : *size - at;
            memmove(bytes + at, bytes + at + length, *size - at - length);
            *size -= length;
            break;
        case 3: /* repeat */
            length = length < *size - at ? length : *size - at;
            memmove(bytes + at + length, bytes + at, *size - at);
            *size += length;
            break;
        default: /* cut */
            if (mock_below(random, 8) == 0)
                *size = at + 1;
        }
    }
}

enum { ROUNDS = 30 };

START_TEST(mutated_files_never_crash)
{
    const sample *s = sample_at(_i);
    size_t size, out_size;
    char *bytes = sample_read(s, &size);
    mock_random random = {(uint64_t)_i * 1000 + 7};
    char *mutant = malloc(size + 1024);
    size_t failures = 0, identical = 0;
    for (int round = 0; round < ROUNDS; round++) {
        size_t length = size;
        memcpy(mutant, bytes, size);
        mutate(mutant, &length, &random);
        /* Explicitly UTF-8: else a mutant may look like another encoding, and is converted. */
        zhen_document_options options = options_of(s);
        options.encoding = "UTF-8";
        zhen_error error = {0};
        char *out = mock_run(&options, mutant, length, length, MOCK_IDENTITY, &out_size, &error);
        if (!out) {
            ck_assert_int_eq(error.status, ZHEN_ERROR_FORMAT);
            ck_assert(strstr(error.message, "line ") != NULL);
            failures++;
            continue;
        }
        identical += out_size == length && memcmp(out, mutant, length) == 0;
        free(out);
        free(mock_run(&options, mutant, length, 64, MOCK_GLOSS, &out_size, NULL));
        free(mock_run(&options, mutant, length, 64, MOCK_RANDOM, &out_size, NULL));
    }
    ck_assert_uint_eq(identical + failures, ROUNDS);
    free(mutant);
    free(bytes);
}
END_TEST

/* Nothing takes more than linear time, or this does not end. */
static const char *const bits[] = {"http://)",
                                   ")",
                                   "@a",
                                   "a@",
                                   "a.",
                                   "a~",
                                   "a/",
                                   "#中",
                                   "`",
                                   "` ``",
                                   "$",
                                   "$$",
                                   "{",
                                   "%(",
                                   "<a",
                                   "[^",
                                   "&",
                                   "(^",
                                   "😀",
                                   "我%s",
                                   "我`",
                                   "*我",
                                   "**我_",
                                   "[我",
                                   "![我",
                                   "我](",
                                   "<b>我",
                                   "<b>我</i>",
                                   "\"我",
                                   "我\\",
                                   "我,",
                                   "<code>我",
                                   "1,234",
                                   "1,234,",
                                   "10 ",
                                   "a:",
                                   "1-",
                                   "a_",
                                   "a.cn/中",
                                   "/a中",
                                   "“中.c",
                                   "{%",
                                   "{{<",
                                   "${中",
                                   ":a",
                                   "$t(",
                                   "@:a",
                                   "<1",
                                   "<b>我",
                                   "我<b></i>",
                                   "：**我",
                                   "$$\n我\n",
                                   "> [!a]\n",
                                   "→",
                                   "我→",
                                   "≥1,",
                                   "我 ●",
                                   "我😀。",
                                   "{n, plural, a {我",
                                   "{n,plural,a{",
                                   "{a}}",
                                   "{{c1::",
                                   "─",
                                   "│我"};
enum { BITS = sizeof bits / sizeof *bits };

START_TEST(repetition_is_harmless)
{
    const char *bit = bits[_i % BITS];
    zhen_format format = (zhen_format)(_i / BITS);
    base_buffer text = {0};
    while (text.length < 4000)
        ck_assert(base_buffer_append_string(&text, bit));
    zhen_document_options options;
    zhen_document_options_init(&options, format);
    options.encoding = "UTF-8";
    size_t size;
    char *out = mock_run(&options, text.data, text.length, text.length, MOCK_IDENTITY, &size, NULL);
    if (out)
        ck_assert(size == text.length && memcmp(out, text.data, size) == 0);
    free(out);
    free(mock_run(&options, text.data, text.length, text.length, MOCK_UNALIGNED, &size, NULL));
    base_buffer_free(&text);
}
END_TEST

int main(void)
{
    int samples = samples_list();
    TCase *tests = tcase_create("guarantees");
    tcase_set_timeout(tests, 0);
    tcase_add_loop_test(tests, identity_reproduces_every_byte, 0, samples);
    tcase_add_loop_test(tests, chunks_do_not_matter, 0, samples);
    tcase_add_loop_test(tests, marks_survive_any_translation, 0, samples);
    tcase_add_loop_test(tests, random_markup_keeps_its_shape, 0, 60);
    tcase_add_loop_test(tests, mutated_files_never_crash, 0, samples);
    tcase_add_loop_test(tests, repetition_is_harmless, 0, 3 * BITS); /* text, Markdown, HTML */
    return run_group("document/guarantees", tests);
}
