/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_TESTS_REMOTE_H
#define TESSERA_TESTS_REMOTE_H

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include <tessera/device.h>

/* A device for tests: memory of the host behind a handle, reached through copies alone. A write that fails fails
 * halfway. */

enum remote_call {
    REMOTE_NOTHING,
    REMOTE_ALLOCATE,
    REMOTE_FILL,
    REMOTE_COPY_IN,
    REMOTE_COPY_OUT,
    REMOTE_COPY_WITHIN,
    REMOTE_COPY_ROWS,
    REMOTE_MAP,
    REMOTE_UNMAP,
};

struct remote_memory {
    size_t size_bytes;
    unsigned char *bytes; /* with any content */
};

/* The call that fails from now on. */
static enum remote_call failing_call;
/* How often rows were copied by those who can (remote_copy_rows). */
static atomic_int remote_row_copies;
/* Calls so far, and the one that fails; 0: none. */
static atomic_int remote_calls, failing_remote_call;
/* How many bytes have been mapped. */
static atomic_size_t remote_mapped_bytes;
/* What is held. */
static atomic_int remote_memories, remote_maps;

static inline void remote_fails(enum remote_call call)
{
    failing_call = call;
}

static void *remote_bytes(void *memory)
{
    return ((struct remote_memory *)memory)->bytes;
}

static tsr_status remote_status(enum remote_call call, tsr_error *error)
{
    static const char message[] = "the remote device failed";
    if (++remote_calls != failing_remote_call && call != failing_call)
        return TSR_OK;
    if (error)
        memcpy(error->message, message, sizeof message);
    return TSR_IO_ERROR;
}

/* The same, of a call that writes. */
static tsr_status remote_write_status(enum remote_call call, void *to, size_t size_bytes, tsr_error *error)
{
    tsr_status status = remote_status(call, error);
    if (status != TSR_OK)
        memset(to, 0xee, (size_bytes + 1) / 2);
    return status;
}

static tsr_status remote_allocate(void *context, size_t size_bytes, void **memory, tsr_error *error)
{
    (void)context;
    struct remote_memory *made = malloc(sizeof *made);
    if (remote_status(REMOTE_ALLOCATE, error) != TSR_OK || !made) {
        free(made);
        return TSR_IO_ERROR;
    }
    made->size_bytes = size_bytes;
    made->bytes = malloc(size_bytes);
    memset(made->bytes, 0xa5, size_bytes);
    remote_memories++;
    *memory = made;
    return TSR_OK;
}

static void remote_release(void *context, void *memory, size_t size_bytes)
{
    (void)context;
    (void)size_bytes;
    free(remote_bytes(memory));
    free(memory);
    remote_memories--;
}

static tsr_status remote_copy_in(void *context, void *memory, size_t offset, const void *host, size_t size_bytes,
                                 tsr_error *error)
{
    (void)context;
    unsigned char *to = (unsigned char *)remote_bytes(memory) + offset;
    if (remote_write_status(REMOTE_COPY_IN, to, size_bytes, error) != TSR_OK)
        return TSR_IO_ERROR;
    memcpy(to, host, size_bytes);
    return TSR_OK;
}

static tsr_status remote_copy_out(void *context, void *host, const void *memory, size_t offset, size_t size_bytes,
                                  tsr_error *error)
{
    (void)context;
    if (remote_write_status(REMOTE_COPY_OUT, host, size_bytes, error) != TSR_OK)
        return TSR_IO_ERROR;
    memcpy(host, ((const struct remote_memory *)memory)->bytes + offset, size_bytes);
    return TSR_OK;
}

static tsr_status remote_copy_within(void *context, void *dst, size_t dst_offset, const void *src, size_t src_offset,
                                     size_t size_bytes, tsr_error *error)
{
    (void)context;
    unsigned char *to = (unsigned char *)remote_bytes(dst) + dst_offset;
    if (remote_write_status(REMOTE_COPY_WITHIN, to, size_bytes, error) != TSR_OK)
        return TSR_IO_ERROR;
    memcpy(to, ((const struct remote_memory *)src)->bytes + src_offset, size_bytes);
    return TSR_OK;
}

/* Not one of remote_functions: tests add it to a table of their own. */
static inline tsr_status remote_copy_rows(void *context, void *dst, size_t dst_offset, size_t dst_pitch,
                                          const void *src, size_t src_offset, size_t src_pitch, size_t row_bytes,
                                          size_t rows, tsr_error *error)
{
    (void)context;
    if (remote_write_status(REMOTE_COPY_ROWS, (unsigned char *)remote_bytes(dst) + dst_offset, row_bytes, error) !=
        TSR_OK)
        return TSR_IO_ERROR;
    assert_true(rows > 0 && row_bytes > 0);
    assert_true(rows == 1 || (dst_pitch >= row_bytes && src_pitch >= row_bytes));
    for (size_t i = 0; i < rows; i++) {
        const size_t to = dst_offset + i * dst_pitch, from = src_offset + i * src_pitch;
        assert_true(to + row_bytes <= ((struct remote_memory *)dst)->size_bytes);
        assert_true(from + row_bytes <= ((const struct remote_memory *)src)->size_bytes);
        memcpy((unsigned char *)remote_bytes(dst) + to, ((const struct remote_memory *)src)->bytes + from, row_bytes);
    }
    remote_row_copies++;
    return TSR_OK;
}

static tsr_status remote_fill(void *context, void *memory, size_t offset, size_t size_bytes, unsigned char byte,
                              tsr_error *error)
{
    (void)context;
    unsigned char *to = (unsigned char *)remote_bytes(memory) + offset;
    if (remote_write_status(REMOTE_FILL, to, size_bytes, error) != TSR_OK)
        return TSR_IO_ERROR;
    memset(to, byte, size_bytes);
    return TSR_OK;
}

/* A copy, which has the old content only if somebody wants it, and goes back if somebody wrote. */
struct remote_map {
    tsr_intent intent;
    size_t offset, size_bytes;
    unsigned char bytes[];
};

static tsr_status remote_map(void *context, void *memory, size_t offset, size_t size_bytes, tsr_intent intent,
                             void **host, tsr_error *error)
{
    (void)context;
    if (remote_status(REMOTE_MAP, error) != TSR_OK)
        return TSR_IO_ERROR;
    struct remote_map *map = malloc(sizeof *map + size_bytes);
    map->intent = intent;
    map->offset = offset;
    map->size_bytes = size_bytes;
    if (intent == TSR_WRITE)
        memset(map->bytes, 0x5a, size_bytes);
    else
        memcpy(map->bytes, (unsigned char *)remote_bytes(memory) + offset, size_bytes);
    remote_maps++;
    remote_mapped_bytes += size_bytes;
    *host = map->bytes;
    return TSR_OK;
}

static tsr_status remote_unmap(void *context, void *memory, void *host, tsr_error *error)
{
    (void)context;
    struct remote_map *map = (struct remote_map *)(void *)((char *)host - offsetof(struct remote_map, bytes));
    unsigned char *to = (unsigned char *)remote_bytes(memory) + map->offset;
    const size_t written = map->intent == TSR_READ ? 0 : map->size_bytes;
    const bool fails = remote_write_status(REMOTE_UNMAP, to, written, error) != TSR_OK;
    if (!fails)
        memcpy(to, map->bytes, written);
    free(map);
    remote_maps--;
    return fails ? TSR_IO_ERROR : TSR_OK;
}

static const tsr_device_functions remote_functions = {
    .size = sizeof remote_functions,
    .allocate = remote_allocate,
    .release = remote_release,
    .copy_in = remote_copy_in,
    .copy_out = remote_copy_out,
    .copy_within = remote_copy_within,
    .fill = remote_fill,
    .map = remote_map,
    .unmap = remote_unmap,
};

/* Like "remote", with what a test gives it beside that. */
static inline tsr_device *register_functions(const char *name, const tsr_device_functions *functions)
{
    tsr_device *device = NULL;
    tsr_error error = {0};
    if (tsr_device_register(name, functions, NULL, &error) != TSR_OK ||
        tsr_device_find(name, &device, &error) != TSR_OK)
        fail_msg("%s", error.message);
    return device;
}

static inline tsr_device *register_remote(const char *name)
{
    return register_functions(name, &remote_functions);
}

/* Everything has been given back by now. */
static void forget_remote(tsr_device **device)
{
    assert_int_equal(remote_memories, 0);
    assert_int_equal(remote_maps, 0);
    assert_int_equal(tsr_device_unregister(tsr_device_name(*device), NULL), TSR_OK);
    tsr_device_release(device);
}

#endif
