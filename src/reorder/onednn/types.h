/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_SRC_REORDER_ONEDNN_TYPES_H
#define TESSERA_SRC_REORDER_ONEDNN_TYPES_H

#include <tessera/dtype.h>

#include "reorder/onednn/compat.h"

/* oneDNN's number for a type, and the way back; false where the other side does not have it. */
bool tsr_onednn_type(dnnl_data_type_t *type, tsr_dtype dtype);
bool tsr_dtype_of_onednn(tsr_dtype *dtype, dnnl_data_type_t type);

#endif
