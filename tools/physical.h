/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_TOOLS_PHYSICAL_H
#define TESSERA_TOOLS_PHYSICAL_H

#include <tessera/tessera.h>

/*
 * An array in a file has one axis for each block level of the layout that it holds. This gives the
 * descriptor of that tensor: type and strides from the array, order and blocks from the layout,
 * dims from the caller or, when dims is NULL, from the array as if every block were full.
 */
tsr_status desc_of_array(tsr_desc *desc, const tsr_desc *array, const char *layout, const int64_t *dims, int rank,
                         tsr_error *error);

/* Can a file hold this layout: does it begin at 0, and have no gaps and no overlaps? */
bool is_dense(const tsr_desc *desc);

#endif
