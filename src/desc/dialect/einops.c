/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "base/int.h"
#include "desc/dialect/dialect.h"
#include "desc/scan.h"

/* One word of the left side: a name whose size may be said later, or a size. */
struct part {
    const char *name;
    size_t length; /* 0: a size without a name */
    int axis;
    int64_t size; /* 0: not said */
    bool is_placed;
};

struct pattern {
    const char *text;
    tsr_error *error;
    int rank;
    int count;
    struct part parts[TSR_MAX_LEVELS]; /* left side: axes in logical order, the parts of each outermost first */
    int memory[TSR_MAX_LEVELS];        /* right side: parts in memory order */
    int placed;
};

static tsr_status fail_at(const struct pattern *p, const char *wanted, const char *at)
{
    return tsr_fail(p->error, TSR_PARSE_ERROR, "expected %s at \"%.20s\" in pattern \"%.60s\"", wanted, at, p->text);
}

/* A name or a size with nothing of the other behind it. */
static bool scan_part(const char **at, struct part *part)
{
    *part = (struct part){.name = *at};
    part->length = tsr_scan_word(at);
    if (part->length)
        return true;
    if (!tsr_scan_number(at, &part->size) || part->size == 0)
        return false;
    const char *behind = *at;
    return tsr_scan_word(&behind) == 0;
}

/* The part with this name or size; more than one can only have the same size. */
static struct part *find(struct pattern *p, const struct part *wanted, bool *is_ambiguous)
{
    struct part *found = NULL;
    *is_ambiguous = false;
    for (int i = 0; i < p->count; i++) {
        struct part *part = &p->parts[i];
        bool same = wanted->length ? part->length == wanted->length && !memcmp(part->name, wanted->name, wanted->length)
                                   : part->length == 0 && part->size == wanted->size;
        *is_ambiguous |= same && found;
        found = same ? part : found;
    }
    return found;
}

static tsr_status add_part(struct pattern *p, const char **at)
{
    struct part part;
    const char *start = *at;
    bool is_ambiguous;
    if (!scan_part(at, &part))
        return fail_at(p, "a name, a size or ->", start);
    if (part.length && find(p, &part, &is_ambiguous))
        return fail_at(p, "each name once on the left side", start);
    if (p->count == TSR_MAX_LEVELS || p->rank == TSR_MAX_RANK)
        return tsr_fail(p->error, TSR_PARSE_ERROR, "pattern \"%.60s\" has more than %d axes or %d parts", p->text,
                        TSR_MAX_RANK, TSR_MAX_LEVELS);
    part.axis = p->rank;
    p->parts[p->count++] = part;
    return TSR_OK;
}

/* n (c 16) h w -> */
static tsr_status scan_left(struct pattern *p, const char **at)
{
    bool in_group = false;
    for (tsr_scan_blanks(at); strncmp(*at, "->", 2) != 0; tsr_scan_blanks(at)) {
        tsr_status status = TSR_OK;
        if (!in_group && tsr_scan_character(at, '(')) {
            in_group = true;
            tsr_scan_blanks(at);
        }
        if (!in_group || **at != ')')
            status = add_part(p, at);
        else if (p->count == 0 || p->parts[p->count - 1].axis != p->rank)
            status = fail_at(p, "a name or a size", *at);
        if (status != TSR_OK)
            return status;
        if (in_group && tsr_scan_character(at, ')'))
            in_group = false;
        p->rank += !in_group;
    }
    if (in_group)
        return fail_at(p, "')'", *at);
    *at += 2;
    return TSR_OK;
}

/* n c h w 16 */
static tsr_status scan_right(struct pattern *p, const char **at)
{
    for (tsr_scan_blanks(at); **at && **at != ','; tsr_scan_blanks(at)) {
        struct part wanted;
        const char *start = *at;
        bool is_ambiguous;
        if (!scan_part(at, &wanted))
            return fail_at(p, "a name or a size of the left side", start);
        struct part *part = find(p, &wanted, &is_ambiguous);
        if (!part)
            return fail_at(p, "a name or a size of the left side", start);
        if (is_ambiguous)
            return fail_at(p, "a name, as this size occurs more than once,", start);
        if (part->is_placed)
            return fail_at(p, "each part of the left side once", start);
        part->is_placed = true;
        p->memory[p->placed++] = (int)(part - p->parts);
    }
    if (p->placed < p->count)
        return fail_at(p, "each part of the left side once", *at);
    return TSR_OK;
}

/* , x1=16, x2=16 */
static tsr_status scan_sizes(struct pattern *p, const char **at)
{
    while (tsr_scan_character(at, ',')) {
        struct part name;
        bool is_ambiguous;
        tsr_scan_blanks(at);
        const char *start = *at;
        struct part *part = scan_part(at, &name) && name.length ? find(p, &name, &is_ambiguous) : NULL;
        if (!part || part->size)
            return fail_at(p, "a name of the left side whose size is not said yet", start);
        tsr_scan_blanks(at);
        if (!tsr_scan_character(at, '='))
            return fail_at(p, "'='", *at);
        tsr_scan_blanks(at);
        start = *at;
        if (!tsr_scan_number(at, &part->size) || part->size == 0)
            return fail_at(p, "a size of 1 or more", start);
        tsr_scan_blanks(at);
    }
    return **at ? fail_at(p, "a name, a size or a comma", *at) : TSR_OK;
}

static tsr_status scan_pattern(struct pattern *p)
{
    const char *at = p->text;
    if (strstr(at, "..."))
        return tsr_fail(p->error, TSR_UNSUPPORTED, "pattern \"%.60s\" leaves the rank open: ... stands for any axes",
                        p->text);
    tsr_status status = scan_left(p, &at);
    if (status == TSR_OK)
        status = scan_right(p, &at);
    return status == TSR_OK ? scan_sizes(p, &at) : status;
}

/* Says the size that is missing among the parts of an axis, if one is, and proves that they make up its dim. */
static tsr_status fill_in_axis(struct pattern *p, int axis, int64_t dim)
{
    struct part *open = NULL;
    int64_t product = 1;
    for (int i = 0; i < p->count; i++) {
        struct part *part = &p->parts[i];
        if (part->axis != axis)
            continue;
        if (part->size == 0 && open)
            return tsr_fail(p->error, TSR_PARSE_ERROR,
                            "expected the sizes of all parts of axis %d but one in pattern \"%.60s\"", axis, p->text);
        if (part->size == 0)
            open = part;
        else if (!tsr_mul(product, part->size, &product))
            return tsr_fail(p->error, TSR_OVERFLOW, "the blocks of axis %d do not fit into 63 bits", axis);
    }
    if (open ? dim % product != 0 : dim != product)
        return tsr_fail(p->error, TSR_INVALID_ARGUMENT,
                        "axis %d has %" PRId64 " indices, expected %s%" PRId64 ": einops has no padding", axis, dim,
                        open ? "a multiple of its block " : "", product);
    if (open)
        open->size = dim / product;
    return TSR_OK;
}

static tsr_status fill_in(struct pattern *p, const int64_t *dims)
{
    tsr_status status = TSR_OK;
    for (int k = 0; status == TSR_OK && k < p->rank; k++)
        status = fill_in_axis(p, k, dims[k]);
    return status;
}

tsr_status tsr_parse_einops(tsr_desc *desc, tsr_dtype dtype, int rank, const int64_t *dims, const char *text,
                            tsr_error *error)
{
    struct pattern p = {.text = text, .error = error};
    tsr_dense_level levels[TSR_MAX_LEVELS];
    int64_t units[TSR_MAX_LEVELS];
    tsr_status status = scan_pattern(&p);
    if (status != TSR_OK)
        return status;
    if (p.rank != rank)
        return tsr_fail(error, TSR_INVALID_ARGUMENT, "pattern \"%.60s\" has %d axes, the dims have %d", text, p.rank,
                        rank);
    status = fill_in(&p, dims);
    if (status != TSR_OK)
        return status;
    for (int i = p.count - 1; i >= 0; i--) {
        bool innermost = i == p.count - 1 || p.parts[i + 1].axis != p.parts[i].axis;
        units[i] = innermost ? 1 : units[i + 1] * p.parts[i + 1].size;
    }
    for (int i = 0; i < p.count; i++) {
        const struct part *part = &p.parts[p.memory[i]];
        levels[i] = (tsr_dense_level){part->axis, part->size, units[p.memory[i]]};
    }
    return tsr_lay_dense(desc, dtype, rank, dims, levels, p.count, error);
}

/* --- printing --- */

/* Numbers the blocks whose size another block has too, in the order of the left side. The other levels have 0. */
static void number_namesakes(const tsr_layout *layout, int numbers[TSR_MAX_LEVELS])
{
    int count = 0;
    for (int k = 0; k < layout->rank; k++) {
        for (int i = 0; i < layout->levels; i++) {
            int same = 0;
            if (layout->order[i] != k)
                continue;
            for (int j = 0; j < layout->levels; j++)
                same += layout->block_dims[j] == layout->block_dims[i];
            numbers[i] = layout->block_dims[i] && same > 1 ? ++count : 0;
        }
    }
}

static void write_part(tsr_writer *out, const tsr_layout *layout, const int *numbers, tsr_role role, int i)
{
    if (layout->block_dims[i] == 0)
        tsr_write(out, "%c", tsr_role_letter(role, layout->rank, layout->order[i]));
    else if (numbers[i])
        tsr_write(out, "x%d", numbers[i]);
    else
        tsr_write(out, "%" PRId64, layout->block_dims[i]);
}

/* An axis of the left side: c or (c 16). */
static void write_axis(tsr_writer *out, const tsr_layout *layout, const int *numbers, tsr_role role, int axis)
{
    int levels = 0, written = 0;
    for (int i = 0; i < layout->levels; i++)
        levels += layout->order[i] == axis;
    if (levels > 1)
        tsr_write(out, "(");
    for (int i = 0; i < layout->levels; i++) {
        if (layout->order[i] != axis)
            continue;
        tsr_write(out, written++ ? " " : "");
        write_part(out, layout, numbers, role, i);
    }
    tsr_write(out, levels > 1 ? ") " : " ");
}

static tsr_status check_whole_blocks(const tsr_layout *layout, const int64_t *dims, tsr_error *error)
{
    for (int k = 0; k < layout->rank; k++) {
        int64_t block = 1;
        for (int i = 0; i < layout->levels; i++)
            if (layout->order[i] == k)
                block *= tsr_max(layout->block_dims[i], 1);
        if (dims[k] % block != 0)
            return tsr_fail(error, TSR_UNSUPPORTED,
                            "axis %d has %" PRId64 " indices, no multiple of its block %" PRId64
                            ": einops has no padding",
                            k, dims[k], block);
    }
    return TSR_OK;
}

tsr_status tsr_print_einops(tsr_writer *out, const tsr_desc *desc, tsr_role role, tsr_error *error)
{
    int numbers[TSR_MAX_LEVELS];
    tsr_layout layout;
    tsr_status status = tsr_layout_of(&layout, desc, error);
    if (status == TSR_OK)
        status = check_whole_blocks(&layout, desc->dims, error);
    if (status != TSR_OK)
        return status;
    number_namesakes(&layout, numbers);
    for (int k = 0; k < layout.rank; k++)
        write_axis(out, &layout, numbers, role, k);
    tsr_write(out, "->");
    for (int i = 0; i < layout.levels; i++) {
        tsr_write(out, " ");
        write_part(out, &layout, numbers, role, i);
    }
    for (int k = 0; k < layout.rank; k++)
        for (int i = 0; i < layout.levels; i++)
            if (layout.order[i] == k && numbers[i])
                tsr_write(out, ", x%d=%" PRId64, numbers[i], layout.block_dims[i]);
    return TSR_OK;
}
