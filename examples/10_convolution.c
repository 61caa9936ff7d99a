/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads a layer's weights from a .caffemodel, lets a convolution of oneDNN choose the layouts of all tensors, hands
 * them over in these, and compares the result with a plain loop. The layer's bias, groups, stride and padding are
 * left out.
 */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <oneapi/dnnl/dnnl.h>
#include <tessera/tessera.h>

enum { SIDE = 8 }; /* of the input, which has as many channels as the weights want */

static tsr_status refuse(tsr_error *error, const char *message)
{
    *error = (tsr_error){.status = TSR_UNSUPPORTED};
    snprintf(error->message, sizeof error->message, "%s", message);
    return TSR_UNSUPPORTED;
}

/* ---- tensors ---- */

static tsr_status load_weights(tsr_caffe_blob *weights, const char *path, const char *name, tsr_error *error)
{
    tsr_caffe_proto *net;
    tsr_caffe_layer layer;
    tsr_caffe_blob_proto blob;
    tsr_status status = tsr_caffe_proto_open(&net, TSR_CAFFE_NET_PARAMETER, path, NULL, error);
    if (status != TSR_OK)
        return status;
    const int index = tsr_caffe_proto_find(net, name);
    status = index < 0 ? refuse(error, "the net has no such layer") : tsr_caffe_proto_layer(&layer, net, index, error);
    if (status == TSR_OK)
        status = tsr_caffe_proto_blob(&blob, net, index, 0, error);
    if (status == TSR_OK && (strcmp(layer.type, "Convolution") != 0 || blob.rank != 4))
        status = refuse(error, "expected the weights of a Convolution, of four axes");
    if (status == TSR_OK)
        status = tsr_caffe_blob_from_proto(weights, &blob, true, error);
    tsr_caffe_proto_free(&net);
    return status;
}

/* A blob that is row-major at home, of the dims of a layout. */
static tsr_status create_plain(tsr_blob **blob, const tsr_desc *layout, tsr_error *error)
{
    tsr_desc plain;
    tsr_status status = tsr_desc_plain(&plain, layout->dtype, layout->rank, layout->dims, error);
    return status == TSR_OK ? tsr_blob_create(blob, &plain, NULL, error) : status;
}

static tsr_status paint(tsr_blob *image, const tsr_desc *layout, tsr_error *error)
{
    tsr_access access;
    tsr_status status = tsr_blob_acquire(image, NULL, NULL, TSR_WRITE, &access, error);
    if (status != TSR_OK)
        return status;
    for (int64_t i = 0; i < tsr_desc_elements(layout); i++)
        ((float *)access.data)[i] = (float)(i % 7 - 3) / 4;
    return tsr_blob_release(&access, error);
}

/* ---- oneDNN ---- */

/* A convolution with weights of these dims that chooses every layout. */
static dnnl_status_t prepare(dnnl_primitive_desc_t *pd, dnnl_engine_t engine, const int64_t *weights)
{
    const dnnl_dims_t src_dims = {1, weights[1], SIDE, SIDE}, dims = {weights[0], weights[1], weights[2], weights[3]};
    const dnnl_dims_t dst_dims = {1, weights[0], SIDE - weights[2] + 1, SIDE - weights[3] + 1};
    const dnnl_dims_t ones = {1, 1}, zeros = {0, 0};
    dnnl_memory_desc_t src_md, md, dst_md;
    dnnl_status_t status;
#if DNNL_VERSION_MAJOR >= 3
    dnnl_memory_desc_create_with_tag(&src_md, 4, src_dims, dnnl_f32, dnnl_format_tag_any);
    dnnl_memory_desc_create_with_tag(&md, 4, dims, dnnl_f32, dnnl_format_tag_any);
    dnnl_memory_desc_create_with_tag(&dst_md, 4, dst_dims, dnnl_f32, dnnl_format_tag_any);
    status = dnnl_convolution_forward_primitive_desc_create(pd, engine, dnnl_forward_inference, dnnl_convolution_direct,
                                                            src_md, md, NULL, dst_md, ones, zeros, zeros, zeros, NULL);
    dnnl_memory_desc_destroy(src_md);
    dnnl_memory_desc_destroy(md);
    dnnl_memory_desc_destroy(dst_md);
#else
    dnnl_convolution_desc_t desc;
    dnnl_memory_desc_init_by_tag(&src_md, 4, src_dims, dnnl_f32, dnnl_format_tag_any);
    dnnl_memory_desc_init_by_tag(&md, 4, dims, dnnl_f32, dnnl_format_tag_any);
    dnnl_memory_desc_init_by_tag(&dst_md, 4, dst_dims, dnnl_f32, dnnl_format_tag_any);
    status = dnnl_convolution_forward_desc_init(&desc, dnnl_forward_inference, dnnl_convolution_direct, &src_md, &md,
                                                NULL, &dst_md, ones, zeros, zeros);
    if (status == dnnl_success)
        status = dnnl_primitive_desc_create(pd, &desc, NULL, engine, NULL);
#endif
    return status;
}

/* A tensor of the convolution: what it is for oneDNN, the layout that this has chosen, and the blob. */
struct argument {
    const char *name;
    int id;
    dnnl_query_t query;
    tsr_intent intent;
    tsr_desc layout;
    tsr_blob *blob;
    tsr_access access;
};

enum { SRC, WEIGHTS, DST, ARGUMENTS };

static tsr_status ask_for_layout(struct argument *argument, const_dnnl_primitive_desc_t pd, tsr_error *error)
{
#if DNNL_VERSION_MAJOR >= 3
    const_dnnl_memory_desc_t md = dnnl_primitive_desc_query_md(pd, argument->query, 0);
    return tsr_desc_from_onednn(&argument->layout, &md, error);
#else
    return tsr_desc_from_onednn(&argument->layout, dnnl_primitive_desc_query_md(pd, argument->query, 0), error);
#endif
}

static dnnl_status_t execute(const_dnnl_primitive_desc_t pd, dnnl_engine_t engine, const struct argument *of)
{
    dnnl_primitive_t primitive;
    dnnl_stream_t stream;
    dnnl_exec_arg_t arguments[ARGUMENTS];
    dnnl_primitive_create(&primitive, pd);
    dnnl_stream_create(&stream, engine, dnnl_stream_default_flags);
    for (int i = 0; i < ARGUMENTS; i++) {
        arguments[i].arg = of[i].id;
        dnnl_memory_create(&arguments[i].memory, dnnl_primitive_desc_query_md(pd, of[i].query, 0), engine,
                           of[i].access.data);
    }
    dnnl_status_t status = dnnl_primitive_execute(primitive, stream, ARGUMENTS, arguments);
    dnnl_stream_wait(stream);
    for (int i = 0; i < ARGUMENTS; i++)
        dnnl_memory_destroy(arguments[i].memory);
    dnnl_stream_destroy(stream);
    dnnl_primitive_destroy(primitive);
    return status;
}

/* Acquires each blob in the layout that was chosen for it, and lets oneDNN work. */
static tsr_status convolve(const_dnnl_primitive_desc_t pd, dnnl_engine_t engine, struct argument *of, tsr_error *error)
{
    tsr_status status = TSR_OK;
    for (int i = 0; i < ARGUMENTS && status == TSR_OK; i++)
        status = tsr_blob_acquire(of[i].blob, NULL, &of[i].layout, of[i].intent, &of[i].access, error);
    if (status == TSR_OK && execute(pd, engine, of) != dnnl_success)
        status = refuse(error, "oneDNN could not execute the convolution");
    for (int i = 0; i < ARGUMENTS && status == TSR_OK; i++)
        status = tsr_blob_release(&of[i].access, error);
    return status;
}

/* ---- the plain loop ---- */

/* How far a result is from what it should be; *magnitude is the sum of the absolute terms. */
static double difference(const float *src, const float *weights, const float *dst, const int64_t *dims,
                         const int64_t *at, double *magnitude)
{
    double sum = 0;
    *magnitude = 0;
    for (int64_t i = 0; i < dims[1]; i++)
        for (int64_t y = 0; y < dims[2]; y++)
            for (int64_t x = 0; x < dims[3]; x++) {
                const float pixel = src[(i * SIDE + at[1] + y) * SIDE + at[2] + x];
                const float weight = weights[((at[0] * dims[1] + i) * dims[2] + y) * dims[3] + x];
                sum += (double)pixel * (double)weight;
                *magnitude += fabs((double)pixel * (double)weight);
            }
    const int64_t height = SIDE - dims[2] + 1, width = SIDE - dims[3] + 1;
    return fabs((double)dst[(at[0] * height + at[1]) * width + at[2]] - sum);
}

/* Is every result as near as floats can be? dims are those of the weights; all is row-major. */
static bool is_right(const float *src, const float *weights, const float *dst, const int64_t *dims)
{
    const double allowed = (double)(dims[1] * dims[2] * dims[3]) * (double)FLT_EPSILON;
    double largest = 0, magnitude;
    bool right = true;
    for (int64_t o = 0; o < dims[0]; o++)
        for (int64_t y = 0; y <= SIDE - dims[2]; y++)
            for (int64_t x = 0; x <= SIDE - dims[3]; x++) {
                const int64_t at[] = {o, y, x};
                const double found = difference(src, weights, dst, dims, at, &magnitude);
                largest = fmax(largest, found);
                right = right && found <= allowed * magnitude; /* false for NaN, too */
            }
    printf("largest difference from a plain loop: %g, %s\n", largest, right ? "right" : "wrong");
    return right;
}

static tsr_status compare(const struct argument *of, bool *right, tsr_error *error)
{
    tsr_access plain[ARGUMENTS];
    tsr_status status = TSR_OK;
    for (int i = 0; i < ARGUMENTS && status == TSR_OK; i++)
        status = tsr_blob_acquire(of[i].blob, NULL, NULL, TSR_READ, &plain[i], error);
    if (status == TSR_OK)
        *right = is_right(plain[SRC].data, plain[WEIGHTS].data, plain[DST].data, of[WEIGHTS].layout.dims);
    for (int i = 0; i < ARGUMENTS && status == TSR_OK; i++)
        status = tsr_blob_release(&plain[i], error);
    return status;
}

static void print_layout(const struct argument *of)
{
    char dims[128], layout[256];
    tsr_dims_print(of->layout.dims, of->layout.rank, dims, sizeof dims);
    tsr_layout_print(&of->layout, layout, sizeof layout);
    printf("%-7s %s as %s\n", of->name, dims, layout);
}

static int say(const char *message)
{
    fprintf(stderr, "%s\n", message);
    return 1;
}

int main(int argc, char **argv)
{
    struct argument of[ARGUMENTS] = {
        [SRC] = {.name = "src", .id = DNNL_ARG_SRC, .query = dnnl_query_src_md, .intent = TSR_READ},
        [WEIGHTS] = {.name = "weights", .id = DNNL_ARG_WEIGHTS, .query = dnnl_query_weights_md, .intent = TSR_READ},
        [DST] = {.name = "dst", .id = DNNL_ARG_DST, .query = dnnl_query_dst_md, .intent = TSR_WRITE},
    };
    tsr_caffe_blob *weights;
    dnnl_engine_t engine;
    dnnl_primitive_desc_t pd;
    tsr_error error;
    bool right;
    if (argc != 3) {
        fprintf(stderr, "usage: %s NET.caffemodel LAYER\n", argv[0]);
        return 2;
    }
    if (tsr_caffe_blob_create(&weights, TSR_F32, NULL, &error) != TSR_OK ||
        load_weights(weights, argv[1], argv[2], &error) != TSR_OK)
        return say(error.message);
    const tsr_caffe_shape shape = tsr_caffe_blob_shape(weights);
    if (dnnl_engine_create(&engine, dnnl_cpu, 0) != dnnl_success || prepare(&pd, engine, shape.dims) != dnnl_success)
        return say("oneDNN has no such convolution");

    of[WEIGHTS].blob = tsr_blob_share(tsr_caffe_blob_tensor(weights, TSR_CAFFE_DATA));
    for (int i = 0; i < ARGUMENTS; i++) {
        if (ask_for_layout(&of[i], pd, &error) != TSR_OK ||
            (!of[i].blob && create_plain(&of[i].blob, &of[i].layout, &error) != TSR_OK))
            return say(error.message);
        print_layout(&of[i]);
    }
    if (paint(of[SRC].blob, &of[SRC].layout, &error) != TSR_OK || convolve(pd, engine, of, &error) != TSR_OK ||
        compare(of, &right, &error) != TSR_OK)
        return say(error.message);

    for (int i = 0; i < ARGUMENTS; i++)
        tsr_blob_free(&of[i].blob);
    tsr_caffe_blob_free(&weights);
    dnnl_primitive_desc_destroy(pd);
    dnnl_engine_destroy(engine);
    return !right;
}
