/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "base/int.h"
#include "desc/dialect/dialect.h"
#include "desc/scan.h"

/*
 * A shape in memory, major to minor, as https://openxla.org/xla/tiled_layout builds it: the axes, and
 * behind them the sizes of each tile. A tile of n sizes splits the n minor places: what is left of
 * them counts tiles, and new places behind all others count inside of one.
 */
enum { PLACES = TSR_MAX_RANK * (TSR_MAX_LEVELS - TSR_MAX_RANK + 1) }; /* what print needs at most */

struct scanner {
    const char *text;
    tsr_error *error;
    int rank;
    int64_t dims[TSR_MAX_RANK];
    int count;
    tsr_dense_level places[PLACES];
};

static tsr_status fail_at(const struct scanner *s, const char *wanted, const char *at)
{
    return tsr_fail(s->error, TSR_PARSE_ERROR, "expected %s at \"%.20s\" in \"%.60s\"", wanted, at, s->text);
}

/* --- f32[8,64] --- */

static const struct {
    const char *name;
    tsr_dtype dtype;
} types[] = {
    {"pred", TSR_BOOL},        {"s4", TSR_S4},          {"u4", TSR_U4},     {"s8", TSR_S8},   {"u8", TSR_U8},
    {"s16", TSR_S16},          {"u16", TSR_U16},        {"s32", TSR_S32},   {"u32", TSR_U32}, {"s64", TSR_S64},
    {"u64", TSR_U64},          {"f16", TSR_F16},        {"bf16", TSR_BF16}, {"f32", TSR_F32}, {"f64", TSR_F64},
    {"f8e4m3fn", TSR_F8_E4M3}, {"f8e5m2", TSR_F8_E5M2},
};

static tsr_status scan_type(const struct scanner *s, const char **at, tsr_dtype dtype)
{
    const char *word = *at;
    size_t length = tsr_scan_word(at);
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        if (strlen(types[i].name) != length || memcmp(types[i].name, word, length) != 0)
            continue;
        if (types[i].dtype == dtype)
            return TSR_OK;
        return tsr_fail(s->error, TSR_INVALID_ARGUMENT, "the text has type %s, expected %s", types[i].name,
                        tsr_dtype_name(dtype));
    }
    return fail_at(s, "a type such as f32 or pred, or '{',", word);
}

static tsr_status scan_shape(struct scanner *s, const char **at)
{
    if (!tsr_scan_character(at, '['))
        return fail_at(s, "'['", *at);
    s->rank = 0;
    if (tsr_scan_character(at, ']'))
        return TSR_OK;
    do {
        if (**at == '<' || **at == '?')
            return tsr_fail(s->error, TSR_UNSUPPORTED, "axis %d of \"%.60s\" has a dynamic size", s->rank, s->text);
        if (s->rank == TSR_MAX_RANK)
            return tsr_fail(s->error, TSR_PARSE_ERROR, "expected at most %d axes in \"%.60s\"", TSR_MAX_RANK, s->text);
        if (!tsr_scan_number(at, &s->dims[s->rank++]))
            return fail_at(s, "a size", *at);
    } while (tsr_scan_character(at, ','));
    return tsr_scan_character(at, ']') ? TSR_OK : fail_at(s, "',' or ']'", *at);
}

/* --- {3,2,1,0 --- */

static tsr_status scan_minor_to_major(struct scanner *s, const char **at)
{
    int minor_to_major[TSR_MAX_RANK];
    uint32_t seen = 0;
    while (**at != '}' && **at != ':') {
        int64_t axis;
        if (s->count > 0 && !tsr_scan_character(at, ','))
            return fail_at(s, "',', ':' or '}'", *at);
        const char *start = *at;
        if (!tsr_scan_number(at, &axis) || axis >= TSR_MAX_RANK)
            return fail_at(s, "an axis", start);
        if (seen >> axis & 1)
            return fail_at(s, "each axis once", start);
        seen |= 1U << axis;
        minor_to_major[s->count++] = (int)axis;
    }
    if (s->count != s->rank)
        return tsr_fail(s->error, TSR_INVALID_ARGUMENT, "layout \"%.60s\" has %d axes, the dims have %d", s->text,
                        s->count, s->rank);
    for (int i = 0; i < s->rank; i++) {
        int axis = minor_to_major[s->rank - 1 - i];
        if (axis >= s->rank)
            return fail_at(s, "axes below the rank", s->text);
        s->places[i] = (tsr_dense_level){axis, s->dims[axis], 1};
    }
    return TSR_OK;
}

/* --- T(8,128)(2,1) --- */

/* Splits a place. Only the first of an axis has room for padding: it counts as many tiles as the dim needs. */
static tsr_status split(struct scanner *s, int place, tsr_dense_level *inner)
{
    tsr_dense_level *outer = &s->places[place];
    if (place >= s->rank && outer->extent % inner->extent != 0)
        return tsr_fail(s->error, TSR_UNSUPPORTED,
                        "a tile of %" PRId64 " pads the tile of %" PRId64 " that axis %d has already, in \"%.60s\"",
                        inner->extent, outer->extent, outer->axis, s->text);
    inner->axis = outer->axis;
    inner->unit = outer->unit;
    outer->extent = tsr_ceil_div(outer->extent, inner->extent);
    if (!tsr_mul(outer->unit, inner->extent, &outer->unit))
        return tsr_fail(s->error, TSR_OVERFLOW, "the tiles of axis %d do not fit into 63 bits", outer->axis);
    return TSR_OK;
}

static tsr_status scan_tile(struct scanner *s, const char **at)
{
    int sizes = 0, before = s->count;
    do {
        if (**at == '*')
            return tsr_fail(s->error, TSR_UNSUPPORTED, "a tile of \"%.60s\" combines axes with *", s->text);
        if (sizes == before || s->count == PLACES)
            return tsr_fail(s->error, TSR_PARSE_ERROR, "a tile of \"%.60s\" has more sizes than the %d places it tiles",
                            s->text, before);
        const char *start = *at;
        int64_t *size = &s->places[s->count++].extent;
        if (!tsr_scan_number(at, size) || *size == 0)
            return fail_at(s, "a size of 1 or more", start);
        sizes++;
    } while (tsr_scan_character(at, ','));
    if (!tsr_scan_character(at, ')'))
        return fail_at(s, "',' or ')'", *at);
    tsr_status status = TSR_OK;
    for (int i = 0; status == TSR_OK && i < sizes; i++)
        status = split(s, before - sizes + i, &s->places[before + i]);
    return status;
}

/* --- what else may stand behind the colon --- */

static const struct {
    const char *word, *meaning;
} properties[] = {
    {"L", "an alignment of the padding behind it"},
    {"E", "a size of its elements"},
    {"SC", "split points"},
    {"S", "a memory space"},
    {"P", "a physical shape"},
    {"M", "a prefix with its dynamic shape"},
    {"D", "kinds of sparse axes"},
    {"#", "a type of indices"},
    {"*", "a type of pointers"},
};

static tsr_status fail_at_property(const struct scanner *s, const char *at)
{
    for (size_t i = 0; i < sizeof properties / sizeof properties[0]; i++) {
        size_t length = strlen(properties[i].word);
        if (strncmp(at, properties[i].word, length) == 0 && at[length] == '(')
            return tsr_fail(s->error, TSR_UNSUPPORTED, "\"%.60s\" has %s: %s(", s->text, properties[i].meaning,
                            properties[i].word);
    }
    return fail_at(s, "tiles such as T(8,128), or '}',", at);
}

static tsr_status scan_tiles(struct scanner *s, const char **at)
{
    tsr_status status = TSR_OK;
    if (strncmp(*at, "T(", 2) != 0)
        return fail_at_property(s, *at);
    ++*at;
    while (status == TSR_OK && tsr_scan_character(at, '('))
        status = scan_tile(s, at);
    return status;
}

static tsr_status scan_layout(struct scanner *s, const char **at)
{
    if (!tsr_scan_character(at, '{'))
        return fail_at(s, "'{'", *at);
    tsr_status status = scan_minor_to_major(s, at);
    if (status == TSR_OK && tsr_scan_character(at, ':'))
        status = scan_tiles(s, at);
    if (status != TSR_OK)
        return status;
    return tsr_scan_character(at, '}') ? TSR_OK : fail_at_property(s, *at);
}

static tsr_status scan_text(struct scanner *s, tsr_dtype dtype, int rank, const int64_t *dims)
{
    const char *at = s->text;
    tsr_status status = TSR_OK;
    if (*at == '{') {
        if (!dims && rank != 0)
            return tsr_fail(s->error, TSR_INVALID_ARGUMENT,
                            "expected dims, or a shape such as f32[8,64] before \"%.60s\"", s->text);
        s->rank = rank;
        for (int k = 0; k < rank; k++)
            s->dims[k] = dims[k];
    } else {
        status = scan_type(s, &at, dtype);
        if (status == TSR_OK)
            status = scan_shape(s, &at);
        if (status == TSR_OK)
            status = tsr_check_same_dims(s->rank, s->dims, rank, dims, s->error);
    }
    if (status != TSR_OK)
        return status;
    if (*at) {
        status = scan_layout(s, &at);
        return status == TSR_OK && *at ? fail_at(s, "the end", at) : status;
    }
    for (s->count = 0; s->count < s->rank; s->count++)
        s->places[s->count] = (tsr_dense_level){s->count, s->dims[s->count], 1};
    return TSR_OK;
}

/* Tiles of 1 are no levels; an axis is always one. */
static tsr_status drop_ones(struct scanner *s)
{
    int kept = 0;
    for (int i = 0; i < s->count; i++)
        if (i < s->rank || s->places[i].extent != 1)
            s->places[kept++] = s->places[i];
    s->count = kept;
    if (kept <= TSR_MAX_LEVELS)
        return TSR_OK;
    return tsr_fail(s->error, TSR_UNSUPPORTED, "\"%.60s\" has %d levels, expected at most %d", s->text, kept,
                    TSR_MAX_LEVELS);
}

tsr_status tsr_parse_xla(tsr_desc *desc, tsr_dtype dtype, int rank, const int64_t *dims, const char *text,
                         tsr_error *error)
{
    struct scanner s = {.text = text, .error = error};
    tsr_status status = scan_text(&s, dtype, rank, dims);
    if (status == TSR_OK)
        status = drop_ones(&s);
    return status == TSR_OK ? tsr_lay_dense(desc, dtype, s.rank, s.dims, s.places, s.count, error) : status;
}

/* --- printing --- */

/* Where each axis stands from major to minor: as its outermost level does among the levels. */
static void find_places(const tsr_desc *desc, int places[TSR_MAX_RANK], int axes[TSR_MAX_RANK])
{
    uint32_t seen = 0;
    int count = 0;
    for (int i = 0; i < desc->levels; i++) {
        int axis = desc->order[i];
        if (seen >> axis & 1)
            continue;
        seen |= 1U << axis;
        places[axis] = count;
        axes[count++] = axis;
    }
}

/* What is left of each axis for its inner levels, over the minor axes from the first that has something left. */
static void write_tile(tsr_writer *out, int rank, const int axes[], const int64_t left[])
{
    int first = 0;
    while (left[axes[first]] == 1)
        first++;
    for (int place = first; place < rank; place++)
        tsr_write(out, "%c%" PRId64, place == first ? '(' : ',', left[axes[place]]);
    tsr_write(out, ")");
}

/*
 * A tile keeps its axes in the order of the axes. So each level that would have to stand before the
 * one in front of it begins a tile, and the tiles before hold all that is inside as one block.
 */
static void write_tiles(tsr_writer *out, const tsr_desc *desc, const int places[], const int axes[])
{
    int64_t left[TSR_MAX_RANK];
    uint32_t seen = 0;
    int place = -1;
    bool is_tiled = false;
    for (int k = 0; k < desc->rank; k++)
        left[k] = 1;
    for (int i = 0; i < desc->levels; i++)
        left[desc->order[i]] *= tsr_max(desc->block_dims[i], 1);
    for (int i = 0; i < desc->levels; i++) {
        int axis = desc->order[i];
        if (desc->block_dims[i] == 1 && seen >> axis & 1)
            continue;
        if (places[axis] <= place) {
            tsr_write(out, is_tiled ? "" : ":T");
            write_tile(out, desc->rank, axes, left);
            is_tiled = true;
        }
        seen |= 1U << axis;
        place = places[axis];
        left[axis] /= tsr_max(desc->block_dims[i], 1);
    }
}

static void write_text(tsr_writer *out, const tsr_desc *desc)
{
    int places[TSR_MAX_RANK], axes[TSR_MAX_RANK];
    find_places(desc, places, axes);
    tsr_write(out, "{");
    for (int place = desc->rank - 1; place >= 0; place--)
        tsr_write(out, "%d%s", axes[place], place ? "," : "");
    write_tiles(out, desc, places, axes);
    tsr_write(out, "}");
}

/* All layouts have tiles; that these have no more levels than there may be is seen by reading them. */
tsr_status tsr_print_xla(tsr_writer *out, const tsr_desc *desc, tsr_role role, tsr_error *error)
{
    char text[TSR_TEXT_SIZE];
    tsr_writer trial = {text, sizeof text, 0};
    tsr_layout layout;
    tsr_desc laid, again;
    (void)role;
    tsr_status status = tsr_layout_of(&layout, desc, error);
    if (status == TSR_OK)
        status = tsr_layout_apply(&laid, desc->dtype, desc->rank, desc->dims, &layout, error);
    if (status != TSR_OK)
        return status;
    write_text(&trial, &laid);
    tsr_write(out, "%s", text);
    return tsr_parse_xla(&again, desc->dtype, desc->rank, desc->dims, text, error);
}
