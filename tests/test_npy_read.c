/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>
#include <sys/wait.h>

#include "npy_files.h"

/* --- reading --- */

static void test_versions(void **state)
{
    (void)state;
    for (int version = 1; version <= 3; version++) {
        tsr_npy *npy =
            open_header(version, "{'descr': '<u2', 'fortran_order': False, 'shape': (2,), }\n", "\1\2\3\4", 4);
        assert_memory_equal(tsr_npy_data(npy), "\1\2\3\4", 4);
        tsr_npy_close(&npy);
    }
    static const char future[] = "\x93NUMPY\4\0\0\0\0\0";
    refuse_bytes(future, sizeof future, TSR_UNSUPPORTED, "expected .npy version 1.0, 2.0 or 3.0, found 4.0");
    static const char minor[] = "\x93NUMPY\1\1\0\0\0\0";
    refuse_bytes(minor, sizeof minor, TSR_UNSUPPORTED, "expected .npy version 1.0, 2.0 or 3.0, found 1.1");
}

static void expect_shape(const char *header, int rank, const int64_t *shape)
{
    tsr_npy *npy = open_header(1, header, "1234567890123456", 16);
    const tsr_desc *desc = tsr_npy_desc(npy);
    assert_int_equal(desc->dtype, TSR_U8);
    assert_int_equal(desc->rank, rank);
    for (int k = 0; k < rank; k++)
        assert_int_equal(desc->dims[k], shape[k]);
    tsr_npy_close(&npy);
}

static void test_syntax(void **state)
{
    (void)state;
    expect_shape("{'descr':'|u1','fortran_order':False,'shape':()}", 0, NULL);
    expect_shape("{'descr': '|u1', 'fortran_order': False, 'shape': ( ), }", 0, NULL);
    expect_shape("{'shape': (3,), 'fortran_order': True, 'descr': '|u1'}", 1, (const int64_t[]){3});
    expect_shape("{'fortran_order': True, 'shape': ( 3 , 2 , ), 'descr': '|u1' , } ", 2, (const int64_t[]){3, 2});
    expect_shape("{\"shape\": (3, 2), \"fortran_order\": False, \"descr\": \"|u1\"}\n", 2, (const int64_t[]){3, 2});
    expect_shape("\t {\n'shape' :\r\n(3L, 2L, 0),\f'fortran_order'\t:True\n,\n'descr': '=u1'}\n \n", 3,
                 (const int64_t[]){3, 2, 0});
    expect_shape("{'descr': '<u1', 'fortran_order': False, 'shape': (0, 4611686018427387904)}", 2,
                 (const int64_t[]){0, INT64_C(1) << 62});
    expect_shape("{'descr': '>u1', 'fortran_order': False, 'shape': (2L,)}", 1, (const int64_t[]){2});
}

static void test_byte_order(void **state)
{
    (void)state;
    static const char data[] = "\1\2\3\4\5\6\7\10\11\12\13\14\15\16\17\20";
    char header[96];
    for (size_t i = 0; i < TYPE_COUNT; i++) {
        size_t width = tsr_dtype_size_bytes(types[i].dtype);
        for (const char *order = "<>="; *order; order++) {
            snprintf(header, sizeof header, "{'descr': '%c%s', 'fortran_order': True, 'shape': (2, 1)}", *order,
                     types[i].descr + 1);
            tsr_npy *npy = open_header(1, header, data, 2 * width);
            assert_int_equal(tsr_npy_desc(npy)->dtype, types[i].dtype);
            bool little = *order == '<' || (*order == '=' && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
            const unsigned char *found = tsr_npy_data(npy);
            for (size_t k = 0; k < 2 * width; k++) {
                bool same = little == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
                assert_int_equal(found[k], data[same ? k : k / width * width + width - 1 - k % width]);
            }
            tsr_npy_close(&npy);
        }
    }
    tsr_npy *empty = open_header(1, "{'descr': '>f8', 'fortran_order': False, 'shape': (0,)}", NULL, 0);
    assert_null(tsr_npy_data(empty));
    tsr_npy_close(&empty);
}

static void test_fortran_order(void **state)
{
    (void)state;
    int64_t offset = -1;
    tsr_npy *npy = open_header(1, "{'descr': '|i1', 'fortran_order': True, 'shape': (2, 3)}", "abcdef", 6);
    const tsr_desc *desc = tsr_npy_desc(npy);
    for (int64_t i = 0; i < 2; i++) {
        for (int64_t j = 0; j < 3; j++) {
            assert_int_equal(tsr_desc_offset(desc, 2, (const int64_t[]){i, j}, &offset, NULL), TSR_OK);
            assert_int_equal(offset, i + 2 * j);
        }
    }
    tsr_npy_close(&npy);
}

static void test_bytes_behind(void **state)
{
    (void)state;
    tsr_npy *npy = open_header(1, "{'descr': '|i1', 'fortran_order': True, 'shape': (2,)}", "abcdef", 6);
    assert_memory_equal(tsr_npy_data(npy), "ab", 2);
    tsr_npy_close(&npy);
}

static void test_pipe(void **state)
{
    (void)state;
    unsigned char file[FILE_BYTES];
    unsigned char data[2000];
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (unsigned char)i;
    for (int version = 1; version <= 3; version++) {
        size_t size = compose(file, version, "{'descr': '>u2', 'fortran_order': False, 'shape': (1000,)}", data, 2000);
        tsr_npy *npy = NULL;
        assert_int_equal(open_pipe(&npy, file, size, NULL), TSR_OK);
        const uint16_t *found = tsr_npy_data(npy);
        for (unsigned i = 0; i < 1000; i++)
            assert_int_equal(found[i], data[2 * i] << 8 | data[2 * i + 1]);
        tsr_npy_close(&npy);
    }
}

/* Larger than a pipe holds: another process writes. */
static void test_large_pipe(void **state)
{
    (void)state;
    int64_t count = 300000;
    int32_t *values = malloc((size_t)count * sizeof *values);
    assert_non_null(values);
    for (int32_t i = 0; i < count; i++)
        values[i] = i * 3;
    int ends[2];
    char path[32];
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        tsr_npy_writer *writer = NULL;
        snprintf(path, sizeof path, "/dev/fd/%d", ends[1]);
        bool written = tsr_npy_writer_open(&writer, path, TSR_S32, 1, &count, false, NULL) == TSR_OK &&
                       tsr_npy_writer_append(writer, values, count, NULL) == TSR_OK &&
                       tsr_npy_writer_finish(&writer, NULL) == TSR_OK;
        _exit(!written);
    }
    close(ends[1]);
    tsr_npy *npy = NULL;
    snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    assert_int_equal(tsr_npy_open(&npy, path, NULL), TSR_OK);
    assert_memory_equal(tsr_npy_data(npy), values, (size_t)count * sizeof *values);
    tsr_npy_close(&npy);
    close(ends[0]);
    int result = -1;
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_int_equal(result, 0);
    free(values);
}

/* A header may promise anything: memory follows what arrives. */
static void test_promises(void **state)
{
    (void)state;
    unsigned char file[FILE_BYTES];
    tsr_npy *npy = NULL;
    tsr_error error = {0};
    size_t size =
        compose(file, 1, "{'descr': '<f8', 'fortran_order': False, 'shape': (1125899906842624,)}", "12345", 5);
    refuse_bytes(file, size, TSR_PARSE_ERROR, "expected 9007199254740992 bytes of data, found 5");
    assert_int_equal(open_pipe(&npy, file, size, &error), TSR_PARSE_ERROR);
    assert_non_null(strstr(error.message, ": expected 9007199254740992 bytes of data, found 5"));

    size = compose(file, 2, "{}", NULL, 0);
    memset(file + 8, 0xff, 4);
    refuse_bytes(file, size, TSR_PARSE_ERROR, "expected 4294967295 bytes of header, found 2");
    assert_int_equal(open_pipe(&npy, file, size, &error), TSR_PARSE_ERROR);
    assert_non_null(strstr(error.message, ": expected 4294967295 bytes of header, found 2"));
    assert_null(npy);
}

static bool touch_all(tsr_npy *npy)
{
    const volatile unsigned char *bytes = tsr_npy_data(npy);
    int64_t size = tsr_desc_size_bytes(tsr_npy_desc(npy));
    unsigned sum = 0;
    assert_int_equal(tsr_desc_check(tsr_npy_desc(npy), false, NULL), TSR_OK);
    for (int64_t i = 0; i < size; i++)
        sum += bytes[i];
    return sum > 0;
}

static void test_every_prefix(void **state)
{
    (void)state;
    static const char *const headers[] = {
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }  \n",
        "{'descr': '>u2', 'fortran_order': True, 'shape': (3, 4), }\n",
    };
    unsigned char file[FILE_BYTES];
    int files = open_files();
    for (int version = 1; version <= 3; version++) {
        for (size_t i = 0; i < 2; i++) {
            size_t size = compose(file, version, headers[i], "abcdefghijklmnopqrstuvwx", 24);
            for (size_t cut = 0; cut <= size; cut++) {
                for (int piped = 0; piped < 2; piped++) {
                    tsr_npy *npy = NULL;
                    tsr_error error = {0};
                    tsr_status status = (piped ? open_pipe : open_bytes)(&npy, file, cut, &error);
                    assert_int_equal(status, cut == size ? TSR_OK : TSR_PARSE_ERROR);
                    assert_int_equal(error.status, status);
                    if (npy)
                        assert_true(touch_all(npy));
                    tsr_npy_close(&npy);
                }
            }
        }
    }
    assert_int_equal(open_files(), files);
}

static uint32_t next_random(uint32_t *seed)
{
    *seed = *seed * 1664525 + 1013904223;
    return *seed >> 8;
}

/* One to four bytes changed, removed, doubled or moved. */
static size_t mutate(unsigned char *file, size_t size, uint32_t *seed)
{
    static const char liked[] = "{}()[]'\",:<>=|-0129L \\\n";
    for (uint32_t edits = 1 + next_random(seed) % 4; edits; edits--) {
        size_t at = next_random(seed) % size;
        size_t from = next_random(seed) % size;
        uint32_t kind = next_random(seed) % 5;
        if (kind == 0)
            file[at] = (unsigned char)next_random(seed);
        else if (kind == 1)
            file[at] = (unsigned char)liked[next_random(seed) % (sizeof liked - 1)];
        else if (kind == 2)
            file[at] ^= (unsigned char)(1 << next_random(seed) % 8);
        else if (kind == 3 && size > 20)
            memmove(file + at, file + at + 1, --size - at);
        else
            memmove(file + at, file + from, (size - (at > from ? at : from)) % 9);
    }
    return size;
}

static void test_mutations(void **state)
{
    (void)state;
    static const char *const headers[] = {
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }  \n",
        "{\"shape\": (1L, 12), \"fortran_order\": True, \"descr\": \">i2\"}",
        "{'descr': '|b1', 'fortran_order': False, 'shape': (2, 2, 2, 1, 1, 3)}",
    };
    uint32_t seed = 0x5eed;
    int files = open_files();
    int opened = 0;
    print_message("# seed %" PRIu32 "\n", seed);
    for (int i = 0; i < 6000; i++) {
        unsigned char file[FILE_BYTES];
        tsr_npy *npy = NULL;
        tsr_error error = {0};
        size_t size = compose(file, 1 + i / 3 % 3, headers[i % 3], "abcdefghijklmnopqrstuvwx", 24);
        size = mutate(file, size, &seed);
        tsr_status status = (i % 2 ? open_pipe : open_bytes)(&npy, file, size, &error);
        assert_int_equal(error.status, status);
        assert_true((npy != NULL) == (status == TSR_OK));
        assert_true((error.message[0] != '\0') == (status != TSR_OK));
        assert_int_not_equal(status, TSR_OUT_OF_MEMORY);
        if (npy)
            touch_all(npy);
        opened += npy != NULL;
        tsr_npy_close(&npy);
    }
    assert_true(opened > 0);
    assert_int_equal(open_files(), files);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        NPY_TEST(test_versions),     NPY_TEST(test_syntax),    NPY_TEST(test_byte_order), NPY_TEST(test_fortran_order),
        NPY_TEST(test_bytes_behind), NPY_TEST(test_pipe),      NPY_TEST(test_large_pipe), NPY_TEST(test_promises),
        NPY_TEST(test_every_prefix), NPY_TEST(test_mutations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
