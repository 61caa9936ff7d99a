/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/error.h"
#include "desc/digits.h"
#include "desc/fields.h"
#include "desc/rewrite.h"

/* Of axes with the same number of indices. */
static bool digits_equal(const tsr_digits *x, const tsr_digits *y)
{
    size_t bytes = (size_t)x->count * sizeof x->unit[0];
    return x->extent == y->extent && x->is_whole == y->is_whole && x->first == y->first && x->step == y->step &&
           x->count == y->count && memcmp(x->unit, y->unit, bytes) == 0 && memcmp(x->stride, y->stride, bytes) == 0;
}

bool tsr_desc_equal(const tsr_desc *a, const tsr_desc *b)
{
    if (!tsr_is_same_tensor(a, b))
        return false;
    if (tsr_desc_elements(a) == 0)
        return true;
    int64_t start_of_a = tsr_desc_start(a), start_of_b = tsr_desc_start(b);
    for (int k = 0; k < a->rank; k++) {
        tsr_digits x, y;
        tsr_digits_of_axis(&x, a, k);
        tsr_digits_of_axis(&y, b, k);
        tsr_digits_fit(&x);
        tsr_digits_fit(&y);
        if (!digits_equal(&x, &y))
            return false;
        start_of_a += x.start;
        start_of_b += y.start;
    }
    return start_of_a == start_of_b;
}

/* Without the axes that have one index. */
static void drop_single_indices(tsr_desc *desc)
{
    int kept = 0;
    for (int k = 0; k < desc->rank; k++) {
        tsr_digits digits;
        bool drops = desc->dims[k] == 1;
        tsr_digits_of_axis(&digits, desc, k);
        if (drops) {
            tsr_digits_show(&digits, digits.first, 1, 1);
            tsr_remove_levels(desc, k);
            desc->offset += digits.start;
        }
        for (int i = 0; i < desc->levels; i++)
            if (desc->order[i] == k)
                desc->order[i] = (uint8_t)kept;
        desc->dims[kept] = desc->dims[k];
        desc->first[kept] = desc->first[k];
        desc->step[kept] = desc->step[k];
        kept += !drops;
    }
    desc->rank = kept;
}

bool tsr_desc_compatible(const tsr_desc *a, const tsr_desc *b)
{
    tsr_desc x = *a, y = *b;
    drop_single_indices(&x);
    drop_single_indices(&y);
    return tsr_desc_equal(&x, &y);
}
