/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "desc/digits.h"

static bool axes_equal(const tsr_desc *a, const tsr_desc *b, int axis)
{
    tsr_digits x, y;
    tsr_digits_of_axis(&x, a, axis);
    tsr_digits_of_axis(&y, b, axis);
    size_t bytes = (size_t)x.count * sizeof x.unit[0];
    return x.extent == y.extent && x.count == y.count && memcmp(x.unit, y.unit, bytes) == 0 &&
           memcmp(x.stride, y.stride, bytes) == 0;
}

bool tsr_desc_equal(const tsr_desc *a, const tsr_desc *b)
{
    if (a->dtype != b->dtype || a->rank != b->rank)
        return false;
    for (int k = 0; k < a->rank; k++)
        if (a->dims[k] != b->dims[k])
            return false;
    if (tsr_desc_elements(a) == 0)
        return true;
    for (int k = 0; k < a->rank; k++)
        if (!axes_equal(a, b, k))
            return false;
    return tsr_desc_start(a) == tsr_desc_start(b);
}
