/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>

#include <tessera/dialect.h>

#include "random.h"

static tsr_random numbers;

/* --- what is written reads back as it was --- */

static tsr_dtype draw_type(void)
{
    return (tsr_dtype)tsr_random_range(&numbers, 1, TSR_DTYPE_COUNT - 1);
}

static int draw_dims(int64_t *dims)
{
    int rank = (int)tsr_random_range(&numbers, 0, 6);
    tsr_random_dims(&numbers, rank, 3000, dims);
    if (rank && tsr_random_chance(&numbers, 50))
        dims[tsr_random_range(&numbers, 0, rank - 1)] = 0;
    return rank;
}

/* Any levels. */
static tsr_desc draw_levels(void)
{
    int64_t dims[TSR_MAX_RANK];
    int rank = draw_dims(dims);
    bool plain = tsr_random_chance(&numbers, 2);
    tsr_random_options options = {
        .max_blocks = plain ? 0 : 3,
        .row_major = tsr_random_chance(&numbers, 3),
        .strided = tsr_random_chance(&numbers, 3),
        .offset = tsr_random_chance(&numbers, 3),
        .pad_before = tsr_random_chance(&numbers, 4),
        .broadcast = tsr_random_chance(&numbers, 4),
        .spare = tsr_random_chance(&numbers, 4),
    };
    return tsr_random_desc(&numbers, draw_type(), rank, dims, &options);
}

/* A tag: the axes in any order, and up to four blocks behind them; in half of the cases they divide the dims. */
static tsr_desc draw_tag(void)
{
    static const int64_t sizes[] = {1, 2, 3, 4, 8, 16};
    int rank = (int)tsr_random_range(&numbers, 1, 6), order[TSR_MAX_RANK];
    int64_t dims[TSR_MAX_RANK];
    bool whole = tsr_random_chance(&numbers, 2);
    tsr_layout layout = {.rank = rank, .levels = rank + (int)tsr_random_range(&numbers, 0, 4)};
    tsr_random_dims(&numbers, rank, 500, dims);
    for (int i = 0; i < rank; i++)
        order[i] = i;
    tsr_random_shuffle(&numbers, order, tsr_random_chance(&numbers, 3) ? rank : 0);
    for (int i = 0; i < layout.levels; i++) {
        int axis = i < rank ? order[i] : (int)tsr_random_range(&numbers, 0, rank - 1);
        layout.order[i] = (uint8_t)axis;
        layout.block_dims[i] = i < rank ? 0 : sizes[tsr_random_range(&numbers, 0, 5)];
        dims[axis] *= whole && i >= rank ? layout.block_dims[i] : 1;
    }
    tsr_desc desc;
    tsr_error error = {0};
    if (tsr_layout_apply(&desc, draw_type(), rank, dims, &layout, &error) != TSR_OK)
        fail_msg("random tag: %s", error.message);
    return desc;
}

/* Prints, reads and compares; true where the dialect can say the descriptor. */
static bool goes_there_and_back(const tsr_desc *desc, tsr_dialect dialect)
{
    char text[TSR_TEXT_SIZE], expected[TSR_TEXT_SIZE];
    tsr_role role = (tsr_role)tsr_random_range(&numbers, 0, TSR_ROLE_COUNT - 1);
    bool has_shape = dialect == TSR_DIALECT_CUTE || dialect == TSR_DIALECT_NUMPY;
    tsr_error error = {0};
    tsr_desc again;
    tsr_status status = tsr_dialect_print(desc, dialect, role, text, sizeof text, &error);
    if (status == TSR_UNSUPPORTED)
        return false;
    tsr_desc_print(desc, expected, sizeof expected);
    if (status != TSR_OK ||
        tsr_dialect_parse(&again, dialect, desc->dtype, desc->rank,
                          has_shape && tsr_random_chance(&numbers, 2) ? NULL : desc->dims, text, &error) != TSR_OK)
        fail_msg("%s of %s: %s", tsr_dialect_name(dialect), expected, error.message);
    if (!tsr_desc_equal(&again, desc))
        fail_msg("%s wrote %s for %s", tsr_dialect_name(dialect), text, expected);
    return true;
}

static void test_there_and_back(void **state)
{
    (void)state;
    int said[TSR_DIALECT_COUNT] = {0}, asked[TSR_DIALECT_COUNT] = {0}, cases = tsr_random_cases(100000);
    for (int least = 0; least < cases;) {
        tsr_desc desc = asked[TSR_DIALECT_OPENVINO] % 2 ? draw_tag() : draw_levels();
        least = cases;
        for (int dialect = 0; dialect < TSR_DIALECT_COUNT; dialect++) {
            asked[dialect] += said[dialect] < cases;
            if (said[dialect] < cases)
                said[dialect] += goes_there_and_back(&desc, (tsr_dialect)dialect);
            if (said[dialect] < least)
                least = said[dialect];
        }
    }
    for (int dialect = 0; dialect < TSR_DIALECT_COUNT; dialect++)
        print_message("# %s says %d of %d\n", tsr_dialect_name((tsr_dialect)dialect), said[dialect], asked[dialect]);
    assert_int_equal(asked[TSR_DIALECT_TESSERA], cases);
    assert_true(asked[TSR_DIALECT_XLA] <= asked[TSR_DIALECT_ONEDNN]); /* every tag has tiles */
}

/* --- texts with a few wrong characters: refused, or read as something that goes there and back --- */

static const struct {
    tsr_dialect dialect;
    const char *text;
} texts[] = {
    {TSR_DIALECT_TESSERA, "nChw4c"},
    {TSR_DIALECT_OPENVINO, "[N,W,H,C]"},
    {TSR_DIALECT_ONEDNN, "dnnl_OIhw4i16o4i"},
    {TSR_DIALECT_TVM, "NC4cHW2n"},
    {TSR_DIALECT_EINOPS, "(n x1) (c x2) h w -> n x2 c h w x1, x1=2, x2=2"},
    {TSR_DIALECT_EINOPS, "n (c 4) h w -> n 4 c h w"},
    {TSR_DIALECT_CUTE, "(2,(4,_2),3,5):(120,(1,60),20,4)"},
    {TSR_DIALECT_XLA, "f32[2,8,3,5]{3,2,1,0:T(4,4,1,1)(2,2,1)}"},
    {TSR_DIALECT_NUMPY, "shape=(2, 8, 3, 5), strides=(480, 4, -160, 32), offset=320, dtype='<f4'"},
};

enum { TEXTS = sizeof texts / sizeof texts[0] };

static void mutate(char *text)
{
    static const char liked[] = "0123456789()[]{},:->_=* TNCHWnchwx'";
    for (int i = (int)tsr_random_range(&numbers, 1, 3); i > 0; i--) {
        size_t length = strlen(text), at = (size_t)tsr_random_range(&numbers, 0, (int64_t)length);
        char character = liked[tsr_random_range(&numbers, 0, (int64_t)sizeof liked - 2)];
        if (tsr_random_chance(&numbers, 3))
            memmove(text + at, text + at + (at < length), length - at + (at == length));
        else if (tsr_random_chance(&numbers, 2))
            text[at] = at < length ? character : '\0';
        else {
            memmove(text + at + 1, text + at, length - at + 1);
            text[at] = character;
        }
    }
}

static void test_mutations(void **state)
{
    (void)state;
    int taken = 0;
    for (int i = tsr_random_cases(50000); i > 0; i--) {
        char text[128];
        const int64_t dims[] = {2, 8, 3, 5};
        tsr_dialect dialect = texts[i % TEXTS].dialect;
        tsr_desc desc;
        tsr_error error = {0};
        snprintf(text, sizeof text, "%s", texts[i % TEXTS].text);
        mutate(text);
        tsr_status status = tsr_dialect_parse(&desc, dialect, TSR_F32, 4, dims, text, &error);
        assert_int_equal(error.status, status);
        assert_int_equal(error.message[0] == '\0', status == TSR_OK);
        if (status != TSR_OK)
            continue;
        assert_int_equal(tsr_desc_check(&desc, true, NULL), TSR_OK);
        (void)goes_there_and_back(&desc, dialect);
        taken++;
    }
    assert_true(taken > 100);
}

static int seed(void **state)
{
    (void)state;
    tsr_random_seed_from_environment(&numbers);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_there_and_back),
        cmocka_unit_test(test_mutations),
    };
    return cmocka_run_group_tests(tests, seed, NULL);
}
