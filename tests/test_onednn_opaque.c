/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Weights in the layouts that oneDNN's primitives ask for, made by plans between memory descriptors:
 * the primitives that use them give what plain loops give.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tessera/onednn.h>

#if TSR_HAVE_ONEDNN

#include "failing_allocator.h"
#include "parsed.h"
#include "reorder/onednn/compat.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static dnnl_engine_t engine;

/* ---- what differs between the versions ---- */

enum { CHANNELS = 32, HEIGHT = 14, OUT = HEIGHT - 2, STEPS = 5, BATCH = 16 };

static const dnnl_dims_t src_dims = {1, CHANNELS, HEIGHT, HEIGHT}, weight_dims = {CHANNELS, CHANNELS, 3, 3},
                         dst_dims = {1, CHANNELS, OUT, OUT};

#if TSR_MD_IS_STRUCT

static dnnl_status_t convolution_pd(dnnl_primitive_desc_t *pd, dnnl_alg_kind_t algorithm, const tsr_md *src,
                                    const tsr_md *weights, const tsr_md *dst)
{
    const dnnl_dims_t ones = {1, 1}, zeros = {0, 0};
    dnnl_convolution_desc_t desc;
    dnnl_status_t status = dnnl_convolution_forward_desc_init(&desc, dnnl_forward_inference, algorithm, src, weights,
                                                              NULL, dst, ones, zeros, zeros);
    return status == dnnl_success ? dnnl_primitive_desc_create(pd, &desc, NULL, engine, NULL) : status;
}

static dnnl_status_t rnn_pd(dnnl_primitive_desc_t *pd, const tsr_md *layer, const tsr_md *state, const tsr_md *weights,
                            const tsr_md *bias)
{
    dnnl_rnn_desc_t desc;
    dnnl_status_t status = dnnl_vanilla_rnn_forward_desc_init(&desc, dnnl_forward_inference, dnnl_eltwise_relu,
                                                              dnnl_unidirectional_left2right, layer, state, weights,
                                                              weights, bias, layer, state, dnnl_rnn_flags_undef, 0, 0);
    return status == dnnl_success ? dnnl_primitive_desc_create(pd, &desc, NULL, engine, NULL) : status;
}

static tsr_md weights_of(const_dnnl_primitive_desc_t pd, int i)
{
    const tsr_md *found = dnnl_primitive_desc_query_md(pd, dnnl_query_weights_md, i);
    assert_non_null(found);
    return *found;
}

#else

static dnnl_status_t convolution_pd(dnnl_primitive_desc_t *pd, dnnl_alg_kind_t algorithm, const tsr_md *src,
                                    const tsr_md *weights, const tsr_md *dst)
{
    const dnnl_dims_t ones = {1, 1}, zeros = {0, 0};
    return dnnl_convolution_forward_primitive_desc_create(pd, engine, dnnl_forward_inference, algorithm, *src, *weights,
                                                          NULL, *dst, ones, zeros, zeros, zeros, NULL);
}

static dnnl_status_t rnn_pd(dnnl_primitive_desc_t *pd, const tsr_md *layer, const tsr_md *state, const tsr_md *weights,
                            const tsr_md *bias)
{
    return dnnl_vanilla_rnn_forward_primitive_desc_create(
        pd, engine, dnnl_forward_inference, dnnl_eltwise_relu, dnnl_unidirectional_left2right, *layer, *state, *weights,
        *weights, *bias, *layer, *state, dnnl_rnn_flags_undef, 0, 0, NULL);
}

static tsr_md weights_of(const_dnnl_primitive_desc_t pd, int i)
{
    tsr_md found = NULL;
    assert_int_equal(dnnl_memory_desc_clone(&found, dnnl_primitive_desc_query_md(pd, dnnl_query_weights_md, i)),
                     dnnl_success);
    return found;
}

#endif

/* ---- helpers ---- */

static tsr_md md_of(int rank, const dnnl_dims_t dims, dnnl_data_type_t type, dnnl_format_tag_t tag)
{
    tsr_md md;
    assert_int_equal(tsr_md_by_tag(&md, rank, dims, type, tag), dnnl_success);
    return md;
}

/* The weights that a convolution asks for; false where this oneDNN or this machine does not have it. */
static bool find_weights(tsr_md *weights, dnnl_primitive_desc_t *pd, dnnl_alg_kind_t algorithm, dnnl_data_type_t type)
{
    dnnl_data_type_t sum = type == dnnl_f32 ? dnnl_f32 : dnnl_s32;
    dnnl_format_tag_t tag = type == dnnl_f32 ? dnnl_nChw16c : dnnl_nhwc;
    tsr_md src = md_of(4, src_dims, type, tag), any = md_of(4, weight_dims, type, dnnl_format_tag_any),
           dst = md_of(4, dst_dims, sum, tag);
    bool is_there = convolution_pd(pd, algorithm, &src, &any, &dst) == dnnl_success;
    if (is_there)
        *weights = weights_of(*pd, 0);
    tsr_md_free(&src);
    tsr_md_free(&any);
    tsr_md_free(&dst);
    return is_there;
}

static void *new_bytes(size_t bytes)
{
    void *memory = calloc(1, bytes ? bytes : 1);
    assert_non_null(memory);
    return memory;
}

/* Runs a plan into a new buffer of the size that oneDNN says; free it. */
static void *reordered(const tsr_md *src_md, const void *src, const tsr_md *dst_md, const tsr_reorder_options *options)
{
    tsr_plan *plan = NULL;
    tsr_error error = {0};
    if (tsr_plan_create_onednn(&plan, src_md, dst_md, options, &error) != TSR_OK)
        fail_msg("%s", error.message);
    void *dst = new_bytes(tsr_md_size_bytes(dst_md));
    if (tsr_plan_run(plan, src, dst, &error) != TSR_OK)
        fail_msg("%s", error.message);
    tsr_plan_free(&plan);
    return dst;
}

static void expect_refused(const tsr_md *src, const tsr_md *dst, const tsr_reorder_options *options, tsr_status status,
                           const char *message)
{
    tsr_plan *plan = NULL;
    tsr_error error = {0};
    assert_int_equal(tsr_plan_create_onednn(&plan, src, dst, options, &error), status);
    assert_row_refused(error.message, message);
    assert_null(plan);
}

struct argument {
    int index;
    const tsr_md *md;
    void *handle;
};

static void execute(const_dnnl_primitive_desc_t pd, const struct argument *arguments, int count)
{
    dnnl_primitive_t primitive;
    dnnl_stream_t stream;
    dnnl_exec_arg_t wanted[8];
    assert_int_equal(dnnl_primitive_create(&primitive, pd), dnnl_success);
    assert_int_equal(dnnl_stream_create(&stream, engine, dnnl_stream_default_flags), dnnl_success);
    for (int i = 0; i < count; i++) {
        wanted[i].arg = arguments[i].index;
        assert_int_equal(tsr_memory(&wanted[i].memory, arguments[i].md, engine, arguments[i].handle), dnnl_success);
    }
    assert_int_equal(dnnl_primitive_execute(primitive, stream, count, wanted), dnnl_success);
    assert_int_equal(dnnl_stream_wait(stream), dnnl_success);
    for (int i = 0; i < count; i++)
        dnnl_memory_destroy(wanted[i].memory);
    dnnl_stream_destroy(stream);
    dnnl_primitive_destroy(primitive);
}

/* ---- convolutions ---- */

/* Small whole numbers, and even ones, which oneDNN can halve. */
static int pixel(int c, int y, int x)
{
    return (c * 7 + y * 5 + x * 3) % 11 - 5;
}

static int weight(int o, int i, int y, int x)
{
    return 2 * ((o * 5 + i * 3 + y * 7 + x * 11) % 13 - 6);
}

static int convolved(int o, int y, int x)
{
    int sum = 0;
    for (int i = 0; i < CHANNELS; i++)
        for (int ky = 0; ky < 3; ky++)
            for (int kx = 0; kx < 3; kx++)
                sum += pixel(i, y + ky, x + kx) * weight(o, i, ky, kx);
    return sum;
}

/* Element i of the plain weights. */
static int plain_weight(int i)
{
    return weight(i / 9 / CHANNELS, i / 9 % CHANNELS, i / 3 % 3, i % 3);
}

enum { WEIGHTS = CHANNELS * CHANNELS * 9 };

/* Winograd's transforms multiply by sixths and the like. */
static void expect_f32_result(const_dnnl_primitive_desc_t pd, const tsr_md *md, void *weights)
{
    tsr_md src_md = md_of(4, src_dims, dnnl_f32, dnnl_nChw16c), dst_md = md_of(4, dst_dims, dnnl_f32, dnnl_nChw16c);
    float *src = new_bytes(tsr_md_size_bytes(&src_md)), *dst = new_bytes(tsr_md_size_bytes(&dst_md));
    for (int i = 0; i < CHANNELS * HEIGHT * HEIGHT; i++)
        src[i] = (float)pixel(i / 16 / HEIGHT / HEIGHT * 16 + i % 16, i / 16 / HEIGHT % HEIGHT, i / 16 % HEIGHT);
    execute(pd,
            (struct argument[]){
                {DNNL_ARG_SRC, &src_md, src}, {DNNL_ARG_WEIGHTS, md, weights}, {DNNL_ARG_DST, &dst_md, dst}},
            3);
    for (int i = 0; i < CHANNELS * OUT * OUT; i++) {
        int expected = convolved(i / 16 / OUT / OUT * 16 + i % 16, i / 16 / OUT % OUT, i / 16 % OUT);
        assert_true(fabsf(dst[i] - (float)expected) < 0.05f);
    }
    free(src);
    free(dst);
    tsr_md_free(&src_md);
    tsr_md_free(&dst_md);
}

static void expect_s8_result(const_dnnl_primitive_desc_t pd, const tsr_md *md, void *weights)
{
    tsr_md src_md = md_of(4, src_dims, dnnl_s8, dnnl_nhwc), dst_md = md_of(4, dst_dims, dnnl_s32, dnnl_nhwc);
    int8_t *src = new_bytes(tsr_md_size_bytes(&src_md));
    int32_t *dst = new_bytes(tsr_md_size_bytes(&dst_md));
    for (int i = 0; i < CHANNELS * HEIGHT * HEIGHT; i++)
        src[i] = (int8_t)pixel(i % CHANNELS, i / CHANNELS / HEIGHT, i / CHANNELS % HEIGHT);
    execute(pd,
            (struct argument[]){
                {DNNL_ARG_SRC, &src_md, src}, {DNNL_ARG_WEIGHTS, md, weights}, {DNNL_ARG_DST, &dst_md, dst}},
            3);
    for (int i = 0; i < CHANNELS * OUT * OUT; i++)
        assert_int_equal(dst[i], convolved(i % CHANNELS, i / CHANNELS / OUT, i / CHANNELS % OUT));
    free(src);
    free(dst);
    tsr_md_free(&src_md);
    tsr_md_free(&dst_md);
}

static bool is_opaque(const tsr_md *md)
{
    tsr_desc desc;
    tsr_error error = {0};
    tsr_status status = tsr_desc_from_onednn(&desc, md, &error);
    print_message("# %s\n", status == TSR_OK ? "blocked" : error.message);
    return status == TSR_UNSUPPORTED;
}

static void test_f32_convolution(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        tsr_md plain_md = md_of(4, weight_dims, dnnl_f32, dnnl_oihw), md;
        dnnl_primitive_desc_t pd = NULL;
        float *plain = new_bytes(WEIGHTS * sizeof *plain);
        for (int j = 0; j < WEIGHTS; j++)
            plain[j] = (float)plain_weight(j);
        if (find_weights(&md, &pd, i ? dnnl_convolution_winograd : dnnl_convolution_direct, dnnl_f32)) {
            void *weights = reordered(&plain_md, plain, &md, NULL);
            bool is_unreadable = is_opaque(&md);
            assert_true(is_unreadable == (tsr_md_kind(&md) != dnnl_blocked));
            if (is_unreadable)
                expect_refused(&md, &plain_md, NULL, TSR_UNSUPPORTED,
                               "row onednn does not apply: oneDNN has no such reorder: unimplemented");
            expect_f32_result(pd, &md, weights);
            free(weights);
            tsr_md_free(&md);
            dnnl_primitive_desc_destroy(pd);
        } else {
            assert_int_equal(i, 1);
            print_message("# no Winograd convolution\n");
        }
        free(plain);
        tsr_md_free(&plain_md);
    }
}

/* From s8, from f32 to be quantised, and out of a larger tensor. */
static void test_s8_convolution(void **state)
{
    (void)state;
    tsr_md md, s8_md = md_of(4, weight_dims, dnnl_s8, dnnl_oihw), f32_md = md_of(4, weight_dims, dnnl_f32, dnnl_oihw);
    tsr_md wide_md;
    const dnnl_dims_t wide = {9 * CHANNELS + 5, 9, 3, 1};
    dnnl_primitive_desc_t pd = NULL;
    float scales[CHANNELS], *f32 = new_bytes(WEIGHTS * sizeof *f32);
    int8_t *s8 = new_bytes(WEIGHTS), *spread = new_bytes(CHANNELS * (size_t)wide[0]);
    const tsr_reorder_options options = {.scale = {scales, CHANNELS, 0, 0}};
    for (int i = 0; i < CHANNELS; i++)
        scales[i] = i % 2 ? 0.5f : 4;
    for (int i = 0; i < WEIGHTS; i++) {
        int outer = i / 9 / CHANNELS;
        s8[i] = (int8_t)plain_weight(i);
        f32[i] = (float)plain_weight(i) / scales[outer];
        spread[outer * wide[0] + i % (9 * CHANNELS)] = s8[i];
    }
    assert_int_equal(tsr_md_by_strides(&wide_md, 4, weight_dims, dnnl_s8, wide), dnnl_success);
    assert_true(find_weights(&md, &pd, dnnl_convolution_direct, dnnl_s8));
    assert_true(is_opaque(&md));
    void *weights[] = {reordered(&s8_md, s8, &md, NULL), reordered(&f32_md, f32, &md, &options),
                       reordered(&wide_md, spread, &md, NULL)};
    for (size_t i = 0; i < COUNT(weights); i++) {
        expect_s8_result(pd, &md, weights[i]);
        free(weights[i]);
    }
    free(f32);
    free(s8);
    free(spread);
    tsr_md_free(&md);
    tsr_md_free(&s8_md);
    tsr_md_free(&f32_md);
    tsr_md_free(&wide_md);
    dnnl_primitive_desc_destroy(pd);
}

/* ---- a recurrent network, whose weights are packed for a matrix multiplication ---- */

static uint16_t bf16_of(int value)
{
    float wide = (float)value;
    uint32_t bits;
    memcpy(&bits, &wide, sizeof bits);
    return (uint16_t)(bits >> 16);
}

static int input(int step, int row, int c)
{
    return (step * 3 + row * 5 + c * 7) % 3 - 1;
}

static int layer_weight(int i, int o)
{
    return (i * 5 + o * 11) % 7 % 3 - 1;
}

/* Each state goes on to one other, so that all sums are whole numbers that bf16 has. */
static int state_weight(int i, int o)
{
    return i == (o * 5 + 3) % CHANNELS ? (o % 3 == 0 ? -1 : 1) : 0;
}

static int state_after(int step, int row, int o)
{
    int sum = 0;
    if (step < 0)
        return 0;
    for (int i = 0; i < CHANNELS; i++)
        sum += input(step, row, i) * layer_weight(i, o);
    sum += state_after(step - 1, row, (o * 5 + 3) % CHANNELS) * state_weight((o * 5 + 3) % CHANNELS, o);
    return sum > 0 ? sum : 0;
}

static void test_rnn(void **state)
{
    (void)state;
    const dnnl_dims_t x = {STEPS, BATCH, CHANNELS}, h = {1, 1, BATCH, CHANNELS}, w = {1, 1, CHANNELS, 1, CHANNELS},
                      b = {1, 1, 1, CHANNELS};
    tsr_md layer = md_of(3, x, dnnl_bf16, dnnl_tnc), iteration = md_of(4, h, dnnl_bf16, dnnl_ldnc),
           any = md_of(5, w, dnnl_bf16, dnnl_format_tag_any), plain = md_of(5, w, dnnl_bf16, dnnl_ldigo),
           bias = md_of(4, b, dnnl_f32, dnnl_ldgo);
    dnnl_primitive_desc_t pd = NULL;
    uint16_t *src = new_bytes(tsr_md_size_bytes(&layer)), *dst = new_bytes(tsr_md_size_bytes(&layer)),
             *first = new_bytes(tsr_md_size_bytes(&iteration)), *last = new_bytes(tsr_md_size_bytes(&iteration)),
             *weights = new_bytes(2 * tsr_md_size_bytes(&plain));
    float *zeros = new_bytes(tsr_md_size_bytes(&bias));
    for (int i = 0; i < STEPS * BATCH * CHANNELS; i++)
        src[i] = bf16_of(input(i / CHANNELS / BATCH, i / CHANNELS % BATCH, i % CHANNELS));
    for (int i = 0; i < CHANNELS * CHANNELS; i++) {
        weights[i] = bf16_of(layer_weight(i / CHANNELS, i % CHANNELS));
        weights[CHANNELS * CHANNELS + i] = bf16_of(state_weight(i / CHANNELS, i % CHANNELS));
    }
    if (rnn_pd(&pd, &layer, &iteration, &any, &bias) == dnnl_success) {
        tsr_md layer_md = weights_of(pd, 0), state_md = weights_of(pd, 1);
        void *layer_weights = reordered(&plain, weights, &layer_md, NULL),
             *state_weights = reordered(&plain, weights + CHANNELS * CHANNELS, &state_md, NULL);
        assert_true(is_opaque(&layer_md));
        expect_refused(&layer_md, &plain, NULL, TSR_UNSUPPORTED,
                       "row onednn does not apply: oneDNN has no such reorder: unimplemented");
        execute(pd,
                (struct argument[]){{DNNL_ARG_SRC_LAYER, &layer, src},
                                    {DNNL_ARG_SRC_ITER, &iteration, first},
                                    {DNNL_ARG_WEIGHTS_LAYER, &layer_md, layer_weights},
                                    {DNNL_ARG_WEIGHTS_ITER, &state_md, state_weights},
                                    {DNNL_ARG_BIAS, &bias, zeros},
                                    {DNNL_ARG_DST_LAYER, &layer, dst},
                                    {DNNL_ARG_DST_ITER, &iteration, last}},
                7);
        for (int i = 0; i < STEPS * BATCH * CHANNELS; i++)
            assert_int_equal(dst[i], bf16_of(state_after(i / CHANNELS / BATCH, i / CHANNELS % BATCH, i % CHANNELS)));
        free(layer_weights);
        free(state_weights);
        tsr_md_free(&layer_md);
        tsr_md_free(&state_md);
        dnnl_primitive_desc_destroy(pd);
    } else {
        print_message("# no bf16 network on this machine\n");
    }
    free(src);
    free(dst);
    free(first);
    free(last);
    free(weights);
    free(zeros);
    tsr_md_free(&layer);
    tsr_md_free(&iteration);
    tsr_md_free(&any);
    tsr_md_free(&plain);
    tsr_md_free(&bias);
}

/* ---- the plan ---- */

/* Plain s8 weights, and those with a compensation that a convolution asks for. */
struct pair {
    tsr_md plain, wanted;
};

static int make_pair(void **state)
{
    static struct pair pair;
    dnnl_primitive_desc_t pd = NULL;
    pair.plain = md_of(4, weight_dims, dnnl_s8, dnnl_oihw);
    assert_true(find_weights(&pair.wanted, &pd, dnnl_convolution_direct, dnnl_s8));
    dnnl_primitive_desc_destroy(pd);
    *state = &pair;
    return 0;
}

static int free_pair(void **state)
{
    struct pair *pair = *state;
    tsr_md_free(&pair->plain);
    tsr_md_free(&pair->wanted);
    return 0;
}

static void test_what_it_says(void **state)
{
    const struct pair *pair = *state;
    const tsr_reorder_options options = {.threads = 1};
    tsr_plan *plan = NULL;
    char text[128];
    tsr_verdict verdict;
    assert_int_equal(tsr_plan_create_onednn(&plan, &pair->plain, &pair->wanted, &options, NULL), TSR_OK);
    tsr_plan_describe(plan, text, sizeof text);
    assert_string_equal(text, "onednn, 0 boxes, 0 zero boxes, onednn, 1 thread");
    assert_int_equal(tsr_plan_describe_box(plan, 0, text, sizeof text), 0);
    for (int i = 0; tsr_plan_verdict(plan, i, &verdict); i++) {
        assert_true(verdict.applicable == (i == 6));
        assert_false(verdict.is_tentative);
        assert_string_equal(verdict.reason, i == 6 ? "" : "only oneDNN knows the layout of the destination");
    }
    tsr_plan_free(&plan);
}

/* Two layouts that can be described make the plan of their descriptors. */
static void test_ordinary(void **state)
{
    const struct pair *pair = *state;
    tsr_md hwio = md_of(4, weight_dims, dnnl_s8, dnnl_hwio);
    tsr_desc src, dst;
    tsr_plan *plan = NULL, *expected = NULL;
    char text[128], expected_text[128];
    const tsr_reorder_options options = {.reverse = 1};
    assert_int_equal(tsr_desc_from_onednn(&src, &pair->plain, NULL), TSR_OK);
    assert_int_equal(tsr_desc_from_onednn(&dst, &hwio, NULL), TSR_OK);
    assert_int_equal(tsr_plan_create_onednn(&plan, &pair->plain, &hwio, &options, NULL), TSR_OK);
    assert_int_equal(tsr_plan_create(&expected, &src, &dst, &options, NULL), TSR_OK);
    tsr_plan_describe(plan, text, sizeof text);
    tsr_plan_describe(expected, expected_text, sizeof expected_text);
    assert_string_equal(text, expected_text);
    tsr_plan_free(&plan);
    tsr_plan_free(&expected);
    tsr_md_free(&hwio);
}

/* Never comes to run. */
static void run_nothing(void *context, tsr_task task, void *argument, int tasks)
{
    (void)context;
    (void)task;
    (void)argument;
    (void)tasks;
}

static void test_refused_options(void **state)
{
    const struct pair *pair = *state;
    const float one = 1, infinite = INFINITY;
    const tsr_executor executor = {run_nothing, NULL, 2};
    const struct {
        tsr_reorder_options options;
        tsr_status status;
        const char *message;
    } rows[] = {
        {{.mean = {&one, 1, 0, 0}},
         TSR_UNSUPPORTED,
         "row onednn does not apply: oneDNN's reorder has a scale, and no mean"},
        {{.shift = {&one, 1, 0, 0}},
         TSR_UNSUPPORTED,
         "row onednn does not apply: oneDNN is asked for a scale at most, and for no shift"},
        {{.beta = 1},
         TSR_UNSUPPORTED,
         "row onednn does not apply: oneDNN is asked for a scale at most, and for no beta"},
        {{.scale = {&infinite, 1, 0, 0}}, TSR_UNSUPPORTED, "row onednn does not apply: a scale is not finite"},
        {{.scale = {&one, 2, 4, 0}}, TSR_INVALID_ARGUMENT, "scale runs along axis 4 of a tensor of rank 4"},
        {{.reverse = 2},
         TSR_UNSUPPORTED,
         "only oneDNN knows the layout of the destination, and it reverses no axes: expected a reverse of 0"},
        {{.padding = TSR_PADDING_KEEP}, TSR_UNSUPPORTED, "row onednn does not apply: oneDNN always zeroes padding"},
        {{.row = "copy"}, TSR_UNSUPPORTED, "row copy does not apply: only oneDNN knows the layout of the destination"},
        {{.row = "none"},
         TSR_INVALID_ARGUMENT,
         "expected one of the rows alias, copy, transpose, convert, gather, relay, onednn, elementwise, square, slices "
         "and "
         "cycles, found \"none\""},
        {{.executor = &executor},
         TSR_UNSUPPORTED,
         "row onednn does not apply: oneDNN does not run on the caller's executor"},
        {{.threads = -1}, TSR_INVALID_ARGUMENT, "expected 0 or more threads and a padding of 0 or 1, found -1 and 0"},
    };
    for (size_t i = 0; i < COUNT(rows); i++)
        expect_refused(&pair->plain, &pair->wanted, &rows[i].options, rows[i].status, rows[i].message);
}

static void test_refused_descriptors(void **state)
{
    const struct pair *pair = *state;
    const dnnl_dims_t other = {CHANNELS, CHANNELS, 3, 5}, run_time = {CHANNELS, DNNL_RUNTIME_DIM_VAL, 3, 3};
    tsr_md any = md_of(4, weight_dims, dnnl_s8, dnnl_format_tag_any), longer = md_of(4, other, dnnl_s8, dnnl_oihw),
           unknown = md_of(4, run_time, dnnl_s8, dnnl_oihw);
    expect_refused(NULL, &pair->wanted, NULL, TSR_INVALID_ARGUMENT, "source: expected a memory descriptor, found NULL");
    expect_refused(&pair->plain, NULL, NULL, TSR_INVALID_ARGUMENT,
                   "destination: expected a memory descriptor, found NULL");
    expect_refused(&any, &pair->wanted, NULL, TSR_UNSUPPORTED,
                   "source: the memory descriptor is opaque: its format kind is any, not blocked");
    expect_refused(&pair->plain, &any, NULL, TSR_UNSUPPORTED,
                   "destination: the memory descriptor is opaque: its format kind is any, not blocked");
    expect_refused(&unknown, &pair->wanted, NULL, TSR_UNSUPPORTED,
                   "source: the memory descriptor has dims or strides of run time");
    expect_refused(&pair->wanted, &pair->plain, NULL, TSR_UNSUPPORTED,
                   "source: it carries more than its elements, such as a compensation, which oneDNN reads back "
                   "wrongly: expected it as the destination");
    expect_refused(&longer, &pair->wanted, NULL, TSR_INVALID_ARGUMENT,
                   "dims[3] is 5 in the source and 3 in the destination");
    tsr_md_free(&any);
    tsr_md_free(&longer);
    tsr_md_free(&unknown);
}

static void test_refused_buffers(void **state)
{
    const struct pair *pair = *state;
    size_t size = tsr_md_size_bytes(&pair->wanted);
    char *memory = new_bytes(size + WEIGHTS), expected[TSR_ERROR_MESSAGE_SIZE];
    tsr_plan *plan = NULL;
    tsr_error error = {0};
    assert_int_equal(tsr_plan_create_onednn(&plan, &pair->plain, &pair->wanted, NULL, NULL), TSR_OK);
    assert_int_equal(tsr_plan_run(plan, NULL, memory, &error), TSR_INVALID_ARGUMENT);
    assert_string_equal(error.message, "the source buffer is NULL, expected 9216 bytes");
    assert_int_equal(tsr_plan_run(plan, memory, NULL, &error), TSR_INVALID_ARGUMENT);
    snprintf(expected, sizeof expected, "the destination buffer is NULL, expected %zu bytes", size);
    assert_string_equal(error.message, expected);
    assert_int_equal(tsr_plan_run(plan, memory, memory, NULL), TSR_OVERLAP);
    assert_int_equal(tsr_plan_run(plan, memory + size - 1, memory, NULL), TSR_OVERLAP);
    assert_int_equal(tsr_plan_run(plan, memory + size, memory, NULL), TSR_OK);
    tsr_plan_free(&plan);
    free(memory);
}

static void test_out_of_memory(void **state)
{
    const struct pair *pair = *state;
    const float scale = 2;
    tsr_status status = TSR_OUT_OF_MEMORY;
    for (int fail_at = 1; status != TSR_OK; fail_at++) {
        tsr_plan *plan = NULL;
        failing_allocator counter = {.fail_at = fail_at};
        tsr_allocator allocator = failing_allocator_of(&counter);
        const tsr_reorder_options options = {.scale = {&scale, 1, 0, 0}, .allocator = &allocator};
        status = tsr_plan_create_onednn(&plan, &pair->plain, &pair->wanted, &options, NULL);
        assert_int_equal(status, counter.allocations >= fail_at ? TSR_OUT_OF_MEMORY : TSR_OK);
        tsr_plan_free(&plan);
        assert_int_equal(counter.live, 0);
        assert_int_equal(counter.live_bytes, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_f32_convolution),
        cmocka_unit_test(test_s8_convolution),
        cmocka_unit_test(test_rnn),
        cmocka_unit_test_setup_teardown(test_what_it_says, make_pair, free_pair),
        cmocka_unit_test_setup_teardown(test_ordinary, make_pair, free_pair),
        cmocka_unit_test_setup_teardown(test_refused_options, make_pair, free_pair),
        cmocka_unit_test_setup_teardown(test_refused_descriptors, make_pair, free_pair),
        cmocka_unit_test_setup_teardown(test_refused_buffers, make_pair, free_pair),
        cmocka_unit_test_setup_teardown(test_out_of_memory, make_pair, free_pair),
    };
    (void)dnnl_set_max_cpu_isa(dnnl_cpu_isa_avx512_core); /* later instructions need no opaque weights */
    if (dnnl_engine_create(&engine, dnnl_cpu, 0) != dnnl_success)
        return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    dnnl_engine_destroy(engine);
    return failed;
}

#else

static void test_absent(void **state)
{
    long long room[64] = {0};
    tsr_plan *plan = NULL;
    tsr_error error = {0};
    (void)state;
    assert_int_equal(tsr_plan_create_onednn(&plan, room, room, NULL, &error), TSR_UNSUPPORTED);
    assert_string_equal(error.message, "this build has no oneDNN");
    assert_null(plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_absent)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
