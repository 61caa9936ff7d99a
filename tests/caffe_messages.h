/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_TESTS_CAFFE_MESSAGES_H
#define TESSERA_TESTS_CAFFE_MESSAGES_H

/* Reading messages of Caffe so that a memory checker sees every step beyond them, and a leak is an error. */
#include <stdlib.h>
#include <string.h>

#include <tessera/caffe_proto.h>

#include "failing_allocator.h"

/* Adds up all that a message has, so that it is all looked at. */
static inline double message_sum(const tsr_caffe_proto *proto)
{
    double sum = 0;
    tsr_caffe_layer layer;
    tsr_caffe_blob_proto blob;
    tsr_caffe_input_shape shape;
    for (int i = 0; tsr_caffe_proto_input_shape(&shape, proto, i, NULL) == TSR_OK; i++)
        for (int k = 0; k < shape.axes; k++)
            sum += (double)shape.dims[k];
    for (int i = 0; tsr_caffe_proto_layer(&layer, proto, i, NULL) == TSR_OK; i++) {
        sum += (double)(strlen(layer.name) + strlen(layer.type));
        for (int k = 0; k < layer.blobs; k++) {
            if (tsr_caffe_proto_blob(&blob, proto, i, k, NULL) != TSR_OK)
                continue;
            const float *floats = blob.data.elements;
            const double *doubles = blob.data.elements;
            for (int64_t e = 0; e < blob.data.count; e++)
                sum += blob.data.dtype == TSR_F64 ? doubles[e] : (double)floats[e];
        }
    }
    return sum;
}

/* Reads a copy that ends where it says, with an allocator that may fail, looks at all of it, and gives it back. */
static inline tsr_status read_guarded(tsr_caffe_kind kind, const void *bytes, size_t size_bytes,
                                      failing_allocator *counter, tsr_error *error)
{
    tsr_allocator allocator = failing_allocator_of(counter);
    tsr_caffe_proto *proto = NULL;
    char *copy = malloc(size_bytes ? size_bytes : 1);
    if (!copy)
        return TSR_OUT_OF_MEMORY;
    memcpy(copy, bytes, size_bytes);
    tsr_status status = tsr_caffe_proto_parse(&proto, kind, size_bytes ? copy : NULL, size_bytes, &allocator, error);
    free(copy);
    volatile double sum = proto ? message_sum(proto) : 0;
    (void)sum;
    tsr_caffe_proto_free(&proto);
    return status;
}

#endif
