/* The safetensors reader on files of every kind of wrong, and what the writer writes. */
#include "base/buffer.h"
#include "model/safetensors.h"
#include "model/tiny.h"
#include "support/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static tiny_model model;

static void setup(void)
{
    tiny_create(&model);
}

static void teardown(void)
{
    tiny_remove(&model);
}

static zhen_status open_weights(st_file *file, zhen_error *error)
{
    char path[256];
    snprintf(path, sizeof path, "%s/model.safetensors", model.directory);
    return st_open(path, file, error);
}

static void expect_error(const char *message)
{
    st_file file;
    zhen_error error = {0};
    ck_assert_int_eq(open_weights(&file, &error), ZHEN_ERROR_FORMAT);
    ck_assert_int_eq(error.status, ZHEN_ERROR_FORMAT);
    ck_assert_msg(strstr(error.message, message) != NULL, "\"%s\" is not in \"%s\"", message,
                  error.message);
    ck_assert_msg(strstr(error.message, "model.safetensors") != NULL, "%s", error.message);
    ck_assert_ptr_null(file.map.bytes);
}

START_TEST(test_reads_every_tensor)
{
    st_file file;
    zhen_error error;
    ck_assert_msg(!open_weights(&file, &error), "%s", error.message);
    ck_assert_uint_eq(file.count, model.count);
    for (size_t i = 0; i < model.count; i++) {
        const tiny_tensor *expected = &model.tensors[i];
        const st_tensor *tensor = st_find(&file, expected->name);
        ck_assert_ptr_nonnull(tensor);
        ck_assert_int_eq(tensor->dtype, ST_F32);
        ck_assert_uint_eq(tensor->dimensions, expected->rows ? 2 : 1);
        ck_assert_uint_eq(tensor->shape[tensor->dimensions - 1], expected->cols);
        ck_assert_mem_eq(tensor->data, expected->values, tensor->bytes);
    }
    ck_assert_ptr_null(st_find(&file, "no.such.tensor"));
    st_close(&file);
}
END_TEST

static const struct {
    const char *header;
    size_t data_bytes;
    const char *message;
} hostile[] = {
    {"", 0, "empty file"},
    {"[]", 0, "not a JSON object"},
    {"{", 0, "not valid JSON"},
    {"{} x", 0, "not valid JSON"},
    {"{\"a\":\"\xFF\"}", 0, "not valid UTF-8"},
    {"{\"a\\u0000b\":1}", 0, "zero character"},
    {"{\"a\":1}", 0, "tensor 'a': not an object"},
    {"{\"a\":{}}", 0, "tensor 'a': dtype is missing"},
    {"{\"a\":{\"dtype\":7}}", 0, "tensor 'a': dtype is missing or no string"},
    {"{\"a\":{\"dtype\":\"F33\"}}", 0, "unknown dtype \"F33\""},
    {"{\"a\":{\"dtype\":\"F32\"}}", 0, "tensor 'a': shape is missing"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[-1]}}", 0, "no size"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1.5]}}", 0, "no size"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[\"1\"]}}", 0, "no size"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1e99]}}", 0, "no size"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1,1,1,1,1,1,1,1,1]}}", 0, "more than 8 dimensions"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[4294967296,4294967296]}}", 0, "shape is too large"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1]}}", 4, "data_offsets must be"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0]}}", 4, "data_offsets must be"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4,8]}}", 4,
     "data_offsets must be"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[4,0]}}", 4, "ascending"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,9223372036854775808]}}", 4,
     "data_offsets must be"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,8]}}", 4, "cut short"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,4]}}", 4,
     "shape needs 8 bytes, data_offsets give 4"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[4,8]}}", 8,
     "'a': unused bytes before"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}", 8,
     "4 unused bytes after the last tensor"},
    {"{}", 3, "3 unused bytes after the last tensor"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]},"
     "\"b\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[4,12]}}",
     12, "tensor 'b': data overlaps that of 'a'"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]},"
     "\"b\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}",
     4, "overlaps"},
    {"{\"a\":{\"dtype\":\"I8\",\"shape\":[1],\"data_offsets\":[0,1]},"
     "\"a\":{\"dtype\":\"I8\",\"shape\":[1],\"data_offsets\":[1,2]}}",
     2, "a: key appears twice"},
    {"{\"a\":{\"dtype\":\"I8\",\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}", 1,
     "dtype: key appears twice"},
};

START_TEST(test_refuses_hostile_header)
{
    tiny_write_header(&model, hostile[_i].header, hostile[_i].data_bytes);
    expect_error(hostile[_i].message);
}
END_TEST

START_TEST(test_accepts_what_the_format_allows)
{
    /* No tensors, tensors without elements, scalars, types that we do not use. */
    static const struct {
        const char *header;
        size_t data_bytes, count;
    } valid[] = {
        {"{}", 0, 0},
        {"{\"__metadata__\":{\"any\":\"thing\"}}   ", 0, 0},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[0,5],\"data_offsets\":[0,0]},"
         "\"s\":{\"dtype\":\"F64\",\"shape\":[],\"data_offsets\":[0,8]},"
         "\"b\":{\"dtype\":\"BOOL\",\"shape\":[3],\"data_offsets\":[8,11]}}",
         11, 3},
    };
    for (size_t i = 0; i < sizeof valid / sizeof valid[0]; i++) {
        st_file file;
        zhen_error error;
        tiny_write_header(&model, valid[i].header, valid[i].data_bytes);
        ck_assert_msg(!open_weights(&file, &error), "%s", error.message);
        ck_assert_uint_eq(file.count, valid[i].count);
        st_close(&file);
    }
}
END_TEST

START_TEST(test_refuses_impossible_header_lengths)
{
    static const uint64_t lengths[] = {UINT64_MAX, UINT64_C(1) << 63, UINT64_MAX - 7,
                                       ST_MAX_HEADER + UINT64_C(1), 9};
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        unsigned char image[16] = {0};
        for (int b = 0; b < 8; b++)
            image[b] = (unsigned char)(lengths[i] >> (8 * b));
        image[8] = '{';
        image[9] = '}';
        tiny_write(&model, "model.safetensors", image, sizeof image);
        expect_error("header of ");
    }
    tiny_write(&model, "model.safetensors", "", 0);
    expect_error("0 bytes are too few");
    tiny_write(&model, "model.safetensors", "\2\0\0\0\0\0\0", 7);
    expect_error("7 bytes are too few");
}
END_TEST

START_TEST(test_refuses_deep_nesting)
{
    static char header[100001];
    memset(header, '[', sizeof header - 1);
    memcpy(header, "{\"a\":", 5);
    tiny_write_header(&model, header, 0);
    expect_error("not valid JSON");
}
END_TEST

START_TEST(test_refuses_every_truncation)
{
    size_t size;
    unsigned char *image = tiny_read(model.directory, "model.safetensors", &size);
    for (size_t cut = 0; cut < size; cut += cut < 64 ? 1 : 97) {
        tiny_write(&model, "model.safetensors", image, cut);
        st_file file;
        zhen_error error;
        ck_assert_int_eq(open_weights(&file, &error), ZHEN_ERROR_FORMAT);
    }
    free(image);
}
END_TEST

START_TEST(test_missing_file_is_named)
{
    st_file file;
    zhen_error error;
    ck_assert_int_eq(st_open("/no/such/model.safetensors", &file, &error), ZHEN_ERROR_IO);
    ck_assert_ptr_nonnull(strstr(error.message, "/no/such/model.safetensors"));
    ck_assert_int_eq(st_open("/no/such/model.safetensors", &file, NULL), ZHEN_ERROR_IO);
}
END_TEST

/* Tensors of awkward sizes; what is written must be read back and be aligned. */
static const unsigned char bytes[1024];

static void fill_awkward(st_tensor tensors[6])
{
    static const st_tensor awkward[6] = {
        {.name = "odd", .dtype = ST_I8, .dimensions = 2, .shape = {5, 7}, .bytes = 35},
        {.name = "c", .dtype = ST_F32, .dimensions = 1, .shape = {3}, .bytes = 12},
        {.name = "b", .dtype = ST_I8, .dimensions = 2, .shape = {2, 64}, .bytes = 128},
        {.name = "a", .dtype = ST_F32, .dimensions = 2, .shape = {1, 16}, .bytes = 64},
        {.name = "d", .dtype = ST_F32, .dimensions = 1, .shape = {5}, .bytes = 20},
        {.name = "none", .dtype = ST_F32, .dimensions = 1, .shape = {0}, .bytes = 0},
    };
    memcpy(tensors, awkward, sizeof awkward);
    for (size_t i = 0; i < 6; i++)
        tensors[i].data = bytes;
}

START_TEST(test_writes_aligned_tensors)
{
    st_tensor tensors[6];
    base_buffer image = {0};
    fill_awkward(tensors);
    ck_assert(st_write(tensors, 6, &image));
    tiny_write(&model, "model.safetensors", image.data, image.length);
    base_buffer_free(&image);

    st_file file;
    zhen_error error;
    ck_assert_msg(!open_weights(&file, &error), "%s", error.message);
    ck_assert_uint_eq(file.count, 6);
    for (size_t i = 0; i < 6; i++) {
        const st_tensor *tensor = st_find(&file, tensors[i].name);
        ck_assert_ptr_nonnull(tensor);
        ck_assert_int_eq(tensor->dtype, tensors[i].dtype);
        ck_assert_uint_eq(tensor->bytes, tensors[i].bytes);
        ck_assert_uint_eq(tensor->dimensions, tensors[i].dimensions);
        ck_assert_mem_eq(tensor->shape, tensors[i].shape, sizeof tensor->shape);
        if (tensor->dtype == ST_F32)
            ck_assert_uint_eq((uintptr_t)tensor->data % sizeof(float), 0);
        if (tensor->bytes % ST_ALIGNMENT == 0)
            ck_assert_uint_eq((uintptr_t)tensor->data % ST_ALIGNMENT, 0);
    }
    st_close(&file);
}
END_TEST

START_TEST(test_writes_the_same_bytes_from_any_order)
{
    st_tensor tensors[6], reversed[6];
    base_buffer first = {0}, second = {0};
    fill_awkward(tensors);
    for (size_t i = 0; i < 6; i++)
        reversed[i] = tensors[5 - i];
    ck_assert(st_write(tensors, 6, &first));
    ck_assert(st_write(reversed, 6, &second));
    ck_assert_uint_eq(first.length, second.length);
    ck_assert_mem_eq(first.data, second.data, first.length);
    base_buffer_free(&first);
    base_buffer_free(&second);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("safetensors");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, test_reads_every_tensor);
    tcase_add_loop_test(tests, test_refuses_hostile_header, 0,
                        (int)(sizeof hostile / sizeof hostile[0]));
    tcase_add_test(tests, test_accepts_what_the_format_allows);
    tcase_add_test(tests, test_refuses_impossible_header_lengths);
    tcase_add_test(tests, test_refuses_deep_nesting);
    tcase_add_test(tests, test_refuses_every_truncation);
    tcase_add_test(tests, test_missing_file_is_named);
    tcase_add_test(tests, test_writes_aligned_tensors);
    tcase_add_test(tests, test_writes_the_same_bytes_from_any_order);
    tcase_set_timeout(tests, 0);
    return run_group("model safetensors", tests);
}
