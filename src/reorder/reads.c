/* SPDX-License-Identifier: Apache-2.0 */
#include "reorder/reads.h"

#include "base/int.h"
#include "reorder/caches.h"
#include "reorder/convert_lines.h"
#include "reorder/lines.h"
#include "reorder/sets.h"
#include "reorder/streams.h"

/* ---- columns that share the sets of a cache ---- */

/*
 * Kernels read 16 bytes of as many columns as fill a vector, and come back for the next ones. Where columns share a
 * set, their lines are gone by then, and if they are not gathered, it is better to read a vector of each of 16. That
 * takes stores of 16 bytes, which are for rows near each other, or for scratch memory that is not read before they have
 * reached it. Columns that nearly share one are as if they did, but from a far last cache (measured on a Zen 5 and an
 * Emerald Rapids).
 */
static bool should_read_lines(const tsr_box *box, const tsr_workshop *workshop)
{
    enum { NEAR = 1 << 10 };
    const tsr_conversion *conversion = workshop->conversion;
    const int64_t distance = tsr_distance_of(&box->column, conversion);
    if (box->motion != TSR_MOTION_TRANSPOSE || !tsr_is_straight(conversion) || conversion->src_bytes > 1)
        return false;
    if (!workshop->exceeds_l1 || distance == 0 || !tsr_exceed_set(&box->column))
        return false;
    const bool is_exact = distance % tsr_period_of_sets() == 0;
    if (box->streams || box->buffers)
        return (is_exact || (!workshop->is_far && tsr_share_one_set(distance))) && tsr_is_long_row(box->column.step);
    return is_exact && tsr_pitch_of(&box->row, conversion) <= NEAR;
}

/* So many columns of a tile, narrow ones, a kernel of transposes reads at once: as many as fill a line, or a vector, or
 * half of it, and so on. */
static int64_t columns_at_once(const tsr_box *box, const tsr_workshop *workshop)
{
    enum { WIDE_VECTOR = 32 };
    const bool takes_lines = workshop->kernels->writes_lines || box->streams_lines;
    const int64_t vector = workshop->kernels->can_stream_lines ? WIDE_VECTOR : TSR_LANE_BYTES;
    int64_t columns = (takes_lines ? TSR_CACHE_LINE : vector) / workshop->conversion->dst_bytes;
    while (columns > box->column.step)
        columns /= 2;
    return columns;
}

/*
 * Some lines of each of these are better copied first where a set has not room for them: what that gains is more than
 * what is lost, as nothing else is read meanwhile, if they come from the second-level cache or not from much beyond. If
 * all are in one set, also farther, and for what is streamed, while the last cache has room for it. The source of what
 * is soon read again may come from anywhere. What is put side by side in scratch memory leaves no room. Measured on a
 * Zen 4; on an Emerald Rapids, whose last cache is far, lines come back from the second level sooner than they are
 * copied.
 */
static bool should_gather(const tsr_box *box, const tsr_workshop *workshop)
{
    static const double most = 0.2, most_of_one_set = 0.45;
    const tsr_conversion *conversion = workshop->conversion;
    if (box->motion != TSR_MOTION_TRANSPOSE || !tsr_is_straight(conversion) || !tsr_is_narrow(conversion->dst_bytes))
        return false;
    if (!workshop->exceeds_l1 || !workshop->topology->has_near_l3 || box->padding_bytes > 0 || box->finds_lines)
        return false;
    if (box->buffers || (box->streams && !box->streams_lines))
        return false;
    const int64_t all = columns_at_once(box, workshop), of_set = tsr_most_of_set(box->column.src, all);
    if (of_set <= tsr_lines_of_set() || (of_set < all && workshop->is_soon_read))
        return false;
    return !workshop->exceeds_l2 || workshop->l3_share < (of_set < all ? most : most_of_one_set);
}

/* Blocks of two times 16 bytes of each column do not fit into the registers. They are for columns that share a set, and
 * for what a near last cache is too small for, but for one beside deep sets, as measured. */
static bool should_read_pairs(const tsr_box *box, const tsr_workshop *workshop)
{
    const tsr_conversion *conversion = workshop->conversion;
    const bool gains_beyond = workshop->is_near && workshop->is_huge && !workshop->has_deep_sets;
    return box->motion == TSR_MOTION_TRANSPOSE && conversion->dst_bytes == 1 &&
           (gains_beyond || tsr_share_sets(tsr_distance_of(&box->column, conversion)));
}

/*
 * A line of each column after the other is a stride that prefetchers follow, and several lines of each are none. Short
 * rows take longer to convert, and longest where that takes several steps; so it is for what comes from memory, and for
 * more columns than prefetchers follow one by one, if the second-level cache has sets for the lines of all. What
 * becomes bytes gains nothing. Measured on a Zen 5.
 */
static bool should_convert_lines(const tsr_box *box, const tsr_workshop *workshop)
{
    enum { FEW_COLUMNS = 32, LEAST_ROWS = 16 };
    const tsr_conversion *conversion = workshop->conversion;
    const int64_t rows = TSR_CACHE_LINE / conversion->src_bytes;
    if (!workshop->has_deep_sets || !workshop->is_huge || box->motion != TSR_MOTION_TRANSPOSE || box->padding_bytes > 0)
        return false;
    return box->converts_first && rows >= LEAST_ROWS && tsr_takes_runs_of(conversion, rows) &&
           conversion->dst_bytes > 1 && box->column.step > FEW_COLUMNS &&
           tsr_lines_in_l2(tsr_distance_of(&box->column, conversion)) >= box->column.step;
}

/* ---- lines that are fetched ahead ---- */

/* The bytes of a run and those behind it in the source that the tile has as well. */
static int64_t bytes_side_by_side(const tsr_box *box, int64_t src_bytes)
{
    int64_t elements = box->column.n, rows = 1;
    for (int i = 0; i < box->row.count && rows < box->row.step; i++) {
        const tsr_loop *loop = &box->row.loop[i];
        if (!loop->src_table && loop->src == elements)
            elements *= tsr_min(loop->n, box->row.step / rows);
        rows *= loop->n;
    }
    return elements * src_bytes;
}

/* Does the next tile have what lies behind each run? Or behind the last of a few that are side by side: they are
 * fetched as well if they end inside of lines, as one that is a part of a line has the others with it. */
static bool go_on_in_next(const tsr_box *box, const tsr_loop *next, int64_t src_bytes)
{
    const int64_t run = box->column.n * src_bytes;
    if (next->src_table)
        return false;
    if (next->src == run)
        return true;
    return run < TSR_CACHE_LINE && TSR_CACHE_LINE % run != 0 && next->src < TSR_LONG_PIECE &&
           next->src == bytes_side_by_side(box, src_bytes);
}

/*
 * Short runs that are no whole lines, of which the next tile has those that lie behind them: so many streams that
 * prefetchers follow none. Of very short ones there are many to a line, which are fetched only from memory, and so are
 * all beside deep sets.
 */
static bool copies_many_streams(const tsr_box *box, const tsr_workshop *workshop)
{
    const int64_t run = box->column.n * workshop->conversion->src_bytes;
    const int64_t least = workshop->is_huge ? 0 : TSR_CACHE_LINE / 2;
    const tsr_loop *next = tsr_innermost_of_walk(box);
    if (workshop->has_deep_sets && !workshop->is_huge)
        return false;
    return workshop->is_near && workshop->conversion->is_copy && run >= least && run < TSR_LONG_PIECE &&
           run % TSR_CACHE_LINE != 0 && next && go_on_in_next(box, next, workshop->conversion->src_bytes) &&
           tsr_is_long_row(next->n * next->src);
}

/* Runs that come from several places, of which each is converted before the next one is read. */
static bool converts_many_streams(const tsr_box *box, const tsr_workshop *workshop)
{
    return workshop->is_huge && box->is_dense && !workshop->conversion->unpack &&
           tsr_converts_runs(box, workshop->conversion);
}

/* The destination of a transpose, or the source of pixels or runs, where prefetchers need help. Other kernels do not
 * ask. */
static bool should_fetch(const tsr_box *box, const tsr_workshop *workshop)
{
    if (box->motion == TSR_MOTION_COPY)
        return copies_many_streams(box, workshop) || converts_many_streams(box, workshop);
    if (box->motion == TSR_MOTION_DEINTERLEAVE)
        return workshop->is_near && !workshop->conversion->unpack;
    if (workshop->topology->has_near_l3 && (!workshop->is_huge || workshop->has_deep_sets))
        return false; /* which takes longer than to wait */
    return workshop->exceeds_l1 && !box->streams && !box->buffers && tsr_is_straight(workshop->conversion) &&
           tsr_gains_from_fetching(box, workshop->conversion->dst_bytes);
}

/* Tiles that lie side by side in memory, so small that their columns are short streams, which prefetchers follow too
 * late, but worth a call each. Measured on a Zen 5. */
static bool should_fetch_next(const tsr_box *box, const tsr_workshop *workshop)
{
    enum { LEAST_BYTES = 3 << 10, MOST_BYTES = 16 << 10 };
    const int64_t bytes = box->row.n * box->column.n * workshop->conversion->src_bytes;
    const tsr_loop *next = tsr_innermost_of_walk(box);
    return workshop->has_deep_sets && workshop->is_huge && box->motion == TSR_MOTION_TRANSPOSE && next &&
           !next->src_table && next->src == bytes && bytes >= LEAST_BYTES && bytes <= MOST_BYTES;
}

/* Of pixels that are parted: near last caches are left alone here, too. */
static bool should_fetch_lines(const tsr_box *box, const tsr_workshop *workshop)
{
    return box->motion == TSR_MOTION_DEINTERLEAVE && workshop->exceeds_l1 && !workshop->topology->has_near_l3 &&
           !box->streams_lines;
}

/* What is written past the caches comes from far. Not by rows, of which all lines follow each other; nor where the
 * second-level cache has not sets for two lines of all columns that a kernel reads at once: those of narrow elements
 * are read again and again (measured on an Emerald Rapids). */
static bool should_fetch_columns(const tsr_box *box, const tsr_workshop *workshop)
{
    const tsr_conversion *conversion = workshop->conversion;
    const int64_t lines = tsr_lines_in_l2(tsr_distance_of(&box->column, conversion));
    const bool crowd =
        workshop->is_far && tsr_is_narrow(conversion->dst_bytes) && 2 * columns_at_once(box, workshop) > lines;
    return box->motion == TSR_MOTION_TRANSPOSE && box->streams_lines && !box->streams_by_rows && !crowd;
}

void tsr_choose_reads(tsr_box *box, const tsr_workshop *workshop)
{
    box->gathers = should_gather(box, workshop);
    box->reads_lines = !box->gathers && should_read_lines(box, workshop);
    box->reads_pairs = !box->gathers && should_read_pairs(box, workshop);
    box->converts_lines = should_convert_lines(box, workshop);
    box->fetches_ahead = should_fetch(box, workshop);
    box->fetches_lines = should_fetch_lines(box, workshop);
    box->fetches_columns = should_fetch_columns(box, workshop);
    box->fetches_next = should_fetch_next(box, workshop);
}
