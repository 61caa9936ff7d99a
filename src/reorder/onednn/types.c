/* SPDX-License-Identifier: Apache-2.0 */
#include "reorder/onednn/types.h"

static const struct {
    tsr_dtype dtype;
    dnnl_data_type_t type;
} types[] = {
    {TSR_F32, dnnl_f32},      {TSR_F16, dnnl_f16},         {TSR_BF16, dnnl_bf16},
    {TSR_S8, dnnl_s8},        {TSR_U8, dnnl_u8},           {TSR_S32, dnnl_s32},
#if TSR_ONEDNN_AT_LEAST(3, 0)
    {TSR_F64, dnnl_f64},
#endif
#if TSR_ONEDNN_AT_LEAST(3, 4)
    {TSR_BOOL, dnnl_boolean}, {TSR_F8_E4M3, dnnl_f8_e4m3}, {TSR_F8_E5M2, dnnl_f8_e5m2},
    {TSR_S4, dnnl_s4},        {TSR_U4, dnnl_u4},
#endif
};
enum { TYPES = sizeof types / sizeof types[0] };

bool tsr_onednn_type(dnnl_data_type_t *type, tsr_dtype dtype)
{
    for (int i = 0; i < TYPES; i++)
        if (types[i].dtype == dtype) {
            *type = types[i].type;
            return true;
        }
    return false;
}

bool tsr_dtype_of_onednn(tsr_dtype *dtype, dnnl_data_type_t type)
{
    for (int i = 0; i < TYPES; i++)
        if (types[i].type == type) {
            *dtype = types[i].dtype;
            return true;
        }
    return false;
}
