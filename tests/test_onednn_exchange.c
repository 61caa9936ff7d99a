/* SPDX-License-Identifier: Apache-2.0 */
/* Memory descriptors from and to oneDNN, against oneDNN itself and its formula. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>

#include <tessera/onednn.h>

#if TSR_HAVE_ONEDNN

#include "parsed.h"
#include "random.h"
#include "reorder/onednn/compat.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* ---- what differs between the versions ---- */

#if TSR_MD_IS_STRUCT

static bool md_equal(const tsr_md *a, const tsr_md *b)
{
    return dnnl_memory_desc_equal(a, b);
}

static size_t md_size_bytes(const tsr_md *md)
{
    return dnnl_memory_desc_get_size(md);
}

static dnnl_status_t md_submemory(tsr_md *part, const tsr_md *whole, const dnnl_dims_t dims, const dnnl_dims_t begin)
{
    return dnnl_memory_desc_init_submemory(part, whole, dims, begin);
}

#else

static bool md_equal(const tsr_md *a, const tsr_md *b)
{
    return dnnl_memory_desc_equal(*a, *b);
}

static size_t md_size_bytes(const tsr_md *md)
{
    return dnnl_memory_desc_get_size(*md);
}

static dnnl_status_t md_submemory(tsr_md *part, const tsr_md *whole, const dnnl_dims_t dims, const dnnl_dims_t begin)
{
    return dnnl_memory_desc_create_submemory(part, *whole, dims, begin);
}

#endif

/* What tsr_desc_to_onednn says of blocks that are not dense and innermost. */
#if TSR_MD_IS_STRUCT
#define WHY_NO_BLOCKS "the inner blocks are not dense and innermost, as in oneDNN"
#else
#define WHY_NO_BLOCKS "oneDNN has no tag for the layout, and oneDNN 3 takes no other blocks"
#endif

/* ---- helpers ---- */

static tsr_md md_of_tag(int rank, const int64_t *dims, dnnl_data_type_t type, dnnl_format_tag_t tag)
{
    tsr_md md;
    dnnl_status_t status = tsr_md_by_tag(&md, rank, dims, type, tag);
    if (status != dnnl_success)
        fail_msg("%s: %s", dnnl_fmt_tag2str(tag), dnnl_status2str(status));
    return md;
}

static tsr_md md_of_strides(int rank, const int64_t *dims, dnnl_data_type_t type, const int64_t *strides)
{
    tsr_md md;
    assert_int_equal(tsr_md_by_strides(&md, rank, dims, type, strides), dnnl_success);
    return md;
}

static tsr_md_blocking read_md(const tsr_md *md)
{
    tsr_md_blocking blocking = {0};
    assert_int_equal(tsr_md_read(&blocking, md), dnnl_success);
    return blocking;
}

static tsr_desc imported(const tsr_md *md, const char *what)
{
    tsr_desc desc = {0};
    tsr_error error = {0};
    if (tsr_desc_from_onednn(&desc, md, &error) != TSR_OK)
        fail_msg("%s: %s", what, error.message);
    return desc;
}

/* The formula of oneDNN's guide: off_v. */
static int64_t offset_by_formula(const tsr_md_blocking *md, const int64_t *index)
{
    int64_t p[DNNL_MAX_NDIMS], offset = md->start, stride = 1;
    for (int k = 0; k < md->rank; k++)
        p[k] = index[k] + md->padded_offsets[k];
    for (int i = md->blocks - 1; i >= 0; i--) {
        int64_t axis = md->block_axes[i], block = md->block_dims[i];
        offset += p[axis] % block * stride;
        p[axis] /= block;
        stride *= block;
    }
    for (int k = 0; k < md->rank; k++)
        offset += p[k] * md->strides[k];
    return offset;
}

static void expect_same_offsets(tsr_random *random, const tsr_desc *desc, const tsr_md *md, const char *what)
{
    tsr_md_blocking blocking = read_md(md);
    assert_int_equal(desc->rank, blocking.rank);
    for (int point = 0; point < 8; point++) {
        int64_t index[TSR_MAX_RANK], found = -1;
        for (int k = 0; k < desc->rank; k++)
            index[k] = point == 0 ? desc->dims[k] - 1 : tsr_random_range(random, 0, desc->dims[k] - 1);
        assert_int_equal(tsr_desc_offset(desc, desc->rank, index, &found, NULL), TSR_OK);
        if (found != offset_by_formula(&blocking, index))
            fail_msg("%s: offset %" PRId64 ", oneDNN's formula says %" PRId64, what, found,
                     offset_by_formula(&blocking, index));
    }
}

/* Out and in again: an equal descriptor; and, where asked for, an equal memory descriptor. */
static void expect_round_trip(const tsr_desc *desc, const tsr_md *md, const char *what)
{
    tsr_md made;
    tsr_error error = {0};
    if (tsr_desc_to_onednn(desc, &made, &error) != TSR_OK)
        fail_msg("%s: %s", what, error.message);
    tsr_desc again = imported(&made, what);
    if (!tsr_desc_equal(&again, desc))
        fail_msg("%s: another descriptor comes back", what);
    if (md && !md_equal(md, &made))
        fail_msg("%s: another memory descriptor comes back", what);
    tsr_md_free(&made);
}

/* Dims with a tail in most blocks, of at most some thousands of elements where the blocks allow it. */
static int random_ragged_dims(tsr_random *random, dnnl_format_tag_t tag, int64_t *dims, int64_t *unit)
{
    tsr_layout layout;
    assert_int_equal(tsr_layout_parse(&layout, dnnl_fmt_tag2str(tag), NULL), TSR_OK);
    for (int k = 0; k < layout.rank; k++)
        unit[k] = 1;
    for (int i = layout.rank; i < layout.levels; i++)
        unit[layout.order[i]] *= layout.block_dims[i];
    for (int k = 0; k < layout.rank; k++)
        dims[k] = unit[k] > 1 ? tsr_random_range(random, 1, 3 * unit[k])
                              : tsr_random_range(random, 1, layout.rank > 6 ? 3 : 6);
    return layout.rank;
}

/* ---- every tag of oneDNN ---- */

static void check_tag(tsr_random *random, dnnl_format_tag_t tag)
{
    int64_t dims[TSR_MAX_RANK], unit[TSR_MAX_RANK];
    const char *text = dnnl_fmt_tag2str(tag);
    tsr_desc expected;
    int rank = random_ragged_dims(random, tag, dims, unit);
    tsr_md md = md_of_tag(rank, dims, dnnl_f32, tag);
    tsr_desc desc = imported(&md, text);
    assert_int_equal(tsr_desc_from_layout(&expected, TSR_F32, rank, dims, text, NULL), TSR_OK);
    if (!tsr_desc_equal(&desc, &expected))
        fail_msg("%s: another layout than Tessera's", text);
    if (md_size_bytes(&md) != (size_t)tsr_desc_size_bytes(&desc))
        fail_msg("%s: %zu bytes, oneDNN says %zu", text, (size_t)tsr_desc_size_bytes(&desc), md_size_bytes(&md));
    expect_same_offsets(random, &desc, &md, text);
    expect_round_trip(&desc, &md, text);
    expect_round_trip(&expected, &md, text);
    tsr_md_free(&md);
}

static void test_every_tag(void **state)
{
    tsr_random random;
    int tags = 0;
    (void)state;
    tsr_random_seed_from_environment(&random);
    for (int tag = dnnl_format_tag_any + 1; tag < (int)dnnl_format_tag_last; tag++, tags++)
        for (int i = 0; i < 5; i++)
            check_tag(&random, (dnnl_format_tag_t)tag);
    print_message("# %d distinct tags\n", tags);
    assert_true(tags >= 512);
}

/* The names that one layout has besides that in a, b, c, ... are the same numbers. */
static void test_aliases(void **state)
{
    (void)state;
    const dnnl_dims_t dims = {19, 35, 3, 5};
    tsr_md named = md_of_tag(4, dims, dnnl_bf16, dnnl_nChw16c), md;
    tsr_desc desc;
    assert_int_equal(tsr_desc_from_layout(&desc, TSR_BF16, 4, dims, "nChw16c", NULL), TSR_OK);
    assert_int_equal(tsr_desc_to_onednn(&desc, &md, NULL), TSR_OK);
    assert_true(md_equal(&md, &named));
    tsr_md_free(&md);
    tsr_md_free(&named);
}

static void test_types(void **state)
{
    static const struct {
        tsr_dtype dtype;
        dnnl_data_type_t type;
    } rows[] = {
        {TSR_F32, dnnl_f32},
        {TSR_F16, dnnl_f16},
        {TSR_BF16, dnnl_bf16},
        {TSR_S8, dnnl_s8},
        {TSR_U8, dnnl_u8},
        {TSR_S32, dnnl_s32},
#if TSR_ONEDNN_AT_LEAST(3, 0)
        {TSR_F64, dnnl_f64},
#endif
#if TSR_ONEDNN_AT_LEAST(3, 4)
        {TSR_F8_E4M3, dnnl_f8_e4m3},
        {TSR_F8_E5M2, dnnl_f8_e5m2},
        {TSR_S4, dnnl_s4},
        {TSR_U4, dnnl_u4},
#endif
    };
    (void)state;
    const dnnl_dims_t dims = {2, 35, 3, 5};
    for (size_t i = 0; i < COUNT(rows); i++) {
        tsr_md md = md_of_tag(4, dims, rows[i].type, dnnl_nChw16c);
        tsr_desc desc = imported(&md, tsr_dtype_name(rows[i].dtype));
        assert_int_equal(desc.dtype, rows[i].dtype);
        assert_int_equal(md_size_bytes(&md), tsr_desc_size_bytes(&desc));
        expect_round_trip(&desc, &md, tsr_dtype_name(rows[i].dtype));
        tsr_md_free(&md);
    }
}

/* ---- strides ---- */

/* oneDNN refuses strides that interleave, which Tessera takes where no two elements meet. */
static void test_strided(void **state)
{
    tsr_random random;
    tsr_random_options options = {.strided = true};
    int accepted = 0, cases = tsr_random_cases(2000);
    (void)state;
    tsr_random_seed_from_environment(&random);
    for (int i = 0; i < cases; i++) {
        int64_t dims[TSR_MAX_RANK], strides[TSR_MAX_RANK];
        int rank = (int)tsr_random_range(&random, 1, DNNL_MAX_NDIMS);
        tsr_random_dims(&random, rank, 4096, dims);
        tsr_desc desc = tsr_random_desc(&random, TSR_F32, rank, dims, &options);
        for (int j = 0; j < rank; j++)
            strides[desc.order[j]] = desc.strides[j];
        tsr_md md;
        if (tsr_md_by_strides(&md, rank, dims, dnnl_f32, strides) != dnnl_success)
            continue;
        tsr_desc found = imported(&md, "strides");
        assert_true(tsr_desc_equal(&found, &desc));
        expect_same_offsets(&random, &found, &md, "strides");
        expect_round_trip(&found, &md, "strides");
        tsr_md_free(&md);
        accepted++;
    }
    print_message("# oneDNN takes %d of %d\n", accepted, cases);
    assert_true(accepted > cases / 2);
}

static void test_broadcast(void **state)
{
    (void)state;
    tsr_random random;
    tsr_random_seed(&random, 1);
    const dnnl_dims_t dims = {3, 4, 5}, rows[] = {{5, 0, 1}, {0, 5, 1}, {0, 0, 0}, {4, 1, 0}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        tsr_md md = md_of_strides(3, dims, dnnl_f32, rows[i]);
        tsr_desc desc = imported(&md, "broadcast");
        assert_int_equal(tsr_desc_check(&desc, true, NULL), TSR_OK);
        assert_int_equal(tsr_desc_check(&desc, false, NULL), TSR_INVALID_ARGUMENT);
        expect_same_offsets(&random, &desc, &md, "broadcast");
        expect_round_trip(&desc, &md, "broadcast");
        tsr_md_free(&md);
    }
}

static void test_no_elements(void **state)
{
    (void)state;
    const dnnl_dims_t dims = {0, 7, 3};
    tsr_md md = md_of_tag(3, dims, dnnl_f32, dnnl_aBc8b);
    tsr_desc desc = imported(&md, "empty");
    assert_int_equal(tsr_desc_elements(&desc), 0);
    assert_int_equal(desc.dims[1], 7);
    expect_round_trip(&desc, NULL, "empty");
    tsr_md_free(&md);
}

/* ---- parts ---- */

/* Where oneDNN cuts, tsr_view_crop of the whole sees the same elements. */
static void check_submemory(tsr_random *random, dnnl_format_tag_t tag)
{
    int64_t dims[TSR_MAX_RANK], unit[TSR_MAX_RANK], begin[TSR_MAX_RANK], size[TSR_MAX_RANK];
    const char *text = dnnl_fmt_tag2str(tag);
    tsr_desc crop, back;
    tsr_md part, made;
    tsr_error error = {0};
    int rank = random_ragged_dims(random, tag, dims, unit);
    for (int k = 0; k < rank; k++) {
        begin[k] = tsr_random_range(random, 0, (dims[k] - 1) / unit[k]) * unit[k];
        int64_t rest = dims[k] - begin[k];
        size[k] = rest < unit[k] || tsr_random_chance(random, 2)
                      ? rest
                      : tsr_random_range(random, 1, rest / unit[k]) * unit[k];
    }
    tsr_md whole = md_of_tag(rank, dims, dnnl_f32, tag);
    assert_int_equal(md_submemory(&part, &whole, size, begin), dnnl_success);
    tsr_desc desc = imported(&part, text), all = imported(&whole, text);
    expect_same_offsets(random, &desc, &part, text);
    assert_int_equal(tsr_view_crop(&crop, &all, begin, size, NULL, NULL), TSR_OK);
    for (int64_t i = 0; i < tsr_desc_elements(&crop); i += tsr_random_range(random, 1, 97)) {
        int64_t expected, found;
        assert_int_equal(tsr_desc_offset_linear(&crop, i, &expected, NULL), TSR_OK);
        assert_int_equal(tsr_desc_offset_linear(&desc, i, &found, NULL), TSR_OK);
        assert_int_equal(found, expected);
    }
    tsr_status status = tsr_desc_to_onednn(&desc, &made, &error);
    if (TSR_MD_IS_STRUCT)
        assert_int_equal(status, TSR_OK);
    else if (status != TSR_OK) /* a start, or gaps between blocks */
        assert_int_equal(status, TSR_UNSUPPORTED);
    if (status == TSR_OK) {
        back = imported(&made, text);
        assert_true(tsr_desc_equal(&back, &desc));
        tsr_md_free(&made);
    }
    tsr_md_free(&part);
    tsr_md_free(&whole);
}

static void test_submemory(void **state)
{
    tsr_random random;
    (void)state;
    tsr_random_seed_from_environment(&random);
    for (int tag = dnnl_format_tag_any + 1; tag < (int)dnnl_format_tag_last; tag++)
        check_submemory(&random, (dnnl_format_tag_t)tag);
}

static void test_start(void **state)
{
    (void)state;
    const dnnl_dims_t dims = {8, 32, 3}, size = {4, 16, 3}, begin = {2, 16, 0};
    tsr_md whole = md_of_tag(3, dims, dnnl_f32, dnnl_aBc8b), part, made;
    assert_int_equal(md_submemory(&part, &whole, size, begin), dnnl_success);
    tsr_desc desc = imported(&part, "submemory"), plain = parsed_desc("f32:[a3:8,b4:2]+5 3x4");
    tsr_error error = {0};
    assert_int_equal(desc.offset, 240);
    if (TSR_MD_IS_STRUCT) {
        expect_round_trip(&desc, &part, "submemory");
        expect_round_trip(&plain, NULL, "offset");
    } else {
        assert_int_equal(tsr_desc_to_onednn(&desc, &made, &error), TSR_UNSUPPORTED);
        assert_string_equal(error.message,
                            "the tensor begins at offset 240, and oneDNN 3 has no way to say so: expected 0");
        assert_int_equal(tsr_desc_to_onednn(&plain, &made, &error), TSR_UNSUPPORTED);
    }
    tsr_md_free(&part);
    tsr_md_free(&whole);
}

/* ---- refused from oneDNN ---- */

static void expect_refused(const void *md, tsr_status status, const char *message)
{
    tsr_desc desc = {.rank = 77};
    tsr_error error = {0};
    assert_int_equal(tsr_desc_from_onednn(&desc, md, &error), status);
    assert_string_equal(error.message, message);
    assert_int_equal(desc.rank, 77);
}

static void test_refused(void **state)
{
    (void)state;
    const dnnl_dims_t dims = {3, 5}, run_time = {DNNL_RUNTIME_DIM_VAL, 5}, huge = {INT64_C(1) << 32, INT64_C(1) << 32};
    tsr_md md = md_of_tag(2, dims, dnnl_f32, dnnl_format_tag_any);
    expect_refused(&md, TSR_UNSUPPORTED, "the memory descriptor is opaque: its format kind is any, not blocked");
    tsr_md_free(&md);
    md = md_of_tag(0, dims, dnnl_f32, dnnl_ab);
    expect_refused(&md, TSR_UNSUPPORTED, "the memory descriptor has 0 dims, expected 1 to 12");
    tsr_md_free(&md);
    md = md_of_tag(2, run_time, dnnl_f32, dnnl_ab);
    expect_refused(&md, TSR_UNSUPPORTED, "the memory descriptor has dims or strides of run time");
    tsr_md_free(&md);
    md = md_of_tag(2, huge, dnnl_f32, dnnl_ab);
    expect_refused(&md, TSR_OVERFLOW, "the padded dims do not fit into 63 bits");
    tsr_md_free(&md);
    expect_refused(NULL, TSR_INVALID_ARGUMENT, "expected a memory descriptor, found NULL");
}

#if TSR_MD_IS_STRUCT

/* Structs that somebody filled in by hand, or a primitive. */
static void test_struct(void **state)
{
    (void)state;
    const dnnl_dims_t dims = {3, 21, 5};
    const tsr_md good = md_of_tag(3, dims, dnnl_f32, dnnl_aBc8b);
    tsr_md md = good;
    md.format_kind = dnnl_format_kind_wino;
    expect_refused(&md, TSR_UNSUPPORTED, "the memory descriptor is opaque: its format kind is wino, not blocked");
    md.format_kind = dnnl_format_kind_rnn_packed;
    expect_refused(&md, TSR_UNSUPPORTED, "the memory descriptor is opaque: its format kind is rnn_packed, not blocked");
    md.format_kind = dnnl_format_kind_undef;
    expect_refused(&md, TSR_UNSUPPORTED, "the memory descriptor is opaque: its format kind is undef, not blocked");
    md.format_kind = (dnnl_format_kind_t)99;
    expect_refused(&md, TSR_UNSUPPORTED, "the memory descriptor is opaque: its format kind is unknown, not blocked");
    md = good;
    md.extra.flags = dnnl_memory_extra_flag_compensation_conv_s8s8;
    expect_refused(&md, TSR_UNSUPPORTED,
                   "the memory descriptor is opaque: it carries more than its elements, such as a compensation");
    md = good;
    md.data_type = dnnl_data_type_undef;
    expect_refused(&md, TSR_UNSUPPORTED, "oneDNN's type undef (number 0) is none of ours");
    md.data_type = (dnnl_data_type_t)99;
    expect_refused(&md, TSR_UNSUPPORTED, "oneDNN's type unknown (number 99) is none of ours");
    md = good;
    md.ndims = 13;
    expect_refused(&md, TSR_UNSUPPORTED, "the memory descriptor has 13 dims, expected 1 to 12");
    md = good;
    md.padded_dims[1] = 20;
    expect_refused(&md, TSR_INVALID_ARGUMENT, "padded_dims[1] is 20, expected a multiple of its blocks, 8");
    md = good;
    md.padded_dims[1] = 16;
    expect_refused(&md, TSR_INVALID_ARGUMENT, "the blocks of axis 1 cover 16 of 21");
    md = good;
    md.format_desc.blocking.inner_nblks = 13;
    expect_refused(&md, TSR_INVALID_ARGUMENT, "expected 0 to 12 inner blocks, found 13");
    md = good;
    md.format_desc.blocking.inner_idxs[0] = 3;
    expect_refused(&md, TSR_INVALID_ARGUMENT,
                   "inner block 0 has 8 indices of axis 3, expected 1 or more of an axis below 3");
}

/* Blocks of padding in front are skipped, parts of blocks are not. */
static void test_padded_offsets(void **state)
{
    tsr_random random;
    (void)state;
    tsr_random_seed(&random, 1);
    const dnnl_dims_t dims = {3, 45, 5};
    tsr_md md = md_of_tag(3, dims, dnnl_f32, dnnl_aBc8b);
    md.dims[1] = 21;
    md.padded_offsets[1] = 16;
    tsr_desc desc = imported(&md, "padded offsets");
    assert_int_equal(desc.offset, 80);
    expect_same_offsets(&random, &desc, &md, "padded offsets");
    md.padded_offsets[1] = 3;
    expect_refused(&md, TSR_UNSUPPORTED, "padded_offsets[1] is 3, expected a multiple of its blocks, 8");
    md.padded_offsets[1] = 49;
    expect_refused(&md, TSR_INVALID_ARGUMENT, "padded_offsets[1] is 49, expected 0 to padded_dims[1], 48");
}

/* Layouts without a tag are written into the struct. */
static void test_blocks_without_tag(void **state)
{
    static const char *const layouts[] = {
        "f32:aB5b 2x7",         "f32:ABc3a5b2a 17x18x3",           "f32:[a2:100,c3:30,b2:15,b5:1] 2x7x3",
        "f32:[a2,b3,a4] 7x3",   "f32:[b4:10,a3:40,b2:2,a2:1] 5x7", "f32:[a8] 5",
        "f32:[a2:64,b0:1] 2x0",
    };
    (void)state;
    for (size_t i = 0; i < COUNT(layouts); i++) {
        tsr_desc desc = parsed_desc(layouts[i]);
        expect_round_trip(&desc, NULL, layouts[i]);
    }
}

#else

static void test_handle(void **state)
{
    (void)state;
    const tsr_md none = NULL;
    expect_refused(&none, TSR_INVALID_ARGUMENT, "expected a memory descriptor, found NULL");
}

#if TSR_ONEDNN_AT_LEAST(3, 5)

static void test_type_of_theirs(void **state)
{
    (void)state;
    const dnnl_dims_t dims = {3, 5};
    tsr_md md = md_of_tag(2, dims, dnnl_e8m0, dnnl_ab);
    expect_refused(&md, TSR_UNSUPPORTED, "oneDNN's type e8m0 (number 13) is none of ours");
    tsr_md_free(&md);
}

#endif

/* What a primitive chose for itself is refused by its reason, or it is all there. */
static void expect_honest(const_dnnl_memory_desc_t chosen, const char *what)
{
    tsr_desc desc;
    tsr_error error = {0};
    tsr_md md;
    assert_non_null(chosen);
    assert_int_equal(dnnl_memory_desc_clone(&md, chosen), dnnl_success);
    tsr_status status = tsr_desc_from_onednn(&desc, &md, &error);
    print_message("# %s: %s\n", what, status == TSR_OK ? "blocked" : error.message);
    if (tsr_md_kind(&md) != dnnl_blocked) {
        assert_int_equal(status, TSR_UNSUPPORTED);
        assert_string_equal(error.message, "the memory descriptor is opaque: its format kind is opaque, not blocked");
    } else if (status == TSR_OK) {
        assert_int_equal(md_size_bytes(&md), tsr_desc_size_bytes(&desc));
        expect_round_trip(&desc, &md, what);
    } else {
        assert_string_equal(error.message, "the memory descriptor is opaque: it carries more than its elements, such "
                                           "as a compensation");
    }
    tsr_md_free(&md);
}

static void test_weights_of_convolution(void **state)
{
    (void)state;
    const dnnl_dims_t src_dims = {1, 32, 14, 14}, weight_dims = {32, 32, 3, 3}, dst_dims = {1, 32, 12, 12};
    const dnnl_dims_t ones = {1, 1}, zeros = {0, 0};
    dnnl_engine_t engine;
    assert_int_equal(dnnl_engine_create(&engine, dnnl_cpu, 0), dnnl_success);
    for (int i = 0; i < 3; i++) {
        dnnl_data_type_t type = (dnnl_data_type_t[]){dnnl_f32, dnnl_u8, dnnl_s8}[i];
        dnnl_primitive_desc_t pd = NULL;
        tsr_md src = md_of_tag(4, src_dims, type, dnnl_nhwc), dst = md_of_tag(4, dst_dims, dnnl_f32, dnnl_nhwc),
               weights = md_of_tag(4, weight_dims, i ? dnnl_s8 : dnnl_f32, dnnl_format_tag_any);
        if (dnnl_convolution_forward_primitive_desc_create(&pd, engine, dnnl_forward_inference, dnnl_convolution_direct,
                                                           src, weights, NULL, dst, ones, zeros, zeros, zeros,
                                                           NULL) == dnnl_success)
            expect_honest(dnnl_primitive_desc_query_md(pd, dnnl_query_weights_md, 0), dnnl_dt2str(type));
        if (pd)
            dnnl_primitive_desc_destroy(pd);
        tsr_md_free(&src);
        tsr_md_free(&weights);
        tsr_md_free(&dst);
    }
    dnnl_engine_destroy(engine);
}

/* Packed for a matrix multiplication, where the machine has no instructions for bf16. */
static void test_weights_of_lstm(void **state)
{
    (void)state;
    const dnnl_dims_t x = {5, 16, 32}, h = {1, 1, 16, 32}, w = {1, 1, 32, 4, 32}, b = {1, 1, 4, 32};
    dnnl_engine_t engine;
    dnnl_primitive_desc_t pd = NULL;
    assert_int_equal(dnnl_engine_create(&engine, dnnl_cpu, 0), dnnl_success);
    tsr_md layer = md_of_tag(3, x, dnnl_bf16, dnnl_tnc), iteration = md_of_tag(4, h, dnnl_bf16, dnnl_ldnc),
           cell = md_of_tag(4, h, dnnl_f32, dnnl_ldnc), weights = md_of_tag(5, w, dnnl_bf16, dnnl_format_tag_any),
           bias = md_of_tag(4, b, dnnl_f32, dnnl_ldgo);
    if (dnnl_lstm_forward_primitive_desc_create(&pd, engine, dnnl_forward_inference, dnnl_unidirectional_left2right,
                                                layer, iteration, cell, weights, weights, NULL, NULL, bias, layer,
                                                iteration, cell, 0, NULL) == dnnl_success)
        expect_honest(dnnl_primitive_desc_query_md(pd, dnnl_query_weights_md, 0), "lstm");
    if (pd)
        dnnl_primitive_desc_destroy(pd);
    tsr_md_free(&layer);
    tsr_md_free(&iteration);
    tsr_md_free(&cell);
    tsr_md_free(&weights);
    tsr_md_free(&bias);
    dnnl_engine_destroy(engine);
}

#endif

/* ---- refused to oneDNN ---- */

static void test_not_sayable(void **state)
{
    static const struct {
        const char *desc;
        const char *reason;
    } rows[] = {
        {"f32:scalar scalar", "oneDNN has 1 to 12 axes, not 0"},
        {"f32:abcdefghijklm 1x2x1x2x1x2x1x2x1x2x1x2x1", "oneDNN has 1 to 12 axes, not 13"},
        {"f32:[b2:8,a2:4,b4:1]@b3 2x4", "axis 1 is a window, and oneDNN has none"},
        {"f32:[a3:4,b4:-1]+3 3x4", "axis 1 runs backwards, with stride -1, and oneDNN takes 0 or more"},
        {"f32:[b2:12,a2:6,b3:1] 2x6", NULL},
        {"f32:[a2,b2,a2:4,b2:2] 4x4", WHY_NO_BLOCKS},
        {"f32:[a2:1,b2:16,b4:2] 2x8", WHY_NO_BLOCKS},
        {"f32:[a2:3,b3:2] 2x3", "oneDNN refuses the f32 layout: invalid_arguments"},
        {"s64:ab 2x3", NULL},
        {"nf4:ab 2x3", NULL},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        tsr_desc desc = parsed_desc(rows[i].desc);
        tsr_error error = {0};
        char expected[TSR_ERROR_MESSAGE_SIZE];
        tsr_md md, before;
        memset(&md, 0x5a, sizeof md);
        before = md;
        tsr_status status = tsr_desc_to_onednn(&desc, &md, &error);
        if (!rows[i].reason && desc.dtype == TSR_F32) { /* depends on the version */
            assert_int_equal(status, TSR_MD_IS_STRUCT ? TSR_OK : TSR_UNSUPPORTED);
            continue;
        }
        snprintf(expected, sizeof expected, "oneDNN %d.%d has no type %s", DNNL_VERSION_MAJOR, DNNL_VERSION_MINOR,
                 tsr_dtype_name(desc.dtype));
        assert_int_equal(status, TSR_UNSUPPORTED);
        assert_string_equal(error.message, rows[i].reason ? rows[i].reason : expected);
        assert_memory_equal(&md, &before, sizeof md);
    }
    tsr_error error = {0};
    tsr_desc desc = parsed_desc("f32:ab 2x3");
    assert_int_equal(tsr_desc_to_onednn(&desc, NULL, &error), TSR_INVALID_ARGUMENT);
    assert_string_equal(error.message, "expected a place for a memory descriptor, found NULL");
}

/* A window that a stride can say, levels of one step, and levels that continue each other. */
static void test_written_otherwise(void **state)
{
    static const char *const rows[][2] = {
        {"f32:[a2:12,b1:12,c3:4,c1:4,d4:1] 2x1x3x4", "f32:nchw 2x1x3x4"},
        {"f32:[a2:12,c3:4,d2:2,d2:1,b1:9] 2x1x3x4", "f32:nchw 2x1x3x4"},
        {"f32:[a2:32,b2:16,b16:1] 2x19", "f32:[a2:32,b32:1] 2x19"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        tsr_desc a = parsed_desc(rows[i][0]), b = parsed_desc(rows[i][1]), found;
        tsr_md md;
        assert_true(tsr_desc_equal(&a, &b));
        if (tsr_desc_to_onednn(&a, &md, NULL) != TSR_OK) {
            assert_true(!TSR_MD_IS_STRUCT && i == 2);
            continue;
        }
        found = imported(&md, rows[i][0]);
        assert_true(tsr_desc_equal(&found, &b));
        tsr_md_free(&md);
    }
}

/* ---- there and back ---- */

static void test_random_round_trips(void **state)
{
    static const tsr_dtype dtypes[] = {TSR_F32, TSR_BF16, TSR_S8, TSR_S32};
    tsr_random random;
    int accepted = 0, refused = 0, cases = tsr_random_cases(100000);
    (void)state;
    tsr_random_seed_from_environment(&random);
    while (accepted < cases) {
        int64_t dims[TSR_MAX_RANK];
        int rank = (int)tsr_random_range(&random, 1, tsr_random_chance(&random, 8) ? DNNL_MAX_NDIMS : 5);
        tsr_random_options options = {.max_blocks = tsr_random_chance(&random, 2) ? 0 : 2,
                                      .row_major = tsr_random_chance(&random, 2),
                                      .strided = tsr_random_chance(&random, 3),
                                      .offset = tsr_random_chance(&random, 6),
                                      .pad_before = tsr_random_chance(&random, 6),
                                      .broadcast = tsr_random_chance(&random, 8),
                                      .spare = tsr_random_chance(&random, 8)};
        tsr_random_dims(&random, rank, 4096, dims);
        tsr_desc desc = tsr_random_desc(&random, dtypes[tsr_random_range(&random, 0, 3)], rank, dims, &options), found;
        tsr_md md;
        tsr_status status = tsr_desc_to_onednn(&desc, &md, NULL);
        if (status != TSR_OK) {
            assert_int_equal(status, TSR_UNSUPPORTED);
            refused++;
            continue;
        }
        char text[256];
        tsr_desc_print(&desc, text, sizeof text);
        found = imported(&md, text);
        expect_same_offsets(&random, &found, &md, text);
        if (!tsr_desc_equal(&found, &desc))
            fail_msg("%s: another descriptor comes back", text);
        tsr_md_free(&md);
        accepted++;
    }
    print_message("# %d round trips, %d refused\n", accepted, refused);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_tag),
        cmocka_unit_test(test_aliases),
        cmocka_unit_test(test_types),
        cmocka_unit_test(test_strided),
        cmocka_unit_test(test_broadcast),
        cmocka_unit_test(test_no_elements),
        cmocka_unit_test(test_submemory),
        cmocka_unit_test(test_start),
        cmocka_unit_test(test_refused),
#if TSR_MD_IS_STRUCT
        cmocka_unit_test(test_struct),
        cmocka_unit_test(test_padded_offsets),
        cmocka_unit_test(test_blocks_without_tag),
#else
        cmocka_unit_test(test_handle),
        cmocka_unit_test(test_weights_of_convolution),
        cmocka_unit_test(test_weights_of_lstm),
#if TSR_ONEDNN_AT_LEAST(3, 5)
        cmocka_unit_test(test_type_of_theirs),
#endif
#endif
        cmocka_unit_test(test_not_sayable),
        cmocka_unit_test(test_written_otherwise),
        cmocka_unit_test(test_random_round_trips),
    };
#if !TSR_MD_IS_STRUCT
    (void)dnnl_set_max_cpu_isa(dnnl_cpu_isa_avx512_core); /* without later instructions more weights are opaque */
#endif
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

static void test_absent(void **state)
{
    tsr_desc desc = {0};
    tsr_error error = {0};
    long long room[64] = {0};
    (void)state;
    assert_int_equal(tsr_desc_from_onednn(&desc, room, &error), TSR_UNSUPPORTED);
    assert_string_equal(error.message, "this build has no oneDNN");
    error = (tsr_error){0};
    assert_int_equal(tsr_desc_to_onednn(&desc, room, &error), TSR_UNSUPPORTED);
    assert_string_equal(error.message, "this build has no oneDNN");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_absent)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
