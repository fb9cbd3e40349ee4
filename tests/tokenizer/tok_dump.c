/*
 * Shows what the tokeniser does, for tests/tokenizer/parity.py to compare. Reads lines on stdin:
 *     tok_dump encode DIRECTORY      text -> ids of the vocabulary
 *     tok_dump decode DIRECTORY      ids -> text
 *     tok_dump pieces MODEL.spm      text -> id:begin:end of each piece, in bytes of the line
 */
#include "tokenizer/tokenizer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static zhen_error error;

static void encode_line(const tok_tokenizer *tokenizer, const char *line, size_t length)
{
    static tok_source source;
    if (tok_encode(tokenizer, line, length, &source, &error))
        return;
    for (size_t i = 0; i < source.count; i++)
        printf(i ? " %d" : "%d", source.ids[i]);
    putchar('\n');
}

static void decode_line(const tok_tokenizer *tokenizer, const char *line)
{
    int32_t ids[4096];
    size_t count = 0;
    for (char *end; count < sizeof ids / sizeof *ids; line = end) {
        long id = strtol(line, &end, 10);
        if (end == line)
            break;
        ids[count++] = (int32_t)id;
    }
    base_buffer text = {0};
    if (!tok_decode(tokenizer, ids, count, &text, NULL, &error))
        (void)fwrite(text.data, 1, text.length, stdout);
    putchar('\n');
    base_buffer_free(&text);
}

static void cut_line(const spm_model *model, const char *line, size_t length)
{
    static spm_encoding encoding;
    if (spm_encode(model, line, length, &encoding, &error))
        return;
    for (size_t i = 0; i < encoding.count; i++) {
        const spm_piece *piece = &encoding.pieces[i];
        printf("%s%d:%zu:%zu", i ? " " : "", piece->id, piece->original.begin, piece->original.end);
    }
    putchar('\n');
}

int main(int argc, char **argv)
{
    tok_tokenizer *tokenizer = NULL;
    spm_model *model = NULL;
    const tok_limits limits = {SIZE_MAX, SIZE_MAX};
    if (argc != 3)
        return 2;
    const bool pieces = !strcmp(argv[1], "pieces"), encode = !strcmp(argv[1], "encode");
    if (pieces)
        spm_open(argv[2], SPM_TO_SEGMENT, &model, &error);
    else
        tok_open(argv[2], &limits, &tokenizer, &error);
    char *line = NULL;
    size_t capacity = 0;
    for (ssize_t length; !error.status && (length = getline(&line, &capacity, stdin)) >= 0;) {
        if (length && line[length - 1] == '\n')
            line[--length] = '\0';
        if (pieces)
            cut_line(model, line, (size_t)length);
        else if (encode)
            encode_line(tokenizer, line, (size_t)length);
        else
            decode_line(tokenizer, line);
    }
    free(line);
    spm_close(model);
    tok_close(tokenizer);
    if (error.status)
        (void)fprintf(stderr, "%s\n", error.message);
    return error.status ? 1 : 0;
}
