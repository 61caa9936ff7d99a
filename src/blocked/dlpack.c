/* SPDX-License-Identifier: Apache-2.0 */
#include <tessera/dlpack.h>

#include <inttypes.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/int.h"

#if TSR_HAVE_DLPACK
#include <dlpack/dlpack.h>
#endif

#if TSR_HAVE_DLPACK && defined(DLPACK_MAJOR_VERSION)
#define IS_VERSIONED 1
#else
#define IS_VERSIONED 0
#endif

#if TSR_HAVE_DLPACK

/*
 * The numbers of type codes are the same in all versions, so that those which this header does not
 * name yet can be met too. Packing, and f8, were defined in 1.1.
 */
enum { CODE_BOOL = 6, CODE_F8_E4M3FN = 10, CODE_F8_E5M2 = 12 };

static const struct type {
    tsr_dtype dtype;
    uint8_t code, bits;
    uint32_t minor; /* the version 1.x that defined it */
} types[] = {
    {TSR_F32, kDLFloat, 32, 0},
    {TSR_F64, kDLFloat, 64, 0},
    {TSR_F16, kDLFloat, 16, 0},
    {TSR_BF16, kDLBfloat, 16, 0},
    {TSR_S8, kDLInt, 8, 0},
    {TSR_U8, kDLUInt, 8, 0},
    {TSR_S16, kDLInt, 16, 0},
    {TSR_U16, kDLUInt, 16, 0},
    {TSR_S32, kDLInt, 32, 0},
    {TSR_U32, kDLUInt, 32, 0},
    {TSR_S64, kDLInt, 64, 0},
    {TSR_U64, kDLUInt, 64, 0},
    {TSR_BOOL, CODE_BOOL, 8, 0},
    {TSR_F8_E4M3, CODE_F8_E4M3FN, 8, 1},
    {TSR_F8_E5M2, CODE_F8_E5M2, 8, 1},
    {TSR_S4, kDLInt, 4, 1},
    {TSR_U4, kDLUInt, 4, 1},
    {TSR_U1, kDLUInt, 1, 1},
};
enum { TYPES = sizeof types / sizeof types[0] };

/* ---- import ---- */

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
    for (int i = 0; i < TYPES; i++)
        if (types[i].code == type.code && types[i].bits == type.bits) {
            *dtype = types[i].dtype;
            return TSR_OK;
        }
    return tsr_fail(error, TSR_UNSUPPORTED, "DLPack's type %s (code %d) of %d bits is none of ours",
                    type.code < sizeof names / sizeof names[0] ? names[type.code] : "unknown", type.code, type.bits);
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
    *memory = first - desc->offset * tsr_dtype_bits(desc->dtype) / 8;
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

/* ---- export ---- */

/* What the deleter needs to know, and the arrays that the tensor points to. */
struct loan {
    tsr_storage *storage;
    tsr_allocator allocator;
    int64_t shape[TSR_MAX_RANK], strides[TSR_MAX_RANK];
    struct DLManagedTensor managed;
#if IS_VERSIONED
    struct DLManagedTensorVersioned versioned;
#endif
};

static const struct type *find_type(tsr_dtype dtype)
{
    for (int i = 0; i < TYPES; i++)
        if (types[i].dtype == dtype)
            return &types[i];
    return NULL;
}

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
    *data = (char *)memory + canonical->offset * tsr_dtype_bits(canonical->dtype) / 8;
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
    const struct type *type = find_type(canonical->dtype);
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
    if (!find_type(desc->dtype))
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

#endif

/* ---- the versioned form ---- */

#if IS_VERSIONED

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
    int64_t minor = tsr_max(find_type(desc->dtype)->minor, DLPACK_MINOR_VERSION);
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

/* ---- a build without dlpack.h, or with an old one ---- */

#if !TSR_HAVE_DLPACK

static const char absent[] = "this build has no DLPack";

tsr_status tsr_dlpack_import(tsr_desc *desc, tsr_storage **storage, struct DLManagedTensor *managed, tsr_error *error)
{
    (void)desc;
    (void)storage;
    (void)managed;
    return tsr_fail(error, TSR_UNSUPPORTED, "%s", absent);
}

tsr_status tsr_dlpack_export(struct DLManagedTensor **managed, const tsr_desc *desc, tsr_storage *storage,
                             const tsr_allocator *allocator, tsr_error *error)
{
    (void)managed;
    (void)desc;
    (void)storage;
    (void)allocator;
    return tsr_fail(error, TSR_UNSUPPORTED, "%s", absent);
}

#elif !IS_VERSIONED

static const char absent[] = "this build's DLPack is older than 1.0 and has no DLManagedTensorVersioned";

#endif

#if !IS_VERSIONED

tsr_status tsr_dlpack_import_versioned(tsr_desc *desc, tsr_storage **storage, bool *read_only,
                                       struct DLManagedTensorVersioned *managed, tsr_error *error)
{
    (void)desc;
    (void)storage;
    (void)read_only;
    (void)managed;
    return tsr_fail(error, TSR_UNSUPPORTED, "%s", absent);
}

tsr_status tsr_dlpack_export_versioned(struct DLManagedTensorVersioned **managed, const tsr_desc *desc,
                                       tsr_storage *storage, bool read_only, const tsr_allocator *allocator,
                                       tsr_error *error)
{
    (void)managed;
    (void)desc;
    (void)storage;
    (void)read_only;
    (void)allocator;
    return tsr_fail(error, TSR_UNSUPPORTED, "%s", absent);
}

#endif
