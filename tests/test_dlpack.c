/* SPDX-License-Identifier: Apache-2.0 */
/* Tensors taken over from and lent to others through DLPack. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <tessera/dlpack.h>

#if TSR_HAVE_DLPACK

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dlpack/dlpack.h>

#include "failing_allocator.h"
#include "parsed.h"
#include "random.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Stands in for the C library's: the handle of a wrapped storage comes from the default allocator. */
static bool no_memory;

void *aligned_alloc(size_t alignment, size_t size_bytes);

void *aligned_alloc(size_t alignment, size_t size_bytes)
{
    void *memory = NULL;
    return no_memory || posix_memalign(&memory, alignment, size_bytes) != 0 ? NULL : memory;
}

/* ---- somebody who owns a tensor ---- */

enum { F32_ELEMENTS = 64 };

struct owner {
    struct DLManagedTensor managed;
    int64_t shape[TSR_MAX_RANK + 1], strides[TSR_MAX_RANK + 1];
    float data[F32_ELEMENTS]; /* each holds its index */
    int deleted;
};

static void count_deletion(struct DLManagedTensor *managed)
{
    struct owner *owner = managed->manager_ctx;
    owner->deleted++;
}

/* A row-major f32 tensor without strides. */
static void own(struct owner *owner, int rank, const int64_t *shape)
{
    memset(owner, 0, sizeof *owner);
    for (int k = 0; k < rank; k++)
        owner->shape[k] = shape[k];
    for (int i = 0; i < F32_ELEMENTS; i++)
        owner->data[i] = (float)i;
    owner->managed = (struct DLManagedTensor){
        .dl_tensor = {.data = owner->data,
                      .device = {kDLCPU, 0},
                      .ndim = rank,
                      .dtype = {kDLFloat, 32, 1},
                      .shape = owner->shape},
        .manager_ctx = owner,
        .deleter = count_deletion,
    };
}

static void stride(struct owner *owner, const int64_t *strides)
{
    for (int k = 0; k < owner->managed.dl_tensor.ndim; k++)
        owner->strides[k] = strides[k];
    owner->managed.dl_tensor.strides = owner->strides;
}

static char *data_of(tsr_storage *storage)
{
    void *data = NULL;
    assert_int_equal(tsr_storage_data(storage, &data, NULL), TSR_OK);
    return data;
}

static void expect_imported(struct owner *owner, tsr_desc *desc, tsr_storage **storage)
{
    tsr_error error = {0};
    if (tsr_dlpack_import(desc, storage, &owner->managed, &error) != TSR_OK)
        fail_msg("%s", error.message);
}

/* The element of the row-major number `linear`. */
static int value_at(const tsr_desc *desc, tsr_storage *storage, int64_t linear)
{
    int64_t offset;
    float value;
    assert_int_equal(tsr_desc_offset_linear(desc, linear, &offset, NULL), TSR_OK);
    assert_true((size_t)(offset + 1) * sizeof value <= tsr_storage_capacity_bytes(storage));
    memcpy(&value, data_of(storage) + offset * (int64_t)sizeof value, sizeof value);
    return (int)value;
}

static void expect_released(struct owner *owner, tsr_storage **storage)
{
    assert_int_equal(owner->deleted, 0);
    tsr_storage_release(storage);
    assert_int_equal(owner->deleted, 1);
}

/* ---- import ---- */

static void test_import_dense(void **state)
{
    (void)state;
    struct owner owner;
    tsr_desc desc, expected = parsed_desc("f32:abc 2x3x4");
    tsr_storage *storage = NULL;
    own(&owner, 3, (int64_t[]){2, 3, 4});
    owner.managed.dl_tensor.byte_offset = 12;
    expect_imported(&owner, &desc, &storage);
    assert_true(tsr_desc_equal(&desc, &expected));
    assert_int_equal(tsr_storage_capacity_bytes(storage), 96);
    assert_ptr_equal(data_of(storage), owner.data + 3);
    for (int i = 0; i < 24; i++)
        assert_int_equal(value_at(&desc, storage, i), i + 3);
    expect_released(&owner, &storage);
}

static void test_import_strided(void **state)
{
    static const struct {
        int64_t strides[2];
        int first; /* the element at index 0 */
        const char *desc;
    } rows[] = {
        {{1, 3}, 0, "f32:ba 3x4"},
        {{20, 2}, 0, "f32:[a3:20,b4:2] 3x4"},
        {{-4, 1}, 8, "f32:[a3:-4,b4:1]+8 3x4"},
        {{4, -1}, 3, "f32:[a3:4,b4:-1]+3 3x4"},
        {{-8, -2}, 22, "f32:[a3:-8,b4:-2]+22 3x4"},
        {{0, 1}, 0, "f32:[a3:0,b4:1] 3x4"},
        {{0, -1}, 3, "f32:[a3:0,b4:-1]+3 3x4"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct owner owner;
        tsr_storage *storage = NULL;
        tsr_desc desc, expected = parsed_desc(rows[i].desc);
        own(&owner, 2, (int64_t[]){3, 4});
        stride(&owner, rows[i].strides);
        owner.managed.dl_tensor.byte_offset = (uint64_t)rows[i].first * sizeof(float);
        expect_imported(&owner, &desc, &storage);
        assert_true(tsr_desc_equal(&desc, &expected));
        for (int j = 0; j < 12; j++)
            assert_int_equal(value_at(&desc, storage, j),
                             rows[i].first + j / 4 * rows[i].strides[0] + j % 4 * rows[i].strides[1]);
        expect_released(&owner, &storage);
    }
}

static void test_import_scalar_and_empty(void **state)
{
    (void)state;
    struct owner owner;
    tsr_desc desc;
    tsr_storage *storage = NULL;
    own(&owner, 0, NULL);
    owner.managed.dl_tensor.shape = NULL;
    expect_imported(&owner, &desc, &storage);
    assert_int_equal(desc.rank, 0);
    assert_int_equal(value_at(&desc, storage, 0), 0);
    expect_released(&owner, &storage);

    own(&owner, 2, (int64_t[]){0, 4});
    stride(&owner, (int64_t[]){-4, 1});
    owner.managed.dl_tensor.data = NULL;
    expect_imported(&owner, &desc, &storage);
    assert_int_equal(tsr_desc_elements(&desc), 0);
    assert_int_equal(tsr_storage_capacity_bytes(storage), 0);
    assert_null(data_of(storage));
    expect_released(&owner, &storage);
}

/* Vectors are an axis, and strides count them. */
static void test_import_lanes(void **state)
{
    (void)state;
    struct owner owner;
    tsr_storage *storage = NULL;
    tsr_desc desc, dense = parsed_desc("f32:abc 2x3x4"), strided = parsed_desc("f32:[a2:4,b3:-8,c4:1]+16 2x3x4");
    own(&owner, 2, (int64_t[]){2, 3});
    owner.managed.dl_tensor.dtype.lanes = 4;
    expect_imported(&owner, &desc, &storage);
    assert_true(tsr_desc_equal(&desc, &dense));
    expect_released(&owner, &storage);

    own(&owner, 2, (int64_t[]){2, 3});
    owner.managed.dl_tensor.dtype.lanes = 4;
    owner.managed.dl_tensor.byte_offset = 64;
    stride(&owner, (int64_t[]){1, -2});
    expect_imported(&owner, &desc, &storage);
    assert_true(tsr_desc_equal(&desc, &strided));
    assert_ptr_equal(data_of(storage), owner.data);
    expect_released(&owner, &storage);
}

/* Index 0 is on a whole byte, and so is the start of the storage. */
static void test_import_packed(void **state)
{
    (void)state;
    struct owner owner;
    tsr_desc desc, backwards = parsed_desc("u4:[a4:-1]+4 4"), vectors = parsed_desc("u4:ab 3x2");
    tsr_storage *storage = NULL;
    own(&owner, 1, (int64_t[]){4});
    owner.managed.dl_tensor.dtype = (DLDataType){kDLUInt, 4, 1};
    owner.managed.dl_tensor.byte_offset = 7;
    stride(&owner, (int64_t[]){-1});
    expect_imported(&owner, &desc, &storage);
    assert_true(tsr_desc_equal(&desc, &backwards));
    assert_ptr_equal(data_of(storage), (char *)owner.data + 5);
    assert_int_equal(tsr_storage_capacity_bytes(storage), 3);
    expect_released(&owner, &storage);

    own(&owner, 1, (int64_t[]){3});
    owner.managed.dl_tensor.dtype = (DLDataType){kDLUInt, 4, 2};
    expect_imported(&owner, &desc, &storage);
    assert_true(tsr_desc_equal(&desc, &vectors));
    expect_released(&owner, &storage);
}

static const struct {
    tsr_dtype dtype;
    DLDataType type;
} types[] = {
    {TSR_F32, {kDLFloat, 32, 1}},   {TSR_F64, {kDLFloat, 64, 1}}, {TSR_F16, {kDLFloat, 16, 1}},
    {TSR_BF16, {kDLBfloat, 16, 1}}, {TSR_S8, {kDLInt, 8, 1}},     {TSR_U8, {kDLUInt, 8, 1}},
    {TSR_S16, {kDLInt, 16, 1}},     {TSR_U16, {kDLUInt, 16, 1}},  {TSR_S32, {kDLInt, 32, 1}},
    {TSR_U32, {kDLUInt, 32, 1}},    {TSR_S64, {kDLInt, 64, 1}},   {TSR_U64, {kDLUInt, 64, 1}},
    {TSR_BOOL, {6, 8, 1}},          {TSR_F8_E4M3, {10, 8, 1}},    {TSR_F8_E5M2, {12, 8, 1}},
    {TSR_S4, {kDLInt, 4, 1}},       {TSR_U4, {kDLUInt, 4, 1}},    {TSR_U1, {kDLUInt, 1, 1}},
};

static void test_types(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(types); i++) {
        struct owner owner;
        struct DLManagedTensor *lent = NULL;
        tsr_desc desc, expected;
        tsr_storage *storage = NULL;
        own(&owner, 2, (int64_t[]){3, 5});
        owner.managed.dl_tensor.dtype = types[i].type;
        expect_imported(&owner, &desc, &storage);
        assert_int_equal(tsr_desc_plain(&expected, types[i].dtype, 2, owner.shape, NULL), TSR_OK);
        assert_true(tsr_desc_equal(&desc, &expected));
        assert_int_equal(tsr_storage_capacity_bytes(storage), tsr_desc_size_bytes(&expected));
        assert_int_equal(tsr_dlpack_export(&lent, &desc, storage, NULL, NULL), TSR_OK);
        assert_memory_equal(&lent->dl_tensor.dtype, &types[i].type, sizeof types[i].type);
        lent->deleter(lent);
        expect_released(&owner, &storage);
    }
}

/* ---- refused imports ---- */

static void expect_refused(struct owner *owner, tsr_status status, const char *message)
{
    tsr_desc desc = {.rank = 77};
    tsr_storage *storage = NULL;
    tsr_error error = {0};
    assert_int_equal(tsr_dlpack_import(&desc, &storage, &owner->managed, &error), status);
    assert_string_equal(error.message, message);
    assert_int_equal(desc.rank, 77);
    assert_null(storage);
    assert_int_equal(owner->deleted, 0);
}

static void test_import_refuses_device_or_type(void **state)
{
    static const struct {
        DLDataType type;
        const char *message;
    } rows[] = {
        {{kDLComplex, 64, 1}, "DLPack's type complex (code 5) of 64 bits is none of ours"},
        {{kDLFloat, 128, 1}, "DLPack's type float (code 2) of 128 bits is none of ours"},
        {{kDLInt, 1, 1}, "DLPack's type int (code 0) of 1 bits is none of ours"},
        {{17, 4, 1}, "DLPack's type unknown (code 17) of 4 bits is none of ours"},
        {{kDLUInt, 4, 3}, "3 lanes of 4 bits are no whole bytes"},
    };
    (void)state;
    struct owner owner;
    own(&owner, 2, (int64_t[]){3, 5});
    for (size_t i = 0; i < COUNT(rows); i++) {
        owner.managed.dl_tensor.dtype = rows[i].type;
        expect_refused(&owner, TSR_UNSUPPORTED, rows[i].message);
    }
    owner.managed.dl_tensor.dtype = (DLDataType){kDLFloat, 32, 0};
    expect_refused(&owner, TSR_INVALID_ARGUMENT, "the type has 0 lanes, expected 1 or more");
    own(&owner, 2, (int64_t[]){3, 5});
    owner.managed.dl_tensor.device.device_type = kDLCUDA;
    expect_refused(&owner, TSR_UNSUPPORTED, "the tensor is on device cuda (type 2), expected cpu (type 1)");
    owner.managed.dl_tensor.device.device_type = kDLCUDAHost;
    expect_refused(&owner, TSR_UNSUPPORTED, "the tensor is on device cuda_host (type 3), expected cpu (type 1)");
    owner.managed.dl_tensor.device.device_type = (DLDeviceType)15;
    expect_refused(&owner, TSR_UNSUPPORTED, "the tensor is on device webgpu (type 15), expected cpu (type 1)");
}

static void test_import_refuses_shape(void **state)
{
    (void)state;
    struct owner owner;
    own(&owner, 2, (int64_t[]){3, 5});
    owner.managed.dl_tensor.ndim = -1;
    expect_refused(&owner, TSR_INVALID_ARGUMENT, "the tensor has -1 dims and a shape");
    own(&owner, 2, (int64_t[]){3, 5});
    owner.managed.dl_tensor.shape = NULL;
    expect_refused(&owner, TSR_INVALID_ARGUMENT, "the tensor has 2 dims and no shape");
    own(&owner, 2, (int64_t[]){3, -5});
    expect_refused(&owner, TSR_INVALID_ARGUMENT, "dims[1] is -5, expected 0 or more");
    own(&owner, 2, (int64_t[]){INT64_C(1) << 40, INT64_C(1) << 40});
    expect_refused(&owner, TSR_OVERFLOW, "the product of the dims does not fit into 63 bits of bytes");
    own(&owner, 33, (int64_t[33]){1});
    expect_refused(&owner, TSR_UNSUPPORTED, "the tensor has 33 dims, expected at most 32");
    own(&owner, 32, (int64_t[32]){1});
    owner.managed.dl_tensor.dtype.lanes = 2;
    expect_refused(&owner, TSR_UNSUPPORTED, "the tensor has 32 dims and lanes, expected at most 31");
}

static void test_import_refuses_strides(void **state)
{
    (void)state;
    struct owner owner;
    own(&owner, 2, (int64_t[]){3, 5});
    stride(&owner, (int64_t[]){1, 1});
    expect_refused(&owner, TSR_INVALID_ARGUMENT,
                   "elements overlap: the stride of level 1 (axis 1) is 1, expected more than 2");
    stride(&owner, (int64_t[]){INT64_MAX / 2, 1});
    expect_refused(&owner, TSR_OVERFLOW, "the extent of the buffer does not fit into 63 bits of bytes");
    stride(&owner, (int64_t[]){INT64_MIN, 1});
    expect_refused(&owner, TSR_OVERFLOW, "stride -9223372036854775808 of axis 0 reaches further than 63 bits");
    stride(&owner, (int64_t[]){INT64_MIN / 4, 1});
    expect_refused(&owner, TSR_OVERFLOW, "the extent of the tensor does not fit into 63 bits of bytes");
    stride(&owner, (int64_t[]){INT64_MAX / 2, 1});
    owner.managed.dl_tensor.dtype.lanes = 4;
    expect_refused(&owner, TSR_OVERFLOW, "stride 4611686018427387903 of axis 0 reaches further than 63 bits");
}

static void test_import_refuses_data(void **state)
{
    (void)state;
    struct owner owner;
    char expected[TSR_ERROR_MESSAGE_SIZE];
    own(&owner, 2, (int64_t[]){3, 5});
    owner.managed.dl_tensor.data = NULL;
    expect_refused(&owner, TSR_INVALID_ARGUMENT, "the tensor has 15 elements and no data");
    owner.managed.dl_tensor.data = owner.data;
    owner.managed.dl_tensor.byte_offset = 6;
    expect_refused(&owner, TSR_INVALID_ARGUMENT, "byte_offset is 6, expected a multiple of the 4 bytes of f32");
    owner.managed.dl_tensor.byte_offset = 4;
    owner.managed.dl_tensor.data = (char *)owner.data + 1;
    snprintf(expected, sizeof expected, "data is at address %p, expected a multiple of the 4 bytes of f32",
             (void *)((char *)owner.data + 5));
    expect_refused(&owner, TSR_INVALID_ARGUMENT, expected);
    tsr_desc desc;
    tsr_storage *storage = NULL;
    tsr_error error = {0};
    assert_int_equal(tsr_dlpack_import(&desc, &storage, NULL, &error), TSR_INVALID_ARGUMENT);
    assert_string_equal(error.message, "expected a managed tensor, found NULL");
}

static void test_import_without_memory(void **state)
{
    (void)state;
    struct owner owner;
    own(&owner, 2, (int64_t[]){3, 5});
    no_memory = true;
    expect_refused(&owner, TSR_OUT_OF_MEMORY, "no memory for a storage handle");
    no_memory = false;
    tsr_desc desc;
    tsr_storage *storage = NULL;
    expect_imported(&owner, &desc, &storage);
    expect_released(&owner, &storage);
}

/* ---- whose it is ---- */

static void test_deleter(void **state)
{
    (void)state;
    struct owner owner;
    tsr_desc desc;
    tsr_storage *storage = NULL;
    own(&owner, 2, (int64_t[]){3, 5});
    expect_imported(&owner, &desc, &storage);
    tsr_storage *other = tsr_storage_share(storage);
    tsr_storage_release(&storage);
    expect_released(&owner, &other);

    own(&owner, 2, (int64_t[]){3, 5});
    owner.managed.deleter = NULL;
    expect_imported(&owner, &desc, &storage);
    tsr_storage_release(&storage);
    assert_int_equal(owner.deleted, 0);
}

/* ---- export ---- */

/* A storage that holds the descriptor. */
static tsr_storage *storage_for(const tsr_desc *desc, const tsr_allocator *allocator)
{
    tsr_storage *storage = NULL;
    assert_int_equal(tsr_storage_create(&storage, (size_t)tsr_desc_size_bytes(desc), allocator, NULL), TSR_OK);
    return storage;
}

static void test_export(void **state)
{
    static const struct {
        const char *desc;
        int64_t strides[4];
        int64_t start;
    } rows[] = {
        {"f32:nchw 2x3x4x5", {60, 20, 5, 1}, 0},
        {"f32:nhwc 2x3x4x5", {60, 1, 15, 3}, 0},
        {"f32:nhwc 1x3x1x5", {1, 1, 1, 3}, 0},
        {"f32:[a2:200,b3:50,c4:10,d5:1]+7 2x3x4x5", {200, 50, 10, 1}, 7},
        {"f32:[a2:60,b3:20,c4:-5,d5:-1]+19 2x3x4x5", {60, 20, -5, -1}, 19},
        {"f32:[a2:0,b3:20,c4:5,d5:1] 2x3x4x5", {0, 20, 5, 1}, 0},
        {"f32:[a2:60,b3:20,c2:10,c2:5,d5:1] 2x3x4x5", {60, 20, 5, 1}, 0},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        failing_allocator counter = {0};
        tsr_allocator allocator = failing_allocator_of(&counter);
        struct DLManagedTensor *managed = NULL;
        tsr_desc desc = parsed_desc(rows[i].desc);
        tsr_storage *storage = storage_for(&desc, &allocator);
        assert_int_equal(tsr_dlpack_export(&managed, &desc, storage, &allocator, NULL), TSR_OK);
        const DLTensor *tensor = &managed->dl_tensor;
        assert_ptr_equal(tensor->data, data_of(storage) + 4 * rows[i].start);
        assert_int_equal(tensor->byte_offset, 0);
        assert_int_equal(tensor->device.device_type, kDLCPU);
        assert_int_equal(tensor->device.device_id, 0);
        assert_int_equal(tensor->ndim, 4);
        assert_memory_equal(tensor->shape, desc.dims, 4 * sizeof desc.dims[0]);
        assert_memory_equal(tensor->strides, rows[i].strides, sizeof rows[i].strides);
        tsr_storage_release(&storage);
        *(float *)tensor->data = 1; /* it is still there */
        managed->deleter(managed);
        assert_int_equal(counter.live, 0);
        assert_int_equal(counter.live_bytes, 0);
    }
}

static void test_export_scalar_and_empty(void **state)
{
    (void)state;
    struct DLManagedTensor *managed = NULL;
    tsr_desc scalar = parsed_desc("f32:scalar scalar"), empty = parsed_desc("f32:nchw 2x0x4x5");
    tsr_storage *storage = storage_for(&scalar, NULL);
    assert_int_equal(tsr_dlpack_export(&managed, &scalar, storage, NULL, NULL), TSR_OK);
    assert_int_equal(managed->dl_tensor.ndim, 0);
    assert_non_null(managed->dl_tensor.shape);
    assert_non_null(managed->dl_tensor.strides);
    assert_ptr_equal(managed->dl_tensor.data, data_of(storage));
    managed->deleter(managed);
    tsr_storage_release(&storage);

    storage = storage_for(&empty, NULL);
    assert_int_equal(tsr_dlpack_export(&managed, &empty, storage, NULL, NULL), TSR_OK);
    assert_null(managed->dl_tensor.data);
    assert_int_equal(managed->dl_tensor.shape[1], 0);
    assert_non_null(managed->dl_tensor.strides);
    managed->deleter(managed);
    tsr_storage_release(&storage);
}

static void test_export_refuses(void **state)
{
    static const struct {
        const char *desc;
        const char *message;
    } rows[] = {
        {"f32:nChw8c 2x16x4x5", "axis 1 has blocks, and DLPack has none"},
        {"f32:[a2:8,b8:1] 2x5", "axis 1 is padded from 5 to 8, and DLPack has no padding"},
        {"f32:[b2:8,a2:4,b4:1]@b3 2x4", "axis 1 is a window, and DLPack has none"},
        {"nf4:ab 2x4", "DLPack has no type nf4"},
        {"q78:ab 2x4", "DLPack has no type q78"},
        {"u4:ba 2x4", "elements of 4 bits are not row-major and dense"},
        {"u4:[a2:8,b4:1] 2x4", "elements of 4 bits are not row-major and dense"},
        {"u1:[a2:4,b4:1]+4 2x4", "elements of 1 bits begin at offset 4, inside a byte"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        tsr_desc desc = parsed_desc(rows[i].desc);
        tsr_storage *storage = storage_for(&desc, NULL);
        struct DLManagedTensor *managed = NULL;
        tsr_error error = {0};
        assert_int_equal(tsr_dlpack_export(&managed, &desc, storage, NULL, &error), TSR_UNSUPPORTED);
        assert_string_equal(error.message, rows[i].message);
        assert_null(managed);
        assert_false(tsr_storage_is_allocated(storage));
        tsr_storage_release(&storage);
    }
}

static void test_export_refuses_storage(void **state)
{
    (void)state;
    _Alignas(64) char bytes[64] = {0};
    tsr_desc desc = parsed_desc("f32:ab 3x4");
    tsr_storage *storage = NULL;
    struct DLManagedTensor *managed = NULL;
    tsr_error error = {0};
    char expected[TSR_ERROR_MESSAGE_SIZE];
    assert_int_equal(tsr_storage_create(&storage, 47, NULL, NULL), TSR_OK);
    assert_int_equal(tsr_dlpack_export(&managed, &desc, storage, NULL, &error), TSR_INVALID_ARGUMENT);
    assert_string_equal(error.message, "the tensor needs 48 bytes, the storage has 47");
    tsr_storage_release(&storage);
    assert_int_equal(tsr_storage_wrap(&storage, bytes + 2, 48, NULL, NULL, NULL), TSR_OK);
    assert_int_equal(tsr_dlpack_export(&managed, &desc, storage, NULL, &error), TSR_UNSUPPORTED);
    snprintf(expected, sizeof expected, "the storage is at address %p, expected a multiple of the 4 bytes of f32",
             (void *)(bytes + 2));
    assert_string_equal(error.message, expected);
    tsr_storage_release(&storage);
}

/* The handle and the memory of the storage, and the managed tensor: each may be missing. */
static void test_export_without_memory(void **state)
{
    (void)state;
    tsr_desc desc = parsed_desc("f32:nhwc 2x3x4x5");
    for (int fail_at = 1; fail_at <= 4; fail_at++) {
        failing_allocator counter = {.fail_at = fail_at};
        tsr_allocator allocator = failing_allocator_of(&counter);
        tsr_storage *storage = NULL;
        struct DLManagedTensor *managed = NULL;
        tsr_error error = {0};
        tsr_status status = tsr_storage_create(&storage, (size_t)tsr_desc_size_bytes(&desc), &allocator, &error);
        if (status == TSR_OK)
            status = tsr_dlpack_export(&managed, &desc, storage, &allocator, &error);
        assert_int_equal(status, fail_at < 4 ? TSR_OUT_OF_MEMORY : TSR_OK);
        if (fail_at == 3)
            assert_string_equal(error.message, "no memory for a managed tensor");
        assert_int_equal(managed != NULL, status == TSR_OK);
        if (managed)
            managed->deleter(managed);
        tsr_storage_release(&storage);
        assert_int_equal(counter.live, 0);
        assert_int_equal(counter.live_bytes, 0);
    }
}

/* ---- the versioned form ---- */

#ifdef DLPACK_MAJOR_VERSION

struct versioned_owner {
    struct DLManagedTensorVersioned managed;
    struct owner owner;
};

static void count_versioned_deletion(struct DLManagedTensorVersioned *managed)
{
    struct owner *owner = managed->manager_ctx;
    owner->deleted++;
}

static void own_versioned(struct versioned_owner *owner, uint64_t flags)
{
    own(&owner->owner, 2, (int64_t[]){3, 5});
    owner->managed = (struct DLManagedTensorVersioned){
        .version = {DLPACK_MAJOR_VERSION, 99},
        .manager_ctx = &owner->owner,
        .deleter = count_versioned_deletion,
        .flags = flags,
        .dl_tensor = owner->owner.managed.dl_tensor,
    };
}

static void test_versioned_import(void **state)
{
    (void)state;
    struct versioned_owner owner;
    tsr_desc desc, expected = parsed_desc("f32:ab 3x5");
    tsr_storage *storage = NULL;
    for (uint64_t flags = 0; flags < 4; flags++) {
        bool read_only = !(flags & 1);
        own_versioned(&owner, flags);
        assert_int_equal(tsr_dlpack_import_versioned(&desc, &storage, &read_only, &owner.managed, NULL), TSR_OK);
        assert_int_equal(read_only, flags & 1);
        assert_true(tsr_desc_equal(&desc, &expected));
        expect_released(&owner.owner, &storage);
    }
    own_versioned(&owner, 0);
    assert_int_equal(tsr_dlpack_import_versioned(&desc, &storage, NULL, &owner.managed, NULL), TSR_OK);
    expect_released(&owner.owner, &storage);
}

static void expect_versioned_refused(struct versioned_owner *owner, bool *read_only, tsr_status status,
                                     const char *message)
{
    tsr_desc desc = {.rank = 77};
    tsr_storage *storage = NULL;
    tsr_error error = {0};
    assert_int_equal(tsr_dlpack_import_versioned(&desc, &storage, read_only, owner ? &owner->managed : NULL, &error),
                     status);
    assert_string_equal(error.message, message);
    assert_null(storage);
    assert_int_equal(desc.rank, 77);
    if (owner)
        assert_int_equal(owner->owner.deleted, 0);
}

static void test_versioned_import_refuses(void **state)
{
    (void)state;
    struct versioned_owner owner;
    bool read_only = true;
    own_versioned(&owner, 0);
    owner.managed.version.major = DLPACK_MAJOR_VERSION + 1;
    expect_versioned_refused(&owner, &read_only, TSR_UNSUPPORTED, "the tensor is of DLPack 2.99, expected 1.x");
    own_versioned(&owner, DLPACK_FLAG_BITMASK_READ_ONLY);
    expect_versioned_refused(&owner, NULL, TSR_UNSUPPORTED,
                             "the tensor is read-only, and the caller does not ask whether it is");
    own_versioned(&owner, 1 << 2);
    owner.managed.dl_tensor.dtype = (DLDataType){kDLUInt, 4, 1};
    expect_versioned_refused(&owner, &read_only, TSR_UNSUPPORTED,
                             "elements of 4 bits are padded to bytes, expected packed ones");
    own_versioned(&owner, 0);
    owner.managed.dl_tensor.device.device_type = kDLROCM;
    expect_versioned_refused(&owner, &read_only, TSR_UNSUPPORTED,
                             "the tensor is on device rocm (type 10), expected cpu (type 1)");
    own_versioned(&owner, 0);
    no_memory = true;
    expect_versioned_refused(&owner, &read_only, TSR_OUT_OF_MEMORY, "no memory for a storage handle");
    no_memory = false;
    expect_versioned_refused(NULL, &read_only, TSR_INVALID_ARGUMENT, "expected a managed tensor, found NULL");
    assert_true(read_only);
}

static void test_versioned_export(void **state)
{
    static const struct {
        const char *desc;
        bool read_only;
        uint32_t minor;
        uint64_t flags;
    } rows[] = {
        {"f32:nhwc 2x3x4x5", false, 0, 0},
        {"f32:nhwc 2x3x4x5", true, 0, DLPACK_FLAG_BITMASK_READ_ONLY},
        {"f32:[a2:0,b3:1] 2x3", false, 0, DLPACK_FLAG_BITMASK_READ_ONLY},
        {"f8_e4m3:ab 2x3", false, 1, 0},
        {"u4:ab 2x3", false, 1, 0},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        failing_allocator counter = {0};
        tsr_allocator allocator = failing_allocator_of(&counter);
        struct DLManagedTensorVersioned *managed = NULL;
        tsr_desc desc = parsed_desc(rows[i].desc);
        tsr_storage *storage = storage_for(&desc, &allocator);
        assert_int_equal(tsr_dlpack_export_versioned(&managed, &desc, storage, rows[i].read_only, &allocator, NULL),
                         TSR_OK);
        assert_int_equal(managed->version.major, DLPACK_MAJOR_VERSION);
        assert_int_equal(managed->version.minor,
                         rows[i].minor > DLPACK_MINOR_VERSION ? rows[i].minor : DLPACK_MINOR_VERSION);
        assert_int_equal(managed->flags, rows[i].flags);
        assert_ptr_equal(managed->dl_tensor.data, data_of(storage));
        tsr_storage_release(&storage);
        managed->deleter(managed);
        assert_int_equal(counter.live, 0);
    }
    failing_allocator counter = {.fail_at = 1};
    tsr_allocator allocator = failing_allocator_of(&counter);
    tsr_desc desc = parsed_desc("f32:nhwc 2x3x4x5");
    tsr_storage *storage = storage_for(&desc, NULL);
    struct DLManagedTensorVersioned *managed = NULL;
    assert_int_equal(tsr_dlpack_export_versioned(&managed, &desc, storage, false, &allocator, NULL), TSR_OUT_OF_MEMORY);
    assert_null(managed);
    tsr_storage_release(&storage);
}

#else

static void test_versioned_is_absent(void **state)
{
    static const char message[] = "this build's DLPack is older than 1.0 and has no DLManagedTensorVersioned";
    (void)state;
    struct DLManagedTensorVersioned *managed = NULL;
    tsr_desc desc = parsed_desc("f32:ab 3x4");
    tsr_storage *storage = NULL;
    tsr_error error = {0};
    assert_int_equal(tsr_dlpack_import_versioned(&desc, &storage, NULL, managed, &error), TSR_UNSUPPORTED);
    assert_string_equal(error.message, message);
    error = (tsr_error){0};
    assert_int_equal(tsr_dlpack_export_versioned(&managed, &desc, storage, false, NULL, &error), TSR_UNSUPPORTED);
    assert_string_equal(error.message, message);
}

#endif

/* ---- there and back ---- */

/* Lends in one of the two forms, and takes over what was lent. */
static tsr_status lend_and_borrow(tsr_random *random, tsr_desc *found, tsr_storage **borrowed, const tsr_desc *desc,
                                  tsr_storage *storage, const tsr_allocator *allocator)
{
    struct DLManagedTensor *managed = NULL;
    tsr_error error = {0};
#ifdef DLPACK_MAJOR_VERSION
    if (tsr_random_chance(random, 2)) {
        struct DLManagedTensorVersioned *versioned = NULL;
        bool read_only;
        tsr_status status = tsr_dlpack_export_versioned(&versioned, desc, storage, false, allocator, &error);
        if (status == TSR_OK && tsr_dlpack_import_versioned(found, borrowed, &read_only, versioned, &error) != TSR_OK)
            fail_msg("%s", error.message);
        return status;
    }
#endif
    (void)random;
    tsr_status status = tsr_dlpack_export(&managed, desc, storage, allocator, &error);
    if (status == TSR_OK && tsr_dlpack_import(found, borrowed, managed, &error) != TSR_OK)
        fail_msg("%s", error.message);
    return status;
}

static tsr_desc random_strided_desc(tsr_random *random)
{
    int64_t dims[TSR_MAX_RANK];
    int rank = (int)tsr_random_range(random, 0, tsr_random_chance(random, 8) ? 12 : 5);
    tsr_random_options options = {.strided = tsr_random_chance(random, 2),
                                  .max_blocks = tsr_random_chance(random, 8),
                                  .offset = tsr_random_chance(random, 2),
                                  .pad_before = tsr_random_chance(random, 4),
                                  .broadcast = tsr_random_chance(random, 8)};
    tsr_random_dims(random, rank, 1024, dims);
    tsr_desc desc =
        tsr_random_desc(random, types[tsr_random_range(random, 0, COUNT(types) - 1)].dtype, rank, dims, &options);
    for (int k = 0; k < rank; k++)
        if (tsr_random_chance(random, 6))
            (void)!tsr_view_reverse(&desc, &desc, k, NULL);
    return desc;
}

/* Every element is where it was. */
static void expect_same_places(tsr_random *random, const tsr_desc *a, const char *at_a, const tsr_desc *b,
                               const char *at_b)
{
    int64_t bits = tsr_dtype_bits(a->dtype), elements = tsr_desc_elements(a), offset_a, offset_b;
    for (int i = 0; i < 8; i++) {
        int64_t linear = i == 0 ? elements - 1 : tsr_random_range(random, 0, elements - 1);
        assert_int_equal(tsr_desc_offset_linear(a, linear, &offset_a, NULL), TSR_OK);
        assert_int_equal(tsr_desc_offset_linear(b, linear, &offset_b, NULL), TSR_OK);
        assert_int_equal((at_b - at_a) * 8, (offset_a - offset_b) * bits);
    }
}

static void test_random_round_trips(void **state)
{
    tsr_random random;
    int lent = 0, refused = 0, cases = tsr_random_cases(100000);
    (void)state;
    tsr_random_seed_from_environment(&random);
    while (lent < cases) {
        failing_allocator counter = {0};
        tsr_allocator allocator = failing_allocator_of(&counter);
        tsr_desc desc = random_strided_desc(&random), found;
        tsr_storage *storage = storage_for(&desc, &allocator), *borrowed = NULL;
        tsr_status status = lend_and_borrow(&random, &found, &borrowed, &desc, storage, &allocator);
        if (status == TSR_OK) {
            char *before = data_of(storage);
            assert_int_equal(found.dtype, desc.dtype);
            assert_int_equal(found.rank, desc.rank);
            assert_memory_equal(found.dims, desc.dims, sizeof desc.dims);
            tsr_storage_release(&storage); /* the loan keeps it */
            expect_same_places(&random, &desc, before, &found, data_of(borrowed));
            assert_true((size_t)tsr_desc_size_bytes(&found) <= tsr_storage_capacity_bytes(borrowed));
            tsr_storage_release(&borrowed);
            lent++;
        } else {
            assert_int_equal(status, TSR_UNSUPPORTED);
            tsr_storage_release(&storage);
            refused++;
        }
        assert_int_equal(counter.live, 0);
        assert_int_equal(counter.live_bytes, 0);
    }
    print_message("# %d round trips, %d refused\n", lent, refused);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_import_dense),
        cmocka_unit_test(test_import_strided),
        cmocka_unit_test(test_import_scalar_and_empty),
        cmocka_unit_test(test_import_lanes),
        cmocka_unit_test(test_import_packed),
        cmocka_unit_test(test_types),
        cmocka_unit_test(test_import_refuses_device_or_type),
        cmocka_unit_test(test_import_refuses_shape),
        cmocka_unit_test(test_import_refuses_strides),
        cmocka_unit_test(test_import_refuses_data),
        cmocka_unit_test(test_import_without_memory),
        cmocka_unit_test(test_deleter),
        cmocka_unit_test(test_export),
        cmocka_unit_test(test_export_scalar_and_empty),
        cmocka_unit_test(test_export_refuses),
        cmocka_unit_test(test_export_refuses_storage),
        cmocka_unit_test(test_export_without_memory),
#ifdef DLPACK_MAJOR_VERSION
        cmocka_unit_test(test_versioned_import),
        cmocka_unit_test(test_versioned_import_refuses),
        cmocka_unit_test(test_versioned_export),
#else
        cmocka_unit_test(test_versioned_is_absent),
#endif
        cmocka_unit_test(test_random_round_trips),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

static void test_absent(void **state)
{
    tsr_desc desc = {0};
    tsr_storage *storage = NULL;
    struct DLManagedTensor *managed = NULL;
    struct DLManagedTensorVersioned *versioned = NULL;
    tsr_error errors[4] = {{0}};
    (void)state;
    assert_int_equal(tsr_dlpack_import(&desc, &storage, managed, &errors[0]), TSR_UNSUPPORTED);
    assert_int_equal(tsr_dlpack_import_versioned(&desc, &storage, NULL, versioned, &errors[1]), TSR_UNSUPPORTED);
    assert_int_equal(tsr_dlpack_export(&managed, &desc, storage, NULL, &errors[2]), TSR_UNSUPPORTED);
    assert_int_equal(tsr_dlpack_export_versioned(&versioned, &desc, storage, false, NULL, &errors[3]), TSR_UNSUPPORTED);
    for (int i = 0; i < 4; i++)
        assert_string_equal(errors[i].message, "this build has no DLPack");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_absent)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
