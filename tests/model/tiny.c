#include "model/tiny.h"

#include <check.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char tiny_config[] = "{\n"
                           "  \"model_type\": \"marian\",\n"
                           "  \"vocab_size\": 12,\n"
                           "  \"decoder_vocab_size\": 12,\n"
                           "  \"d_model\": 8,\n"
                           "  \"encoder_layers\": 1,\n"
                           "  \"decoder_layers\": 1,\n"
                           "  \"encoder_attention_heads\": 2,\n"
                           "  \"decoder_attention_heads\": 4,\n"
                           "  \"encoder_ffn_dim\": 16,\n"
                           "  \"decoder_ffn_dim\": 12,\n"
                           "  \"activation_function\": \"relu\",\n"
                           "  \"dropout\": 0.0,\n"
                           "  \"scale_embedding\": true,\n"
                           "  \"max_position_embeddings\": 16,\n"
                           "  \"pad_token_id\": 11,\n"
                           "  \"eos_token_id\": 0,\n"
                           "  \"decoder_start_token_id\": 11,\n"
                           "  \"torch_dtype\": \"float32\"\n"
                           "}\n";

const char tiny_generation_config[] =
    "{\"num_beams\": 3, \"max_length\": 16,\n"
    " \"bad_words_ids\": [[11], [0], [3, 4]],\n"
    " \"forced_eos_token_id\": [0],\n"
    " \"alignment_heads\": [[0, 3]], \"early_stopping\": \"never\",\n"
    " \"length_penalty\": 0.5, \"renormalize_logits\": true}\n";

static const char vocabulary[] =
    "{\"</s>\": 0, \"<unk>\": 1, \"\\u2581\": 2, \"a\": 3, \"b\": 4, \"c\": 5, \"d\": 6, \"e\": 7, "
    "\"f\": 8, \"g\": 9, \"h\": 10, \"<pad>\": 11}\n";

static const char card[] = "---\nlanguage:\n- zh\n- en\nlicense: cc0-1.0\n---\n# A tiny model\n";

uint32_t tiny_random(uint32_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state;
}

/* ---- Files --------------------------------------------------------------------------------- */

void tiny_write(const tiny_model *model, const char *name, const void *bytes, size_t size)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", model->directory, name);
    /* Some file systems flush a file that is cut to nothing and written anew; a new one is quick.
     */
    unlink(path);
    FILE *file = fopen(path, "wb");
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(bytes, 1, size, file), size);
    ck_assert_int_eq(fclose(file), 0);
}

void tiny_write_text(const tiny_model *model, const char *name, const char *text)
{
    tiny_write(model, name, text, strlen(text));
}

unsigned char *tiny_read(const char *directory, const char *name, size_t *size)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *file = fopen(path, "rb");
    ck_assert_msg(file != NULL, "%s cannot be opened", path);
    ck_assert_int_eq(fseek(file, 0, SEEK_END), 0);
    const long end = ftell(file);
    ck_assert_int_ge(end, 0);
    rewind(file);
    unsigned char *bytes = calloc((size_t)end + 1, 1);
    ck_assert_ptr_nonnull(bytes);
    *size = fread(bytes, 1, (size_t)end, file);
    ck_assert_uint_eq(*size, (size_t)end);
    fclose(file);
    return bytes;
}

static int remove_entry(const char *path, const struct stat *about, int type, struct FTW *place)
{
    (void)about, (void)type, (void)place;
    return remove(path);
}

void tiny_remove_path(const char *path)
{
    nftw(path, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

void tiny_remove(tiny_model *model)
{
    tiny_remove_path(model->directory);
}

void tiny_edit_config(const tiny_model *model, const char *old, const char *new)
{
    char text[4096];
    const char *at = strstr(tiny_config, old);
    ck_assert_msg(at != NULL, "%s is not in the configuration", old);
    snprintf(text, sizeof text, "%.*s%s%s", (int)(at - tiny_config), tiny_config, new,
             at + strlen(old));
    tiny_write_text(model, "config.json", text);
}

/* ---- Weights ------------------------------------------------------------------------------- */

tiny_tensor *tiny_find(tiny_model *model, const char *name)
{
    for (size_t i = 0; i < model->count; i++)
        if (!strcmp(model->tensors[i].name, name))
            return &model->tensors[i];
    ck_abort_msg("no tensor %s", name);
    return NULL;
}

tiny_tensor *tiny_add(tiny_model *model, const char *name, size_t rows, size_t cols)
{
    ck_assert_uint_lt(model->count, TINY_MAX_TENSORS);
    uint32_t state = 2463534242U + (uint32_t)model->count;
    tiny_tensor *tensor = &model->tensors[model->count++];
    *tensor = (tiny_tensor){.dtype = "F32", .rows = rows, .cols = cols};
    snprintf(tensor->name, sizeof tensor->name, "%s", name);
    for (size_t i = 0; i < sizeof tensor->values / sizeof tensor->values[0]; i++)
        tensor->values[i] = (float)(tiny_random(&state) % 2001) / 1000 - 1;
    return tensor;
}

void tiny_drop(tiny_model *model, const char *name)
{
    *tiny_find(model, name) = model->tensors[model->count - 1];
    model->count--;
}

enum { NAME_SIZE = 128 };

static void join(char joined[NAME_SIZE], const char *prefix, const char *name, const char *suffix)
{
    ck_assert_int_lt(snprintf(joined, NAME_SIZE, "%s%s%s", prefix, name, suffix), NAME_SIZE);
}

static void add_named(tiny_model *model, const char *prefix, const char *name, size_t rows,
                      size_t cols)
{
    char full[NAME_SIZE];
    join(full, prefix, name, "");
    tiny_add(model, full, rows, cols);
}

static void add_linear(tiny_model *model, const char *prefix, const char *name, size_t out,
                       size_t in)
{
    char part[NAME_SIZE];
    join(part, "", name, ".weight");
    add_named(model, prefix, part, out, in);
    join(part, "", name, ".bias");
    add_named(model, prefix, part, 0, out);
}

static void add_norm(tiny_model *model, const char *prefix, const char *name)
{
    char part[NAME_SIZE];
    join(part, "", name, ".weight");
    add_named(model, prefix, part, 0, TINY_D);
    join(part, "", name, ".bias");
    add_named(model, prefix, part, 0, TINY_D);
}

static void add_attention(tiny_model *model, const char *prefix, const char *name)
{
    static const char *const projections[] = {"q_proj", "k_proj", "v_proj", "out_proj"};
    char part[NAME_SIZE];
    for (size_t i = 0; i < 4; i++) {
        join(part, name, ".", projections[i]);
        add_linear(model, prefix, part, TINY_D, TINY_D);
    }
    join(part, "", name, "_layer_norm");
    add_norm(model, prefix, part);
}

static void add_layer(tiny_model *model, const char *prefix, bool cross, size_t ffn)
{
    add_attention(model, prefix, "self_attn");
    if (cross)
        add_attention(model, prefix, "encoder_attn");
    add_linear(model, prefix, "fc1", ffn, TINY_D);
    add_linear(model, prefix, "fc2", TINY_D, ffn);
    add_norm(model, prefix, "final_layer_norm");
}

static size_t count_values(const tiny_tensor *tensor)
{
    return (tensor->rows ? tensor->rows : 1) * tensor->cols;
}

static size_t append_tensor(const tiny_tensor *tensor, size_t offset, char *header, size_t size,
                            unsigned char *data)
{
    const size_t count = count_values(tensor);
    const bool bytes = !strcmp(tensor->dtype, "I8");
    const size_t end = offset + count * (bytes ? 1 : sizeof(float));
    char shape[64];
    if (tensor->rows)
        snprintf(shape, sizeof shape, "%zu,%zu", tensor->rows, tensor->cols);
    else
        snprintf(shape, sizeof shape, "%zu", tensor->cols);
    const size_t length = strlen(header);
    if (tensor->header)
        snprintf(header + length, size - length, ",\"%s\":%s", tensor->name, tensor->header);
    else
        snprintf(header + length, size - length,
                 ",\"%s\":{\"dtype\":\"%s\",\"shape\":[%s],\"data_offsets\":[%zu,%zu]}",
                 tensor->name, tensor->dtype, shape, offset, end);
    for (size_t i = 0; i < count; i++)
        if (bytes)
            data[offset + i] = (unsigned char)(signed char)tensor->values[i];
        else
            memcpy(data + offset + i * sizeof(float), &tensor->values[i], sizeof(float));
    return end;
}

static void write_file(const tiny_model *model, const char *header, const unsigned char *data,
                       size_t data_bytes)
{
    const size_t length = strlen(header);
    unsigned char *image = malloc(8 + length + data_bytes);
    ck_assert_ptr_nonnull(image);
    for (int i = 0; i < 8; i++)
        image[i] = (unsigned char)((uint64_t)length >> (8 * i));
    memcpy(image + 8, header, length);
    memcpy(image + 8 + length, data, data_bytes);
    tiny_write(model, "model.safetensors", image, 8 + length + data_bytes);
    free(image);
}

void tiny_write_weights(const tiny_model *model)
{
    static char header[16384];
    static unsigned char data[TINY_MAX_TENSORS * 1024];
    strcpy(header, "{\"__metadata__\":{\"format\":\"pt\"}");
    size_t offset = 0;
    for (size_t i = 0; i < model->count; i++)
        offset = append_tensor(&model->tensors[i], offset, header, sizeof header, data);
    strcat(header, "}");
    while (strlen(header) % 8)
        strcat(header, " ");
    write_file(model, header, data, offset);
}

void tiny_write_header(const tiny_model *model, const char *header, size_t data_bytes)
{
    static const unsigned char zeros[1024];
    ck_assert_uint_le(data_bytes, sizeof zeros);
    write_file(model, header, zeros, data_bytes);
}

/* ---- SentencePiece model ------------------------------------------------------------------- */

/* One piece in protobuf's wire format: field 1 of ModelProto, a message of field 1 (the text),
 * field 2 (the score, a float) and field 3 (the type; 1 normal, 2 unknown, 3 control). */
static size_t put_piece(unsigned char *out, const char *text, float score, int type)
{
    const size_t length = strlen(text);
    size_t n = 0;
    out[n++] = 1 << 3 | 2;
    out[n++] = (unsigned char)(2 + length + 5 + 2);
    out[n++] = 1 << 3 | 2;
    out[n++] = (unsigned char)length;
    memcpy(out + n, text, length);
    n += length;
    out[n++] = 2 << 3 | 5;
    memcpy(out + n, &score, sizeof score);
    n += sizeof score;
    out[n++] = 3 << 3;
    out[n++] = (unsigned char)type;
    return n;
}

static void write_pieces(const tiny_model *model, const char *name)
{
    static const char *const letters[] = {"\xE2\x96\x81", "a", "b", "c", "d", "e", "f", "g", "h"};
    unsigned char bytes[512];
    size_t n = put_piece(bytes, "<unk>", 0, 2);
    n += put_piece(bytes + n, "</s>", 0, 3);
    for (size_t i = 0; i < sizeof letters / sizeof letters[0]; i++)
        n += put_piece(bytes + n, letters[i], -1 - (float)i, 1);
    /* trainer_spec (field 2) with model_type (field 3) UNIGRAM = 1, an empty normalizer_spec. */
    static const unsigned char specs[] = {2 << 3 | 2, 2, 3 << 3, 1, 3 << 3 | 2, 0};
    memcpy(bytes + n, specs, sizeof specs);
    tiny_write(model, name, bytes, n + sizeof specs);
}

void tiny_create(tiny_model *model)
{
    const char *base = getenv("TMPDIR");
    snprintf(model->directory, sizeof model->directory, "%s/zhen-test-XXXXXX",
             base && strlen(base) < 64 ? base : "/tmp");
    ck_assert_ptr_nonnull(mkdtemp(model->directory));
    model->count = 0;
    tiny_add(model, "model.shared.weight", TINY_VOCABULARY, TINY_D);
    add_layer(model, "model.encoder.layers.0.", false, TINY_ENCODER_FFN);
    add_layer(model, "model.decoder.layers.0.", true, TINY_DECODER_FFN);
    tiny_tensor *bias = tiny_add(model, "final_logits_bias", 1, TINY_VOCABULARY);
    bias->values[11] = -1e4F;
    ck_assert_uint_eq(model->count, TINY_TENSORS);
    tiny_write_weights(model);
    tiny_write_text(model, "config.json", tiny_config);
    tiny_write_text(model, "generation_config.json", tiny_generation_config);
    tiny_write_text(model, "tokenizer_config.json",
                    "{\"source_lang\": \"zho\", \"target_lang\": \"eng\"}");
    tiny_write_text(model, "vocab.json", vocabulary);
    tiny_write_text(model, "README.md", card);
    write_pieces(model, "source.spm");
    write_pieces(model, "target.spm");
}
