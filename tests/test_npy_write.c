/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "npy_files.h"

/* --- there and back --- */

static void round_trip(tsr_dtype dtype, int rank, const int64_t *shape, bool fortran_order)
{
    static unsigned char bytes[1024];
    tsr_npy *npy = NULL;
    tsr_npy_writer *writer = start(path_of("a.npy"), dtype, rank, shape, fortran_order);
    int64_t element_bytes = (int64_t)tsr_dtype_size_bytes(dtype);
    int64_t elements = 1;
    for (int k = 0; k < rank; k++)
        elements *= shape[k];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(i * 37 + 1);
    append(writer, bytes, elements / 3);
    append(writer, bytes + elements / 3 * element_bytes, elements - elements / 3);
    finish(writer);

    assert_int_equal(tsr_npy_open(&npy, path_of("a.npy"), NULL), TSR_OK);
    const tsr_desc *desc = tsr_npy_desc(npy);
    tsr_desc expected;
    int64_t strides[TSR_MAX_RANK];
    int64_t stride = 1;
    for (int k = 0; k < rank; k++) {
        int axis = fortran_order ? k : rank - 1 - k;
        strides[axis] = stride;
        stride *= shape[axis] ? shape[axis] : 1;
    }
    assert_int_equal(tsr_desc_strided(&expected, dtype, rank, shape, strides, 0, NULL), TSR_OK);
    assert_true(tsr_desc_equal(desc, &expected));
    assert_int_equal(tsr_desc_size_bytes(desc), elements * element_bytes);
    if (elements)
        assert_memory_equal(tsr_npy_data(npy), bytes, (size_t)(elements * element_bytes));
    else
        assert_null(tsr_npy_data(npy));
    tsr_npy_close(&npy);
    assert_null(npy);
}

static void test_round_trip(void **state)
{
    (void)state;
    int64_t ones[TSR_MAX_RANK];
    for (int k = 0; k < TSR_MAX_RANK; k++)
        ones[k] = 1 + (k % 10 == 3);
    for (size_t i = 0; i < TYPE_COUNT; i++) {
        for (int fortran_order = 0; fortran_order < 2; fortran_order++) {
            round_trip(types[i].dtype, 0, NULL, fortran_order);
            round_trip(types[i].dtype, 1, (const int64_t[]){7}, fortran_order);
            round_trip(types[i].dtype, 1, (const int64_t[]){0}, fortran_order);
            round_trip(types[i].dtype, 3, (const int64_t[]){2, 0, 5}, fortran_order);
            round_trip(types[i].dtype, 4, (const int64_t[]){2, 3, 1, 5}, fortran_order);
            round_trip(types[i].dtype, TSR_MAX_RANK, ones, fortran_order);
        }
    }
}

/* Chunks below, at and above the size of any buffer, in any order. */
static void test_large_appends(void **state)
{
    (void)state;
    static const int64_t chunks[] = {1, 65535, 65536, 3, 65537, 200000, 0, 7, 65400, 1000, 131072};
    int64_t total = 0;
    for (size_t i = 0; i < sizeof chunks / sizeof chunks[0]; i++)
        total += chunks[i];
    unsigned char *bytes = malloc((size_t)total);
    assert_non_null(bytes);
    for (int64_t i = 0; i < total; i++)
        bytes[i] = (unsigned char)(i * 7 + i / 251);
    tsr_npy_writer *writer = start(path_of("a.npy"), TSR_U8, 1, &total, false);
    int64_t at = 0;
    for (size_t i = 0; i < sizeof chunks / sizeof chunks[0]; at += chunks[i++])
        append(writer, bytes + at, chunks[i]);
    finish(writer);
    tsr_npy *npy = NULL;
    assert_int_equal(tsr_npy_open(&npy, path_of("a.npy"), NULL), TSR_OK);
    assert_memory_equal(tsr_npy_data(npy), bytes, (size_t)total);
    tsr_npy_close(&npy);
    free(bytes);
}

/* --- the header as np.save of NumPy 2.4 writes it --- */

static void expect_header(tsr_dtype dtype, int rank, const int64_t *shape, bool fortran_order, const char *dict,
                          size_t total)
{
    char expected[1024];
    char found[1024];
    tsr_npy_writer *writer = start(path_of("a.npy"), dtype, rank, shape, fortran_order);
    int64_t elements = 1;
    for (int k = 0; k < rank; k++)
        elements *= shape[k];
    memset(found, 0, sizeof found);
    append(writer, found, elements);
    finish(writer);
    memset(expected, ' ', sizeof expected);
    memcpy(expected, "\x93NUMPY\x01\x00", 8);
    expected[8] = (char)(total - 10);
    expected[9] = 0;
    memcpy(expected + 10, dict, strlen(dict));
    expected[total - 1] = '\n';
    size_t size = read_bytes(path_of("a.npy"), found, sizeof found);
    assert_int_equal(size, total + (size_t)elements * tsr_dtype_size_bytes(dtype));
    assert_memory_equal(found, expected, total);
}

static void test_header(void **state)
{
    (void)state;
    static const int64_t brim[] = {1, 10, 10, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    char dict[64];
    for (size_t i = 0; i < TYPE_COUNT; i++) {
        snprintf(dict, sizeof dict, "{'descr': '%s', 'fortran_order': False, 'shape': (1, 3), }", types[i].descr);
        expect_header(types[i].dtype, 2, (const int64_t[]){1, 3}, false, dict, 128);
        expect_header(types[i].dtype, 2, (const int64_t[]){1, 3}, true, dict, 128);
    }
    expect_header(TSR_F64, 0, NULL, true, "{'descr': '<f8', 'fortran_order': False, 'shape': (), }", 128);
    expect_header(TSR_U8, 1, (const int64_t[]){5}, true, "{'descr': '|u1', 'fortran_order': False, 'shape': (5,), }",
                  128);
    expect_header(TSR_F32, 2, (const int64_t[]){2, 3}, true,
                  "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }", 128);
    expect_header(TSR_F32, 3, (const int64_t[]){2, 0, 3}, true,
                  "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 0, 3), }", 128);
    /* 128 bytes would do, with nothing left over: NumPy takes 192 */
    expect_header(TSR_F32, 14, brim, false,
                  "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 10, 10, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1), }",
                  192);
}

/* --- writing --- */

static void refuse_writer(const char *path, tsr_dtype dtype, int rank, const int64_t *shape, tsr_status status,
                          const char *message)
{
    tsr_npy_writer *writer = NULL;
    tsr_error error = {0};
    int files = open_files();
    assert_int_equal(tsr_npy_writer_open(&writer, path, dtype, rank, shape, false, &error), status);
    assert_null(writer);
    if (message)
        expect_message(&error, status, path, message);
    assert_int_equal(count_entries(folder), 0);
    assert_int_equal(open_files(), files);
}

static void test_writer_refusals(void **state)
{
    (void)state;
    const char *path = path_of("a.npy");
    static const int64_t shape[TSR_MAX_RANK + 1] = {2, 3};
    refuse_writer(path, TSR_BF16, 2, shape, TSR_UNSUPPORTED, "the .npy format has no bf16");
    refuse_writer(path, TSR_DTYPE_NONE, 2, shape, TSR_INVALID_ARGUMENT, NULL);
    refuse_writer(path, TSR_DTYPE_COUNT, 2, shape, TSR_INVALID_ARGUMENT, NULL);
    refuse_writer(path, TSR_F32, -1, shape, TSR_INVALID_ARGUMENT, NULL);
    refuse_writer(path, TSR_F32, TSR_MAX_RANK + 1, shape, TSR_INVALID_ARGUMENT, NULL);
    refuse_writer(path, TSR_F32, 2, (const int64_t[]){2, -3}, TSR_INVALID_ARGUMENT, NULL);
    refuse_writer(path, TSR_F32, 2, (const int64_t[]){INT64_MAX, 3}, TSR_OVERFLOW, NULL);
    refuse_writer(path_of("none/a.npy"), TSR_F32, 2, shape, TSR_IO_ERROR, "cannot write: No such file or directory");
    refuse_writer(path_of("new/"), TSR_F32, 2, shape, TSR_IO_ERROR, "cannot write: Is a directory");
    refuse_writer(folder, TSR_F32, 2, shape, TSR_IO_ERROR, "cannot write: Is a directory");
    refuse_writer("", TSR_F32, 2, shape, TSR_IO_ERROR, "cannot write: No such file or directory");
}

static void test_counts(void **state)
{
    (void)state;
    const char *path = path_of("a.npy");
    tsr_error error = {0};
    tsr_npy_writer *writer = start(path, TSR_U8, 1, (const int64_t[]){3}, false);
    assert_int_equal(count_entries(folder), 1);
    assert_int_equal(access(path, F_OK), -1);
    append(writer, "ab", 2);
    assert_int_equal(tsr_npy_writer_append(writer, "cd", 2, &error), TSR_OUT_OF_RANGE);
    expect_message(&error, TSR_OUT_OF_RANGE, path, "expected 0 to 1 more elements, found 2");
    assert_int_equal(tsr_npy_writer_append(writer, "cd", -1, &error), TSR_OUT_OF_RANGE);
    expect_message(&error, TSR_OUT_OF_RANGE, path, "expected 0 to 1 more elements, found -1");
    append(writer, NULL, 0);
    append(writer, "c", 1);
    finish(writer);
    expect_bytes(path, "abc");
    unlink(path);

    writer = start(path, TSR_U8, 1, (const int64_t[]){3}, false);
    append(writer, "ab", 2);
    assert_int_equal(tsr_npy_writer_finish(&writer, &error), TSR_OUT_OF_RANGE);
    expect_message(&error, TSR_OUT_OF_RANGE, path, "expected 3 elements, found 2");
    assert_null(writer);
    assert_int_equal(count_entries(folder), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        NPY_TEST(test_round_trip),      NPY_TEST(test_large_appends), NPY_TEST(test_header),
        NPY_TEST(test_writer_refusals), NPY_TEST(test_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
