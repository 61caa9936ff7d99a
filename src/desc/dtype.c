/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include <tessera/dtype.h>

#include "base/error.h"

static const struct {
    const char *name;
    int bits;
} types[TSR_DTYPE_COUNT] = {
    [TSR_DTYPE_NONE] = {"none", 0}, [TSR_F32] = {"f32", 32},   [TSR_F64] = {"f64", 64},
    [TSR_F16] = {"f16", 16},        [TSR_BF16] = {"bf16", 16}, [TSR_S8] = {"s8", 8},
    [TSR_U8] = {"u8", 8},           [TSR_S16] = {"s16", 16},   [TSR_U16] = {"u16", 16},
    [TSR_S32] = {"s32", 32},        [TSR_U32] = {"u32", 32},   [TSR_S64] = {"s64", 64},
    [TSR_U64] = {"u64", 64},        [TSR_BOOL] = {"bool", 8},  [TSR_F8_E4M3] = {"f8_e4m3", 8},
    [TSR_F8_E5M2] = {"f8_e5m2", 8}, [TSR_Q78] = {"q78", 16},   [TSR_S4] = {"s4", 4},
    [TSR_U4] = {"u4", 4},           [TSR_NF4] = {"nf4", 4},    [TSR_U1] = {"u1", 1},
};

static size_t row_of(tsr_dtype dtype)
{
    return (size_t)dtype < TSR_DTYPE_COUNT ? (size_t)dtype : TSR_DTYPE_NONE;
}

int tsr_dtype_bits(tsr_dtype dtype)
{
    return types[row_of(dtype)].bits;
}

size_t tsr_dtype_size_bytes(tsr_dtype dtype)
{
    return ((size_t)tsr_dtype_bits(dtype) + 7) / 8;
}

const char *tsr_dtype_name(tsr_dtype dtype)
{
    return types[row_of(dtype)].name;
}

tsr_status tsr_dtype_parse(tsr_dtype *dtype, const char *name, tsr_error *error)
{
    for (int i = TSR_DTYPE_NONE + 1; i < TSR_DTYPE_COUNT; i++) {
        if (strcmp(name, types[i].name) == 0) {
            *dtype = (tsr_dtype)i;
            return TSR_OK;
        }
    }
    return tsr_fail(error, TSR_PARSE_ERROR, "expected a type such as f32, bf16 or u8, found \"%.40s\"", name);
}
