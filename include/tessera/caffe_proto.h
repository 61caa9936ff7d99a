/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_CAFFE_PROTO_H
#define TESSERA_CAFFE_PROTO_H

#include <stdbool.h>

#include <tessera/desc.h>
#include <tessera/memory.h>

TSR_BEGIN_DECLS

/*
 * Caffe's tensors and nets as protocol buffers, without their meaning: shapes and values to make blobs
 * of. Of the three kinds of message, NetParameter is what a .caffemodel has, and BlobProto what the file of a mean
 * image has. All three are read as lists of layers with blobs.
 *
 * Read is whatever libprotobuf reads: packed and unpacked values in any order, messages in parts, unknown
 * fields and groups. A file may be a net of today (V2) or of the forms before (V1, V0).
 *
 * Everything that can fail is TSR_UNSUPPORTED in a build without protobuf-c; tsr_build_features says so.
 */
typedef enum tsr_caffe_kind {
    TSR_CAFFE_BLOB_PROTO,        /* one layer without a name that has one blob */
    TSR_CAFFE_BLOB_PROTO_VECTOR, /* one layer without a name */
    TSR_CAFFE_NET_PARAMETER
} tsr_caffe_kind;

/* A message that was read. It does not change, and may be read by many threads at once. */
typedef struct tsr_caffe_proto tsr_caffe_proto;

/*
 * Reads size_bytes of bytes, which are not needed afterwards. The allocator may be NULL and is copied; all memory
 * comes from it, and for a moment there are two copies of the message.
 *
 * TSR_PARSE_ERROR    no message of this kind, a net that has both `layer` and `layers`; the error says at which byte
 * TSR_UNSUPPORTED    more than 2^31 - 1 bytes, as in Caffe; names that contain a 0; several parts of one V0 layer;
 *                    more than 2^20 messages and strings in all, so that hostile bytes do not take far more memory than
 *                    they have; more than about 2^26 fields in one message, which protobuf-c does not take
 * TSR_OUT_OF_MEMORY
 */
TSR_API TSR_MUST_CHECK tsr_status tsr_caffe_proto_parse(tsr_caffe_proto **proto, tsr_caffe_kind kind, const void *bytes,
                                                        size_t size_bytes, const tsr_allocator *allocator,
                                                        tsr_error *error);

/* The same for a file, or what else can be read. Also TSR_IO_ERROR. While it runs, nobody may shorten the file. */
TSR_API TSR_MUST_CHECK tsr_status tsr_caffe_proto_open(tsr_caffe_proto **proto, tsr_caffe_kind kind, const char *path,
                                                       const tsr_allocator *allocator, tsr_error *error);

TSR_API void tsr_caffe_proto_free(tsr_caffe_proto **proto);

/* All pointers in the values below live as long as the message. No string is NULL; one that is missing is "". */

typedef struct tsr_caffe_net {
    const char *name;
    int layers;
    int inputs; /* names of inputs; a net may have a layer of type Input instead */
    const char *const *input;
    int input_dims; /* as the file has them: four for each input */
    const int32_t *input_dim;
    int input_shapes; /* one for each input, where there are no input_dims: tsr_caffe_proto_input_shape */
} tsr_caffe_net;

typedef struct tsr_caffe_layer {
    const char *name;
    /*
     * As V2 calls it, such as "Convolution", for layers of V1 (CONVOLUTION) and V0 (conv) too. A V0 type that later
     * versions do not have is shown as it is, and a V1 one as "".
     */
    const char *type;
    int bottoms, tops, blobs;
    const char *const *bottom, *const *top;
} tsr_caffe_layer;

/* Those of a message that is no NetParameter are 0, "" and one layer. */
TSR_API void tsr_caffe_proto_net(tsr_caffe_net *net, const tsr_caffe_proto *proto);

typedef struct tsr_caffe_input_shape {
    int axes;
    const int64_t *dims; /* as the file has them, which may be anything; may be NULL when there are none */
} tsr_caffe_input_shape;

/* Input shape index, from 0. TSR_OUT_OF_RANGE */
TSR_API TSR_MUST_CHECK tsr_status tsr_caffe_proto_input_shape(tsr_caffe_input_shape *shape,
                                                              const tsr_caffe_proto *proto, int index,
                                                              tsr_error *error);

/* Layer index, from 0, in the order of the file. TSR_OUT_OF_RANGE */
TSR_API TSR_MUST_CHECK tsr_status tsr_caffe_proto_layer(tsr_caffe_layer *layer, const tsr_caffe_proto *proto, int index,
                                                        tsr_error *error);

/* The index of the first layer of that name, or -1. Compares one name after another. */
TSR_API int tsr_caffe_proto_find(const tsr_caffe_proto *proto, const char *name);

/* Values in row-major order. */
typedef struct tsr_caffe_values {
    tsr_dtype dtype; /* TSR_F32 or TSR_F64 */
    int64_t count;
    const void *elements; /* may be NULL when there are none */
} tsr_caffe_values;

/*
 * One blob. Axes are as in Caffe: none for a scalar; the product of the dims, taken from the first on, is at most
 * INT_MAX at each. There are as many values as the product, or none: no diff, and no data, is common in a file.
 */
typedef struct tsr_caffe_blob_proto {
    int rank; /* 0 to TSR_MAX_RANK */
    int64_t dims[TSR_MAX_RANK];
    bool is_legacy; /* the shape is num, channels, height and width, and stands for all that end so behind axes of 1 */
    tsr_caffe_values data, diff;
} tsr_caffe_blob_proto;

/*
 * Blob number blob of a layer. As in Caffe, the four legacy dims count before a shape if any of them is there, those
 * missing being 0; and doubles before floats, for data and diff each.
 *
 * TSR_OUT_OF_RANGE      no such layer or blob
 * TSR_INVALID_ARGUMENT  too many axes, a negative dim, as many values as the shape has no room for, or too few
 * TSR_OVERFLOW          a dim or the product of the dims is past INT_MAX
 */
TSR_API TSR_MUST_CHECK tsr_status tsr_caffe_proto_blob(tsr_caffe_blob_proto *blob, const tsr_caffe_proto *proto,
                                                       int layer, int index, tsr_error *error);

/*
 * Writes a BlobProto, in the bytes that Caffe writes: the shape in the form of today, also when it was
 * a legacy one, and each array in the field of its type. *size_bytes is what that takes; with bytes NULL,
 * nothing else happens. Allocates nothing.
 *
 * TSR_INVALID_ARGUMENT, TSR_OVERFLOW  as above; a type other than the two; elements NULL; more than 2^31 - 1 bytes
 * TSR_OUT_OF_RANGE                    more than room_bytes; nothing is written
 */
TSR_API TSR_MUST_CHECK tsr_status tsr_caffe_blob_proto_write(const tsr_caffe_blob_proto *blob, void *bytes,
                                                             size_t room_bytes, size_t *size_bytes, tsr_error *error);

TSR_END_DECLS

#endif
