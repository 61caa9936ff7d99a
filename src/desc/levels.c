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
    int64_t strides[TSR_MAX_LEVELS];
    bool has_stride[TSR_MAX_LEVELS];
    int64_t pad_before[TSR_MAX_LEVELS];
    int order[TSR_MAX_LEVELS];
    int64_t offset;
    int64_t first[TSR_MAX_RANK];
    int64_t step[TSR_MAX_RANK]; /* 0: no window */
    bool is_read_only;
};

static bool scan_axis(const char **at, int *axis)
{
    const char *letter = **at ? strchr(axis_letters, **at) : NULL;
    if (!letter)
        return false;
    *axis = (int)(letter - axis_letters);
    ++*at;
    return true;
}

/* AXIS EXTENT[:[-]STRIDE[/PAD]] */
static bool scan_level(struct level_list *list, const char **at)
{
    int i = list->levels;
    if (i == TSR_MAX_LEVELS || !scan_axis(at, &list->order[i]) || !tsr_scan_number(at, &list->block_dims[i]))
        return false;
    list->has_stride[i] = tsr_scan_character(at, ':');
    if (list->has_stride[i]) {
        bool negative = tsr_scan_character(at, '-');
        if (!tsr_scan_number(at, &list->strides[i]))
            return false;
        list->is_read_only |= negative || list->strides[i] == 0;
        if (negative)
            list->strides[i] = -list->strides[i];
        if (tsr_scan_character(at, '/') && !tsr_scan_number(at, &list->pad_before[i]))
            return false;
    }
    list->levels++;
    return true;
}

/* @AXIS FIRST[/STEP] */
static bool scan_window(struct level_list *list, const char **at)
{
    int axis;
    if (!scan_axis(at, &axis) || list->step[axis] != 0 || !tsr_scan_number(at, &list->first[axis]))
        return false;
    list->step[axis] = 1;
    return !tsr_scan_character(at, '/') || (tsr_scan_number(at, &list->step[axis]) && list->step[axis] > 0);
}

static bool scan_levels(struct level_list *list, const char **at)
{
    ++*at; /* the bracket that the form is known by */
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
    while (tsr_scan_character(at, '@'))
        if (!scan_window(list, at))
            return false;
    return **at == '\0';
}

/* A stride that was left out continues the level inside it. */
static bool fill_in_strides(struct level_list *list)
{
    int64_t dense = 1;
    bool fits = true; /* only a stride that is left out needs it to */
    for (int i = list->levels - 1; i >= 0; i--) {
        if (!list->has_stride[i]) {
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
    for (int k = rank < 0 ? 0 : rank; k < TSR_MAX_RANK; k++)
        if (list.step[k] != 0)
            return tsr_fail(error, TSR_INVALID_ARGUMENT,
                            "layout \"%.60s\" has a window on axis %c of a tensor of rank %d", text, tsr_axis_letter(k),
                            rank);
    tsr_blocking blocking = {
        .levels = list.levels,
        .block_dims = list.block_dims,
        .order = list.order,
        .strides = list.strides,
        .pad_before = list.pad_before,
        .offset = list.offset,
        .first = list.first,
        .step = list.step,
        .read_only = list.is_read_only,
    };
    return tsr_desc_blocked(desc, dtype, rank, dims, &blocking, error);
}
