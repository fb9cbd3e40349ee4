#include "document/mock.h"

#include "base/buffer.h"
#include "text/script.h"
#include "text/utf8.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

uint32_t mock_next(mock_random *random)
{
    random->state = random->state * 6364136223846793005U + 1442695040888963407U;
    return (uint32_t)(random->state >> 33);
}

size_t mock_below(mock_random *random, size_t limit)
{
    return mock_next(random) % limit;
}

/* ---- Words of the text -------------------------------------------------------------------- */

typedef struct word {
    zhen_span source;
    char text[64];
    bool number, glued; /* glued: no blank before it */
} word;

typedef struct words {
    word *items;
    size_t count, capacity;
} words;

static bool is_ascii_word(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Han characters by twos, Latin words and numbers as they are, 。，！？ as their Latin forms. */
static words read_words(const char *text, size_t length)
{
    words list = {0};
    for (size_t at = 0; at < length;) {
        int32_t character;
        size_t bytes = text_decode(text + at, length - at, &character);
        word w = {.source = {at, at + bytes}};
        if (is_ascii_word(text[at])) {
            while (at + bytes < length && is_ascii_word(text[at + bytes]) && bytes < 60)
                bytes++;
            w.source.end = at + bytes;
            memcpy(w.text, text + at, bytes);
            w.number = text[at] >= '0' && text[at] <= '9';
        } else if (text_is_han(character)) {
            w.text[0] = (char)('a' + character % 26);
            w.text[1] = (char)('a' + character / 26 % 26);
        } else if (!text_is_blank(character)) {
            static const char *const marks[] = {"。.", "，,", "！!", "？?", "：:", "；;"};
            memcpy(w.text, text + at, bytes);
            for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
                if (memcmp(marks[i], text + at, bytes) == 0)
                    strcpy(w.text, marks[i] + 3);
            w.glued = true;
        }
        at += bytes;
        if (!w.text[0])
            continue;
        ck_assert(
            base_grow((void **)&list.items, &list.capacity, list.count + 1, sizeof *list.items));
        list.items[list.count++] = w;
    }
    return list;
}

/* ---- Translations ------------------------------------------------------------------------- */

typedef struct made {
    base_buffer text;
    zhen_link *links;
    size_t count, capacity;
} made;

static void add(made *m, const word *w, const char *text)
{
    if (m->text.length && !w->glued)
        base_buffer_append_byte(&m->text, ' ');
    zhen_link link = {w->source, {m->text.length, m->text.length + strlen(text)}};
    base_buffer_append_string(&m->text, text);
    ck_assert(base_grow((void **)&m->links, &m->capacity, m->count + 1, sizeof *m->links));
    m->links[m->count++] = link;
}

static void make_words(made *m, const words *list, mock_kind kind, mock_random *random)
{
    for (size_t i = 0; i < list->count; i++) {
        const word *w = &list->items[kind == MOCK_REVERSED ? list->count - 1 - i : i];
        if (kind == MOCK_DROPPING && (w->number || i % 2))
            continue;
        if (kind == MOCK_GARBLED) {
            static const char *const junk[] = {"*",  "<b>", "_",  "`",    "\"",  "&amp",
                                               "|",  "\\",  "27", "38th", "[x]", "{0}",
                                               "%s", "-->", "#",  ",",    "</i>"};
            add(m, w, w->number ? "727" : w->text);
            add(m, w, junk[mock_below(random, sizeof junk / sizeof *junk)]);
            continue;
        }
        add(m, w, w->text);
        if (kind == MOCK_DOUBLING)
            add(m, w, w->text);
    }
}

static zhen_span random_span(mock_random *random, size_t length)
{
    size_t a = mock_below(random, length + 2), b = mock_below(random, length + 2);
    return a < b ? (zhen_span){a, b} : (zhen_span){b, a};
}

static void spoil_links(made *m, size_t length, mock_random *random)
{
    for (size_t i = 0; i < m->count; i++)
        m->links[i].source = random_span(random, length);
}

static void make_random(made *m, size_t length, mock_random *random)
{
    static const char *const bits[] = {"a",  " ",  "27", "\xFF", "我", "\n",   "<",  "&",
                                       "\"", "\\", ",",  ";",    "\t", "\xC3", "27", "b "};
    size_t count = mock_below(random, 2 * length + 2);
    for (size_t i = 0; i < count; i++)
        base_buffer_append_string(&m->text, bits[mock_below(random, 16)]);
    base_buffer_reserve(&m->text, 0);
    for (size_t i = 0; i < count; i++) {
        ck_assert(base_grow((void **)&m->links, &m->capacity, m->count + 1, sizeof *m->links));
        m->links[m->count++] =
            (zhen_link){random_span(random, length), random_span(random, m->text.length)};
    }
}

static void translate(zhen_document *document, size_t index, mock_kind kind, mock_random *random)
{
    zhen_text text = zhen_document_text(document, index);
    made m = {0};
    words list = read_words(text.bytes, text.length);
    base_buffer_reserve(&m.text, 0);
    if (kind == MOCK_IDENTITY)
        base_buffer_append(&m.text, text.bytes, text.length);
    else if (kind == MOCK_RANDOM)
        make_random(&m, text.length, random);
    else if (kind == MOCK_SHORT)
        base_buffer_append_string(&m.text, "x");
    else if (kind != MOCK_EMPTY)
        make_words(&m, &list, kind, random);
    if (kind == MOCK_WRONG_LINKS)
        spoil_links(&m, text.length, random);
    zhen_sentence sentence = {.source = {0, text.length},
                              .target = {0, m.text.length},
                              .links = m.links,
                              .link_count = m.count};
    if (kind == MOCK_RANDOM) {
        sentence.source = random_span(random, text.length);
        sentence.target = random_span(random, m.text.length);
    }
    zhen_translation translation = {.text = m.text.data,
                                    .length = m.text.length,
                                    .sentences = &sentence,
                                    .sentence_count = kind != MOCK_UNALIGNED};
    zhen_error error;
    ck_assert_int_eq(zhen_document_set(document, index, &translation, &error), ZHEN_OK);
    base_buffer_free(&m.text);
    free(m.links);
    free(list.items);
}

void mock_translate(zhen_document *document, mock_kind kind)
{
    mock_random random = {17};
    for (size_t i = 0; i < zhen_document_count(document); i++)
        translate(document, i, kind, &random);
}

/* ---- Files -------------------------------------------------------------------------------- */

static zhen_status drain(zhen_reader *reader, mock_kind kind, base_buffer *output,
                         zhen_error *error)
{
    for (;;) {
        zhen_document *document;
        zhen_status status = zhen_reader_next(reader, false, &document, error);
        if (status || !document)
            return status;
        mock_translate(document, kind);
        zhen_text bytes;
        ck_assert_int_eq(zhen_document_render(document, &bytes, error), ZHEN_OK);
        ck_assert(base_buffer_append(output, bytes.bytes, bytes.length));
        zhen_document_free(document);
    }
}

char *mock_run(const zhen_document_options *options, const char *bytes, size_t size, size_t step,
               mock_kind kind, size_t *out_size, zhen_error *error)
{
    zhen_reader *reader;
    base_buffer output = {0};
    base_buffer_reserve(&output, 0);
    zhen_status status = zhen_reader_create(options, &reader, error);
    if (status) {
        base_buffer_free(&output);
        return NULL;
    }
    for (size_t at = 0; !status && at < size; at += step) {
        status = zhen_reader_feed(reader, bytes + at, size - at < step ? size - at : step, error);
        if (!status)
            status = drain(reader, kind, &output, error);
    }
    if (!status)
        status = zhen_reader_finish(reader, error);
    if (!status)
        status = drain(reader, kind, &output, error);
    zhen_reader_free(reader);
    if (status)
        base_buffer_free(&output);
    *out_size = output.length;
    return output.data;
}
