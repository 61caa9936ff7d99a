/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_TESTS_SAME_H
#define TESSERA_TESTS_SAME_H

#include <string.h>

#include <tessera/desc.h>

/* Are all fields the same, those beyond rank and levels too? (tsr_desc_equal asks whether the memory is.) */
static inline bool tsr_same_fields(const tsr_desc *a, const tsr_desc *b)
{
    return a->dtype == b->dtype && a->rank == b->rank && a->levels == b->levels && a->offset == b->offset &&
           memcmp(a->dims, b->dims, sizeof a->dims) == 0 && memcmp(a->first, b->first, sizeof a->first) == 0 &&
           memcmp(a->step, b->step, sizeof a->step) == 0 &&
           memcmp(a->block_dims, b->block_dims, sizeof a->block_dims) == 0 &&
           memcmp(a->strides, b->strides, sizeof a->strides) == 0 &&
           memcmp(a->pad_before, b->pad_before, sizeof a->pad_before) == 0 &&
           memcmp(a->order, b->order, sizeof a->order) == 0;
}

#endif
