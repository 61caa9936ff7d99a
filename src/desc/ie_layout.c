/* SPDX-License-Identifier: Apache-2.0 */
#include "desc/ie_layout.h"

#include <string.h>

#include "base/error.h"

static const struct {
    tsr_ie_layout layout;
    const char *name;
    int rank; /* -1: any */
    int order[6];
} layouts[] = {
    {TSR_IE_ANY, "ANY", -1, {0, 1, 2, 3, 4, 5}},
    {TSR_IE_SCALAR, "SCALAR", 0, {0, 1, 2, 3, 4, 5}},
    {TSR_IE_C, "C", 1, {0, 1, 2, 3, 4, 5}},
    {TSR_IE_NC, "NC", 2, {0, 1, 2, 3, 4, 5}},
    {TSR_IE_CN, "CN", 2, {1, 0, 2, 3, 4, 5}},
    {TSR_IE_CHW, "CHW", 3, {0, 1, 2, 3, 4, 5}},
    {TSR_IE_HWC, "HWC", 3, {1, 2, 0, 3, 4, 5}},
    {TSR_IE_NCHW, "NCHW", 4, {0, 1, 2, 3, 4, 5}},
    {TSR_IE_NHWC, "NHWC", 4, {0, 2, 3, 1, 4, 5}},
    {TSR_IE_NCDHW, "NCDHW", 5, {0, 1, 2, 3, 4, 5}},
    {TSR_IE_NDHWC, "NDHWC", 5, {0, 2, 3, 4, 1, 5}},
    {TSR_IE_HW, "HW", 2, {0, 1, 2, 3, 4, 5}},
    {TSR_IE_OIHW, "OIHW", 4, {0, 1, 2, 3, 4, 5}},
    {TSR_IE_GOIHW, "GOIHW", 5, {0, 1, 2, 3, 4, 5}},
    {TSR_IE_OIDHW, "OIDHW", 5, {0, 1, 2, 3, 4, 5}},
    {TSR_IE_GOIDHW, "GOIDHW", 6, {0, 1, 2, 3, 4, 5}},
    {TSR_IE_BLOCKED, "BLOCKED", -1, {0, 1, 2, 3, 4, 5}},
};

/* The layouts that a blocking can turn out to be: C to NDHWC in the table. */
enum { LAYOUTS = sizeof layouts / sizeof layouts[0], FIRST_DERIVED = 2, LAST_DERIVED = 10 };

static int row_of(tsr_ie_layout layout)
{
    for (int i = 0; i < LAYOUTS; i++)
        if (layouts[i].layout == layout)
            return i;
    return -1;
}

const char *tsr_ie_layout_name(tsr_ie_layout layout)
{
    int row = row_of(layout);
    return row < 0 ? NULL : layouts[row].name;
}

tsr_status tsr_ie_layout_from_name(tsr_ie_layout *layout, const char *name, tsr_error *error)
{
    for (int i = 0; i < LAYOUTS; i++) {
        if (strcmp(layouts[i].name, name) == 0) {
            *layout = layouts[i].layout;
            return TSR_OK;
        }
    }
    return tsr_fail(error, TSR_PARSE_ERROR, "expected a layout such as NCHW or BLOCKED, found \"%.40s\"", name);
}

int tsr_ie_layout_rank(tsr_ie_layout layout)
{
    int row = row_of(layout);
    return row < 0 ? -1 : layouts[row].rank;
}

void tsr_ie_layout_order(tsr_ie_layout layout, int *order)
{
    int row = row_of(layout);
    memcpy(order, layouts[row < 0 ? 0 : row].order, sizeof layouts[0].order);
}

tsr_ie_layout tsr_ie_layout_by_rank(int rank, const int64_t *dims)
{
    static const tsr_ie_layout usual[] = {TSR_IE_SCALAR, TSR_IE_C, TSR_IE_NC, TSR_IE_CHW, TSR_IE_NCHW, TSR_IE_NCDHW};
    if (rank == 1 && dims && dims[0] == 0)
        return TSR_IE_BLOCKED;
    return rank >= 0 && rank < (int)(sizeof usual / sizeof usual[0]) ? usual[rank] : TSR_IE_BLOCKED;
}

tsr_ie_layout tsr_ie_layout_by_dims(int rank, const int64_t *dims)
{
    return rank == 3 ? TSR_IE_BLOCKED : tsr_ie_layout_by_rank(rank, dims);
}

tsr_ie_layout tsr_ie_layout_of(const tsr_desc *desc)
{
    for (int row = FIRST_DERIVED; row <= LAST_DERIVED && desc->levels == desc->rank; row++) {
        bool same = layouts[row].rank == desc->rank;
        for (int i = 0; same && i < desc->levels; i++)
            same = layouts[row].order[i] == desc->order[i];
        if (same)
            return layouts[row].layout;
    }
    return TSR_IE_BLOCKED;
}

bool tsr_ie_layout_fits(const tsr_desc *desc, tsr_ie_layout layout)
{
    const tsr_ie_layout named = tsr_ie_layout_of(desc);
    int order[6], place = 0;
    if (named != TSR_IE_BLOCKED)
        return named == layout;
    if (desc->rank != tsr_ie_layout_rank(layout) || desc->levels != desc->rank)
        return false;
    tsr_ie_layout_order(layout, order);
    for (int i = 0; i < desc->levels; i++)
        while (desc->block_dims[i] > 1 && place < desc->rank && order[place] != desc->order[i])
            place++;
    return place < desc->rank;
}
