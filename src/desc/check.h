/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_SRC_DESC_CHECK_H
#define TESSERA_SRC_DESC_CHECK_H

#include <tessera/desc.h>

/* Type, rank and dims alone: possible, and their product fits. */
tsr_status tsr_check_shape(tsr_dtype dtype, int rank, const int64_t *dims, tsr_error *error);

#endif
