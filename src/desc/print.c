/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <string.h>

#include <tessera/text.h>

#include "base/writer.h"
#include "desc/levels.h"
#include "desc/tag.h"

/* Orders that have a name of their own when nothing is blocked. */
static const char *const plain_names[] = {"nchw", "nhwc", "chwn", "hwio", "ncdhw", "ndhwc", "dhwio"};

/* The usual letters of a layout, in logical order, by the axes that are blocked. */
static const struct {
    const char *letters;
    unsigned blocked; /* bit k: axis k */
} blocked_names[] = {
    {"nc", 2},   {"oi", 1},   {"oi", 3},    {"ncw", 2},   {"oiw", 1},   {"oiw", 3},   {"nchw", 2},   {"oihw", 1},
    {"oihw", 3}, {"goiw", 6}, {"ncdhw", 2}, {"goihw", 1}, {"oidhw", 3}, {"goihw", 6}, {"goidhw", 1}, {"goidhw", 6},
};

static unsigned blocked_axes(const tsr_desc *desc)
{
    unsigned blocked = 0;
    for (int i = desc->rank; i < desc->levels; i++)
        blocked |= 1U << desc->order[i];
    return blocked;
}

static const char alphabet[] = "abcdefghijklmnopqrstuvwxyz";

static const char *letters_of(const tsr_desc *desc)
{
    unsigned blocked = blocked_axes(desc);
    for (size_t i = 0; i < sizeof blocked_names / sizeof blocked_names[0]; i++)
        if (blocked == blocked_names[i].blocked && strlen(blocked_names[i].letters) == (size_t)desc->rank)
            return blocked_names[i].letters;
    return alphabet;
}

/* Is desc exactly what the layout text stands for? */
static bool is_layout(const tsr_desc *desc, const char *text)
{
    tsr_desc made;
    if (tsr_desc_from_layout(&made, desc->dtype, desc->rank, desc->dims, text, NULL) != TSR_OK)
        return false;
    size_t bytes = (size_t)desc->levels * sizeof desc->strides[0];
    return desc->levels == made.levels && desc->offset == made.offset &&
           memcmp(desc->order, made.order, (size_t)desc->levels) == 0 &&
           memcmp(desc->block_dims, made.block_dims, bytes) == 0 && memcmp(desc->strides, made.strides, bytes) == 0 &&
           memcmp(desc->pad_before, made.pad_before, bytes) == 0;
}

static const char *plain_name(const tsr_desc *desc)
{
    if (desc->rank == 0)
        return is_layout(desc, "scalar") ? "scalar" : NULL;
    for (size_t i = 0; i < sizeof plain_names / sizeof plain_names[0]; i++)
        if (is_layout(desc, plain_names[i]))
            return plain_names[i];
    return NULL;
}

/* The tag that the order of the levels suggests; false when it does not say all that the descriptor does. */
static bool print_tag(const tsr_desc *desc, const char *letters, char text[TSR_TAG_SIZE])
{
    tsr_writer tag = {text, TSR_TAG_SIZE, 0};
    unsigned blocked = blocked_axes(desc);
    if (desc->rank < 1 || desc->rank >= (int)sizeof alphabet)
        return false;
    for (int i = 0; i < desc->levels; i++) {
        char letter = letters[desc->order[i]];
        if (i >= desc->rank)
            tsr_write(&tag, "%" PRId64, desc->block_dims[i]);
        else if (blocked >> desc->order[i] & 1)
            letter = (char)(letter & ~('a' ^ 'A'));
        tsr_write(&tag, "%c", letter);
    }
    return is_layout(desc, text);
}

bool tsr_tag_print(const tsr_desc *desc, char text[TSR_TAG_SIZE])
{
    return print_tag(desc, alphabet, text);
}

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
}

static void write_layout(tsr_writer *out, const tsr_desc *desc)
{
    char tag[TSR_TAG_SIZE];
    const char *name = plain_name(desc);
    if (name)
        tsr_write(out, "%s", name);
    else if (print_tag(desc, letters_of(desc), tag))
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

static void write_attribute(tsr_writer *out, const char *name, int axis)
{
    if (axis >= 0)
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
    write_attribute(&out, "scale", problem->scale_axis);
    write_attribute(&out, "mean", problem->mean_axis);
    return (int)out.length;
}
