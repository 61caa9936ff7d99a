/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "desc/rewrite.h"

/* Without elements there is no memory: all such tensors are the dense one. */
static void lay_nothing(tsr_desc *canonical)
{
    for (int k = 0; k < canonical->rank; k++)
        tsr_insert_level(canonical, k, k, canonical->dims[k], 1);
}

/* Levels of one step say nothing; each stands behind the outermost level of the axis before its own. */
static void place_single_steps(tsr_desc *canonical, uint32_t missing)
{
    int place = 0;
    for (int k = 0; k < canonical->rank; k++) {
        if (missing >> k & 1)
            tsr_insert_level(canonical, place, k, 1, 1);
        place = 0;
        while (canonical->order[place] != k)
            place++;
        place++;
    }
}

void tsr_desc_canonical(tsr_desc *canonical, const tsr_desc *desc)
{
    tsr_desc made = {.dtype = desc->dtype, .rank = desc->rank};
    uint32_t missing = 0;
    memcpy(made.dims, desc->dims, (size_t)desc->rank * sizeof made.dims[0]);
    if (tsr_desc_elements(desc) == 0) {
        lay_nothing(&made);
        *canonical = made;
        return;
    }
    made.offset = tsr_desc_start(desc);
    for (int k = 0; k < desc->rank; k++) {
        tsr_digits digits;
        tsr_digits_of_axis(&digits, desc, k);
        tsr_digits_fit(&digits);
        if (digits.extent == 1) {
            missing |= 1U << k;
            made.offset += digits.start;
        } else {
            /* digits are never more than the levels that they come from */
            (void)!tsr_rewrite_axis(&made, k, &digits, NULL);
        }
    }
    place_single_steps(&made, missing);
    *canonical = made;
}

static void hash_numbers(uint64_t *hash, const int64_t *numbers, int count)
{
    for (int i = 0; i < count; i++)
        for (int shift = 0; shift < 64; shift += 8)
            *hash = (*hash ^ ((uint64_t)numbers[i] >> shift & 0xff)) * UINT64_C(1099511628211);
}

uint64_t tsr_desc_hash(const tsr_desc *desc)
{
    tsr_desc canonical;
    uint64_t hash = UINT64_C(14695981039346656037);
    tsr_desc_canonical(&canonical, desc);
    hash_numbers(&hash, (int64_t[]){canonical.dtype, canonical.rank, canonical.levels, canonical.offset}, 4);
    for (int k = 0; k < canonical.rank; k++)
        hash_numbers(&hash, (int64_t[]){canonical.dims[k], canonical.first[k], canonical.step[k]}, 3);
    for (int i = 0; i < canonical.levels; i++)
        hash_numbers(&hash, (int64_t[]){canonical.order[i], canonical.block_dims[i], canonical.strides[i]}, 3);
    return hash;
}
