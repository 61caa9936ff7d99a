/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lets a convolution of oneDNN choose the layout of its weights, reorders plain ones into it, and
 * compares the result with a plain loop.
 */
#include <stdio.h>
#include <stdlib.h>

#include <oneapi/dnnl/dnnl.h>
#include <tessera/tessera.h>

enum { CHANNELS = 16, SIDE = 8, OUT = SIDE - 2 };

static float src[SIDE][SIDE][CHANNELS], plain[CHANNELS][CHANNELS][3][3], dst[OUT][OUT][CHANNELS];

static float expected(int o, int y, int x)
{
    float sum = 0;
    for (int i = 0; i < CHANNELS; i++)
        for (int k = 0; k < 9; k++)
            sum += src[y + k / 3][x + k % 3][i] * plain[o][i][k / 3][k % 3];
    return sum;
}

/* A 3 x 3 convolution with channels last, with any weights, and a plan from plain weights to those that it takes. */
static tsr_status prepare(dnnl_primitive_desc_t *pd, tsr_plan **plan, dnnl_engine_t engine, tsr_error *error)
{
    const dnnl_dims_t src_dims = {1, CHANNELS, SIDE, SIDE}, dims = {CHANNELS, CHANNELS, 3, 3};
    const dnnl_dims_t dst_dims = {1, CHANNELS, OUT, OUT}, ones = {1, 1}, zeros = {0, 0};
    dnnl_memory_desc_t src_md, any_md, plain_md, dst_md;
    tsr_status status = TSR_UNSUPPORTED;
#if DNNL_VERSION_MAJOR >= 3
    dnnl_memory_desc_create_with_tag(&src_md, 4, src_dims, dnnl_f32, dnnl_nhwc);
    dnnl_memory_desc_create_with_tag(&any_md, 4, dims, dnnl_f32, dnnl_format_tag_any);
    dnnl_memory_desc_create_with_tag(&plain_md, 4, dims, dnnl_f32, dnnl_oihw);
    dnnl_memory_desc_create_with_tag(&dst_md, 4, dst_dims, dnnl_f32, dnnl_nhwc);
    if (dnnl_convolution_forward_primitive_desc_create(pd, engine, dnnl_forward_inference, dnnl_convolution_direct,
                                                       src_md, any_md, NULL, dst_md, ones, zeros, zeros, zeros,
                                                       NULL) == dnnl_success) {
        const_dnnl_memory_desc_t wanted = dnnl_primitive_desc_query_md(*pd, dnnl_query_weights_md, 0);
        status = tsr_plan_create_onednn(plan, &plain_md, &wanted, NULL, error);
    }
    dnnl_memory_desc_destroy(src_md);
    dnnl_memory_desc_destroy(any_md);
    dnnl_memory_desc_destroy(plain_md);
    dnnl_memory_desc_destroy(dst_md);
#else
    dnnl_convolution_desc_t desc;
    dnnl_memory_desc_init_by_tag(&src_md, 4, src_dims, dnnl_f32, dnnl_nhwc);
    dnnl_memory_desc_init_by_tag(&any_md, 4, dims, dnnl_f32, dnnl_format_tag_any);
    dnnl_memory_desc_init_by_tag(&plain_md, 4, dims, dnnl_f32, dnnl_oihw);
    dnnl_memory_desc_init_by_tag(&dst_md, 4, dst_dims, dnnl_f32, dnnl_nhwc);
    if (dnnl_convolution_forward_desc_init(&desc, dnnl_forward_inference, dnnl_convolution_direct, &src_md, &any_md,
                                           NULL, &dst_md, ones, zeros, zeros) == dnnl_success &&
        dnnl_primitive_desc_create(pd, &desc, NULL, engine, NULL) == dnnl_success)
        status = tsr_plan_create_onednn(plan, &plain_md, dnnl_primitive_desc_query_md(*pd, dnnl_query_weights_md, 0),
                                        NULL, error);
#endif
    return status;
}

static void convolve(dnnl_primitive_desc_t pd, dnnl_engine_t engine, void *weights)
{
    dnnl_primitive_t primitive;
    dnnl_stream_t stream;
    dnnl_exec_arg_t arguments[3] = {{DNNL_ARG_SRC, NULL}, {DNNL_ARG_WEIGHTS, NULL}, {DNNL_ARG_DST, NULL}};
    dnnl_primitive_create(&primitive, pd);
    dnnl_stream_create(&stream, engine, dnnl_stream_default_flags);
    dnnl_memory_create(&arguments[0].memory, dnnl_primitive_desc_query_md(pd, dnnl_query_src_md, 0), engine, src);
    dnnl_memory_create(&arguments[1].memory, dnnl_primitive_desc_query_md(pd, dnnl_query_weights_md, 0), engine,
                       weights);
    dnnl_memory_create(&arguments[2].memory, dnnl_primitive_desc_query_md(pd, dnnl_query_dst_md, 0), engine, dst);
    dnnl_primitive_execute(primitive, stream, 3, arguments);
    dnnl_stream_wait(stream);
    for (int i = 0; i < 3; i++)
        dnnl_memory_destroy(arguments[i].memory);
    dnnl_stream_destroy(stream);
    dnnl_primitive_destroy(primitive);
}

int main(void)
{
    dnnl_engine_t engine;
    dnnl_primitive_desc_t pd = NULL;
    tsr_plan *plan = NULL;
    tsr_error error = {.message = "oneDNN has no such convolution"};
    char text[256];
    int wrong = 0;

    for (int i = 0; i < CHANNELS * SIDE * SIDE; i++)
        (&src[0][0][0])[i] = (float)(i % 7);
    for (int i = 0; i < CHANNELS * CHANNELS * 9; i++)
        (&plain[0][0][0][0])[i] = (float)(i % 5 - 2);
    dnnl_engine_create(&engine, dnnl_cpu, 0);
    if (prepare(&pd, &plan, engine, &error) != TSR_OK) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    void *weights = malloc(dnnl_memory_desc_get_size(dnnl_primitive_desc_query_md(pd, dnnl_query_weights_md, 0)));
    if (!weights || tsr_plan_run(plan, plain, weights, &error) != TSR_OK)
        return 1;
    convolve(pd, engine, weights);
    for (int i = 0; i < CHANNELS * OUT * OUT; i++)
        wrong += (&dst[0][0][0])[i] != expected(i % CHANNELS, i / CHANNELS / OUT, i / CHANNELS % OUT);
    tsr_plan_describe(plan, text, sizeof text);
    printf("%s; %d of %d results are wrong\n", text, wrong, CHANNELS * OUT * OUT);
    free(weights);
    tsr_plan_free(&plan);
    dnnl_primitive_desc_destroy(pd);
    dnnl_engine_destroy(engine);
    return wrong != 0;
}
