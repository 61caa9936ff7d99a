/* SPDX-License-Identifier: Apache-2.0 */
#include <tessera/algebra.h>
#include <tessera/view.h>

#include <inttypes.h>

#include "base/error.h"
#include "desc/join.h"
#include "desc/overlap.h"

/* Does the axis in front of this one go on where this one ends? */
static bool continues(const tsr_desc *desc, int axis)
{
    tsr_digits outer, inner;
    tsr_digits_of_axis(&outer, desc, axis);
    tsr_digits_of_axis(&inner, desc, axis + 1);
    int digits = outer.count + inner.count;
    return tsr_digits_join(&outer, &inner, axis, NULL) == TSR_OK && outer.count < digits;
}

tsr_status tsr_desc_coalesce(tsr_desc *result, const tsr_desc *desc, tsr_error *error)
{
    tsr_desc made = *desc;
    tsr_status status = TSR_OK;
    if (tsr_desc_elements(desc) == 0)
        return tsr_desc_plain(result, desc->dtype, 1, &(int64_t){0}, error);
    for (int k = desc->rank - 1; status == TSR_OK && k >= 0; k--)
        if (made.dims[k] == 1)
            status = tsr_view_squeeze(&made, &made, k, error);
    for (int k = made.rank - 2; status == TSR_OK && k >= 0; k--)
        if (continues(&made, k))
            status = tsr_view_join(&made, &made, k, 2, error);
    if (status == TSR_OK)
        *result = made;
    return status;
}

tsr_status tsr_desc_divide(tsr_desc *result, const tsr_desc *desc, const int64_t *tile, tsr_error *error)
{
    tsr_desc made = *desc;
    tsr_status status = TSR_OK;
    int axes[TSR_MAX_RANK];
    if (desc->rank > TSR_MAX_RANK / 2)
        return tsr_fail(error, TSR_INVALID_ARGUMENT, "expected a rank of at most %d, found %d", TSR_MAX_RANK / 2,
                        desc->rank);
    for (int k = 0; k < desc->rank; k++)
        if (tile[k] < 1 || desc->dims[k] % tile[k] != 0)
            return tsr_fail(error, TSR_INVALID_ARGUMENT,
                            "tile[%d] is %" PRId64 ", expected a divisor of the %" PRId64 " indices", k, tile[k],
                            desc->dims[k]);
    for (int k = desc->rank - 1; status == TSR_OK && k >= 0; k--) {
        const int64_t sizes[] = {desc->dims[k] / tile[k], tile[k]};
        status = tsr_view_split(&made, &made, k, 2, sizes, error);
        axes[k] = 2 * k;
        axes[desc->rank + k] = 2 * k + 1;
    }
    if (status == TSR_OK)
        status = tsr_view_permute(&made, &made, axes, error);
    if (status == TSR_OK)
        *result = made;
    return status;
}

enum { MAX_PAIRS_OF = 512 };

/* Compares all elements with each other. */
static bool all_differ(const tsr_desc *desc, int64_t elements)
{
    int64_t offset[MAX_PAIRS_OF];
    for (int64_t l = 0; l < elements; l++) {
        (void)!tsr_desc_offset_linear(desc, l, &offset[l], NULL); /* l is below the elements */
        for (int64_t m = 0; m < l; m++)
            if (offset[m] == offset[l])
                return false;
    }
    return true;
}

tsr_status tsr_desc_is_injective(const tsr_desc *desc, bool *is_injective, tsr_error *error)
{
    tsr_desc canonical;
    int64_t elements = tsr_desc_elements(desc), reach;
    int level;
    tsr_desc_canonical(&canonical, desc);
    tsr_overlap overlap = elements > 0 ? tsr_levels_overlap(&canonical, false, &level, &reach) : TSR_CELLS_APART;
    bool elements_share = overlap == TSR_CELLS_SHARE; /* where all cells are elements */
    for (int k = 0; k < canonical.rank; k++)
        elements_share &= canonical.step[k] == 0;
    elements_share &= tsr_desc_padded_elements(&canonical) == elements;
    if (overlap == TSR_CELLS_APART || elements_share)
        *is_injective = overlap == TSR_CELLS_APART;
    else if (elements <= MAX_PAIRS_OF)
        *is_injective = all_differ(desc, elements);
    else
        return tsr_fail(error, TSR_UNSUPPORTED,
                        "%" PRId64 " elements in levels that interleave are too many to compare", elements);
    return TSR_OK;
}

bool tsr_desc_is_dense(const tsr_desc *desc)
{
    tsr_desc canonical;
    int64_t first, end, reach;
    int level;
    if (tsr_desc_elements(desc) == 0)
        return true;
    tsr_desc_canonical(&canonical, desc);
    for (int k = 0; k < canonical.rank; k++)
        if (canonical.step[k] != 0)
            return false;
    tsr_desc_span(&canonical, &first, &end);
    return end - first == tsr_desc_padded_elements(&canonical) &&
           tsr_levels_overlap(&canonical, false, &level, &reach) == TSR_CELLS_APART;
}
