/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_SRC_PORT_CAFFE_PROTO_H
#define TESSERA_SRC_PORT_CAFFE_PROTO_H

#include <tessera/caffe_proto.h>

#include "caffe.pb-c.h"

struct tsr_caffe_proto {
    tsr_allocator allocator;
    tsr_caffe_kind kind;
    union {
        ProtobufCMessage *message;
        Tsr__BlobProto *blob;
        Tsr__BlobProtoVector *vector;
        Tsr__NetParameter *net;
    };
};

/* The blobs of a layer, as many as it says. TSR_OUT_OF_RANGE */
tsr_status tsr_caffe_layer_of(tsr_caffe_layer *layer, Tsr__BlobProto *const **blobs, const tsr_caffe_proto *proto,
                              int index, tsr_error *error);

#endif
