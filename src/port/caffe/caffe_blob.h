/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_SRC_PORT_CAFFE_CAFFE_BLOB_H
#define TESSERA_SRC_PORT_CAFFE_CAFFE_BLOB_H

#include <tessera/caffe.h>

/* Of a part: memory as one axis, and the tensor as a view of that in the blob's shape. Both NULL without a shape. */
struct part {
    tsr_blob *memory, *tensor;
};

struct tsr_caffe_blob {
    tsr_dtype dtype;
    tsr_caffe_shape shape;
    struct part parts[2];
    tsr_blob_options options; /* of memory */
    tsr_device *device;
    tsr_allocator allocator;
};

/* What a blob refers to, for as long as something that reshapes it may fail. */
struct kept {
    tsr_caffe_shape shape;
    struct part parts[2];
};

struct kept tsr_caffe_keep(const tsr_caffe_blob *blob);

/* The blob has it again if there was a failure. Returns what has happened. */
tsr_status tsr_caffe_settle(tsr_caffe_blob *blob, struct kept *kept, tsr_status status);

bool tsr_caffe_is_same_shape(const tsr_caffe_shape *a, const tsr_caffe_shape *b);

#endif
