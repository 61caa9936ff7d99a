/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"
#include "base/lock.h"
#include "blocked/blob.h"
#include "blocked/move.h"

tsr_status tsr_blob_acquire(tsr_blob *blob, tsr_device *device, const tsr_desc *layout, tsr_intent intent,
                            tsr_access *access, tsr_error *error)
{
    tsr_representation *held;
    if (intent < TSR_READ || intent > TSR_READ_WRITE)
        return tsr_fail(error, TSR_INVALID_ARGUMENT, "expected an intent of 1 to 3, found %d", (int)intent);
    device = device ? device : tsr_device_host();
    tsr_status status = tsr_blob_hold(&held, blob, device, layout, intent, error);
    if (status != TSR_OK)
        return status;
    *access = (tsr_access){.device = device, .intent = intent, .blob = tsr_blob_share(blob), .representation = held};
    return tsr_storage_data(held->storage, &access->data, error); /* it is allocated */
}

tsr_status tsr_blob_release(tsr_access *access, tsr_error *error)
{
    if (!access->blob)
        return tsr_fail(error, TSR_INVALID_ARGUMENT, "the access was released before");
    tsr_status status = tsr_blob_let_go(access, error);
    if (access->representation)
        return status;
    access->data = NULL;
    tsr_blob_free(&access->blob);
    return status;
}

tsr_status tsr_blob_release_after(tsr_access *access, tsr_status before, tsr_error *error)
{
    tsr_status status = tsr_blob_release(access, before == TSR_OK ? error : NULL);
    return before == TSR_OK ? status : before;
}

/* What is mapped of its buffer. */
static tsr_bytes bytes_of(const tsr_access *access)
{
    tsr_desc layout;
    tsr_expand(&layout, access->representation->layout);
    return tsr_bytes_of(&layout);
}

tsr_status tsr_access_map(tsr_access *access, void **host, tsr_error *error)
{
    const tsr_device *device = access->device;
    const tsr_blob *blob = access->blob;
    if (!access->mapped && access->data) {
        const bool is_in_parent = blob->parent && access->representation == blob->home;
        const tsr_intent intent = /* what lies around it stays */
            is_in_parent && access->intent == TSR_WRITE ? TSR_READ_WRITE : access->intent;
        const tsr_bytes bytes = bytes_of(access);
        void *mapped = NULL;
        tsr_status status = TSR_OK;
        if (bytes.count > 0)
            status = device->does.map(device->context, access->data, bytes.first, bytes.count, intent, &mapped, error);
        if (status != TSR_OK)
            return status;
        access->mapped = mapped ? tsr_buffer_around(mapped, bytes) : NULL;
    }
    *host = access->mapped;
    return TSR_OK;
}

tsr_status tsr_access_unmap(tsr_access *access, tsr_error *error)
{
    const tsr_device *device = access->device;
    if (!access->mapped)
        return TSR_OK;
    void *mapped = (char *)access->mapped + bytes_of(access).first;
    access->mapped = NULL;
    if (access->intent == TSR_WRITE)
        access->intent = TSR_READ_WRITE; /* whoever maps it again finds what was written */
    return device->does.unmap(device->context, access->data, mapped, error);
}

void tsr_access_get_desc(const tsr_access *access, tsr_desc *desc)
{
    *desc = (tsr_desc){0};
    tsr_expand(desc, access->representation->layout);
}

void *tsr_access_first_element(const tsr_access *access)
{
    static const int64_t zeros[TSR_MAX_RANK];
    void *buffer = access->device == tsr_device_host() ? access->data : access->mapped;
    tsr_desc layout;
    int64_t offset;
    tsr_access_get_desc(access, &layout);
    if (!buffer || tsr_desc_offset(&layout, layout.rank, zeros, &offset, NULL) != TSR_OK)
        return NULL;
    const int64_t bits = offset * tsr_dtype_bits(layout.dtype);
    return bits % 8 == 0 ? (char *)buffer + bits / 8 : NULL;
}
