/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "base/int.h"
#include "desc/dialect/dialect.h"
#include "desc/scan.h"

enum { MOST_PARENTHESES = 64 };

/* Shape and stride, which have the same parentheses and are read side by side. */
struct scanner {
    const char *text;
    tsr_error *error;
    const char *shape;
    const char *stride;
    int depth;
    int rank;
    int levels;
    int64_t dims[TSR_MAX_RANK];
    int64_t block_dims[TSR_MAX_LEVELS]; /* the levels of an axis outermost first, which is against CuTe's order */
    int64_t strides[TSR_MAX_LEVELS];
    int order[TSR_MAX_LEVELS];
    bool is_read_only;
};

static tsr_status fail_at(const struct scanner *s, const char *wanted, const char *at)
{
    return tsr_fail(s->error, TSR_PARSE_ERROR, "expected %s at \"%.20s\" in layout \"%.60s\"", wanted, at, s->text);
}

/* Reads a character on both sides, or on none. */
static bool scan_both(struct scanner *s, char character)
{
    const char *shape = s->shape, *stride = s->stride;
    tsr_scan_blanks(&shape);
    tsr_scan_blanks(&stride);
    if (!tsr_scan_character(&shape, character) || !tsr_scan_character(&stride, character))
        return false;
    s->shape = shape;
    s->stride = stride;
    return true;
}

/* 8 or _8, the number that is known when CuTe is compiled */
static bool scan_integer(const char **at, int64_t *number)
{
    tsr_scan_blanks(at);
    tsr_scan_character(at, '_');
    return tsr_scan_integer(at, number);
}

/* One digit of the axis that is read, in front of those that lie inside it. */
static tsr_status scan_digit(struct scanner *s)
{
    int64_t extent, stride;
    const char *start = s->shape;
    if (!scan_integer(&s->shape, &extent) || extent < 0)
        return fail_at(s, "an extent or '('", start);
    if (!scan_integer(&s->stride, &stride))
        return fail_at(s, "a stride for each extent", s->stride);
    if (s->levels == TSR_MAX_LEVELS || s->rank == TSR_MAX_RANK)
        return tsr_fail(s->error, TSR_PARSE_ERROR, "layout \"%.60s\" has more than %d modes or %d integers", s->text,
                        TSR_MAX_RANK, TSR_MAX_LEVELS);
    int i = s->levels++;
    for (; i > 0 && s->order[i - 1] == s->rank; i--) {
        s->block_dims[i] = s->block_dims[i - 1];
        s->strides[i] = s->strides[i - 1];
        s->order[i] = s->rank;
    }
    s->block_dims[i] = extent;
    s->strides[i] = stride;
    s->order[i] = s->rank;
    s->is_read_only |= stride <= 0;
    return TSR_OK;
}

/* The integers of one axis are all that stand between two commas outside of its parentheses. */
static tsr_status scan_mode(struct scanner *s)
{
    int outside = s->depth;
    do {
        while (scan_both(s, '('))
            if (++s->depth > MOST_PARENTHESES)
                return fail_at(s, "fewer parentheses", s->shape);
        tsr_status status = scan_digit(s);
        if (status != TSR_OK)
            return status;
        while (s->depth > outside && scan_both(s, ')'))
            s->depth--;
    } while (s->depth > outside && scan_both(s, ','));
    if (s->depth > outside)
        return fail_at(s, "',' or ')' in shape and stride alike", s->shape);
    s->rank++;
    return TSR_OK;
}

static tsr_status scan_modes(struct scanner *s)
{
    tsr_status status = TSR_OK;
    if (!scan_both(s, '('))
        return scan_mode(s);
    if (scan_both(s, ')'))
        return TSR_OK;
    s->depth = 1;
    do
        status = scan_mode(s);
    while (status == TSR_OK && scan_both(s, ','));
    if (status == TSR_OK && !scan_both(s, ')'))
        return fail_at(s, "',' or ')' in shape and stride alike", s->shape);
    return status;
}

static tsr_status scan_layout(struct scanner *s)
{
    const char *colon = strchr(s->text, ':');
    if (!colon)
        return fail_at(s, "shape:stride", s->text);
    s->shape = s->text;
    s->stride = colon + 1;
    tsr_status status = scan_modes(s);
    if (status != TSR_OK)
        return status;
    tsr_scan_blanks(&s->shape);
    tsr_scan_blanks(&s->stride);
    if (s->shape != colon)
        return fail_at(s, "':'", s->shape);
    return *s->stride ? fail_at(s, "the end", s->stride) : TSR_OK;
}

static tsr_status multiply_dims(struct scanner *s)
{
    for (int k = 0; k < s->rank; k++)
        s->dims[k] = 1;
    for (int i = 0; i < s->levels; i++)
        if (!tsr_mul(s->dims[s->order[i]], s->block_dims[i], &s->dims[s->order[i]]))
            return tsr_fail(s->error, TSR_OVERFLOW, "mode %d of layout \"%.60s\" does not fit into 63 bits",
                            s->order[i], s->text);
    return TSR_OK;
}

tsr_status tsr_parse_cute(tsr_desc *desc, tsr_dtype dtype, int rank, const int64_t *dims, const char *text,
                          tsr_error *error)
{
    struct scanner s = {.text = text, .error = error};
    tsr_status status = scan_layout(&s);
    if (status == TSR_OK)
        status = multiply_dims(&s);
    if (status == TSR_OK)
        status = tsr_check_same_dims(s.rank, s.dims, rank, dims, error);
    if (status != TSR_OK)
        return status;
    tsr_blocking blocking = {.levels = s.levels,
                             .block_dims = s.block_dims,
                             .order = s.order,
                             .strides = s.strides,
                             .read_only = s.is_read_only};
    return tsr_desc_blocked(desc, dtype, s.rank, s.dims, &blocking, error);
}

/* --- printing --- */

static tsr_status check_sayable(const tsr_desc *desc, tsr_error *error)
{
    int64_t covered[TSR_MAX_RANK];
    for (int k = 0; k < desc->rank; k++) {
        if (desc->step[k] != 0)
            return tsr_fail(error, TSR_UNSUPPORTED, "axis %d is a window into its blocks, a mode begins with a block",
                            k);
        covered[k] = 1;
    }
    for (int i = 0; i < desc->levels; i++) {
        covered[desc->order[i]] *= desc->block_dims[i];
        if (desc->pad_before[i] != 0)
            return tsr_fail(error, TSR_UNSUPPORTED, "level %d has padding in front, CuTe has none", i);
    }
    for (int k = 0; k < desc->rank; k++)
        if (covered[k] != desc->dims[k])
            return tsr_fail(error, TSR_UNSUPPORTED,
                            "axis %d has %" PRId64 " indices in blocks that hold %" PRId64 ": CuTe has no padding", k,
                            desc->dims[k], covered[k]);
    if (desc->offset != 0)
        return tsr_fail(error, TSR_UNSUPPORTED, "the tensor begins at offset %" PRId64 ", a layout of CuTe at 0",
                        desc->offset);
    return TSR_OK;
}

/* The numbers of each axis, innermost first. */
static void write_tuple(tsr_writer *out, const tsr_desc *desc, const int64_t *numbers)
{
    tsr_write(out, "(");
    for (int k = 0; k < desc->rank; k++) {
        int count = 0, written = 0;
        for (int i = 0; i < desc->levels; i++)
            count += desc->order[i] == k;
        tsr_write(out, "%s%s", k ? "," : "", count > 1 ? "(" : "");
        for (int i = desc->levels - 1; i >= 0; i--)
            if (desc->order[i] == k)
                tsr_write(out, "%s%" PRId64, written++ ? "," : "", numbers[i]);
        tsr_write(out, count > 1 ? ")" : "");
    }
    tsr_write(out, ")");
}

tsr_status tsr_print_cute(tsr_writer *out, const tsr_desc *desc, tsr_role role, tsr_error *error)
{
    (void)role;
    tsr_status status = check_sayable(desc, error);
    if (status != TSR_OK)
        return status;
    write_tuple(out, desc, desc->block_dims);
    tsr_write(out, ":");
    write_tuple(out, desc, desc->strides);
    return TSR_OK;
}
