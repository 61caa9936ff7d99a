/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>

#include <tessera/text.h>

#include "base/writer.h"
#include "desc/levels.h"
#include "desc/tag.h"

static void write_levels(tsr_writer *out, const tsr_desc *desc)
{
    tsr_write(out, "[");
    for (int i = 0; i < desc->levels; i++) {
        tsr_write(out, "%s%c%" PRId64 ":%" PRId64, i ? "," : "", tsr_axis_letter(desc->order[i]), desc->block_dims[i],
                  desc->strides[i]);
        if (desc->pad_before[i])
            tsr_write(out, "/%" PRId64, desc->pad_before[i]);
    }
    tsr_write(out, "]");
    if (desc->offset)
        tsr_write(out, "+%" PRId64, desc->offset);
    for (int k = 0; k < desc->rank; k++) {
        if (desc->step[k] != 0)
            tsr_write(out, "@%c%" PRId64, tsr_axis_letter(k), desc->first[k]);
        if (desc->step[k] > 1)
            tsr_write(out, "/%" PRId64, desc->step[k]);
    }
}

static void write_layout(tsr_writer *out, const tsr_desc *desc)
{
    char tag[TSR_TAG_SIZE];
    if (tsr_tag_of(desc, TSR_ROLE_ANY, tag))
        tsr_write(out, "%s", tag);
    else
        write_levels(out, desc);
}

static void write_dims(tsr_writer *out, const int64_t *dims, int rank)
{
    for (int k = 0; k < rank; k++)
        tsr_write(out, "%s%" PRId64, k ? "x" : "", dims[k]);
    if (rank == 0)
        tsr_write(out, "scalar");
}

static void write_side(tsr_writer *out, const tsr_desc *desc)
{
    tsr_write(out, "%s:", tsr_dtype_name(desc->dtype));
    write_layout(out, desc);
}

static void write_attribute(tsr_writer *out, const char *name, int axis, int64_t group)
{
    if (axis >= 0 && group > 1)
        tsr_write(out, " %s[%d/%" PRId64 "]", name, axis, group);
    else if (axis >= 0)
        tsr_write(out, " %s[%d]", name, axis);
    else if (axis == TSR_ATTRIBUTE_TENSOR)
        tsr_write(out, " %s", name);
}

int tsr_layout_print(const tsr_desc *desc, char *text, size_t size)
{
    tsr_writer out = {text, size, 0};
    write_layout(&out, desc);
    return (int)out.length;
}

int tsr_dims_print(const int64_t *dims, int rank, char *text, size_t size)
{
    tsr_writer out = {text, size, 0};
    write_dims(&out, dims, rank);
    return (int)out.length;
}

int tsr_desc_print(const tsr_desc *desc, char *text, size_t size)
{
    tsr_writer out = {text, size, 0};
    write_side(&out, desc);
    tsr_write(&out, " ");
    write_dims(&out, desc->dims, desc->rank);
    return (int)out.length;
}

int tsr_problem_print(const tsr_problem *problem, char *text, size_t size)
{
    tsr_writer out = {text, size, 0};
    write_side(&out, &problem->src);
    tsr_write(&out, ">");
    write_side(&out, &problem->dst);
    tsr_write(&out, " ");
    write_dims(&out, problem->src.dims, problem->src.rank);
    write_attribute(&out, "scale", problem->scale_axis, problem->scale_group);
    write_attribute(&out, "mean", problem->mean_axis, problem->mean_group);
    write_attribute(&out, "shift", problem->shift_axis, problem->shift_group);
    if (problem->has_beta)
        tsr_write(&out, " beta");
    for (int k = 0; k < problem->src.rank; k++)
        if (problem->reverse >> k & 1)
            tsr_write(&out, " reverse[%d]", k);
    if (problem->in_place)
        tsr_write(&out, " in-place");
    return (int)out.length;
}
