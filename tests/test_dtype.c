/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include <tessera/dtype.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void test_types(void **state)
{
    (void)state;
    static const struct {
        tsr_dtype dtype;
        const char *name;
        int bits;
    } rows[] = {
        {TSR_F32, "f32", 32},  {TSR_F64, "f64", 64},        {TSR_F16, "f16", 16},        {TSR_BF16, "bf16", 16},
        {TSR_S8, "s8", 8},     {TSR_U8, "u8", 8},           {TSR_S16, "s16", 16},        {TSR_U16, "u16", 16},
        {TSR_S32, "s32", 32},  {TSR_U32, "u32", 32},        {TSR_S64, "s64", 64},        {TSR_U64, "u64", 64},
        {TSR_BOOL, "bool", 8}, {TSR_F8_E4M3, "f8_e4m3", 8}, {TSR_F8_E5M2, "f8_e5m2", 8}, {TSR_Q78, "q78", 16},
        {TSR_S4, "s4", 4},     {TSR_U4, "u4", 4},           {TSR_NF4, "nf4", 4},         {TSR_U1, "u1", 1},
    };
    assert_int_equal(COUNT(rows), TSR_DTYPE_COUNT - 1);
    for (size_t i = 0; i < COUNT(rows); i++) {
        tsr_dtype parsed = TSR_DTYPE_NONE;
        assert_int_equal(tsr_dtype_bits(rows[i].dtype), rows[i].bits);
        assert_int_equal(tsr_dtype_size_bytes(rows[i].dtype), (rows[i].bits + 7) / 8);
        assert_string_equal(tsr_dtype_name(rows[i].dtype), rows[i].name);
        assert_int_equal(tsr_dtype_parse(&parsed, rows[i].name, NULL), TSR_OK);
        assert_int_equal(parsed, rows[i].dtype);
    }
}

static void test_no_types(void **state)
{
    (void)state;
    static const tsr_dtype numbers[] = {TSR_DTYPE_NONE, TSR_DTYPE_COUNT, (tsr_dtype)1000, (tsr_dtype)-1};
    static const char *const words[] = {"", "none", "F32", "f32 ", " f32", "f3", "f322", "float"};
    for (size_t i = 0; i < COUNT(numbers); i++) {
        assert_int_equal(tsr_dtype_bits(numbers[i]), 0);
        assert_int_equal(tsr_dtype_size_bytes(numbers[i]), 0);
        assert_string_equal(tsr_dtype_name(numbers[i]), "none");
    }
    for (size_t i = 0; i < COUNT(words); i++) {
        tsr_dtype parsed = TSR_U8;
        tsr_error error = {0};
        char message[TSR_ERROR_MESSAGE_SIZE] = "expected a type such as f32, bf16 or u8, found \"";
        strcat(strcat(message, words[i]), "\"");
        assert_int_equal(tsr_dtype_parse(&parsed, words[i], &error), TSR_PARSE_ERROR);
        assert_string_equal(error.message, message);
        assert_int_equal(parsed, TSR_U8);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_types),
        cmocka_unit_test(test_no_types),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
