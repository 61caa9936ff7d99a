/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "npy_files.h"

/* --- refusals --- */

#define DICT(descr, order, shape) "{'descr': " descr ", 'fortran_order': " order ", 'shape': " shape "}"

static const struct {
    const char *header;
    tsr_status status;
    const char *message;
} refusals[] = {
    {DICT("'<u8'", "False", "(2,)"), TSR_PARSE_ERROR, "expected 16 bytes of data, found 8"},

    {DICT("'<c8'", "False", "()"), TSR_UNSUPPORTED,
     "header: expected a number type such as '<f4' as descr, found '<c8'"},
    {DICT("'|V2'", "False", "()"), TSR_UNSUPPORTED,
     "header: expected a number type such as '<f4' as descr, found '|V2'"},
    {DICT("'<U12'", "False", "()"), TSR_UNSUPPORTED,
     "header: expected a number type such as '<f4' as descr, found '<U12'"},
    {DICT("'|O'", "False", "()"), TSR_UNSUPPORTED, "header: expected a number type such as '<f4' as descr, found '|O'"},
    {DICT("'<M8[ns]'", "False", "()"), TSR_UNSUPPORTED,
     "header: expected a number type such as '<f4' as descr, found '<M8[ns]'"},
    {DICT("'|f4'", "False", "()"), TSR_UNSUPPORTED,
     "header: expected a number type such as '<f4' as descr, found '|f4'"},
    {DICT("''", "False", "()"), TSR_UNSUPPORTED, "header: expected a number type such as '<f4' as descr, found ''"},
    {DICT("'\x01\x80'", "False", "()"), TSR_UNSUPPORTED,
     "header: expected a number type such as '<f4' as descr, found '\\x01\\x80'"},
    {DICT("[('x', '<f4')]", "False", "()"), TSR_UNSUPPORTED,
     "header: expected one type as descr, found a structured type"},
    {DICT("('<f4', (2,))", "False", "()"), TSR_UNSUPPORTED,
     "header: expected one type as descr, found a structured type"},
    {DICT("None", "False", "()"), TSR_PARSE_ERROR, "header: expected a string as descr at byte 10, found 'N'"},
    {DICT("'<f4\\x00'", "False", "()"), TSR_PARSE_ERROR,
     "header: expected a plain string and its closing quote at byte 14, found '\\'"},
    {DICT("'<f4' '", "False", "()"), TSR_PARSE_ERROR, "header: expected ',' or '}' at byte 16, found '''"},

    {DICT("'<f4'", "0", "()"), TSR_PARSE_ERROR,
     "header: expected True or False as fortran_order at byte 34, found '0'"},
    {DICT("'<f4'", "Falsey", "()"), TSR_PARSE_ERROR,
     "header: expected True or False as fortran_order at byte 34, found 'F'"},

    {DICT("'<f4'", "False", "(-3,)"), TSR_PARSE_ERROR, "header: expected dims of 0 or more, found -3"},
    {DICT("'<f4'", "False", "(3)"), TSR_PARSE_ERROR, "header: expected ',' behind the first dim at byte 52, found ')'"},
    {DICT("'<f4'", "False", "(3, 4 5)"), TSR_PARSE_ERROR, "header: expected ',' or ')' at byte 56, found '5'"},
    {DICT("'<f4'", "False", "(,)"), TSR_PARSE_ERROR, "header: expected a dim at byte 51, found ','"},
    {DICT("'<f4'", "False", "(3,,)"), TSR_PARSE_ERROR, "header: expected a dim at byte 53, found ','"},
    {DICT("'<f4'", "False", "(3.5,)"), TSR_PARSE_ERROR,
     "header: expected ',' behind the first dim at byte 52, found '.'"},
    {DICT("'<f4'", "False", "(03,)"), TSR_PARSE_ERROR,
     "header: expected a dim without leading zeros at byte 51, found '0'"},
    {DICT("'<f4'", "False", "[3]"), TSR_PARSE_ERROR, "header: expected a tuple as shape at byte 50, found '['"},
    {DICT("'<f4'", "False", "3"), TSR_PARSE_ERROR, "header: expected a tuple as shape at byte 50, found '3'"},
    {DICT("'<f4'", "False", "(9223372036854775808,)"), TSR_OVERFLOW,
     "header: expected dims of 63 bits, found a larger one"},
    {DICT("'<f4'", "False", "(1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1)"), TSR_UNSUPPORTED,
     "header: expected at most 32 dims, found more"},

    {"", TSR_PARSE_ERROR, "header: expected '{', found its end"},
    {"[]", TSR_PARSE_ERROR, "header: expected '{' at byte 0, found '['"},
    {"{", TSR_PARSE_ERROR, "header: expected a key, found its end"},
    {"{}", TSR_PARSE_ERROR, "header: expected the key 'descr', found none"},
    {"{,}", TSR_PARSE_ERROR, "header: expected a key at byte 1, found ','"},
    {"{descr: 1}", TSR_PARSE_ERROR, "header: expected a key at byte 1, found 'd'"},
    {"{'descr' '<f4'}", TSR_PARSE_ERROR, "header: expected ':' at byte 9, found '''"},
    {"{'descr': '<f4'", TSR_PARSE_ERROR, "header: expected ',' or '}', found its end"},
    {"{'descr\n': '<f4'}", TSR_PARSE_ERROR,
     "header: expected a plain string and its closing quote at byte 7, found '\\x0a'"},
    {"{'descr': '<f4', 'fortran_order': True}", TSR_PARSE_ERROR, "header: expected the key 'shape', found none"},
    {"{'descr': '<f4', 'descr': '<f4'}", TSR_PARSE_ERROR, "header: expected the key 'descr' once, found it again"},
    {"{'descr': '<f4', 'size': 3}", TSR_PARSE_ERROR,
     "header: expected the keys 'descr', 'fortran_order' and 'shape', found 'size'"},
    {DICT("'<f4'", "False", "()") "x", TSR_PARSE_ERROR, "header: expected nothing behind '}' at byte 53, found 'x'"},
};

static void test_refusals(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++)
        refuse_header(refusals[i].header, refusals[i].status, refusals[i].message);
}

static void test_overflow(void **state)
{
    (void)state;
    static const char *const headers[] = {
        DICT("'|u1'", "False", "(4611686018427387904, 2)"),
        DICT("'|u1'", "True", "(4611686018427387904, 2)"),
        DICT("'|u1'", "True", "(4611686018427387904, 4611686018427387904, 0)"),
        DICT("'<f8'", "False", "(4611686018427387904,)"),
        DICT("'>f8'", "True", "(1152921504606846976, 1)"),
    };
    for (size_t i = 0; i < sizeof headers / sizeof headers[0]; i++) {
        unsigned char file[FILE_BYTES];
        tsr_npy *npy = NULL;
        tsr_error error = {0};
        size_t size = compose(file, 1, headers[i], "12345678", 8);
        assert_int_equal(open_bytes(&npy, file, size, &error), TSR_OVERFLOW);
        assert_ptr_equal(strstr(error.message, path_of("a.npy")), error.message);
        assert_null(npy);
    }
}

static void test_no_npy(void **state)
{
    (void)state;
    tsr_npy *npy = NULL;
    tsr_error error = {0};
    refuse_bytes("", 0, TSR_PARSE_ERROR, "expected a .npy file, found an empty one");
    refuse_bytes("\x93NUM", 4, TSR_PARSE_ERROR, "expected \\x93NUMPY at the start, found \\x93NUM");
    refuse_bytes("\x93NUMPZ\1\0v\0", 10, TSR_PARSE_ERROR, "expected \\x93NUMPY at the start, found \\x93NUMPZ");
    refuse_bytes("\x89PNG\r\n\x1a\n----", 12, TSR_PARSE_ERROR,
                 "expected \\x93NUMPY at the start, found \\x89PNG\\x0d\\x0a");
    refuse_bytes("\x93NUMPY\1\0v", 9, TSR_PARSE_ERROR, "expected 10 bytes before the header, found 9");
    refuse_bytes("\x93NUMPY\2\0v\0\0", 11, TSR_PARSE_ERROR, "expected 12 bytes before the header, found 11");
    refuse_bytes("\x93NUMPY\1\0v\0{'", 12, TSR_PARSE_ERROR, "expected 118 bytes of header, found 2");

    assert_int_equal(tsr_npy_open(&npy, path_of("b.npy"), &error), TSR_IO_ERROR);
    expect_message(&error, TSR_IO_ERROR, path_of("b.npy"), "cannot open: No such file or directory");
    assert_int_equal(tsr_npy_open(&npy, folder, &error), TSR_IO_ERROR);
    expect_message(&error, TSR_IO_ERROR, folder, "cannot read: Is a directory");
    assert_int_equal(tsr_npy_open(&npy, "", &error), TSR_IO_ERROR);
    assert_int_equal(tsr_npy_open(&npy, "/proc/self/mem", &error), TSR_IO_ERROR);
    expect_message(&error, TSR_IO_ERROR, "/proc/self/mem", "cannot read: Input/output error");
    assert_int_equal(tsr_npy_open(&npy, "/dev/zero", &error), TSR_PARSE_ERROR);
    assert_int_equal(tsr_npy_open(&npy, "/dev/null", &error), TSR_PARSE_ERROR);
    assert_null(npy);
}

/* Of a path that would fill the message its end is shown. */
static void test_long_path(void **state)
{
    (void)state;
    char path[1000];
    tsr_npy *npy = NULL;
    tsr_error error = {0};
    memset(path, '/', sizeof path);
    strcpy(path + sizeof path - 10, "none.npy");
    assert_int_equal(tsr_npy_open(&npy, path, &error), TSR_IO_ERROR);
    assert_non_null(strstr(error.message, "//none.npy: cannot open: No such file or directory"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        NPY_TEST(test_refusals),
        NPY_TEST(test_overflow),
        NPY_TEST(test_no_npy),
        NPY_TEST(test_long_path),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
