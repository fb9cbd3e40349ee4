/*
 * SentencePiece files that are broken or made to break the reader: each gives an error that names
 * the file, or a model that cuts any text without harm. Models are read from memory of exactly
 * their size, so that a sanitiser sees a read beyond the end.
 */
#include "support/suite.h"
#include "tokenizer/fixture.h"
#include "tokenizer/spm_model.h"
#include "tokenizer/wire.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static zhen_error error;

/* ---- Reading from memory ------------------------------------------------------------------ */

static const char *const texts[] = {
    "",
    " ",
    "你好，世界。",
    " a  b\t",
    "\xE4\xBD",
    "▁▁aaa bbb aaa ab abc",
    "𠮷😀\x01 ﬁ½",
    "The quick brown fox jumps over the lazy dog, 12345 times.",
};

static void encode_texts(const spm_model *model)
{
    spm_encoding encoding = {0};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        ck_assert(!spm_encode(model, texts[i], strlen(texts[i]), &encoding, &error));
        for (size_t k = 0; k < encoding.count; k++) {
            ck_assert_int_ge(encoding.pieces[k].id, 0);
            ck_assert_uint_lt((size_t)encoding.pieces[k].id, spm_piece_count(model));
        }
    }
    spm_encoding_free(&encoding);
}

static zhen_status read_model(const base_buffer *bytes)
{
    spm_model *model = calloc(1, sizeof *model);
    unsigned char *copy = malloc(bytes->length ? bytes->length : 1);
    ck_assert(model && copy);
    if (bytes->length)
        memcpy(copy, bytes->data, bytes->length);
    model->file = (base_map){bytes->length ? copy : NULL, bytes->length};
    error = (zhen_error){0};
    zhen_status status = spm_read(model, "dir/x.spm", SPM_TO_SEGMENT, &error);
    if (status)
        ck_assert_msg(!strncmp(error.message, "dir/x.spm: ", 11), "%s", error.message);
    else
        encode_texts(model);
    model->file = (base_map){0};
    spm_close(model);
    free(copy);
    return status;
}

/* ---- Writing protobuf --------------------------------------------------------------------- */

static void put_varint(base_buffer *out, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        base_buffer_append_byte(out, (char)(value | 0x80));
    base_buffer_append_byte(out, (char)value);
}

static void put_tag(base_buffer *out, uint64_t number, unsigned type)
{
    put_varint(out, number << 3 | type);
}

static void put_number(base_buffer *out, uint64_t number, uint64_t value)
{
    put_tag(out, number, SPM_WIRE_VARINT);
    put_varint(out, value);
}

static void put_bytes(base_buffer *out, uint64_t number, const void *bytes, size_t length)
{
    put_tag(out, number, SPM_WIRE_BYTES);
    put_varint(out, length);
    base_buffer_append(out, bytes, length);
}

static void put_float(base_buffer *out, uint64_t number, float value)
{
    put_tag(out, number, SPM_WIRE_FIXED32);
    base_buffer_append(out, &value, sizeof value); /* the test runs on little-endian machines */
}

/* Adds a message and empties it. */
static void put_message(base_buffer *out, uint64_t number, base_buffer *message)
{
    put_bytes(out, number, message->data ? message->data : "", message->length);
    base_buffer_free(message);
}

static void put_piece(base_buffer *out, const char *text, size_t length, float score, spm_kind kind)
{
    base_buffer piece = {0};
    put_bytes(&piece, 1, text, length);
    put_float(&piece, 2, score);
    put_number(&piece, 3, kind);
    put_message(out, 1, &piece);
}

static void put_text_piece(base_buffer *out, const char *text, spm_kind kind)
{
    put_piece(out, text, strlen(text), -1.0F, kind);
}

static void put_specifications(base_buffer *out, uint64_t type)
{
    base_buffer trainer = {0}, normalizer = {0};
    put_number(&trainer, 3, type);
    put_message(out, 2, &trainer);
    put_number(&normalizer, 3, 1);
    put_message(out, 3, &normalizer);
}

/* Pieces of a smallest model; put_specifications completes it. */
static void put_pieces(base_buffer *out)
{
    put_text_piece(out, "<unk>", SPM_UNKNOWN);
    put_text_piece(out, "</s>", SPM_CONTROL);
    put_text_piece(out, "a", SPM_NORMAL);
    put_text_piece(out, "aa", SPM_NORMAL);
}

static void expect(base_buffer *bytes, zhen_status status, const char *message)
{
    ck_assert_int_eq(read_model(bytes), status);
    ck_assert_msg(strstr(error.message, message) != NULL, "%s", error.message);
    base_buffer_free(bytes);
}

/* ---- Cut and changed files ---------------------------------------------------------------- */

START_TEST(every_cut_is_found)
{
    base_buffer whole;
    fixture_read("unigram", ".spm", &whole);
    ck_assert(!read_model(&whole));
    /* What comes after the normaliser's specification may be missing; a model does not need it. */
    base_buffer cut = whole;
    for (cut.length = 0; cut.length < whole.length; cut.length++) {
        zhen_status status = read_model(&cut);
        if (!status)
            break;
        ck_assert_int_eq(status, ZHEN_ERROR_FORMAT);
    }
    ck_assert_uint_gt(cut.length, whole.length - 8);
    base_buffer_free(&whole);
}
END_TEST

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525U + 1013904223U;
    return *state >> 8;
}

/* Changes, removes or repeats some bytes. */
static void mutate(base_buffer *bytes, uint32_t *state)
{
    static const unsigned char favourites[] = {0, 1, 0x7F, 0x80, 0xFF, 0x08, 0x0A, 0x12, 0x1A};
    for (uint32_t changes = next_random(state) % 8 + 1; changes && bytes->length > 8; changes--) {
        size_t at = next_random(state) % bytes->length;
        size_t length = next_random(state) % 8;
        length = length > bytes->length - at ? bytes->length - at : length;
        switch (next_random(state) % 4) {
        case 0:
            bytes->data[at] = (char)(bytes->data[at] ^ 1 << next_random(state) % 8);
            break;
        case 1:
            bytes->data[at] = (char)favourites[next_random(state) % sizeof favourites];
            break;
        case 2:
            memmove(bytes->data + at, bytes->data + at + length, bytes->length - at - length);
            bytes->length -= length;
            break;
        default:
            memmove(bytes->data + next_random(state) % (bytes->length - length), bytes->data + at,
                    length);
        }
    }
}

START_TEST(no_change_does_harm)
{
    enum { ROUNDS = 80 };
    base_buffer whole, changed = {0};
    fixture_read(fixture_variants[_i], ".spm", &whole);
    uint32_t state = 20261130U + (uint32_t)_i;
    int opened = 0;
    for (int round = 0; round < ROUNDS; round++) {
        base_buffer_clear(&changed);
        ck_assert(base_buffer_append(&changed, whole.data, whole.length));
        mutate(&changed, &state);
        opened += !read_model(&changed);
    }
    /* Most changes break the model; many, in scores and texts, do not. */
    ck_assert_int_gt(opened, 0);
    ck_assert_int_lt(opened, ROUNDS);
    base_buffer_free(&whole);
    base_buffer_free(&changed);
}
END_TEST

/* The last field with a number in a message. */
static spm_wire find_field(spm_wire message, uint32_t number)
{
    spm_wire found = {0};
    spm_field field;
    while (spm_wire_next(&message, &field) == SPM_WIRE_FIELD)
        if (field.number == number)
            found = field.bytes;
    ck_assert_ptr_nonnull(found.at);
    return found;
}

static void search_everywhere(const spm_charsmap *map, const char *text, size_t blob_size)
{
    const size_t length = strlen(text);
    for (size_t at = 0; at < length; at++) {
        const char *replacement = "";
        ck_assert_uint_le(spm_charsmap_longest(map, text + at, length - at, &replacement),
                          length - at);
        ck_assert_uint_lt(strlen(replacement), blob_size);
    }
}

/* Changes in the character map alone, which few of the others hit. */
START_TEST(no_change_of_the_charsmap_does_harm)
{
    enum { ROUNDS = 1000 };
    base_buffer whole;
    fixture_read("unigram", ".spm", &whole);
    const unsigned char *bytes = (const unsigned char *)whole.data;
    spm_wire blob = find_field(find_field((spm_wire){bytes, bytes + whole.length}, 3), 2);
    const size_t size = (size_t)(blob.end - blob.at);
    uint32_t state = 7;
    int sound = 0;
    for (int round = 0; round < ROUNDS; round++) {
        unsigned char *copy = malloc(size);
        memcpy(copy, blob.at, size);
        for (uint32_t changes = next_random(&state) % 4 + 1; changes; changes--)
            copy[next_random(&state) % size] ^= (unsigned char)(1U << next_random(&state) % 8);
        spm_charsmap map;
        if (spm_charsmap_read(&map, copy, size)) {
            sound++;
            for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
                search_everywhere(&map, texts[i], size);
        }
        free(copy);
    }
    ck_assert_int_gt(sound, 0);
    ck_assert_int_lt(sound, ROUNDS);
    base_buffer_free(&whole);
}
END_TEST

/* ---- Wire format -------------------------------------------------------------------------- */

START_TEST(a_smallest_model_is_read)
{
    for (uint64_t type = 1; type <= 2; type++) {
        base_buffer bytes = {0};
        put_pieces(&bytes);
        put_specifications(&bytes, type);
        ck_assert_msg(!read_model(&bytes), "%s", error.message);
        base_buffer_free(&bytes);
    }
}
END_TEST

START_TEST(unknown_fields_are_skipped)
{
    base_buffer bytes = {0}, piece = {0}, trainer = {0};
    put_number(&bytes, 200, UINT64_MAX);
    put_bytes(&bytes, 4, "anything", 8);
    put_bytes(&piece, 1, "b", 1);
    put_tag(&piece, 7, SPM_WIRE_FIXED64);
    base_buffer_append(&piece, "12345678", 8);
    put_float(&piece, 201, NAN);
    put_number(&piece, 3, 77); /* a kind of the future */
    put_message(&bytes, 1, &piece);
    put_bytes(&trainer, 99, "x", 1);
    put_number(&trainer, 3, 9); /* a type of the future */
    put_message(&bytes, 2, &trainer);
    put_pieces(&bytes);
    put_specifications(&bytes, 1);
    ck_assert_msg(!read_model(&bytes), "%s", error.message);
    base_buffer_free(&bytes);
}
END_TEST

START_TEST(a_missing_score_is_zero)
{
    base_buffer bytes = {0}, piece = {0};
    put_bytes(&piece, 1, "b", 1);
    put_message(&bytes, 1, &piece);
    put_pieces(&bytes);
    put_specifications(&bytes, 1);
    ck_assert_msg(!read_model(&bytes), "%s", error.message);
    base_buffer_free(&bytes);
}
END_TEST

static const struct {
    const char *bytes;
    size_t length;
} garbage[] = {
/* clang-format off */
#define GARBAGE(bytes) {"" bytes, sizeof(bytes) - 1}
    /* clang-format on */
    GARBAGE(""),
    GARBAGE("\n"),
    GARBAGE("{\"piece\": 1}"),
    GARBAGE("\x0A\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x7F"),             /* length 2^63 - 1 */
    GARBAGE("\x0A\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01"),         /* length 2^63 */
    GARBAGE("\x0A\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01"),         /* length 2^64 - 1 */
    GARBAGE("\x0A\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01"), /* no end of a number */
    GARBAGE("\x0A\x05"
            "abcd"),                         /* one byte short */
    GARBAGE("\x00\x00"),                     /* field 0 */
    GARBAGE("\x0B\x0C"),                     /* a group */
    GARBAGE("\x0E\x00"),                     /* no wire type */
    GARBAGE("\xF8\xFF\xFF\xFF\xFF\x01\x00"), /* field 2^32 and more */
    GARBAGE("\x0D\x00\x00\x00"),             /* half a number */
    GARBAGE("\x08\x01"),                     /* a piece that is a number */
    GARBAGE("\x10\x01"),                     /* a trainer, too */
#undef GARBAGE
};

START_TEST(garbage_is_refused)
{
    base_buffer bytes = {0};
    ck_assert(base_buffer_append(&bytes, garbage[_i].bytes, garbage[_i].length));
    expect(&bytes, ZHEN_ERROR_FORMAT, "x.spm: ");
}
END_TEST

START_TEST(fields_of_the_wrong_type_are_refused)
{
    for (uint64_t number = 1; number <= 3; number++) {
        base_buffer bytes = {0}, piece = {0};
        put_tag(&piece, number, SPM_WIRE_FIXED64);
        base_buffer_append(&piece, "12345678", 8);
        put_message(&bytes, 1, &piece);
        put_pieces(&bytes);
        put_specifications(&bytes, 1);
        expect(&bytes, ZHEN_ERROR_FORMAT, "piece 0 has a field of the wrong type");
    }
    static const struct {
        uint64_t part, number;
        const char *message;
    } fields[] = {
        {2, 3, "field 3 of the trainer specification has the wrong type"},
        {2, 24, "field 24 of the trainer"},
        {2, 35, "field 35 of the trainer"},
        {2, 44, "field 44 of the trainer"},
        {3, 2, "field 2 of the normaliser specification has the wrong type"},
        {3, 3, "field 3 of the normaliser"},
        {3, 4, "field 4 of the normaliser"},
        {3, 5, "field 5 of the normaliser"},
        {5, 2, "field 2 of the denormaliser"},
    };
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        base_buffer bytes = {0}, part = {0};
        put_pieces(&bytes);
        put_tag(&part, fields[i].number, SPM_WIRE_FIXED32);
        base_buffer_append(&part, "1234", 4);
        put_message(&bytes, fields[i].part, &part);
        put_specifications(&bytes, 1);
        expect(&bytes, ZHEN_ERROR_FORMAT, fields[i].message);
    }
}
END_TEST

/* ---- Pieces ------------------------------------------------------------------------------- */

START_TEST(broken_pieces_are_named)
{
    static char longest[8001];
    memset(longest, 'a', 8000);
    static const struct {
        const char *text;
        size_t length;
        float score;
        spm_kind kind;
        const char *message;
    } pieces[] = {
        {"", 0, 0, SPM_NORMAL, "piece 4 is empty"},
        {"a", 1, 0, SPM_NORMAL, "piece 4 occurs twice"},
        {"aa", 2, 0, SPM_USER_DEFINED, "piece 4 occurs twice"},
        {"</s>", 4, 0, SPM_CONTROL, "piece 4 occurs twice"},
        {"<unk2>", 6, 0, SPM_UNKNOWN, "piece 4 is a second unknown piece"},
        {"b", 1, NAN, SPM_NORMAL, "piece 4 has a score that is not finite"},
        {"b", 1, -INFINITY, SPM_NORMAL, "piece 4 has a score that is not finite"},
        {"b", 1, INFINITY, SPM_CONTROL, "piece 4 has a score that is not finite"},
        {"b\0c", 3, 0, SPM_NORMAL, "piece 4 holds a zero byte"},
        {"\0", 1, 0, SPM_NORMAL, "piece 4 holds a zero byte"},
        {"\xE4\xBD", 2, 0, SPM_NORMAL, "piece 4 is not UTF-8"},
        {"\xC0\x80", 2, 0, SPM_CONTROL, "piece 4 is not UTF-8"},
        {"<0x41>", 6, 0, SPM_BYTE, "piece 4 is a byte, but there is no byte fallback"},
        {"<0x4g>", 6, 0, SPM_BYTE, "piece 4 is no byte"},
        {longest, 8000, 0, SPM_NORMAL, "piece 4 has a field of the wrong type or size"},
    };
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        base_buffer bytes = {0};
        put_pieces(&bytes);
        put_piece(&bytes, pieces[i].text, pieces[i].length, pieces[i].score, pieces[i].kind);
        put_specifications(&bytes, 1);
        expect(&bytes, ZHEN_ERROR_FORMAT, pieces[i].message);
    }
}
END_TEST

START_TEST(the_whole_must_make_sense)
{
    base_buffer bytes = {0}, part = {0};
    put_specifications(&bytes, 1);
    expect(&bytes, ZHEN_ERROR_FORMAT, "has no pieces");
    put_text_piece(&bytes, "a", SPM_NORMAL);
    put_specifications(&bytes, 1);
    expect(&bytes, ZHEN_ERROR_FORMAT, "has no unknown piece");
    put_text_piece(&bytes, "<unk>", SPM_UNKNOWN);
    put_specifications(&bytes, 1);
    expect(&bytes, ZHEN_ERROR_FORMAT, "has no pieces that text is made of");
    put_pieces(&bytes);
    expect(&bytes, ZHEN_ERROR_FORMAT, "may have been cut short");
    put_pieces(&bytes);
    put_number(&part, 35, 1);
    put_message(&bytes, 2, &part);
    put_specifications(&bytes, 1);
    expect(&bytes, ZHEN_ERROR_FORMAT, "lacks some of the 256 byte pieces");
    for (uint64_t type = 3; type <= 4; type++) {
        put_pieces(&bytes);
        put_specifications(&bytes, type);
        expect(&bytes, ZHEN_ERROR_UNSUPPORTED, "word and character models");
    }
    put_pieces(&bytes);
    put_specifications(&bytes, 1);
    put_bytes(&part, 2, "12345", 5);
    put_message(&bytes, 5, &part);
    expect(&bytes, ZHEN_ERROR_UNSUPPORTED, "denormalisation rules");
    put_pieces(&bytes);
    put_specifications(&bytes, 1);
    put_bytes(&part, 44, "\xFF", 1);
    put_message(&bytes, 2, &part);
    expect(&bytes, ZHEN_ERROR_FORMAT, "the unknown piece's surface is not UTF-8");
}
END_TEST

START_TEST(a_stray_zero_piece_is_ignored)
{
    base_buffer bytes = {0};
    put_pieces(&bytes);
    put_piece(&bytes, "\0", 1, 0, SPM_UNUSED);
    put_piece(&bytes, "\0", 1, 0, SPM_UNUSED);
    put_specifications(&bytes, 1);
    ck_assert_msg(!read_model(&bytes), "%s", error.message);
    base_buffer_free(&bytes);
}
END_TEST

/* ---- Character maps ----------------------------------------------------------------------- */

enum { UNITS = 512 };

/* A map that replaces nothing: a root whose children lie in the second block of 256 units. */
static void put_charsmap(base_buffer *out, const uint32_t *units, uint32_t trie_size,
                         const char *strings, size_t strings_length)
{
    base_buffer_append(out, &trie_size, sizeof trie_size);
    base_buffer_append(out, units, UNITS * sizeof *units);
    base_buffer_append(out, strings, strings_length);
}

static void expect_charsmap(const uint32_t *units, uint32_t trie_size, const char *strings,
                            size_t strings_length, bool sound)
{
    base_buffer bytes = {0}, normalizer = {0}, blob = {0};
    put_pieces(&bytes);
    put_charsmap(&blob, units, trie_size, strings, strings_length);
    put_message(&normalizer, 2, &blob);
    put_specifications(&bytes, 1);
    put_message(&bytes, 3, &normalizer);
    if (!sound) {
        expect(&bytes, ZHEN_ERROR_FORMAT, "the character map of the normaliser is malformed");
        return;
    }
    ck_assert_msg(!read_model(&bytes), "%s", error.message);
    base_buffer_free(&bytes);
}

static uint32_t unit(uint32_t label, uint32_t has_value, uint32_t offset)
{
    return label | has_value << 8 | offset << 10;
}

/* Units that lead to the leaf of "a" -> strings[value]. */
static void make_units(uint32_t *units, uint32_t value)
{
    for (uint32_t i = 0; i < UNITS; i++)
        units[i] = unit(1, 0, i ^ (i & 256 ? 256 : 0)); /* children in the first block */
    units[0] = unit(0, 0, 256);
    units[256 ^ 'a'] = unit('a', 1, 1);
    units[256 ^ 'a' ^ 1] = UINT32_C(1) << 31 | value;
}

START_TEST(broken_charsmaps_are_refused)
{
    static uint32_t units[UNITS];
    const uint32_t size = sizeof units;
    make_units(units, 0);
    expect_charsmap(units, size, "b", 2, true);
    expect_charsmap(units, size, "b", 1, false);        /* no zero byte at the end */
    expect_charsmap(units, size, "", 0, false);         /* no strings */
    expect_charsmap(units, 0, "b", 2, false);           /* no trie */
    expect_charsmap(units, size - 4, "b", 2, false);    /* not whole blocks */
    expect_charsmap(units, size + 1024, "b", 2, false); /* beyond the end */
    expect_charsmap(units, UINT32_MAX, "b", 2, false);
    expect_charsmap(units, UINT32_MAX & ~UINT32_C(1023), "b", 2, false);
    make_units(units, 2); /* a value beyond the strings */
    expect_charsmap(units, size, "b", 2, false);
    make_units(units, INT32_MAX);
    expect_charsmap(units, size, "b", 2, false);
    make_units(units, 0);
    units[256 ^ 'a'] = unit('a', 0, 512); /* children beyond the trie */
    expect_charsmap(units, size, "b", 2, false);
    units[256 ^ 'a'] = unit('a', 0, (1 << 22) - 1) | 1 << 9;
    expect_charsmap(units, size, "b", 2, false);
    make_units(units, 0);
    units[256 ^ 'a' ^ 1] = unit(1, 0, 1); /* a value that is none */
    expect_charsmap(units, size, "b", 2, false);
    make_units(units, 0);
    units[0] = unit(0, 0, 0); /* a root that is its own child */
    expect_charsmap(units, size, "b", 2, false);
    units[0] = unit(0, 1, 256); /* a rule for nothing */
    expect_charsmap(units, size, "b", 2, false);
    units[0] = unit('x', 0, 256);
    expect_charsmap(units, size, "b", 2, false);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("hostile");
    tcase_set_timeout(tests, 0);
    tcase_add_test(tests, every_cut_is_found);
    tcase_add_loop_test(tests, no_change_does_harm, 0, fixture_variant_count);
    tcase_add_test(tests, no_change_of_the_charsmap_does_harm);
    tcase_add_test(tests, a_smallest_model_is_read);
    tcase_add_test(tests, unknown_fields_are_skipped);
    tcase_add_test(tests, a_missing_score_is_zero);
    tcase_add_loop_test(tests, garbage_is_refused, 0, sizeof garbage / sizeof *garbage);
    tcase_add_test(tests, fields_of_the_wrong_type_are_refused);
    tcase_add_test(tests, broken_pieces_are_named);
    tcase_add_test(tests, the_whole_must_make_sense);
    tcase_add_test(tests, a_stray_zero_piece_is_ignored);
    tcase_add_test(tests, broken_charsmaps_are_refused);
    return run_group("tokenizer_hostile", tests);
}
