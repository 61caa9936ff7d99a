/* SPDX-License-Identifier: Apache-2.0 */
/* Stands in for this folder in a build without protobuf-c. There is no tsr_caffe_proto then, so nothing to look at. */
#include <tessera/caffe_proto.h>

#include "base/error.h"

static const char absent[] = "this build has no protobuf-c";

tsr_status tsr_caffe_proto_parse(tsr_caffe_proto **proto, tsr_caffe_kind kind, const void *bytes, size_t size_bytes,
                                 const tsr_allocator *allocator, tsr_error *error)
{
    (void)proto;
    (void)kind;
    (void)bytes;
    (void)size_bytes;
    (void)allocator;
    return tsr_fail(error, TSR_UNSUPPORTED, "%s", absent);
}

tsr_status tsr_caffe_proto_open(tsr_caffe_proto **proto, tsr_caffe_kind kind, const char *path,
                                const tsr_allocator *allocator, tsr_error *error)
{
    (void)proto;
    (void)kind;
    (void)path;
    (void)allocator;
    return tsr_fail(error, TSR_UNSUPPORTED, "%s", absent);
}

void tsr_caffe_proto_free(tsr_caffe_proto **proto)
{
    (void)proto;
}

void tsr_caffe_proto_net(tsr_caffe_net *net, const tsr_caffe_proto *proto)
{
    (void)proto;
    *net = (tsr_caffe_net){.name = ""};
}

tsr_status tsr_caffe_proto_input_shape(tsr_caffe_input_shape *shape, const tsr_caffe_proto *proto, int index,
                                       tsr_error *error)
{
    (void)shape;
    (void)proto;
    (void)index;
    return tsr_fail(error, TSR_UNSUPPORTED, "%s", absent);
}

tsr_status tsr_caffe_proto_layer(tsr_caffe_layer *layer, const tsr_caffe_proto *proto, int index, tsr_error *error)
{
    (void)layer;
    (void)proto;
    (void)index;
    return tsr_fail(error, TSR_UNSUPPORTED, "%s", absent);
}

int tsr_caffe_proto_find(const tsr_caffe_proto *proto, const char *name)
{
    (void)proto;
    (void)name;
    return -1;
}

tsr_status tsr_caffe_proto_blob(tsr_caffe_blob_proto *blob, const tsr_caffe_proto *proto, int layer, int index,
                                tsr_error *error)
{
    (void)blob;
    (void)proto;
    (void)layer;
    (void)index;
    return tsr_fail(error, TSR_UNSUPPORTED, "%s", absent);
}

tsr_status tsr_caffe_blob_proto_write(const tsr_caffe_blob_proto *blob, void *bytes, size_t room_bytes,
                                      size_t *size_bytes, tsr_error *error)
{
    (void)blob;
    (void)bytes;
    (void)room_bytes;
    (void)size_bytes;
    return tsr_fail(error, TSR_UNSUPPORTED, "%s", absent);
}
