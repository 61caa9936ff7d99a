/* SPDX-License-Identifier: Apache-2.0 */
#include <tessera/onednn.h>
#include <tessera/text.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/int.h"
#include "reorder/onednn/types.h"

static tsr_status check_desc(const tsr_desc *canonical, tsr_error *error)
{
    if (canonical->rank < 1 || canonical->rank > DNNL_MAX_NDIMS)
        return tsr_fail(error, TSR_UNSUPPORTED, "oneDNN has 1 to %d axes, not %d", DNNL_MAX_NDIMS, canonical->rank);
    for (int k = 0; k < canonical->rank; k++)
        if (canonical->step[k] != 0)
            return tsr_fail(error, TSR_UNSUPPORTED, "axis %d is a window, and oneDNN has none", k);
    for (int i = 0; i < canonical->levels; i++)
        if (canonical->strides[i] < 0)
            return tsr_fail(error, TSR_UNSUPPORTED,
                            "axis %d runs backwards, with stride %" PRId64 ", and oneDNN takes 0 or more",
                            canonical->order[i], canonical->strides[i]);
    if (!TSR_MD_IS_STRUCT && canonical->offset != 0)
        return tsr_fail(error, TSR_UNSUPPORTED,
                        "the tensor begins at offset %" PRId64 ", and oneDNN 3 has no way to say so: expected 0",
                        canonical->offset);
    return TSR_OK;
}

/* The same layout from offset 0; without levels when there is a window, of which they do not say all. */
static tsr_desc at_zero(const tsr_desc *desc)
{
    tsr_desc moved = *desc;
    moved.offset = 0;
    memset(moved.pad_before, 0, sizeof moved.pad_before);
    for (int k = 0; k < desc->rank; k++)
        if (desc->step[k] != 0)
            moved.levels = 0;
    return moved;
}

/* Puts the inner levels by falling stride. Those of one axis must be in this order already. */
static bool sort_inner_levels(int *inner, int count, const tsr_desc *desc)
{
    for (int i = 1; i < count; i++)
        for (int at = i; at > 0 && desc->strides[inner[at - 1]] < desc->strides[inner[at]]; at--) {
            int level = inner[at];
            if (desc->order[inner[at - 1]] == desc->order[level])
                return false;
            inner[at] = inner[at - 1];
            inner[at - 1] = level;
        }
    return true;
}

/* The outermost level of each axis by its stride, the others as inner blocks. False where they are not dense. */
static bool find_blocks(tsr_md_blocking *to, const tsr_desc *desc)
{
    int inner[TSR_MAX_LEVELS], blocks = 0;
    uint32_t seen = 0;
    int64_t dense = 1;
    for (int i = 0; i < desc->levels; i++) {
        int axis = desc->order[i];
        if (seen >> axis & 1) {
            if (desc->block_dims[i] > 1)
                inner[blocks++] = i;
            continue;
        }
        seen |= 1U << axis;
        to->padded_dims[axis] = desc->block_dims[i];
        to->strides[axis] = tsr_max(desc->strides[i], 0);
    }
    if (blocks > DNNL_MAX_NDIMS || !sort_inner_levels(inner, blocks, desc))
        return false;
    for (int i = blocks - 1; i >= 0; i--) {
        int axis = desc->order[inner[i]];
        if (desc->strides[inner[i]] != dense)
            return false;
        dense *= desc->block_dims[inner[i]];
        to->padded_dims[axis] *= desc->block_dims[inner[i]];
        to->block_dims[i] = desc->block_dims[inner[i]];
        to->block_axes[i] = axis;
    }
    to->blocks = blocks;
    return desc->levels > 0;
}

/* A tag is the axes, outermost first and blocked ones in upper case, and then the blocks: aBcd16b. */
static int axis_of_letter(char letter)
{
    return (letter | ('a' ^ 'A')) - 'a';
}

static void write_blocks(char text[DNNL_MAX_NDIMS * 21 + 1], const tsr_md_blocking *to)
{
    *text = '\0';
    for (int i = 0; i < to->blocks; i++)
        text += sprintf(text, "%" PRId64 "%c", to->block_dims[i], (char)('a' + to->block_axes[i]));
}

/* Has the tag these blocks, and are its dense strides those wanted? Axes of one step count for a perfect match. */
static bool is_tag_of(const char *tag, const tsr_md_blocking *to, const char *blocks, bool *is_perfect)
{
    dnnl_dim_t stride = 1;
    bool is_each_equal = true;
    if (strspn(tag, "abcdefghijklABCDEFGHIJKL") != (size_t)to->rank || strcmp(tag + to->rank, blocks) != 0)
        return false;
    for (int i = 0; i < to->blocks; i++)
        stride *= to->block_dims[i];
    for (int i = to->rank - 1; i >= 0; i--) {
        int axis = axis_of_letter(tag[i]);
        dnnl_dim_t steps = to->padded_dims[axis];
        for (int j = 0; j < to->blocks; j++)
            steps /= to->block_axes[j] == axis ? to->block_dims[j] : 1;
        if (to->strides[axis] != stride && steps > 1)
            return false;
        is_each_equal &= to->strides[axis] == stride;
        stride *= tsr_max(steps, 1);
    }
    *is_perfect = is_each_equal;
    return true;
}

/* The padding that a tag gives: no more than the blocks need. */
static bool is_padded_least(const tsr_md_blocking *to)
{
    dnnl_dim_t unit[DNNL_MAX_NDIMS];
    for (int k = 0; k < to->rank; k++)
        unit[k] = 1;
    for (int i = 0; i < to->blocks; i++)
        unit[to->block_axes[i]] *= to->block_dims[i];
    for (int k = 0; k < to->rank; k++)
        if (to->padded_dims[k] != tsr_ceil_div(to->dims[k], unit[k]) * unit[k])
            return false;
    return true;
}

static bool find_tag(dnnl_format_tag_t *found, const tsr_md_blocking *to)
{
    char blocks[DNNL_MAX_NDIMS * 21 + 1];
    bool is_found = false, is_perfect = false;
    if (!is_padded_least(to))
        return false;
    write_blocks(blocks, to);
    for (int tag = dnnl_format_tag_any + 1; tag < (int)dnnl_format_tag_last && !is_perfect; tag++) {
        if (!is_tag_of(dnnl_fmt_tag2str((dnnl_format_tag_t)tag), to, blocks, &is_perfect))
            continue;
        if (is_perfect || !is_found)
            *found = (dnnl_format_tag_t)tag;
        is_found = true;
    }
    return is_found;
}

static dnnl_status_t make_md(tsr_md *md, const tsr_md_blocking *to)
{
    bool is_plain = to->blocks == 0 && memcmp(to->dims, to->padded_dims, sizeof to->dims) == 0;
    return is_plain ? tsr_md_by_strides(md, to->rank, to->dims, to->type, to->strides) : tsr_md_write(md, to);
}

/* The same memory in the levels of a layout, where there is one, else in as few levels as there can be. */
static tsr_desc rewritten(const tsr_desc *canonical)
{
    tsr_desc moved = at_zero(canonical), laid;
    tsr_layout layout;
    if (tsr_layout_of(&layout, &moved, NULL) != TSR_OK ||
        tsr_layout_apply(&laid, moved.dtype, moved.rank, moved.dims, &layout, NULL) != TSR_OK)
        return moved;
    return laid;
}

/* Tries the levels as they are, which keeps strides that do not matter, and rewritten. */
static dnnl_status_t find_md(tsr_md *md, const tsr_desc *desc, const tsr_desc *canonical, dnnl_data_type_t type)
{
    const tsr_desc ways[] = {at_zero(desc), rewritten(canonical)};
    tsr_md_blocking to[2] = {{.type = type, .rank = desc->rank}, {.type = type, .rank = desc->rank}};
    bool is_possible[2];
    dnnl_status_t status = dnnl_unimplemented;
    dnnl_format_tag_t tag = dnnl_format_tag_undef;
    for (int i = 0; i < 2; i++) {
        memcpy(to[i].dims, desc->dims, (size_t)desc->rank * sizeof to[i].dims[0]);
        is_possible[i] = find_blocks(&to[i], &ways[i]);
        if (is_possible[i] && find_tag(&tag, &to[i]))
            return tsr_md_by_tag(md, desc->rank, to[i].dims, type, tag);
    }
    for (int i = 0; i < 2 && status != dnnl_success; i++)
        if (is_possible[i])
            status = make_md(md, &to[i]);
    return status;
}

tsr_status tsr_desc_to_onednn(const tsr_desc *desc, void *memory_desc, tsr_error *error)
{
    tsr_desc canonical;
    dnnl_data_type_t type;
    tsr_md md;
    if (!memory_desc)
        return tsr_fail(error, TSR_INVALID_ARGUMENT, "expected a place for a memory descriptor, found NULL");
    tsr_desc_canonical(&canonical, desc);
    tsr_status status = check_desc(&canonical, error);
    if (status != TSR_OK)
        return status;
    if (!tsr_onednn_type(&type, desc->dtype))
        return tsr_fail(error, TSR_UNSUPPORTED, "oneDNN %d.%d has no type %s", DNNL_VERSION_MAJOR, DNNL_VERSION_MINOR,
                        tsr_dtype_name(desc->dtype));
    dnnl_status_t answer = find_md(&md, desc, &canonical, type);
    if (answer == dnnl_out_of_memory)
        return tsr_fail(error, TSR_OUT_OF_MEMORY, "no memory for oneDNN's memory descriptor");
    if (answer == dnnl_unimplemented)
        return tsr_fail(error, TSR_UNSUPPORTED,
                        TSR_MD_IS_STRUCT ? "the inner blocks are not dense and innermost, as in oneDNN"
                                         : "oneDNN has no tag for the layout, and oneDNN 3 takes no other blocks");
    if (answer != dnnl_success)
        return tsr_fail(error, TSR_UNSUPPORTED, "oneDNN refuses the %s layout: %s", tsr_dtype_name(desc->dtype),
                        dnnl_status2str(answer));
    tsr_md_set_start(&md, canonical.offset);
    *(tsr_md *)memory_desc = md;
    return TSR_OK;
}
