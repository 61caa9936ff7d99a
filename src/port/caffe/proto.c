/* SPDX-License-Identifier: Apache-2.0 */
#include <limits.h>

#include "base/alloc.h"
#include "base/error.h"
#include "port/caffe/proto.h"
#include "port/caffe/wire.h"
#include "port/input.h"
#include "port/message.h"

static const ProtobufCMessageDescriptor *const descriptors[] = {
    [TSR_CAFFE_BLOB_PROTO] = &tsr__blob_proto__descriptor,
    [TSR_CAFFE_BLOB_PROTO_VECTOR] = &tsr__blob_proto_vector__descriptor,
    [TSR_CAFFE_NET_PARAMETER] = &tsr__net_parameter__descriptor,
};

/* ---- protobuf-c's allocator in terms of ours, which wants to know sizes on release ---- */

typedef struct heap {
    const tsr_allocator *allocator;
    bool is_exhausted;
} heap;

static void *heap_allocate(void *context, size_t size_bytes)
{
    heap *heap = context;
    size_t *block = tsr_allocate(heap->allocator, TSR_ALIGNMENT + size_bytes);
    heap->is_exhausted |= !block;
    if (!block)
        return NULL;
    *block = size_bytes;
    return (char *)block + TSR_ALIGNMENT;
}

static void heap_release(void *context, void *memory)
{
    const heap *heap = context;
    size_t *block = memory ? (size_t *)(void *)((char *)memory - TSR_ALIGNMENT) : NULL;
    if (block)
        tsr_deallocate(heap->allocator, block, TSR_ALIGNMENT + *block);
}

static ProtobufCAllocator protobuf_allocator(heap *heap)
{
    return (ProtobufCAllocator){heap_allocate, heap_release, heap};
}

/* ---- */

static tsr_status unpack(tsr_caffe_proto *proto, const unsigned char *bytes, size_t size_bytes, tsr_error *error)
{
    const ProtobufCMessageDescriptor *message = descriptors[proto->kind];
    heap heap = {.allocator = &proto->allocator};
    ProtobufCAllocator allocator = protobuf_allocator(&heap);
    proto->message = protobuf_c_message_unpack(message, &allocator, size_bytes, bytes);
    if (proto->message)
        return TSR_OK;
    if (heap.is_exhausted)
        return tsr_fail(error, TSR_OUT_OF_MEMORY, "no memory for a %s of %zu bytes", message->short_name, size_bytes);
    return tsr_fail(error, TSR_UNSUPPORTED, "protobuf-c does not take as many fields as this %s has",
                    message->short_name);
}

static tsr_status read_message(tsr_caffe_proto *proto, const void *bytes, size_t size_bytes, tsr_error *error)
{
    size_t copied_bytes;
    unsigned char *copy = tsr_allocate(&proto->allocator, size_bytes);
    if (size_bytes && !copy)
        return tsr_fail(error, TSR_OUT_OF_MEMORY, "no memory for %zu bytes", size_bytes);
    tsr_status status = tsr_wire_copy(copy, &copied_bytes, bytes, size_bytes, descriptors[proto->kind], error);
    if (status == TSR_OK)
        status = unpack(proto, copy, copied_bytes, error);
    tsr_deallocate(&proto->allocator, copy, size_bytes);
    return status;
}

static tsr_status check_net(const Tsr__NetParameter *net, tsr_error *error)
{
    if (net->n_layer && net->n_layers)
        return tsr_fail(error, TSR_PARSE_ERROR,
                        "a net with %zu fields `layer` and %zu fields `layers`, expected one kind", net->n_layer,
                        net->n_layers);
    for (size_t i = 0; i < net->n_layers; i++)
        if (net->layers[i]->n_layer > 1)
            return tsr_fail(error, TSR_UNSUPPORTED, "layer %zu comes in %zu parts, expected one", i,
                            net->layers[i]->n_layer);
    return TSR_OK;
}

tsr_status tsr_caffe_proto_parse(tsr_caffe_proto **proto, tsr_caffe_kind kind, const void *bytes, size_t size_bytes,
                                 const tsr_allocator *allocator, tsr_error *error)
{
    if ((unsigned)kind >= sizeof descriptors / sizeof descriptors[0])
        return tsr_fail(error, TSR_INVALID_ARGUMENT, "%d is no kind of message", (int)kind);
    if (size_bytes > INT_MAX)
        return tsr_fail(error, TSR_UNSUPPORTED, "a %s of %zu bytes, expected at most %d", descriptors[kind]->short_name,
                        size_bytes, INT_MAX);
    if (!allocator)
        allocator = tsr_default_allocator();
    tsr_caffe_proto *parsed = tsr_allocate_zeroed(allocator, 1, sizeof *parsed);
    if (!parsed)
        return tsr_fail(error, TSR_OUT_OF_MEMORY, "no memory for %zu bytes", sizeof *parsed);
    parsed->allocator = *allocator;
    parsed->kind = kind;
    tsr_status status = read_message(parsed, bytes, size_bytes, error);
    if (status == TSR_OK && kind == TSR_CAFFE_NET_PARAMETER)
        status = check_net(parsed->net, error);
    if (status != TSR_OK)
        goto fail;
    *proto = parsed;
    return TSR_OK;

fail:
    tsr_caffe_proto_free(&parsed);
    return status;
}

tsr_status tsr_caffe_proto_open(tsr_caffe_proto **proto, tsr_caffe_kind kind, const char *path,
                                const tsr_allocator *allocator, tsr_error *error)
{
    tsr_input input = {0};
    tsr_error cause = {0};
    tsr_status status = tsr_input_open(&input, path, error);
    if (status == TSR_OK)
        status = tsr_input_fill(&input, (size_t)INT_MAX + 1, path, error);
    if (status == TSR_OK) {
        status = tsr_caffe_proto_parse(proto, kind, input.bytes, input.size_bytes, allocator, &cause);
        if (status != TSR_OK)
            status = tsr_fail_in_file(error, path, &cause);
    }
    tsr_input_close(&input);
    return status;
}

void tsr_caffe_proto_free(tsr_caffe_proto **proto)
{
    tsr_caffe_proto *freed = proto ? *proto : NULL;
    if (!freed)
        return;
    tsr_allocator allocator = freed->allocator;
    heap heap = {.allocator = &allocator};
    ProtobufCAllocator protobuf = protobuf_allocator(&heap);
    protobuf_c_message_free_unpacked(freed->message, &protobuf);
    tsr_deallocate(&allocator, freed, sizeof *freed);
    *proto = NULL;
}
