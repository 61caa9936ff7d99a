/* SPDX-License-Identifier: Apache-2.0 */
#include "reorder/axis.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/int.h"
#include "reorder/axis_cut.h"

/* The boundaries of both sides, ascending, without repetition, and only those that an index can reach. */
static int merge_units(const tsr_axis *axis, int64_t extent, int64_t *unit)
{
    int n = 0, s = 0, d = 0, src_count = axis->src ? axis->src->count : 0;
    while (s < src_count || d < axis->dst->count) {
        int64_t a = s < src_count ? axis->src->unit[s] : INT64_MAX;
        int64_t b = d < axis->dst->count ? axis->dst->unit[d] : INT64_MAX;
        int64_t least = tsr_min(a, b);
        s += a == least;
        d += b == least;
        if (n == 0 || least < extent)
            unit[n++] = least;
    }
    return n;
}

/* How many of the boundaries divide all that are larger. */
static int nesting_units(const int64_t *unit, int n)
{
    for (int i = 0; i < n - 1; i++)
        for (int j = i + 1; j < n; j++)
            if (unit[j] % unit[i] != 0)
                return i;
    return n;
}

/* The longest run that no boundary cuts. */
static int64_t common_divisor(const int64_t *unit, int n)
{
    int64_t divisor = unit[0];
    for (int i = 1; i < n; i++)
        divisor = tsr_gcd(divisor, unit[i]);
    return divisor;
}

/* Where both sides are linear again; INT64_MAX when that is out of reach. */
static int64_t common_period(const int64_t *unit, int n)
{
    int64_t period = 1;
    for (int i = 0; i < n; i++)
        period = tsr_lcm(period, unit[i]);
    return period;
}

/* F(x + unit) - F(x) wherever x is a multiple of unit inside one digit: the stride of that boundary. */
static tsr_loop linear_digit(const tsr_axis *axis, int64_t unit, int64_t radix)
{
    return (tsr_loop){
        .n = radix,
        .src = axis->src ? tsr_digits_offset(axis->src, unit) : 0,
        .dst = tsr_digits_offset(axis->dst, unit),
        .factor = axis->factor * unit,
    };
}

/* A digit of `length` steps of `unit` positions that is looked up; the caller fills the table. */
static tsr_status add_table(tsr_axis *axis, int64_t unit, int64_t length, const tsr_allocator *allocator)
{
    axis->table = tsr_allocate_zeroed(allocator, 2 * (size_t)length, sizeof *axis->table);
    if (!axis->table)
        return TSR_OUT_OF_MEMORY;
    axis->table_length = length;
    axis->unit[axis->count] = unit;
    axis->digit[axis->count++] = (tsr_loop){
        .n = length, .factor = axis->factor * unit, .src_table = axis->table, .dst_table = axis->table + length};
    return TSR_OK;
}

/* From the first position on, so that a table begins with 0. */
static void fill_table(tsr_axis *axis, const tsr_digits *digits, int64_t *table, int64_t first, int64_t step)
{
    int64_t start = digits ? tsr_digits_offset(digits, first) : 0;
    for (int64_t t = 0; t < axis->table_length; t++)
        table[t] = digits ? tsr_digits_offset(digits, first + t * step) - start : 0;
}

/* One step for each multiple of unit below reach. */
static tsr_status add_table_of_digits(tsr_axis *axis, int64_t unit, int64_t reach, const tsr_allocator *allocator)
{
    tsr_status status = add_table(axis, unit, tsr_ceil_div(reach, unit), allocator);
    if (status == TSR_OK) {
        fill_table(axis, axis->src, axis->table, 0, unit);
        fill_table(axis, axis->dst, axis->table + axis->table_length, 0, unit);
    }
    return status;
}

static void add_linear(tsr_axis *axis, int64_t unit, int64_t radix)
{
    axis->unit[axis->count] = unit;
    axis->digit[axis->count++] = linear_digit(axis, unit, radix);
}

tsr_status tsr_axis_refine(tsr_axis *axis, const tsr_digits *src, const tsr_digits *dst, int64_t factor,
                           tsr_cut_rules rules, const tsr_allocator *allocator)
{
    int64_t unit[TSR_MAX_AXIS_DIGITS];
    *axis = (tsr_axis){.src = src, .dst = dst, .factor = factor, .begin = dst->first};
    axis->end = axis->begin + dst->indices;
    axis->limit = dst->is_whole ? axis->begin + dst->extent : axis->end;
    int64_t extent = src ? axis->end : axis->limit;
    int n = merge_units(axis, extent, unit);
    int nesting = nesting_units(unit, n);
    const bool is_shifted = src && src->first != dst->first;
    if ((nesting < n || is_shifted) && tsr_axis_find_cut(axis, rules))
        return tsr_axis_cut(axis, allocator);
    if (dst->step != 1 || (src && src->step != 1) || is_shifted || (nesting < n && axis->begin > 0))
        return tsr_axis_tabulate(axis, allocator);
    int last = nesting - 1; /* unit[last] divides all that follow */
    for (int j = 0; j < last; j++)
        add_linear(axis, unit[j], unit[j + 1] / unit[j]);
    if (nesting == n) {
        add_linear(axis, unit[last], 0);
        return TSR_OK;
    }
    int64_t period = common_period(unit, n), step = common_divisor(unit + nesting, n - nesting);
    if (step > unit[last])
        add_linear(axis, unit[last], step / unit[last]);
    tsr_status status = add_table_of_digits(axis, step, tsr_min(period, extent), allocator);
    if (status == TSR_OK && period < extent)
        add_linear(axis, period, 0);
    return status;
}

void tsr_axis_reset(tsr_axis *axis, const tsr_allocator *allocator)
{
    tsr_deallocate(allocator, axis->table, 2 * (size_t)axis->table_length * sizeof *axis->table);
    axis->table = NULL;
    axis->table_length = 0;
    axis->count = 0;
}

tsr_status tsr_axis_tabulate(tsr_axis *axis, const tsr_allocator *allocator)
{
    const tsr_digits *src = axis->src, *dst = axis->dst;
    tsr_axis_reset(axis, allocator);
    axis->end -= axis->begin;
    axis->limit -= axis->begin;
    axis->begin = 0;
    axis->block = 0;
    axis->is_tabulated = true;
    tsr_status status = add_table(axis, 1, src ? axis->end : axis->limit, allocator);
    if (status == TSR_OK) {
        fill_table(axis, src, axis->table, src ? src->first : 0, src ? src->step : 0);
        fill_table(axis, dst, axis->table + axis->table_length, dst->first, dst->step);
    }
    return status;
}

/* The largest digit that can run from `from` without passing `to`. */
static int digit_at(const tsr_axis *axis, int64_t from, int64_t to)
{
    int j = axis->count - 1;
    while (j > 0 && (from % axis->unit[j] != 0 || to - from < axis->unit[j]))
        j--;
    return j;
}

/* Where position `from` of the axis lies on one side. */
static int64_t offset_from(const tsr_axis *axis, const tsr_digits *digits, int64_t from)
{
    if (!digits)
        return 0;
    return tsr_digits_offset(digits, axis->is_tabulated ? digits->first : from);
}

int tsr_axis_pieces(const tsr_axis *axis, int64_t from, int64_t to, tsr_piece *pieces)
{
    int count = 0;
    if (axis->block > 0)
        return tsr_axis_blocks(axis, pieces);
    while (from < to) {
        int j = digit_at(axis, from, to);
        int64_t end = to;
        if (j + 1 < axis->count)
            end = tsr_min(to, (from / axis->unit[j + 1] + 1) * axis->unit[j + 1]);
        int64_t n = (end - from) / axis->unit[j];
        pieces[count++] = (tsr_piece){
            .src = offset_from(axis, axis->src, from),
            .dst = offset_from(axis, axis->dst, from),
            .factor = axis->factor * (from - axis->begin),
            .digit = j,
            .n = n,
        };
        from += n * axis->unit[j];
    }
    return count;
}

static void add_digits(const tsr_axis *axis, const tsr_piece *piece, tsr_nest *nest)
{
    for (int j = 0; j <= piece->digit; j++) {
        tsr_loop *loop = &nest->loop[nest->count++];
        *loop = axis->digit[j];
        if (j == piece->digit) {
            loop->n = piece->n;
            loop->padding = piece->padding;
        }
    }
}

void tsr_axis_add_loops(const tsr_axis *axis, const tsr_piece *piece, tsr_nest *nest)
{
    if (axis->block > 0)
        tsr_axis_add_block(axis, piece, nest);
    else
        add_digits(axis, piece, nest);
    nest->src += piece->src;
    nest->dst += piece->dst;
    nest->factor += piece->factor;
}
