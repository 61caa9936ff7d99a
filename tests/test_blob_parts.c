/* SPDX-License-Identifier: Apache-2.0 */
/* Merges and splits of parts that are large or many, so that threads take whole parts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include <tessera/blob.h>
#include <tessera/text.h>

#include "accesses.h"
#include "random.h"

enum { MAX_PARTS = 40, MAX_ELEMENTS = 400000 };

static tsr_random random_state;

static int64_t draw(int64_t lo, int64_t hi)
{
    return tsr_random_range(&random_state, lo, hi);
}

/* A whole of three axes, and its parts. */
struct division {
    tsr_dtype dtype;
    int64_t dims[3];
    int axis, count;
    int64_t first[MAX_PARTS + 1]; /* of each part along the axis, and the end */
    tsr_blob *whole, *parts[MAX_PARTS];
};

static tsr_desc plain(tsr_dtype dtype, const int64_t *dims)
{
    tsr_desc desc;
    assert_int_equal(tsr_desc_plain(&desc, dtype, 3, dims, NULL), TSR_OK);
    return desc;
}

static tsr_blob *create(tsr_dtype dtype, const int64_t *dims)
{
    static const char *const layouts[] = {"abc", "acb", "bca", "aBc16b", "aBc8b", "cBa4b"};
    const tsr_blob_options options = {.threads = (int)draw(0, 3)};
    tsr_blob *blob = NULL;
    tsr_desc desc;
    const char *layout = layouts[draw(0, sizeof layouts / sizeof *layouts - 1)];
    assert_int_equal(tsr_desc_from_layout(&desc, dtype, 3, dims, layout, NULL), TSR_OK);
    assert_int_equal(tsr_blob_create(&blob, &desc, &options, NULL), TSR_OK);
    return blob;
}

/* Element i of plain memory, of 4 bits or whole bytes. */
static uint64_t get(const unsigned char *data, int64_t i, int bits)
{
    uint64_t value = 0;
    if (bits < 8)
        return data[i / 2] >> (i % 2 * 4) & 15;
    memcpy(&value, data + i * bits / 8, (size_t)bits / 8);
    return value;
}

static void put(unsigned char *data, int64_t i, int bits, uint64_t value)
{
    if (bits < 8)
        data[i / 2] = (unsigned char)((data[i / 2] & (i % 2 ? 0x0f : 0xf0)) | (value & 15) << (i % 2 * 4));
    else
        memcpy(data + i * bits / 8, &value, (size_t)bits / 8);
}

/* Of element i of the whole. */
static uint64_t value_of(int64_t i, int bits)
{
    const uint64_t mixed = (uint64_t)i * UINT64_C(0x9e3779b97f4a7c15) >> 7;
    return bits < 64 ? mixed & ((UINT64_C(1) << bits) - 1) : mixed;
}

/* Writes or compares the elements of a blob that begins at an index of the whole. */
static void visit(const struct division *d, tsr_blob *blob, int64_t first, bool is_written)
{
    tsr_desc desc;
    tsr_blob_get_desc(blob, &desc);
    const int bits = tsr_dtype_bits(d->dtype);
    const tsr_desc asked = plain(d->dtype, desc.dims);
    tsr_access access;
    assert_int_equal(tsr_blob_acquire(blob, NULL, &asked, is_written ? TSR_WRITE : TSR_READ, &access, NULL), TSR_OK);
    int64_t at = 0, begin[3] = {0};
    begin[d->axis] = first;
    for (int64_t a = 0; a < desc.dims[0]; a++)
        for (int64_t b = 0; b < desc.dims[1]; b++)
            for (int64_t c = 0; c < desc.dims[2]; c++, at++) {
                const int64_t i = ((begin[0] + a) * d->dims[1] + begin[1] + b) * d->dims[2] + begin[2] + c;
                if (is_written)
                    put(access.data, at, bits, value_of(i, bits));
                else if (get(access.data, at, bits) != value_of(i, bits))
                    fail_msg("element %lld of a blob that begins at %lld along axis %d of %lld %lld %lld",
                             (long long)at, (long long)first, d->axis, (long long)d->dims[0], (long long)d->dims[1],
                             (long long)d->dims[2]);
            }
    release(&access);
}

/* Of equal length, but for the last one; or anywhere. */
static void cut(struct division *d)
{
    const int64_t length = d->dims[d->axis], wanted = draw(2, draw(0, 1) ? 4 : MAX_PARTS);
    const int64_t step = (length + wanted - 1) / wanted;
    const bool is_even = draw(0, 2) > 0;
    d->count = 0;
    for (int64_t at = 0; at < length && d->count < MAX_PARTS; at += is_even ? step : draw(1, 2 * step))
        d->first[d->count++] = at;
    d->first[d->count] = length;
}

static void make(struct division *d)
{
    static const tsr_dtype types[] = {TSR_F32, TSR_U8, TSR_BF16, TSR_S64, TSR_S4};
    d->dtype = types[draw(0, sizeof types / sizeof *types - 1)];
    d->dims[0] = draw(1, 60);
    d->dims[1] = draw(1, 200);
    d->dims[2] = draw(1, MAX_ELEMENTS / (d->dims[0] * d->dims[1]));
    d->axis = (int)draw(0, 2);
    d->whole = create(d->dtype, d->dims);
    cut(d);
    for (int i = 0; i < d->count; i++) {
        int64_t dims[] = {d->dims[0], d->dims[1], d->dims[2]};
        dims[d->axis] = d->first[i + 1] - d->first[i];
        d->parts[i] = create(d->dtype, dims);
    }
}

static void drop(struct division *d)
{
    tsr_blob_free(&d->whole);
    for (int i = 0; i < d->count; i++)
        tsr_blob_free(&d->parts[i]);
}

static void test_merges(void **state)
{
    (void)state;
    for (int i = 0; i < tsr_random_cases(60); i++) {
        struct division d;
        make(&d);
        for (int k = 0; k < d.count; k++)
            visit(&d, d.parts[k], d.first[k], true);
        assert_int_equal(tsr_blob_merge(d.whole, d.parts, d.count, d.axis, NULL), TSR_OK);
        visit(&d, d.whole, 0, false);
        drop(&d);
    }
}

static void test_splits(void **state)
{
    (void)state;
    for (int i = 0; i < tsr_random_cases(60); i++) {
        struct division d;
        make(&d);
        visit(&d, d.whole, 0, true);
        assert_int_equal(tsr_blob_split(d.parts, d.count, d.whole, d.axis, NULL), TSR_OK);
        for (int k = 0; k < d.count; k++)
            visit(&d, d.parts[k], d.first[k], false);
        drop(&d);
    }
}

/* Two blobs over one memory: what is written last stays, as if one part were split off behind the other. */
static void test_parts_in_one_memory(void **state)
{
    (void)state;
    enum { ROWS = 2, COLUMNS = 200000 };
    const tsr_desc all = parsed_desc("f32:abc 4x1x200000"), row = parsed_desc("f32:abc 2x1x200000");
    struct division d = {.dtype = TSR_F32, .dims = {2 * ROWS, 1, COLUMNS}, .count = 2, .first = {0, ROWS}};
    float *memory = calloc((size_t)ROWS * COLUMNS, sizeof *memory);
    assert_non_null(memory);
    assert_int_equal(tsr_blob_create(&d.whole, &all, NULL, NULL), TSR_OK);
    visit(&d, d.whole, 0, true);
    for (int i = 0; i < d.count; i++)
        assert_int_equal(tsr_blob_wrap(&d.parts[i], &row, memory, ROWS * COLUMNS * sizeof *memory, NULL, NULL, NULL),
                         TSR_OK);
    for (int round = 0; round < 20; round++) {
        assert_int_equal(tsr_blob_split(d.parts, d.count, d.whole, 0, NULL), TSR_OK);
        visit(&d, d.parts[0], ROWS, false);
    }
    drop(&d);
    free(memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_merges),
        cmocka_unit_test(test_splits),
        cmocka_unit_test(test_parts_in_one_memory),
    };
    tsr_random_seed_from_environment(&random_state);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
