/* SPDX-License-Identifier: Apache-2.0 */
/* The engine against the definition, and its algebra, over random pairs of descriptors; on the host, and at a place,
 * where a device does what it can and leaves the rest to the host. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>

#include <tessera/tessera.h>

#include "base/topology.h"
#include "blocked/move.h"

#include "device_memory.h"
#include "executors.h"
#include "place.h"
#include "random.h"
#include "workload.h"

/* Of most tensors, and of those that threads share. */
enum { MAX_RANK = 6, MAX_BLOCKS = 3, MAX_ELEMENTS = 1500, LARGE_ELEMENTS = 200000 };

/* One random reorder. */
struct draw {
    tsr_desc src, dst;
    float factors[3 * LARGE_ELEMENTS];
    tsr_reorder_options options;
    uint64_t seed; /* of what the source holds */
};

static tsr_dtype any_type(tsr_random *random)
{
    return (tsr_dtype)tsr_random_range(random, TSR_F32, TSR_U1);
}

/* Packed ones have the more to go wrong. */
static tsr_dtype any_converted(tsr_random *random)
{
    return tsr_random_chance(random, 4) ? (tsr_dtype)tsr_random_range(random, TSR_S4, TSR_U1) : any_type(random);
}

static const float extreme[] = {1e8f, -3e38f, 0.0f, 1e-40f};

static void draw_factors(tsr_random *random, tsr_factors *factors, float *values, int axis, int64_t extent)
{
    if (tsr_random_chance(random, 2))
        return;
    bool per_axis = axis >= 0 && tsr_random_chance(random, 2);
    int64_t group = tsr_random_chance(random, 3) ? tsr_random_range(random, 1, 5) : 0, per = group > 1 ? group : 1;
    *factors = (tsr_factors){values, per_axis ? (extent + per - 1) / per : 1, per_axis ? axis : 0, group};
    for (int64_t i = 0; i < factors->count; i++)
        values[i] = tsr_random_chance(random, 8) ? extreme[tsr_random_range(random, 0, 3)]
                                                 : (float)tsr_random_range(random, -400, 400) / 64;
}

static void draw_options(tsr_random *random, struct draw *draw, bool with_factors)
{
    int axis = draw->src.rank ? (int)tsr_random_range(random, 0, draw->src.rank - 1) : -1;
    int64_t extent = axis >= 0 ? draw->src.dims[axis] : 1;
    draw->options = (tsr_reorder_options){.padding = tsr_random_chance(random, 4) ? TSR_PADDING_KEEP : TSR_PADDING_ZERO,
                                          .streaming = (tsr_streaming)tsr_random_range(random, 0, 2),
                                          .threads = (int)tsr_random_range(random, 0, 3),
                                          .in_place = tsr_random_chance(random, 4)};
    if (tsr_random_chance(random, 4))
        draw->options.scratch_bytes = tsr_random_range(random, 1, 4 * MAX_ELEMENTS);
    if (tsr_random_chance(random, 3))
        draw->options.tile_bytes = tsr_random_range(random, 1, 128); /* so that there are several tiles */
    if (draw->src.rank && tsr_random_chance(random, 8))
        draw->options.reverse = (uint32_t)tsr_random_range(random, 0, (INT64_C(1) << draw->src.rank) - 1);
    if (with_factors) {
        draw_factors(random, &draw->options.scale, draw->factors, axis, extent);
        draw_factors(random, &draw->options.mean, draw->factors + LARGE_ELEMENTS, axis, extent);
        draw_factors(random, &draw->options.shift, draw->factors + 2 * LARGE_ELEMENTS, axis, extent);
        if (tsr_random_chance(random, 4))
            draw->options.beta = (float)tsr_random_range(random, -4, 4) / 2;
    }
}

/* A pair of so many elements at most that moves or converts. */
static void draw_pair(tsr_random *random, struct draw *draw, int64_t most)
{
    int64_t dims[TSR_MAX_RANK];
    int rank = (int)tsr_random_range(random, tsr_random_chance(random, 50) ? 0 : 1, MAX_RANK);
    bool converts = tsr_random_chance(random, 3);
    tsr_random_options src = {.max_blocks = MAX_BLOCKS,
                              .max_elements = 4 * most,
                              .strided = tsr_random_chance(random, 2),
                              .offset = tsr_random_chance(random, 2),
                              .pad_before = tsr_random_chance(random, 4),
                              .spare = tsr_random_chance(random, 4)};
    tsr_random_options dst = src;
    src.broadcast = tsr_random_chance(random, 6);
    src.backwards = src.strided && tsr_random_chance(random, 4);
    if (tsr_random_chance(random, 3))
        src.max_blocks = 0;
    tsr_random_dims(random, rank, most, dims);
    if (rank > 0 && tsr_random_chance(random, 100))
        dims[tsr_random_range(random, 0, rank - 1)] = 0;
    tsr_dtype src_type = converts ? any_converted(random) : any_type(random);
    tsr_dtype dst_type = converts ? any_converted(random) : src_type;
    draw->src = tsr_random_desc(random, src_type, rank, dims, &src);
    draw->dst = tsr_random_desc(random, dst_type, rank, dims, &dst);
    draw_options(random, draw, converts);
}

static int attribute_of(const tsr_factors *factors)
{
    return factors->count > 1 ? factors->axis : factors->count == 1 ? TSR_ATTRIBUTE_TENSOR : TSR_ATTRIBUTE_NONE;
}

static int64_t group_of(const tsr_factors *factors)
{
    return factors->count > 1 && factors->group > 1 ? factors->group : 0;
}

static const char *text_of(const tsr_desc *src, const tsr_desc *dst, const tsr_reorder_options *options)
{
    static char text[TSR_TEXT_SIZE];
    tsr_problem problem = {.src = *src,
                           .dst = *dst,
                           .scale_axis = attribute_of(&options->scale),
                           .mean_axis = attribute_of(&options->mean),
                           .shift_axis = attribute_of(&options->shift),
                           .scale_group = group_of(&options->scale),
                           .mean_group = group_of(&options->mean),
                           .shift_group = group_of(&options->shift),
                           .has_beta = options->beta != 0,
                           .reverse = options->reverse,
                           .in_place = options->in_place};
    tsr_problem_print(&problem, text, sizeof text);
    return text;
}

static void fail_with_problem(const tsr_desc *src, const tsr_desc *dst, const char *what, const char *message)
{
    fail_msg("%s: %s: %s", text_of(src, dst, &(tsr_reorder_options){0}), what, message);
}

/* With what a problem does not say of a draw; the values of its factors follow from TSR_TEST_SEED alone. */
static void fail_with_draw(const struct draw *draw, const tsr_reorder_options *options, const char *what,
                           const char *message)
{
    static const char *const streaming[] = {"auto", "never", "always"};
    char said[512];
    snprintf(said, sizeof said,
             "draw %" PRIu64 ", beta %g, padding %s, streaming %s, %d threads%s, scratch_bytes %" PRId64
             ", tile_bytes %" PRId64 ", row %s, rung %s of flags 0x%x",
             draw->seed, (double)options->beta, options->padding == TSR_PADDING_KEEP ? "kept" : "zeroed",
             streaming[options->streaming], options->threads, options->executor ? " in reverse" : "",
             options->scratch_bytes, options->tile_bytes, options->row ? options->row : "any",
             tsr_cpu_rung_name(tsr_cpu_flags()), tsr_cpu_flags());
    fail_msg("%s: %s: %s: %s", text_of(&draw->src, &draw->dst, options), said, what, message);
}

/* Memory of the host, and a byte more. */
static void *new_bytes(int64_t bytes)
{
    void *memory = malloc((size_t)bytes + 1);
    assert_non_null(memory);
    return memset(memory, 0xcd, (size_t)bytes + 1);
}

/* What was compared. */
struct tally {
    int64_t draws, shared, of_row[16];
    const char *row[16];
};

static void count_plan(struct tally *tally, const tsr_plan *plan)
{
    const tsr_plan_info info = tsr_plan_get_info(plan);
    int i = 0;
    while (tally->row[i] && strcmp(tally->row[i], info.row) != 0)
        i++;
    tally->row[i] = info.row;
    tally->of_row[i]++;
    tally->shared += info.threads > 1;
}

static int64_t tally_of(const struct tally *tally, const char *row)
{
    for (int i = 0; tally->row[i]; i++)
        if (strcmp(tally->row[i], row) == 0)
            return tally->of_row[i];
    return 0;
}

/* By the row that the plan takes, or by the one asked for where it applies. Scratch memory may be too little for
 * any. */
static void check_row(const struct draw *draw, const void *src, const char *row, struct tally *tally)
{
    tsr_plan *plan = NULL;
    tsr_error error = {0};
    bool is_right = false;
    tsr_reorder_options options = draw->options;
    options.row = row;
    tsr_status status = tsr_plan_create(&plan, &draw->src, &draw->dst, &options, &error);
    if (status == TSR_UNSUPPORTED && (row || options.scratch_bytes > 0))
        return;
    if (status == TSR_OK) {
        count_plan(tally, plan);
        status = verify_plan(plan, &draw->src, src, &draw->dst, &options, &is_right, &error);
    }
    tsr_plan_free(&plan);
    if (status != TSR_OK || !is_right)
        fail_with_draw(draw, &options, status == TSR_OK ? "differs from the definition" : "failed", error.message);
}

static void check_draw(const struct draw *draw, struct tally *tally)
{
    int64_t bytes = tsr_desc_size_bytes(&draw->src);
    void *src = new_bytes(bytes);
    tally->draws++;
    fill_awkward(src, (size_t)bytes, draw->seed);
    check_row(draw, src, NULL, tally);
    if (draw->seed % 8 == 0)
        check_row(draw, src, "onednn", tally);
    if (draw->seed % 8 == 1)
        check_row(draw, src, "relay", tally);
    if (draw->seed % 8 == 2)
        check_row(draw, src, "gather", tally);
    if (draw->options.in_place)
        check_row(draw, src, "slices", tally);
    free(src);
}

/* Any of what this machine has. */
static void set_any_mask(tsr_random *random)
{
    static const unsigned masks[] = {TSR_CPU_ALL,  TSR_CPU_ALL,   ~(unsigned)TSR_CPU_AVX512_VBMI,
                                     TSR_CPU_AVX2, TSR_CPU_SSE41, 0};
    tsr_cpu_set_mask(masks[tsr_random_range(random, 0, (int64_t)(sizeof masks / sizeof masks[0]) - 1)]);
}

/* Draw i, with any of these. */
static void check_any(tsr_random *random, struct draw *draw, int i, struct tally *tally)
{
    set_any_mask(random);
    draw_pair(random, draw, MAX_ELEMENTS);
    draw->seed = (uint64_t)i;
    check_draw(draw, tally);
}

static void engine_equals_the_definition(void **state)
{
    /* at least so many of 1000 draws; test_onednn and test_in_place draw what the other rows are for */
    static const struct {
        const char *row;
        int of_1000;
    } expected[] = {{"alias", 8},  {"copy", 60},  {"transpose", 150}, {"convert", 80},
                    {"gather", 4}, {"relay", 80}, {"elementwise", 4}, {"slices", 200}};
    static struct draw draw;
    struct tally tally = {0};
    tsr_random random;
    (void)state;
    tsr_random_seed_from_environment(&random);
    for (int i = 0; i < tsr_random_cases(50000); i++)
        check_any(&random, &draw, i, &tally);
    tsr_cpu_set_mask(TSR_CPU_ALL);
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++)
        if (tally_of(&tally, expected[i].row) * 1000 < tally.draws * expected[i].of_1000)
            fail_msg("%s: %d plans of %d draws", expected[i].row, (int)tally_of(&tally, expected[i].row),
                     (int)tally.draws);
}

/* ---- on other machines ---- */

/* Whose caches do not hold such tensors, or the last one alone does, far or near; that one beside sets of 8 lines or of
 * 12, of which the first level has one, or four. */
static void pretend_any_machine(tsr_random *random)
{
    static tsr_topology machine; /* outlives a check that fails */
    enum { LINE = 64 };
    const int64_t sets = tsr_random_chance(random, 2) ? 1 : 4;
    machine = *tsr_topology_machine();
    machine.has_near_l3 = !tsr_random_chance(random, 3);
    machine.l1_period_bytes = sets * LINE;
    machine.l1_bytes = (tsr_random_chance(random, 2) ? 8 : 12) * sets * LINE;
    machine.l2_bytes = machine.l1_bytes + tsr_random_range(random, 0, 4) * 512;
    machine.l3_bytes = tsr_random_chance(random, 2) ? machine.l2_bytes * 2 : 1 << 30;
    tsr_topology_pretend(&machine);
}

static void any_machine_equals_the_definition(void **state)
{
    static struct draw draw;
    struct tally tally = {0};
    tsr_random random;
    (void)state;
    tsr_random_seed_from_environment(&random);
    for (int i = 0; i < tsr_random_cases(10000); i++) {
        pretend_any_machine(&random);
        check_any(&random, &draw, i, &tally);
        tsr_topology_pretend(NULL);
    }
    tsr_cpu_set_mask(TSR_CPU_ALL);
}

/* ---- on several threads ---- */

/* Drawn until so many were large enough to be shared, as one in six or so is; in whatever order the parts are done. */
static void shared_work_equals_the_definition(void **state)
{
    enum { MOST_DRAWS = 40 };
    static const tsr_executor reversed = {run_in_reverse, NULL, 7};
    const int wanted = tsr_random_cases(50);
    static struct draw draw;
    struct tally tally = {0};
    tsr_random random;
    (void)state;
    tsr_random_seed_from_environment(&random);
    for (int i = 0; tally.shared < wanted && i < MOST_DRAWS * wanted; i++) {
        set_any_mask(&random);
        draw_pair(&random, &draw, LARGE_ELEMENTS);
        draw.options.threads = (int)tsr_random_range(&random, 2, 7);
        draw.options.executor = tsr_random_chance(&random, 2) ? &reversed : NULL;
        draw.seed = (uint64_t)i;
        check_draw(&draw, &tally);
    }
    tsr_cpu_set_mask(TSR_CPU_ALL);
    if (tally.shared < wanted)
        fail_msg("%d of %d draws were shared", (int)tally.shared, (int)tally.draws);
}

/* ---- at a place ---- */

/* As a blob does it; where nothing is converted, padding comes along, and is zeroed. */
static tsr_status move(const tsr_device *device, const tsr_desc *src_desc, void *src, const tsr_desc *dst_desc,
                       void *dst, tsr_error *error)
{
    tsr_mover mover = {0};
    const tsr_located from = {src_desc, device, src}, to = {dst_desc, device, dst};
    tsr_status status = tsr_move(&mover, &to, &from, TSR_PADDING_ZERO, error);
    return status == TSR_OK && !mover.has_converted ? tsr_zero_padding_at(&mover, &to, error) : status;
}

/* Of any types, of which a device knows some. */
static void moves_equal_the_definition(void **state)
{
    static struct draw draw;
    tsr_random random;
    (void)state;
    tsr_random_seed_from_environment(&random);
    for (int i = 0; i < tsr_random_cases(1000); i++) {
        tsr_error error = {0};
        draw_pair(&random, &draw, MAX_ELEMENTS);
        int64_t src_bytes = tsr_desc_size_bytes(&draw.src), dst_bytes = tsr_desc_size_bytes(&draw.dst);
        unsigned char *src = new_bytes(src_bytes), *found = new_bytes(dst_bytes), *expected = new_bytes(dst_bytes);
        fill_awkward(src, (size_t)src_bytes, (uint64_t)i);
        tsr_status status = tsr_reorder_by_definition(&draw.src, src, &draw.dst, expected, NULL, &error);
        if (status == TSR_OK)
            status = reorder_by(move, home_device, &draw.src, src, &draw.dst, found, &error);
        if (status != TSR_OK || memcmp(found, expected, (size_t)dst_bytes + 1) != 0)
            fail_with_problem(&draw.src, &draw.dst, "differs from the definition at a place", error.message);
        free(src);
        free(found);
        free(expected);
    }
}

static void nothing_is_moved(void **state)
{
    static const char *const problems[] = {"s4:a>s4:a 0", "f32:nchw>f32:nchw 2x0x3x4", "f32:nchw>f32:nChw8c 2x8x0x4"};
    (void)state;
    for (size_t i = 0; i < sizeof problems / sizeof *problems; i++) {
        unsigned char src[1] = {0}, dst[1] = {0};
        tsr_problem problem;
        assert_int_equal(tsr_problem_parse(&problem, problems[i], NULL), TSR_OK);
        assert_int_equal(tsr_desc_size_bytes(&problem.dst), 0);
        assert_int_equal(reorder_by(move, home_device, &problem.src, src, &problem.dst, dst, NULL), TSR_OK);
    }
}

/* ---- algebra ---- */

static void put_packed(unsigned char *buffer, int64_t offset, int bits, unsigned element)
{
    const int in_byte = 8 / bits, shift = (int)(offset % in_byte) * bits;
    const unsigned mask = ((1U << bits) - 1) << shift;
    buffer[offset / in_byte] = (unsigned char)((buffer[offset / in_byte] & ~mask) | (element << shift & mask));
}

/* Element values are logical indices, as far as the type can hold them: no two neighbours are alike. But single bits
 * are as by chance. */
static void fill_with_indices(const tsr_desc *desc, unsigned char *buffer)
{
    const int bits = tsr_dtype_bits(desc->dtype);
    size_t size = tsr_dtype_size_bytes(desc->dtype);
    for (int64_t linear = 0; linear < tsr_desc_elements(desc); linear++) {
        int64_t offset;
        uint64_t value = (uint64_t)linear * (size == 1 ? 37 : 1);
        assert_int_equal(tsr_desc_offset_linear(desc, linear, &offset, NULL), TSR_OK);
        if (bits < 8)
            put_packed(buffer, offset, bits, (unsigned)(bits == 1 ? value * value >> 7 : value));
        else
            memcpy(buffer + (size_t)offset * size, &value, size);
    }
}

static unsigned char *reordered(const tsr_desc *src_desc, const void *src, const tsr_desc *dst_desc)
{
    tsr_error error = {0};
    int64_t bytes = tsr_desc_size_bytes(dst_desc);
    unsigned char *dst = new_bytes(bytes);
    tsr_status status = home_device ? reorder_by(move, home_device, src_desc, src, dst_desc, dst, &error)
                                    : tsr_reorder(src_desc, src, dst_desc, dst, &error);
    if (status != TSR_OK)
        fail_with_problem(src_desc, dst_desc, "failed", error.message);
    return dst;
}

static void assert_same_bytes(const tsr_desc *desc, const void *a, const void *b, const char *what)
{
    if (memcmp(a, b, (size_t)tsr_desc_size_bytes(desc)) != 0)
        fail_with_problem(desc, desc, what, "buffers differ");
}

static void random_layouts(tsr_random *random, tsr_desc *descs, int n)
{
    int64_t dims[TSR_MAX_RANK];
    tsr_random_options options = {.max_blocks = 2, .max_elements = 4 * MAX_ELEMENTS, .strided = true, .offset = true};
    int rank = (int)tsr_random_range(random, 1, MAX_RANK);
    tsr_dtype type = any_type(random);
    tsr_random_dims(random, rank, MAX_ELEMENTS, dims);
    for (int i = 0; i < n; i++)
        descs[i] = tsr_random_desc(random, type, rank, dims, &options);
}

static void there_and_back_is_identity(void **state)
{
    tsr_random random;
    tsr_desc descs[2];
    (void)state;
    tsr_random_seed_from_environment(&random);
    for (int i = 0; i < tsr_random_cases(1000); i++) {
        random_layouts(&random, descs, 2);
        unsigned char *start = new_bytes(tsr_desc_size_bytes(&descs[0]));
        fill_with_indices(&descs[0], start);
        unsigned char *padded = reordered(&descs[0], start, &descs[0]); /* as start, with zeroed padding */
        unsigned char *there = reordered(&descs[0], start, &descs[1]);
        unsigned char *back = reordered(&descs[1], there, &descs[0]);
        assert_same_bytes(&descs[0], padded, back, "there and back");
        free(start);
        free(padded);
        free(there);
        free(back);
    }
}

static void two_steps_equal_one(void **state)
{
    tsr_random random;
    tsr_desc descs[3];
    (void)state;
    tsr_random_seed_from_environment(&random);
    for (int i = 0; i < tsr_random_cases(1000); i++) {
        random_layouts(&random, descs, 3);
        unsigned char *start = new_bytes(tsr_desc_size_bytes(&descs[0]));
        fill_with_indices(&descs[0], start);
        unsigned char *middle = reordered(&descs[0], start, &descs[1]);
        unsigned char *two = reordered(&descs[1], middle, &descs[2]);
        unsigned char *one = reordered(&descs[0], start, &descs[2]);
        assert_same_bytes(&descs[2], one, two, "two steps");
        free(start);
        free(middle);
        free(two);
        free(one);
    }
}

/* Cuts [from, from + sizes) out of a plain tensor; the view's start is in its offset. */
static tsr_desc crop(const tsr_desc *whole, const int64_t *from, const int64_t *sizes)
{
    tsr_desc view;
    int64_t strides[TSR_MAX_RANK], offset;
    for (int i = 0; i < whole->levels; i++)
        strides[whole->order[i]] = whole->strides[i];
    assert_int_equal(tsr_desc_offset(whole, whole->rank, from, &offset, NULL), TSR_OK);
    assert_int_equal(tsr_desc_strided(&view, whole->dtype, whole->rank, sizes, strides, offset, NULL), TSR_OK);
    return view;
}

static void view_then_reorder_equals_reorder_then_view(void **state)
{
    tsr_random random;
    (void)state;
    tsr_random_seed_from_environment(&random);
    for (int i = 0; i < tsr_random_cases(1000); i++) {
        int64_t dims[TSR_MAX_RANK], from[TSR_MAX_RANK], sizes[TSR_MAX_RANK];
        int rank = (int)tsr_random_range(&random, 1, MAX_RANK);
        tsr_dtype type = any_type(&random);
        tsr_random_options plain = {0}, blocked = {.max_blocks = 2, .max_elements = 4 * MAX_ELEMENTS};
        tsr_random_dims(&random, rank, MAX_ELEMENTS, dims);
        for (int k = 0; k < rank; k++) {
            from[k] = tsr_random_range(&random, 0, dims[k] - 1);
            sizes[k] = tsr_random_range(&random, 1, dims[k] - from[k]);
        }
        tsr_desc a = tsr_random_desc(&random, type, rank, dims, &plain);
        tsr_desc b = tsr_random_desc(&random, type, rank, dims, &plain);
        tsr_desc target = tsr_random_desc(&random, type, rank, sizes, &blocked);
        tsr_desc view_of_a = crop(&a, from, sizes), view_of_b = crop(&b, from, sizes);
        unsigned char *start = new_bytes(tsr_desc_size_bytes(&a));
        fill_with_indices(&a, start);
        unsigned char *moved = reordered(&a, start, &b);
        unsigned char *direct = reordered(&view_of_a, start, &target);
        unsigned char *indirect = reordered(&view_of_b, moved, &target);
        assert_same_bytes(&target, direct, indirect, "views");
        free(start);
        free(moved);
        free(direct);
        free(indirect);
    }
}

/* Whatever the source padding held, the destination's is zero, and nothing outside of it was touched. */
static void padding_is_zero(void **state)
{
    tsr_random random;
    (void)state;
    tsr_random_seed_from_environment(&random);
    for (int i = 0; i < tsr_random_cases(1000); i++) {
        int64_t dims[TSR_MAX_RANK];
        int rank = (int)tsr_random_range(&random, 1, 4);
        tsr_random_options options = {.max_blocks = 2, .max_elements = 4 * MAX_ELEMENTS, .spare = true};
        tsr_random_dims(&random, rank, MAX_ELEMENTS, dims);
        tsr_desc src = tsr_random_desc(&random, TSR_U8, rank, dims, &options);
        tsr_desc dst = tsr_random_desc(&random, TSR_U8, rank, dims, &options);
        unsigned char *ones = new_bytes(tsr_desc_size_bytes(&src));
        memset(ones, 1, (size_t)tsr_desc_size_bytes(&src));
        unsigned char *result = reordered(&src, ones, &dst);
        int64_t sum = 0;
        for (int64_t j = 0; j < tsr_desc_size_bytes(&dst); j++)
            sum += result[j];
        assert_int_equal(sum, tsr_desc_elements(&dst)); /* dense: every byte is an element or padding */
        free(ones);
        free(result);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(engine_equals_the_definition),
        cmocka_unit_test(any_machine_equals_the_definition),
        cmocka_unit_test(shared_work_equals_the_definition),
        cmocka_unit_test(there_and_back_is_identity),
        cmocka_unit_test(two_steps_equal_one),
        cmocka_unit_test(view_then_reorder_equals_reorder_then_view),
        cmocka_unit_test(padding_is_zero),
        at_place(moves_equal_the_definition),
        at_place(nothing_is_moved),
        at_place(there_and_back_is_identity),
        at_place(two_steps_equal_one),
        at_place(view_then_reorder_equals_reorder_then_view),
        at_place(padding_is_zero),
    };
    return choose_place(argc, argv) ? cmocka_run_group_tests(tests, NULL, NULL) : 0;
}
