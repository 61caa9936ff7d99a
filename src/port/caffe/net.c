/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/error.h"
#include "port/caffe/layer_type.h"
#include "port/caffe/proto.h"

/* Counts are those of fields in at most INT_MAX bytes. */

static const char *text(const char *string)
{
    return string ? string : "";
}

void tsr_caffe_proto_net(tsr_caffe_net *net, const tsr_caffe_proto *proto)
{
    *net = (tsr_caffe_net){.name = "", .layers = 1};
    if (proto->kind != TSR_CAFFE_NET_PARAMETER)
        return;
    const Tsr__NetParameter *message = proto->net;
    net->name = text(message->name);
    net->layers = (int)(message->n_layer + message->n_layers); /* one of them is 0 */
    net->inputs = (int)message->n_input;
    net->input = (const char *const *)message->input;
    net->input_dims = (int)message->n_input_dim;
    net->input_dim = message->input_dim;
    net->input_shapes = (int)message->n_input_shape;
}

tsr_status tsr_caffe_proto_input_shape(tsr_caffe_input_shape *shape, const tsr_caffe_proto *proto, int index,
                                       tsr_error *error)
{
    tsr_caffe_net net;
    tsr_caffe_proto_net(&net, proto);
    if (index < 0 || index >= net.input_shapes)
        return tsr_fail(error, TSR_OUT_OF_RANGE, "input shape %d of %d", index, net.input_shapes);
    const Tsr__BlobShape *message = proto->net->input_shape[index];
    *shape = (tsr_caffe_input_shape){.axes = (int)message->n_dim, .dims = message->dim};
    return TSR_OK;
}

static Tsr__BlobProto *const *read_v2(tsr_caffe_layer *layer, const Tsr__LayerParameter *message)
{
    *layer = (tsr_caffe_layer){
        .name = text(message->name),
        .type = text(message->type),
        .bottoms = (int)message->n_bottom,
        .bottom = (const char *const *)message->bottom,
        .tops = (int)message->n_top,
        .top = (const char *const *)message->top,
        .blobs = (int)message->n_blobs,
    };
    return message->blobs;
}

/* A V0 layer is in the place of V1's name, type and blobs. */
static Tsr__BlobProto *const *read_v1(tsr_caffe_layer *layer, const Tsr__V1LayerParameter *message)
{
    const Tsr__V0LayerParameter *v0 = message->n_layer ? message->layer[0] : NULL;
    *layer = (tsr_caffe_layer){
        .name = text(v0 ? v0->name : message->name),
        .type = v0 ? tsr_caffe_type_of_v0(text(v0->type)) : tsr_caffe_type_of_v1(message->type),
        .bottoms = (int)message->n_bottom,
        .bottom = (const char *const *)message->bottom,
        .tops = (int)message->n_top,
        .top = (const char *const *)message->top,
        .blobs = (int)(v0 ? v0->n_blobs : message->n_blobs),
    };
    return v0 ? v0->blobs : message->blobs;
}

static Tsr__BlobProto *const *read_layer(tsr_caffe_layer *layer, const tsr_caffe_proto *proto, int index)
{
    if (proto->kind == TSR_CAFFE_NET_PARAMETER)
        return proto->net->n_layer ? read_v2(layer, proto->net->layer[index])
                                   : read_v1(layer, proto->net->layers[index]);
    bool is_one = proto->kind == TSR_CAFFE_BLOB_PROTO;
    *layer = (tsr_caffe_layer){.name = "", .type = "", .blobs = is_one ? 1 : (int)proto->vector->n_blobs};
    return is_one ? &proto->blob : proto->vector->blobs;
}

tsr_status tsr_caffe_layer_of(tsr_caffe_layer *layer, Tsr__BlobProto *const **blobs, const tsr_caffe_proto *proto,
                              int index, tsr_error *error)
{
    tsr_caffe_net net;
    tsr_caffe_proto_net(&net, proto);
    if (index < 0 || index >= net.layers)
        return tsr_fail(error, TSR_OUT_OF_RANGE, "layer %d of %d", index, net.layers);
    *blobs = read_layer(layer, proto, index);
    return TSR_OK;
}

tsr_status tsr_caffe_proto_layer(tsr_caffe_layer *layer, const tsr_caffe_proto *proto, int index, tsr_error *error)
{
    Tsr__BlobProto *const *blobs;
    return tsr_caffe_layer_of(layer, &blobs, proto, index, error);
}

int tsr_caffe_proto_find(const tsr_caffe_proto *proto, const char *name)
{
    tsr_caffe_layer layer;
    for (int i = 0; tsr_caffe_proto_layer(&layer, proto, i, NULL) == TSR_OK; i++)
        if (strcmp(layer.name, name) == 0)
            return i;
    return -1;
}
