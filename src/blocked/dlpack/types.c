/* SPDX-License-Identifier: Apache-2.0 */
#include "blocked/dlpack/types.h"

/*
 * The numbers of type codes are the same in all versions, so that those which this header does not
 * name yet can be met too. Packing, and f8, were defined in 1.1.
 */
enum { CODE_BOOL = 6, CODE_F8_E4M3FN = 10, CODE_F8_E5M2 = 12 };

static const tsr_dlpack_type types[] = {
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

const tsr_dlpack_type *tsr_dlpack_type_of(tsr_dtype dtype)
{
    for (int i = 0; i < TYPES; i++)
        if (types[i].dtype == dtype)
            return &types[i];
    return NULL;
}

const tsr_dlpack_type *tsr_dlpack_find_type(DLDataType type)
{
    for (int i = 0; i < TYPES; i++)
        if (types[i].code == type.code && types[i].bits == type.bits)
            return &types[i];
    return NULL;
}

int64_t tsr_dlpack_bytes_before(const tsr_desc *desc)
{
    int64_t bits = tsr_dtype_bits(desc->dtype);
    return bits < 8 ? desc->offset / (8 / bits) : desc->offset * (bits / 8);
}
