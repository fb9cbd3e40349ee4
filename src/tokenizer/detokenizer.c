#include "tokenizer/detokenizer.h"

#include "tokenizer/normalizer.h"

#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

static tok_kind kind_of(spm_kind kind)
{
    switch (kind) {
    case SPM_CONTROL:
        return TOK_CONTROL;
    case SPM_UNKNOWN:
        return TOK_UNKNOWN;
    case SPM_BYTE:
        return TOK_BYTE;
    default:
        return TOK_TEXT;
    }
}

bool tok_detokenizer_create(tok_detokenizer *detokenizer, const spm_model *model,
                            const tok_vocabulary *vocabulary)
{
    static const char *const specials[] = {"</s>", "<unk>", "<pad>"};
    unsigned char *kinds = calloc(vocabulary->size, sizeof *kinds); /* TOK_TEXT is 0 */
    if (!kinds)
        return false;
    for (size_t i = 0; i < spm_piece_count(model); i++) {
        tok_kind kind = kind_of(spm_piece_kind(model, (int32_t)i));
        if (kind == TOK_TEXT)
            continue;
        size_t length;
        const char *piece = spm_piece_text(model, (int32_t)i, &length);
        int32_t id = tok_vocabulary_find(vocabulary, piece, length);
        if (id >= 0)
            kinds[id] = (unsigned char)kind;
    }
    for (size_t i = 0; i < sizeof specials / sizeof *specials; i++) {
        int32_t id = tok_vocabulary_find(vocabulary, specials[i], strlen(specials[i]));
        if (id >= 0)
            kinds[id] = TOK_SPECIAL;
    }
    *detokenizer = (tok_detokenizer){model, vocabulary, kinds};
    return true;
}

void tok_detokenizer_free(tok_detokenizer *detokenizer)
{
    free(detokenizer->kinds);
    *detokenizer = (tok_detokenizer){0};
}

/* A text in the making. */
typedef struct text_writer {
    const tok_detokenizer *detokenizer;
    base_buffer *text;
    zhen_span *spans;       /* may be NULL */
    size_t start;           /* where this text begins in the buffer */
    bool expects_space;     /* a space that comes now is taken off */
    unsigned char bytes[4]; /* of byte pieces, not written yet */
    size_t pieces[4];       /* whose bytes they are */
    size_t pending;
} text_writer;

static void set_span(const text_writer *writer, size_t piece, size_t begin)
{
    if (writer->spans)
        writer->spans[piece] = (zhen_span){begin, writer->text->length};
}

/* Writes the first `count` pending bytes as `text`. */
static bool write_pending(text_writer *writer, size_t count, const void *text, size_t length)
{
    const size_t begin = writer->text->length;
    if (!base_buffer_append(writer->text, text, length))
        return false;
    for (size_t i = 0; i < count; i++)
        set_span(writer, writer->pieces[i], begin);
    writer->pending -= count;
    memmove(writer->bytes, writer->bytes + count, writer->pending);
    memmove(writer->pieces, writer->pieces + count, writer->pending * sizeof *writer->pieces);
    return true;
}

/* Whether the pending bytes begin a character that further bytes may complete. */
static bool is_incomplete(const text_writer *writer)
{
    unsigned char lead = writer->bytes[0];
    size_t length = lead < 0xC2 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : lead < 0xF5 ? 4 : 1;
    for (size_t i = 1; i < writer->pending; i++)
        if ((writer->bytes[i] & 0xC0) != 0x80)
            return false;
    return writer->pending < length;
}

/* Writes pending bytes, each character or, if the next bytes are none, U+FFFD for the first of
 * them. A character that may still be completed waits, unless this is the end of the bytes. */
static bool flush_bytes(text_writer *writer, bool end)
{
    while (writer->pending) {
        if (!end && is_incomplete(writer))
            return true;
        utf8proc_int32_t character;
        utf8proc_ssize_t size =
            utf8proc_iterate(writer->bytes, (utf8proc_ssize_t)writer->pending, &character);
        bool written = size > 0 ? write_pending(writer, (size_t)size, writer->bytes, (size_t)size)
                                : write_pending(writer, 1, "\xEF\xBF\xBD", 3);
        if (!written)
            return false;
    }
    return true;
}

static unsigned hex_digit(char digit)
{
    return (unsigned)(digit <= '9' ? digit - '0' : digit - 'A' + 10);
}

/* `name`: "<0xE4>" */
static bool add_byte(text_writer *writer, const char *name, size_t piece)
{
    writer->bytes[writer->pending] = (unsigned char)(hex_digit(name[3]) << 4 | hex_digit(name[4]));
    writer->pieces[writer->pending++] = piece;
    return flush_bytes(writer, false);
}

static bool append_with_spaces(base_buffer *text, const char *piece, size_t length)
{
    const char *end = piece + length;
    for (;;) {
        const char *space = memmem(piece, (size_t)(end - piece), SPM_SPACE, SPM_SPACE_LENGTH);
        if (!base_buffer_append(text, piece, (size_t)((space ? space : end) - piece)))
            return false;
        if (!space)
            return true;
        if (!base_buffer_append_byte(text, ' '))
            return false;
        piece = space + SPM_SPACE_LENGTH;
    }
}

static bool append_piece(text_writer *writer, tok_kind kind, const char *piece, size_t length)
{
    const spm_model *model = writer->detokenizer->model;
    bool strip = writer->expects_space && spm_strips_first_space(model) &&
                 length >= SPM_SPACE_LENGTH && !memcmp(piece, SPM_SPACE, SPM_SPACE_LENGTH);
    if (kind == TOK_UNKNOWN)
        piece = spm_unknown_surface(model, &length);
    else if (strip) {
        piece += SPM_SPACE_LENGTH;
        length -= SPM_SPACE_LENGTH;
    }
    if (strip && !spm_strips_leading_spaces(model))
        writer->expects_space = false;
    return append_with_spaces(writer->text, piece, length);
}

static bool add_piece(text_writer *writer, size_t i, int32_t id)
{
    const tok_detokenizer *detokenizer = writer->detokenizer;
    size_t length;
    const char *piece = tok_vocabulary_piece(detokenizer->vocabulary, id, &length);
    tok_kind kind = piece ? (tok_kind)detokenizer->kinds[id] : TOK_SPECIAL;
    if (kind == TOK_BYTE)
        return add_byte(writer, piece, i);
    if (kind != TOK_SPECIAL && !flush_bytes(writer, true))
        return false;
    set_span(writer, i, writer->text->length);
    if (kind == TOK_SPECIAL || kind == TOK_CONTROL)
        return true;
    if (writer->text->length > writer->start)
        writer->expects_space = false;
    const size_t begin = writer->text->length;
    if (!append_piece(writer, kind, piece, length))
        return false;
    set_span(writer, i, begin);
    return true;
}

bool tok_detokenize(const tok_detokenizer *detokenizer, const int32_t *ids, size_t count,
                    base_buffer *text, zhen_span *spans)
{
    text_writer writer = {
        .detokenizer = detokenizer,
        .text = text,
        .spans = spans,
        .start = text->length,
        .expects_space = true,
    };
    bool done = base_buffer_reserve(text, 0);
    for (size_t i = 0; i < count && done; i++)
        done = add_piece(&writer, i, ids[i]);
    done = done && flush_bytes(&writer, true);
    if (!done && text->data) {
        text->length = writer.start;
        text->data[text->length] = '\0';
    }
    return done;
}
