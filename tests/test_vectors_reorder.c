/* SPDX-License-Identifier: Apache-2.0 */
/* Every recorded reorder of oneDNN, done again by each of our rows and by the definition; or by a device of
 * OpenCL, as far as it does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "vectors.h"

#include <tessera/tessera.h>

#include "device_memory.h"
#include "place.h"

/* The rows that there are, those of them for which oneDNN has no answer, and those that OpenCL does. */
enum { ROWS = 91, UNANSWERED = 13, ON_OPENCL = 25 };

enum { MAX_SCALES = 64 };

static int unanswered, done_on_device;
static tsr_device *device;
static int64_t row_id;

/* ---- the recorded row ---- */

struct recorded {
    tsr_desc src, dst;
    float scales[MAX_SCALES], mean, shift;
    tsr_reorder_options options;
    unsigned char fill;
    unsigned char *src_bytes, *answer; /* answer is NULL when oneDNN had none */
    bool has_arithmetic;
};

static int digit_of(char letter)
{
    return letter <= '9' ? letter - '0' : letter - 'a' + 10;
}

/* The bytes of a hex string, as many as the descriptor needs; the caller frees them. */
static unsigned char *decode(const char *hex, const tsr_desc *desc)
{
    size_t bytes = strlen(hex) / 2;
    unsigned char *memory = malloc(bytes + 1);
    assert_non_null(memory);
    assert_int_equal(bytes, tsr_desc_size_bytes(desc));
    for (size_t i = 0; i < bytes; i++)
        memory[i] = (unsigned char)(digit_of(hex[2 * i]) * 16 + digit_of(hex[2 * i + 1]));
    return memory;
}

static tsr_desc read_side(const json_t *row, const char *type_key, const char *tag_key)
{
    tsr_desc desc = {0};
    tsr_dtype dtype = TSR_DTYPE_NONE;
    int64_t dims[TSR_MAX_RANK];
    int rank = vectors_numbers(json_object_get(row, "dims"), dims, TSR_MAX_RANK);
    assert_int_equal(tsr_dtype_parse(&dtype, vectors_string(row, type_key), NULL), TSR_OK);
    assert_int_equal(tsr_desc_from_layout(&desc, dtype, rank, dims, vectors_string(row, tag_key), NULL), TSR_OK);
    return desc;
}

/* A number that may be null: then there is none. */
static bool read_value(float *value, const json_t *row, const char *key)
{
    const json_t *number = json_object_get(row, key);
    *value = json_is_number(number) ? (float)json_number_value(number) : 0;
    return json_is_number(number);
}

static void read_arithmetic(struct recorded *recorded, const json_t *row)
{
    const json_t *scales = json_object_get(row, "scales");
    int64_t count = (int64_t)json_array_size(scales), mask = vectors_number(row, "mask");
    assert_true(json_is_array(scales) && count <= MAX_SCALES);
    assert_true(mask == 0 || (mask == 2 && count == recorded->src.dims[1]));
    for (int64_t i = 0; i < count; i++)
        recorded->scales[i] = (float)json_number_value(json_array_get(scales, (size_t)i));
    recorded->options.scale = (tsr_factors){recorded->scales, count, 1, 0};
    recorded->has_arithmetic = count > 0;
    if (read_value(&recorded->mean, row, "src_zp"))
        recorded->options.mean = (tsr_factors){&recorded->mean, 1, 0, 0};
    if (read_value(&recorded->shift, row, "dst_zp"))
        recorded->options.shift = (tsr_factors){&recorded->shift, 1, 0, 0};
    read_value(&recorded->options.beta, row, "sum");
    recorded->has_arithmetic |= recorded->options.mean.count || recorded->options.shift.count;
    recorded->has_arithmetic |= recorded->options.beta != 0;
}

/* Where oneDNN departs from the rule, the row says what the rule gives. */
static unsigned char *read_answer(const json_t *row, const tsr_desc *dst)
{
    const json_t *expect = json_object_get(row, "expect");
    if (strcmp(vectors_string(expect, "status"), "success") != 0)
        return NULL;
    return json_object_get(row, "canonical_dst_hex") ? decode(vectors_string(row, "canonical_dst_hex"), dst)
                                                     : decode(vectors_string(expect, "dst_hex"), dst);
}

/* ---- the comparison ---- */

static bool is_nan(tsr_dtype type, uint32_t bits)
{
    return (type == TSR_F32 && bits << 1 > 0xff000000U) || (type == TSR_F16 && (bits & 0x7fffU) > 0x7c00U) ||
           (type == TSR_BF16 && (bits & 0x7fffU) > 0x7f80U);
}

/* oneDNN rounds in another order on the way to s32; and arithmetic may choose its NaN. */
static bool is_close(const struct recorded *recorded, uint32_t expected, uint32_t found)
{
    tsr_dtype type = recorded->dst.dtype;
    if (expected == found)
        return true;
    if (!recorded->has_arithmetic)
        return false;
    if (type == TSR_S32)
        return expected - found == 1 || found - expected == 1;
    return is_nan(type, expected) && is_nan(type, found);
}

static void compare_elements(const struct recorded *recorded, const unsigned char *found, const char *who)
{
    const tsr_desc *dst = &recorded->dst;
    size_t size = tsr_dtype_size_bytes(dst->dtype);
    for (int64_t linear = 0; linear < tsr_desc_elements(dst); linear++) {
        int64_t offset;
        uint32_t want = 0, have = 0;
        assert_int_equal(tsr_desc_offset_linear(dst, linear, &offset, NULL), TSR_OK);
        memcpy(&want, recorded->answer + (size_t)offset * size, size);
        memcpy(&have, found + (size_t)offset * size, size);
        if (!is_close(recorded, want, have))
            fail_msg("row %" PRId64 ", %s, element %" PRId64 ": expected %08x, found %08x", row_id, who, linear, want,
                     have);
    }
}

/* ---- the replay ---- */

static unsigned char *filled(const struct recorded *recorded)
{
    size_t bytes = (size_t)tsr_desc_size_bytes(&recorded->dst);
    unsigned char *dst = malloc(bytes + 1);
    assert_non_null(dst);
    memset(dst, recorded->fill, bytes);
    return dst;
}

/* By one row of the selection table, as far as it applies; whole buffers are compared with the definition's. */
static int replay_by(const struct recorded *recorded, const char *row, const unsigned char *defined)
{
    tsr_plan *plan = NULL;
    tsr_error error = {0};
    tsr_reorder_options options = recorded->options;
    options.row = row;
    tsr_status status = tsr_plan_create(&plan, &recorded->src, &recorded->dst, &options, &error);
    if (row && status == TSR_UNSUPPORTED)
        return 0;
    unsigned char *found = filled(recorded);
    if (status == TSR_OK)
        status = tsr_plan_run(plan, recorded->src_bytes, found, &error);
    if (status != TSR_OK)
        fail_msg("row %" PRId64 ": %s", row_id, error.message);
    if (recorded->answer)
        compare_elements(recorded, found, tsr_plan_get_info(plan).row);
    for (int64_t i = 0; i < tsr_desc_size_bytes(&recorded->dst); i++)
        if (found[i] != defined[i])
            fail_msg("row %" PRId64 ", %s: byte %" PRId64 " is not the definition's", row_id,
                     tsr_plan_get_info(plan).row, i);
    free(found);
    tsr_plan_free(&plan);
    return 1;
}

/* A device has no arithmetic; types that it does not convert are the host's. */
static void replay_on_device(const struct recorded *recorded, const unsigned char *defined)
{
    tsr_error error = {0};
    if (recorded->has_arithmetic)
        return;
    unsigned char *found = filled(recorded);
    tsr_status status = reorder_on(device, &recorded->src, recorded->src_bytes, &recorded->dst, found, &error);
    if (status == TSR_OK && recorded->answer)
        compare_elements(recorded, found, "opencl");
    if (status == TSR_OK && memcmp(found, defined, bytes_of(&recorded->dst)) != 0)
        fail_msg("row %" PRId64 ", opencl: not the definition's bytes", row_id);
    if (status != TSR_OK && status != TSR_UNSUPPORTED)
        fail_msg("row %" PRId64 ": %s", row_id, error.message);
    done_on_device += status == TSR_OK;
    free(found);
}

/* By each row, at each rung. */
static void replay_by_all(const struct recorded *recorded, const unsigned char *defined)
{
    static const char *const ours[] = {"alias", "copy", "transpose", "convert", "gather"};
    static const unsigned masks[] = {0, TSR_CPU_SSE41, TSR_CPU_AVX2, TSR_CPU_ALL};
    for (size_t m = 0; m < sizeof masks / sizeof masks[0]; m++) {
        int applied = 0;
        tsr_cpu_set_mask(masks[m]);
        for (size_t i = 0; i < sizeof ours / sizeof ours[0]; i++)
            applied += replay_by(recorded, ours[i], defined);
        assert_true(applied > 0);
    }
    replay_by(recorded, NULL, defined);
}

static void replay(const json_t *row)
{
    struct recorded recorded = {.src = read_side(row, "src_dt", "src_tag"), .dst = read_side(row, "dst_dt", "dst_tag")};
    row_id = vectors_number(row, "id");
    recorded.fill = (unsigned char)vectors_number(row, "dst_fill");
    recorded.src_bytes = decode(vectors_string(row, "src_hex"), &recorded.src);
    recorded.answer = read_answer(row, &recorded.dst);
    read_arithmetic(&recorded, row);
    unanswered += !recorded.answer;

    unsigned char *defined = filled(&recorded);
    assert_int_equal(
        tsr_reorder_by_definition(&recorded.src, recorded.src_bytes, &recorded.dst, defined, &recorded.options, NULL),
        TSR_OK);
    if (recorded.answer)
        compare_elements(&recorded, defined, "definition");
    if (device)
        replay_on_device(&recorded, defined);
    else
        replay_by_all(&recorded, defined);
    free(defined);
    free(recorded.src_bytes);
    free(recorded.answer);
}

static void test_reorders(void **state)
{
    (void)state;
    if (is_on_opencl)
        device = find_opencl();
    assert_int_equal(vectors_each("dnnl_reorder.jsonl", replay), ROWS);
    assert_int_equal(unanswered, UNANSWERED);
    assert_int_equal(done_on_device, is_on_opencl ? ON_OPENCL : 0);
    tsr_device_release(&device);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reorders),
    };
    return has_place(argc, argv) ? cmocka_run_group_tests(tests, NULL, NULL) : 0;
}
