/* Segmentation against the SentencePiece library, through fixtures made by make_fixtures.py. */
#include "support/suite.h"
#include "tokenizer/fixture.h"
#include "tokenizer/spm.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static zhen_error error;

static spm_model *open_model(const char *name)
{
    spm_model *model;
    ck_assert_msg(!spm_open(fixture_path(name, ".spm"), SPM_TO_SEGMENT, &model, &error), "%s",
                  error.message);
    return model;
}

static void encode(const spm_model *model, const char *text, size_t length, spm_encoding *encoding)
{
    ck_assert(!spm_encode(model, text, length, encoding, &error));
}

static void print_pieces(const spm_encoding *encoding, base_buffer *text)
{
    base_buffer_clear(text);
    for (size_t i = 0; i < encoding->count; i++) {
        const spm_piece *piece = &encoding->pieces[i];
        char item[80];
        int length = snprintf(item, sizeof item, "%s%" PRId32 ":%zu:%zu", i ? " " : "", piece->id,
                              piece->original.begin, piece->original.end);
        ck_assert(base_buffer_append(text, item, (size_t)length));
    }
}

START_TEST(pieces_and_their_places_are_the_librarys)
{
    const char *name = fixture_variants[_i];
    spm_model *model = open_model(name);
    base_buffer lines, expected, got = {0};
    fixture_read("lines", ".bin", &lines);
    fixture_read(name, ".pieces", &expected);
    fixture_line line = {.text = &lines}, want = {.text = &expected};
    spm_encoding encoding = {0};
    while (fixture_next(&line)) {
        ck_assert(fixture_next(&want));
        encode(model, line.start, line.length, &encoding);
        print_pieces(&encoding, &got);
        ck_assert_msg(got.length == want.length &&
                          !memcmp(got.length ? got.data : "", want.start, want.length),
                      "%s, line %d (%.*s): %s", name, line.number, (int)line.length, line.start,
                      got.data);
    }
    ck_assert(!fixture_next(&want));
    ck_assert_int_gt(line.number, 100);
    spm_encoding_free(&encoding);
    base_buffer_free(&lines);
    base_buffer_free(&expected);
    base_buffer_free(&got);
    spm_close(model);
}
END_TEST

/* The text of which make_fixtures.py made long.txt. */
static void make_long_text(base_buffer *text)
{
    base_buffer flores;
    fixture_read("flores", ".tsv", &flores);
    for (int i = 0; i < 12; i++) {
        fixture_line line = {.text = &flores};
        while (fixture_next(&line)) {
            const char *target = (char *)memchr(line.start, '\t', line.length) + 1;
            size_t length = line.length - (size_t)(target - line.start);
            ck_assert(base_buffer_append(text, target, length));
        }
    }
    base_buffer_free(&flores);
}

static uint64_t fingerprint(const spm_encoding *encoding)
{
    uint64_t h = UINT64_C(0xCBF29CE484222325);
    for (size_t i = 0; i < encoding->count; i++)
        for (int shift = 0; shift < 32; shift += 8)
            h = (h ^ (encoding->pieces[i].id >> shift & 0xFF)) * UINT64_C(0x100000001B3);
    return h;
}

START_TEST(long_text_is_cut_as_by_the_library)
{
    base_buffer text = {0}, expected;
    make_long_text(&text);
    fixture_read("long", ".txt", &expected);
    fixture_line line = {.text = &expected};
    while (fixture_next(&line)) {
        line.start[line.length] = '\0';
        char *at = strchr(line.start, ' ');
        ck_assert_ptr_nonnull(at);
        *at++ = '\0';
        const size_t count = strtoul(at, &at, 10);
        const uint64_t want = strtoull(at, NULL, 16);
        spm_model *model = open_model(line.start);
        spm_encoding encoding = {0};
        encode(model, text.data, text.length, &encoding);
        ck_assert_uint_eq(encoding.count, count);
        ck_assert_uint_eq(fingerprint(&encoding), want);
        spm_encoding_free(&encoding);
        spm_close(model);
    }
    ck_assert_int_eq(line.number, 2);
    base_buffer_free(&text);
    base_buffer_free(&expected);
}
END_TEST

START_TEST(a_broken_byte_counts_as_a_replacement_character)
{
    spm_model *model = open_model(fixture_variants[_i]);
    spm_encoding broken = {0}, replaced = {0};
    static const char bytes[] = "a\xE4\xBD"
                                "b\xFF",
                      text[] = "a\uFFFD\uFFFDb\uFFFD";
    encode(model, bytes, sizeof bytes - 1, &broken);
    encode(model, text, sizeof text - 1, &replaced);
    ck_assert_uint_eq(broken.count, replaced.count);
    for (size_t i = 0; i < broken.count; i++)
        ck_assert_int_eq(broken.pieces[i].id, replaced.pieces[i].id);
    ck_assert_uint_eq(broken.pieces[broken.count - 1].original.end, sizeof bytes - 1);
    spm_encoding_free(&broken);
    spm_encoding_free(&replaced);
    spm_close(model);
}
END_TEST

START_TEST(pieces_cover_the_normalised_text)
{
    spm_model *model = open_model(fixture_variants[_i]);
    static const char text[] = " ﬁne  ½ 你好 𠮷<sep> ";
    spm_encoding encoding = {0};
    encode(model, text, sizeof text - 1, &encoding);
    size_t end = 0;
    for (size_t i = 0; i < encoding.count; i++) {
        const spm_piece *piece = &encoding.pieces[i];
        ck_assert_uint_eq(piece->normal.begin, end);
        ck_assert_uint_gt(piece->normal.end, piece->normal.begin);
        end = piece->normal.end;
    }
    ck_assert_uint_eq(end, encoding.normal.length);
    spm_encoding_free(&encoding);
    spm_close(model);
}
END_TEST

START_TEST(pieces_can_be_asked_for)
{
    spm_model *model = open_model("unigram_plain");
    size_t length;
    ck_assert_uint_eq(spm_piece_count(model), 560);
    ck_assert_ptr_null(spm_piece_text(model, -1, &length));
    ck_assert_ptr_null(spm_piece_text(model, 560, &length));
    const char *text = spm_piece_text(model, spm_unknown_id(model), &length);
    ck_assert(length == 5 && !memcmp(text, "<UNK>", 5));
    ck_assert_int_eq(spm_piece_kind(model, spm_unknown_id(model)), SPM_UNKNOWN);
    text = spm_unknown_surface(model, &length);
    ck_assert(length == 2 && !memcmp(text, "??", 2));
    ck_assert(!spm_strips_first_space(model) && !spm_strips_leading_spaces(model));
    ck_assert_uint_gt(spm_memory(model), 560 * sizeof(void *));
    spm_close(model);
}
END_TEST

START_TEST(joining_needs_less_than_segmenting)
{
    spm_model *model, *whole = open_model("bpe_bytes");
    ck_assert(!spm_open(fixture_path("bpe_bytes", ".spm"), SPM_TO_JOIN, &model, &error));
    ck_assert_uint_eq(spm_piece_count(model), spm_piece_count(whole));
    ck_assert_uint_lt(spm_memory(model), spm_memory(whole));
    ck_assert(spm_strips_first_space(model) && spm_strips_leading_spaces(model));
    spm_close(model);
    spm_close(whole);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("spm");
    tcase_set_timeout(tests, 0);
    tcase_add_loop_test(tests, pieces_and_their_places_are_the_librarys, 0, fixture_variant_count);
    tcase_add_loop_test(tests, a_broken_byte_counts_as_a_replacement_character, 0,
                        fixture_variant_count);
    tcase_add_loop_test(tests, pieces_cover_the_normalised_text, 0, fixture_variant_count);
    tcase_add_test(tests, long_text_is_cut_as_by_the_library);
    tcase_add_test(tests, pieces_can_be_asked_for);
    tcase_add_test(tests, joining_needs_less_than_segmenting);
    return run_group("tokenizer_spm", tests);
}
