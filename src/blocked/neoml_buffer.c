/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include <tessera/neoml.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/lock.h"
#include "blocked/blob.h"

struct tsr_neo_buffer {
    tsr_blob *blob;
    tsr_neo_buffer *below; /* got before this one, and not given back */
    int64_t position, size;
    size_t element_bytes;
    void *data;
};

/* The blob's elements in row-major order, of which a buffer has some. A blob may have been reshaped since. */
static tsr_status plain_layout(tsr_desc *layout, tsr_blob *blob, int64_t position, int64_t size, tsr_error *error)
{
    tsr_desc home;
    tsr_blob_get_desc(blob, &home);
    const int64_t all = tsr_desc_elements(&home);
    if (position < 0 || size < 0 || position > all || size > all - position)
        return tsr_fail(error, TSR_OUT_OF_RANGE, "expected a part of %lld elements, found %lld from %lld on",
                        (long long)all, (long long)size, (long long)position);
    return tsr_desc_plain(layout, home.dtype, home.rank, home.dims, error);
}

static size_t bytes_of(const tsr_neo_buffer *buffer)
{
    return (size_t)buffer->size * buffer->element_bytes;
}

/* Copies from the blob to the buffer (TSR_READ), or back (TSR_WRITE). */
static tsr_status exchange_with(tsr_neo_buffer *buffer, tsr_intent intent, tsr_error *error)
{
    tsr_desc layout;
    tsr_access access;
    tsr_status status = plain_layout(&layout, buffer->blob, buffer->position, buffer->size, error);
    if (status != TSR_OK || buffer->size == 0)
        return status;
    if (intent == TSR_WRITE && buffer->size < tsr_desc_elements(&layout))
        intent = TSR_READ_WRITE; /* the rest stays */
    status = tsr_blob_acquire(buffer->blob, NULL, &layout, intent, &access, error);
    if (status != TSR_OK)
        return status;
    char *place = (char *)access.data + buffer->position * (int64_t)buffer->element_bytes;
    if (intent == TSR_READ)
        memcpy(buffer->data, place, bytes_of(buffer));
    else
        memcpy(place, buffer->data, bytes_of(buffer));
    return tsr_blob_release(&access, error);
}

static void free_buffer(tsr_neo_buffer *buffer)
{
    const tsr_allocator allocator = buffer->blob->allocator;
    tsr_deallocate(&allocator, buffer->data, bytes_of(buffer));
    tsr_blob_free(&buffer->blob);
    tsr_deallocate(&allocator, buffer, sizeof *buffer);
}

tsr_status tsr_neo_get_buffer(tsr_neo_buffer **buffer, tsr_blob *blob, int64_t position, int64_t size, bool exchange,
                              tsr_error *error)
{
    tsr_desc layout;
    tsr_status status = plain_layout(&layout, blob, position, size, error);
    if (status != TSR_OK)
        return status;
    if (tsr_dtype_bits(layout.dtype) < 8)
        return tsr_fail(error, TSR_UNSUPPORTED, "expected elements of whole bytes, found %s",
                        tsr_dtype_name(layout.dtype));
    tsr_neo_buffer *made = tsr_allocate_zeroed(&blob->allocator, 1, sizeof *made);
    if (!made)
        return tsr_fail(error, TSR_OUT_OF_MEMORY, "no memory for a buffer");
    made->blob = tsr_blob_share(blob);
    made->position = position;
    made->size = size;
    made->element_bytes = tsr_dtype_size_bytes(layout.dtype);
    made->data = tsr_allocate(&blob->allocator, bytes_of(made));
    if (!made->data && size > 0)
        status = tsr_fail(error, TSR_OUT_OF_MEMORY, "no memory for a buffer of %lld elements", (long long)size);
    else if (exchange)
        status = exchange_with(made, TSR_READ, error);
    if (status != TSR_OK) {
        free_buffer(made);
        return status;
    }
    tsr_lock *lock = tsr_lock_of(blob);
    pthread_mutex_lock(&lock->mutex);
    made->below = blob->buffers;
    blob->buffers = made;
    pthread_mutex_unlock(&lock->mutex);
    *buffer = made;
    return TSR_OK;
}

void *tsr_neo_buffer_data(tsr_neo_buffer *buffer)
{
    return buffer->data;
}

static bool is_last(tsr_neo_buffer *buffer)
{
    tsr_lock *lock = tsr_lock_of(buffer->blob);
    pthread_mutex_lock(&lock->mutex);
    const bool is_top = buffer->blob->buffers == buffer;
    pthread_mutex_unlock(&lock->mutex);
    return is_top;
}

/* Another thread may have got a buffer since is_last was asked, which stays. */
static void take_off(tsr_neo_buffer *buffer)
{
    tsr_lock *lock = tsr_lock_of(buffer->blob);
    pthread_mutex_lock(&lock->mutex);
    tsr_neo_buffer **link = &buffer->blob->buffers;
    while (*link != buffer)
        link = &(*link)->below;
    *link = buffer->below;
    pthread_mutex_unlock(&lock->mutex);
}

tsr_status tsr_neo_release_buffer(tsr_neo_buffer **buffer, bool exchange, tsr_error *error)
{
    tsr_neo_buffer *old = buffer ? *buffer : NULL;
    if (!old)
        return tsr_fail(error, TSR_INVALID_ARGUMENT, "the buffer was given back before");
    if (!is_last(old))
        return tsr_fail(error, TSR_INVALID_ARGUMENT, "expected the buffer that was got last to be given back first");
    tsr_status status = exchange ? exchange_with(old, TSR_WRITE, error) : TSR_OK;
    if (status != TSR_OK)
        return status;
    take_off(old);
    free_buffer(old);
    *buffer = NULL;
    return TSR_OK;
}
