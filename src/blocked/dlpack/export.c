/* SPDX-License-Identifier: Apache-2.0 */
#include <tessera/dlpack.h>

#include <inttypes.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/int.h"
#include "blocked/dlpack/types.h"

/* What the deleter needs to know, and the arrays that the tensor points to. */
struct loan {
    tsr_storage *storage;
    tsr_allocator allocator;
    int64_t shape[TSR_MAX_RANK], strides[TSR_MAX_RANK];
    struct DLManagedTensor managed;
#if TSR_DLPACK_IS_VERSIONED
    struct DLManagedTensorVersioned versioned;
#endif
};

/* Does a stride for each axis say it all? */
static tsr_status check_levels(const tsr_desc *canonical, tsr_error *error)
{
    for (int k = 0; k < canonical->rank; k++)
        if (canonical->step[k] != 0)
            return tsr_fail(error, TSR_UNSUPPORTED, "axis %d is a window, and DLPack has none", k);
    for (int i = 0; i < canonical->levels; i++) {
        int axis = canonical->order[i];
        for (int j = 0; j < i; j++)
            if (canonical->order[j] == axis)
                return tsr_fail(error, TSR_UNSUPPORTED, "axis %d has blocks, and DLPack has none", axis);
        if (canonical->block_dims[i] != canonical->dims[axis] && canonical->levels == canonical->rank)
            return tsr_fail(error, TSR_UNSUPPORTED,
                            "axis %d is padded from %" PRId64 " to %" PRId64 ", and DLPack has no padding", axis,
                            canonical->dims[axis], canonical->block_dims[i]);
    }
    return TSR_OK;
}

static tsr_status check_packed(const tsr_desc *canonical, tsr_error *error)
{
    tsr_desc dense, moved = *canonical;
    int bits = tsr_dtype_bits(canonical->dtype);
    moved.offset = 0;
    if (bits >= 8)
        return TSR_OK;
    tsr_status status = tsr_desc_plain(&dense, canonical->dtype, canonical->rank, canonical->dims, error);
    if (status == TSR_OK && !tsr_desc_equal(&dense, &moved))
        status = tsr_fail(error, TSR_UNSUPPORTED, "elements of %d bits are not row-major and dense", bits);
    if (status == TSR_OK && canonical->offset * bits % 8 != 0)
        status = tsr_fail(error, TSR_UNSUPPORTED, "elements of %d bits begin at offset %" PRId64 ", inside a byte",
                          bits, canonical->offset);
    return status;
}

/* The address of index 0; NULL when there is none. */
static tsr_status find_data(void **data, const tsr_desc *canonical, tsr_storage *storage, tsr_error *error)
{
    void *memory = NULL;
    int64_t needed = tsr_desc_size_bytes(canonical);
    size_t element = tsr_dtype_size_bytes(canonical->dtype);
    if ((uint64_t)needed > tsr_storage_capacity_bytes(storage))
        return tsr_fail(error, TSR_INVALID_ARGUMENT, "the tensor needs %" PRId64 " bytes, the storage has %zu", needed,
                        tsr_storage_capacity_bytes(storage));
    if (needed == 0) {
        *data = NULL;
        return TSR_OK;
    }
    tsr_status status = tsr_storage_data(storage, &memory, error);
    if (status != TSR_OK)
        return status;
    if ((uintptr_t)memory % element != 0)
        return tsr_fail(error, TSR_UNSUPPORTED,
                        "the storage is at address %p, expected a multiple of the %zu bytes of %s", memory, element,
                        tsr_dtype_name(canonical->dtype));
    *data = (char *)memory + tsr_dlpack_bytes_before(canonical);
    return TSR_OK;
}

static void repay(struct loan *loan)
{
    tsr_allocator allocator = loan->allocator;
    tsr_storage_release(&loan->storage);
    tsr_deallocate(&allocator, loan, sizeof *loan);
}

static void fill_tensor(DLTensor *tensor, struct loan *loan, const tsr_desc *canonical, void *data)
{
    const tsr_dlpack_type *type = tsr_dlpack_type_of(canonical->dtype);
    for (int i = 0; i < canonical->levels; i++) {
        loan->shape[canonical->order[i]] = canonical->block_dims[i];
        loan->strides[canonical->order[i]] = canonical->strides[i];
    }
    *tensor = (DLTensor){.data = data,
                         .device = {kDLCPU, 0},
                         .ndim = canonical->rank,
                         .dtype = {type->code, type->bits, 1},
                         .shape = loan->shape,
                         .strides = loan->strides};
}

static tsr_status lend(struct loan **loan, DLTensor *tensor, tsr_desc *canonical, const tsr_desc *desc,
                       tsr_storage *storage, const tsr_allocator *allocator, tsr_error *error)
{
    void *data = NULL;
    if (!tsr_dlpack_type_of(desc->dtype))
        return tsr_fail(error, TSR_UNSUPPORTED, "DLPack has no type %s", tsr_dtype_name(desc->dtype));
    tsr_desc_canonical(canonical, desc);
    tsr_status status = check_levels(canonical, error);
    if (status == TSR_OK)
        status = check_packed(canonical, error);
    if (status == TSR_OK)
        status = find_data(&data, canonical, storage, error);
    if (status != TSR_OK)
        return status;
    allocator = allocator ? allocator : tsr_default_allocator();
    struct loan *made = tsr_allocate_zeroed(allocator, 1, sizeof *made);
    if (!made)
        return tsr_fail(error, TSR_OUT_OF_MEMORY, "no memory for a managed tensor");
    made->allocator = *allocator;
    made->storage = tsr_storage_share(storage);
    fill_tensor(tensor, made, canonical, data);
    *loan = made;
    return TSR_OK;
}

static void delete_managed(struct DLManagedTensor *managed)
{
    if (managed)
        repay(managed->manager_ctx);
}

tsr_status tsr_dlpack_export(struct DLManagedTensor **managed, const tsr_desc *desc, tsr_storage *storage,
                             const tsr_allocator *allocator, tsr_error *error)
{
    struct loan *loan = NULL;
    tsr_desc canonical;
    DLTensor tensor;
    tsr_status status = lend(&loan, &tensor, &canonical, desc, storage, allocator, error);
    if (status != TSR_OK)
        return status;
    loan->managed = (struct DLManagedTensor){tensor, loan, delete_managed};
    *managed = &loan->managed;
    return TSR_OK;
}

#if TSR_DLPACK_IS_VERSIONED

static void delete_versioned(struct DLManagedTensorVersioned *managed)
{
    if (managed)
        repay(managed->manager_ctx);
}

static bool repeats_elements(const tsr_desc *canonical)
{
    for (int i = 0; i < canonical->levels; i++)
        if (canonical->strides[i] == 0 && canonical->block_dims[i] > 1)
            return true;
    return false;
}

tsr_status tsr_dlpack_export_versioned(struct DLManagedTensorVersioned **managed, const tsr_desc *desc,
                                       tsr_storage *storage, bool read_only, const tsr_allocator *allocator,
                                       tsr_error *error)
{
    struct loan *loan = NULL;
    tsr_desc canonical;
    DLTensor tensor;
    tsr_status status = lend(&loan, &tensor, &canonical, desc, storage, allocator, error);
    if (status != TSR_OK)
        return status;
    int64_t minor = tsr_max(tsr_dlpack_type_of(desc->dtype)->minor, DLPACK_MINOR_VERSION);
    loan->versioned = (struct DLManagedTensorVersioned){
        .version = {DLPACK_MAJOR_VERSION, (uint32_t)minor},
        .manager_ctx = loan,
        .deleter = delete_versioned,
        .flags = read_only || repeats_elements(&canonical) ? DLPACK_FLAG_BITMASK_READ_ONLY : 0,
        .dl_tensor = tensor,
    };
    *managed = &loan->versioned;
    return TSR_OK;
}

#endif
