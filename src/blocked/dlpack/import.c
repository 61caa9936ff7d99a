/* SPDX-License-Identifier: Apache-2.0 */
#include <tessera/dlpack.h>

#include <inttypes.h>

#include "base/error.h"
#include "base/int.h"
#include "blocked/dlpack/types.h"

static tsr_status check_device(const DLDevice *device, tsr_error *error)
{
    static const char *const names[] = {
        "0",    "cpu",       "cuda",    "cuda_host",    "opencl", "5",      "6",       "vulkan", "metal",   "vpi",
        "rocm", "rocm_host", "ext_dev", "cuda_managed", "oneapi", "webgpu", "hexagon", "maia",   "trainium"};
    int number = (int)device->device_type;
    if (number == kDLCPU)
        return TSR_OK;
    bool is_known = number >= 0 && number < (int)(sizeof names / sizeof names[0]);
    return tsr_fail(error, TSR_UNSUPPORTED, "the tensor is on device %s (type %d), expected cpu (type %d)",
                    is_known ? names[number] : "unknown", number, kDLCPU);
}

static tsr_status find_dtype(tsr_dtype *dtype, DLDataType type, tsr_error *error)
{
    static const char *const names[] = {"int", "uint", "float", "handle", "bfloat", "complex", "bool"};
    const tsr_dlpack_type *found = tsr_dlpack_find_type(type);
    if (!found)
        return tsr_fail(error, TSR_UNSUPPORTED, "DLPack's type %s (code %d) of %d bits is none of ours",
                        type.code < sizeof names / sizeof names[0] ? names[type.code] : "unknown", type.code,
                        type.bits);
    *dtype = found->dtype;
    return TSR_OK;
}

/* The axes, lanes included, laid out row-major. */
static tsr_status read_shape(tsr_desc *desc, const DLTensor *tensor, tsr_error *error)
{
    int64_t dims[TSR_MAX_RANK];
    tsr_dtype dtype = TSR_DTYPE_NONE;
    int lanes = tensor->dtype.lanes, rank = tensor->ndim;
    tsr_status status = find_dtype(&dtype, tensor->dtype, error);
    if (status != TSR_OK)
        return status;
    if (lanes < 1)
        return tsr_fail(error, TSR_INVALID_ARGUMENT, "the type has 0 lanes, expected 1 or more");
    if (lanes > 1 && lanes * tensor->dtype.bits % 8 != 0)
        return tsr_fail(error, TSR_UNSUPPORTED, "%d lanes of %d bits are no whole bytes", lanes, tensor->dtype.bits);
    if (rank < 0 || (rank > 0 && !tensor->shape))
        return tsr_fail(error, TSR_INVALID_ARGUMENT, "the tensor has %d dims and %s shape", rank,
                        tensor->shape ? "a" : "no");
    if (rank > TSR_MAX_RANK - (lanes > 1))
        return tsr_fail(error, TSR_UNSUPPORTED, "the tensor has %d dims%s, expected at most %d", rank,
                        lanes > 1 ? " and lanes" : "", TSR_MAX_RANK - (lanes > 1));
    for (int k = 0; k < rank; k++)
        dims[k] = tensor->shape[k];
    if (lanes > 1)
        dims[rank++] = lanes;
    return tsr_desc_plain(desc, dtype, rank, dims, error);
}

/* The strides instead of the row-major ones, and an offset such that the lowest place is not below 0. */
static tsr_status read_strides(tsr_desc *desc, const tsr_desc *dense, const DLTensor *tensor, tsr_error *error)
{
    int64_t strides[TSR_MAX_RANK], low = 0;
    int order[TSR_MAX_RANK], per_byte = 8 / tsr_dtype_bits(dense->dtype);
    tsr_blocking blocking = {.levels = dense->rank, .block_dims = dense->dims, .order = order, .strides = strides};
    for (int k = 0; k < dense->rank; k++) {
        bool is_lanes = k == tensor->ndim;
        order[k] = k;
        if (!tsr_mul(is_lanes ? 1 : tensor->strides[k], is_lanes ? 1 : tensor->dtype.lanes, &strides[k]) ||
            (strides[k] < 0 && !tsr_mul_add(dense->dims[k] - 1, strides[k], &low)))
            return tsr_fail(error, TSR_OVERFLOW, "stride %" PRId64 " of axis %d reaches further than 63 bits",
                            tensor->strides[k], k);
        blocking.read_only |= dense->dims[k] > 1 && strides[k] <= 0;
    }
    if (low < -INT64_MAX / 8)
        return tsr_fail(error, TSR_OVERFLOW, "the extent of the tensor does not fit into 63 bits of bytes");
    blocking.offset = per_byte > 1 ? tsr_ceil_div(-low, per_byte) * per_byte : -low;
    return tsr_desc_blocked(desc, dense->dtype, dense->rank, dense->dims, &blocking, error);
}

/* Where the storage begins. */
static tsr_status find_memory(char **memory, const tsr_desc *desc, const DLTensor *tensor, tsr_error *error)
{
    size_t element = tsr_dtype_size_bytes(desc->dtype);
    if (!tensor->data)
        return tsr_fail(error, TSR_INVALID_ARGUMENT, "the tensor has %" PRId64 " elements and no data",
                        tsr_desc_elements(desc));
    if (tensor->byte_offset % element != 0)
        return tsr_fail(error, TSR_INVALID_ARGUMENT,
                        "byte_offset is %" PRIu64 ", expected a multiple of the %zu bytes of %s", tensor->byte_offset,
                        element, tsr_dtype_name(desc->dtype));
    char *first = (char *)tensor->data + tensor->byte_offset;
    if ((uintptr_t)first % element != 0)
        return tsr_fail(error, TSR_INVALID_ARGUMENT,
                        "data is at address %p, expected a multiple of the %zu bytes of %s", (void *)first, element,
                        tsr_dtype_name(desc->dtype));
    *memory = first - tsr_dlpack_bytes_before(desc);
    return TSR_OK;
}

static tsr_status import(tsr_desc *desc, tsr_storage **storage, const DLTensor *tensor,
                         void (*release)(void *managed, void *memory), void *managed, tsr_error *error)
{
    char *memory = NULL;
    tsr_desc dense, made;
    tsr_status status = check_device(&tensor->device, error);
    if (status == TSR_OK)
        status = read_shape(&dense, tensor, error);
    if (status != TSR_OK)
        return status;
    made = dense;
    if (tsr_desc_elements(&dense) > 0) {
        if (tensor->strides)
            status = read_strides(&made, &dense, tensor, error);
        if (status == TSR_OK)
            status = find_memory(&memory, &made, tensor, error);
    }
    if (status == TSR_OK)
        status = tsr_storage_wrap(storage, memory, (size_t)tsr_desc_size_bytes(&made), release, managed, error);
    if (status == TSR_OK)
        *desc = made;
    return status;
}

static void give_back(void *managed, void *memory)
{
    struct DLManagedTensor *tensor = managed;
    (void)memory;
    if (tensor->deleter)
        tensor->deleter(tensor);
}

tsr_status tsr_dlpack_import(tsr_desc *desc, tsr_storage **storage, struct DLManagedTensor *managed, tsr_error *error)
{
    if (!managed)
        return tsr_fail(error, TSR_INVALID_ARGUMENT, "expected a managed tensor, found NULL");
    return import(desc, storage, &managed->dl_tensor, give_back, managed, error);
}

#if TSR_DLPACK_IS_VERSIONED

enum { FLAG_SUBBYTE_PADDED = 1 << 2 }; /* since 1.1 */

static void give_versioned_back(void *managed, void *memory)
{
    struct DLManagedTensorVersioned *tensor = managed;
    (void)memory;
    if (tensor->deleter)
        tensor->deleter(tensor);
}

tsr_status tsr_dlpack_import_versioned(tsr_desc *desc, tsr_storage **storage, bool *read_only,
                                       struct DLManagedTensorVersioned *managed, tsr_error *error)
{
    if (!managed)
        return tsr_fail(error, TSR_INVALID_ARGUMENT, "expected a managed tensor, found NULL");
    if (managed->version.major != DLPACK_MAJOR_VERSION)
        return tsr_fail(error, TSR_UNSUPPORTED, "the tensor is of DLPack %" PRIu32 ".%" PRIu32 ", expected %d.x",
                        managed->version.major, managed->version.minor, DLPACK_MAJOR_VERSION);
    bool is_read_only = managed->flags & DLPACK_FLAG_BITMASK_READ_ONLY;
    if (is_read_only && !read_only)
        return tsr_fail(error, TSR_UNSUPPORTED, "the tensor is read-only, and the caller does not ask whether it is");
    if (managed->flags & FLAG_SUBBYTE_PADDED && managed->dl_tensor.dtype.bits < 8)
        return tsr_fail(error, TSR_UNSUPPORTED, "elements of %d bits are padded to bytes, expected packed ones",
                        managed->dl_tensor.dtype.bits);
    tsr_status status = import(desc, storage, &managed->dl_tensor, give_versioned_back, managed, error);
    if (status == TSR_OK && read_only)
        *read_only = is_read_only;
    return status;
}

#endif
