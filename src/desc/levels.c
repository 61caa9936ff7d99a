/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/error.h"
#include "base/int.h"
#include "desc/levels.h"
#include "desc/scan.h"

static const char axis_letters[TSR_MAX_RANK + 1] = "abcdefghijklmnopqrstuvwxyzABCDEF";

char tsr_axis_letter(int axis)
{
    return axis_letters[axis];
}

/* What the text says, before the strides that it leaves out are filled in. */
struct level_list {
    int levels;
    int64_t block_dims[TSR_MAX_LEVELS];
    int64_t strides[TSR_MAX_LEVELS]; /* -1: left out */
    int64_t pad_before[TSR_MAX_LEVELS];
    int order[TSR_MAX_LEVELS];
    int64_t offset;
    bool has_zero_stride;
};

/* AXIS EXTENT[:STRIDE[/PAD]] */
static bool scan_level(struct level_list *list, const char **at)
{
    int i = list->levels;
    const char *axis = **at ? strchr(axis_letters, **at) : NULL;
    if (!axis || i == TSR_MAX_LEVELS)
        return false;
    ++*at;
    list->order[i] = (int)(axis - axis_letters);
    list->strides[i] = -1;
    list->pad_before[i] = 0;
    if (!tsr_scan_number(at, &list->block_dims[i]))
        return false;
    if (tsr_scan_character(at, ':')) {
        if (!tsr_scan_number(at, &list->strides[i]))
            return false;
        list->has_zero_stride |= list->strides[i] == 0;
        if (tsr_scan_character(at, '/') && !tsr_scan_number(at, &list->pad_before[i]))
            return false;
    }
    list->levels++;
    return true;
}

static bool scan_levels(struct level_list *list, const char **at)
{
    if (!tsr_scan_character(at, '['))
        return false;
    if (!tsr_scan_character(at, ']')) {
        do
            if (!scan_level(list, at))
                return false;
        while (tsr_scan_character(at, ','));
        if (!tsr_scan_character(at, ']'))
            return false;
    }
    if (tsr_scan_character(at, '+') && !tsr_scan_number(at, &list->offset))
        return false;
    return **at == '\0';
}

/* A stride that was left out continues the level inside it. */
static bool fill_in_strides(struct level_list *list)
{
    int64_t dense = 1;
    bool fits = true; /* only a stride that is left out needs it to */
    for (int i = list->levels - 1; i >= 0; i--) {
        if (list->strides[i] < 0) {
            if (!fits)
                return false;
            list->strides[i] = dense;
        }
        fits = tsr_mul(list->strides[i], tsr_max(list->block_dims[i], 1), &dense);
    }
    return true;
}

tsr_status tsr_levels_parse(tsr_desc *desc, tsr_dtype dtype, int rank, const int64_t *dims, const char *text,
                            tsr_error *error)
{
    struct level_list list = {0};
    const char *at = text;
    if (!scan_levels(&list, &at))
        return tsr_fail(error, TSR_PARSE_ERROR,
                        "expected levels such as [a1:12,b4:3]+5, found \"%.20s\" in layout \"%.60s\"", at, text);
    if (!fill_in_strides(&list))
        return tsr_fail(error, TSR_OVERFLOW, "the strides of layout \"%.60s\" do not fit into 63 bits", text);
    tsr_blocking blocking = {
        .levels = list.levels,
        .block_dims = list.block_dims,
        .order = list.order,
        .strides = list.strides,
        .pad_before = list.pad_before,
        .offset = list.offset,
        .allow_broadcast = list.has_zero_stride,
    };
    return tsr_desc_blocked(desc, dtype, rank, dims, &blocking, error);
}
