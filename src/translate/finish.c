#include "translate/finish.h"

#include "base/error.h"
#include "text/utf8.h"

#include <stdlib.h>
#include <string.h>

/* Written over bytes that are to go. UTF-8 has no such byte. */
static const char DROPPED = '\xFF';

static bool is_tidy(const base_buffer *text)
{
    size_t length = text->length;
    return length == 0 || (text->data[0] != ' ' && text->data[length - 1] != ' ' &&
                           !memmem(text->data, length, "  ", 2) &&
                           !memchr(text->data, (unsigned char)DROPPED, length));
}

bool translate_tidy(base_buffer *text, zhen_span *spans, size_t count)
{
    if (is_tidy(text))
        return true;
    size_t *moved = malloc((text->length + 1) * sizeof *moved); /* where each byte went */
    if (!moved)
        return false;
    size_t kept = 0;
    for (size_t i = 0; i < text->length; i++) {
        moved[i] = kept;
        if (text->data[i] != DROPPED &&
            (text->data[i] != ' ' || (kept && text->data[kept - 1] != ' ')))
            text->data[kept++] = text->data[i];
    }
    moved[text->length] = kept;
    if (kept && text->data[kept - 1] == ' ')
        kept--;
    for (size_t i = 0; spans && i < count; i++) {
        size_t begin = moved[spans[i].begin], end = moved[spans[i].end];
        spans[i] = (zhen_span){begin < kept ? begin : kept, end < kept ? end : kept};
    }
    text->length = kept;
    text->data[kept] = '\0';
    free(moved);
    return true;
}

/* ---- Repairs -------------------------------------------------------------------------------- */

/* Byte pieces that form no character come out as U+FFFD. A source that has none means none. */
static void drop_broken(base_buffer *text, const zhen_text *source)
{
    static const char broken[] = "\xEF\xBF\xBD";
    const size_t size = sizeof broken - 1;
    if (memmem(source->bytes, source->length, broken, size))
        return;
    char *at = text->data;
    while ((at = memmem(at, text->length - (size_t)(at - text->data), broken, size)))
        memset(at, DROPPED, size);
}

/* Direct speech of a source text that goes on beyond its ends. */
typedef struct speech {
    bool closes; /* one that it did not open */
    bool opens;  /* one that it does not close */
    bool closes_last;
} speech;

static speech speech_of(const zhen_text *source)
{
    speech found = {false, false, false};
    for (size_t at = 0; at < source->length;) {
        int32_t character;
        at += text_decode(source->bytes + at, source->length - at, &character);
        bool opener = character == 0x201C /* “ */ || character == 0x300C /* 「 */;
        bool closer = character == 0x201D /* ” */ || character == 0x300D /* 」 */;
        if (opener)
            found.opens = true;
        if (closer && !found.opens)
            found.closes = true;
        if (closer)
            found.opens = false;
        found.closes_last = closer;
    }
    return found;
}

/* Sentences of one speech are translated one by one, and the model closes what it sees open and
 * opens what it sees closed. Only the ends are mended; in the midst nobody knows the place. */
static bool mend_quotes(base_buffer *text, const zhen_text *source)
{
    const speech open = speech_of(source);
    size_t marks = 0;
    for (size_t i = 0; i < text->length; i++)
        marks += text->data[i] == '"';
    char *end = text->data + text->length;
    if (open.closes && !open.opens && marks <= 2 && text->length > 1 && text->data[0] == '"') {
        text->data[0] = DROPPED;
        marks--;
    }
    if (marks == 0)
        return !(open.closes && open.closes_last && text->length) ||
               base_buffer_append_byte(text, '"');
    if (end[-1] != '"')
        return true;
    if (open.opens && !open.closes && marks % 2 == 0)
        end[-1] = DROPPED;
    else if ((open.closes || marks % 2 == 0) && text->length > 1 && end[-2] == ' ')
        end[-2] = DROPPED; /* before a mark that closes */
    return true;
}

bool translate_mend(base_buffer *text, zhen_span *spans, size_t count, const zhen_text *source)
{
    drop_broken(text, source);
    return translate_tidy(text, spans, count) && mend_quotes(text, source) &&
           translate_tidy(text, spans, count);
}

/* ---- Versions ------------------------------------------------------------------------------- */

static bool is_known(const translate_entry *entry, const base_buffer *text)
{
    for (size_t i = 0; i < entry->version_count; i++)
        if (entry->versions[i].length == text->length &&
            (text->length == 0 || memcmp(entry->versions[i].text, text->data, text->length) == 0))
            return true;
    return false;
}

/* A link for each token that wrote something and looked at a token that stands for something. */
static bool fill_links(translate_entry *entry, const search_hypothesis *hypothesis,
                       const zhen_span *spans, const char *text)
{
    entry->links = malloc((hypothesis->count ? hypothesis->count : 1) * sizeof *entry->links);
    if (!entry->links)
        return false;
    for (size_t i = 0; i < hypothesis->count; i++) {
        size_t position = hypothesis->alignment[i];
        zhen_span target = spans[i];
        while (target.begin < target.end && text[target.begin] == ' ')
            target.begin++;
        if (target.begin == target.end || position >= entry->tokens ||
            entry->spans[position].begin == entry->spans[position].end)
            continue;
        entry->links[entry->link_count++] = (zhen_link){entry->spans[position], target};
    }
    return true;
}

static zhen_status add_version(translate_finisher *finisher, translate_entry *entry,
                               const search_hypothesis *hypothesis, zhen_error *error)
{
    base_buffer *text = &finisher->text;
    base_buffer_clear(text);
    if (!base_grow((void **)&finisher->spans, &finisher->capacity, hypothesis->count,
                   sizeof *finisher->spans) ||
        !base_buffer_reserve(text, 0))
        return base_fail_memory(error);
    zhen_status status = tok_decode(finisher->tokenizer, hypothesis->tokens, hypothesis->count,
                                    text, finisher->spans, error);
    if (status)
        return status;
    const zhen_text source = {entry->text, entry->length};
    bool tidy = finisher->guard ? translate_mend(text, finisher->spans, hypothesis->count, &source)
                                : translate_tidy(text, finisher->spans, hypothesis->count);
    if (!tidy)
        return base_fail_memory(error);
    bool best = entry->version_count == 0;
    if (best && entry->spans && hypothesis->alignment &&
        !fill_links(entry, hypothesis, finisher->spans, text->data))
        return base_fail_memory(error);
    /* The model had nothing to say: the source says more than nothing. */
    if (text->length == 0 && finisher->guard &&
        !base_buffer_append(text, entry->text, entry->length))
        return base_fail_memory(error);
    if (is_known(entry, text))
        return ZHEN_OK;
    translate_version *version = &entry->versions[entry->version_count];
    version->text = malloc(text->length + 1);
    if (!version->text)
        return base_fail_memory(error);
    memcpy(version->text, text->data, text->length + 1);
    version->length = text->length;
    version->score = hypothesis->score;
    version->tokens = hypothesis->count;
    entry->version_count++;
    return ZHEN_OK;
}

static void discard_versions(translate_entry *entry)
{
    for (size_t i = 0; i < entry->version_count; i++)
        free(entry->versions[i].text);
    free(entry->versions);
    free(entry->links);
    entry->versions = NULL;
    entry->links = NULL;
    entry->version_count = entry->link_count = 0;
}

zhen_status translate_finish(translate_finisher *finisher, translate_entry *entry,
                             const search_hypothesis *hypotheses, size_t count, zhen_error *error)
{
    entry->versions = calloc(count ? count : 1, sizeof *entry->versions);
    if (!entry->versions)
        return base_fail_memory(error);
    for (size_t i = 0; i < count; i++) {
        zhen_status status = add_version(finisher, entry, &hypotheses[i], error);
        if (status) {
            discard_versions(entry);
            return status;
        }
    }
    free(entry->ids);
    free(entry->spans);
    entry->ids = NULL;
    entry->spans = NULL;
    return ZHEN_OK;
}

void translate_finisher_free(translate_finisher *finisher)
{
    base_buffer_free(&finisher->text);
    free(finisher->spans);
    finisher->spans = NULL;
    finisher->capacity = 0;
}
