/* SPDX-License-Identifier: Apache-2.0 */
#include "reorder/writes.h"

#include <stdlib.h>

#include "base/int.h"
#include "reorder/draft.h"
#include "reorder/group.h"

/* ---- rows whose lines are whole, or follow each other ---- */

/* Streaming pays where cache lines are mostly written whole: in long rows, or in rows that are whole lines. */
static bool can_stream(const tsr_box *box)
{
    if (box->motion == TSR_MOTION_ZERO || !box->has_dense_columns)
        return false;
    if (box->is_dense)
        return tsr_is_long_row(box->row_bytes * box->row.step);
    return tsr_is_long_row(box->row_bytes) || (box->row_bytes | box->dst_bits) % TSR_CACHE_LINE == 0;
}

/* A piece of a row of so many bytes is worth a stream of its own. */
enum { LONG_PIECE = 1024 };

/* Are lines written soon after each other? Then the last cache takes them as well as memory does, if it has room. */
static bool writes_in_order(const tsr_box *box, int64_t dst_bytes)
{
    return box->is_dense || box->column.step * dst_bytes >= LONG_PIECE;
}

/*
 * Stores wait for cache lines. CPUs foresee them where rows of one line follow each other, and well enough
 * where they are whole lines of narrow elements, whose transposes have more to do for each.
 */
static bool gains_from_fetching(const tsr_box *box, int64_t dst_bytes)
{
    if (box->is_dense && box->row_bytes <= TSR_CACHE_LINE)
        return false;
    return !tsr_is_narrow(dst_bytes) || box->dst_bits % TSR_CACHE_LINE != 0;
}

/* Caches follow rows that go on from tile to tile, if they are so few; beyond the last one, fewer. */
static bool are_few_streams(int64_t rows, const tsr_workshop *workshop)
{
    const int64_t most = workshop->is_huge ? 32 : 64;
    return rows <= most;
}

/* Does each of a few rows, long or fetched ahead, do so? */
static bool has_few_streams(const tsr_box *box, const tsr_workshop *workshop)
{
    const int64_t dst_bytes = workshop->conversion->dst_bytes;
    return box->motion == TSR_MOTION_TRANSPOSE && !box->is_dense && are_few_streams(box->row.n, workshop) &&
           box->column.tiles > 1 && (box->row_bytes >= LONG_PIECE || gains_from_fetching(box, dst_bytes)) &&
           box->column_walk == box->walk_count - 1;
}

/* Do the rows of a tile, which are not dense, fill a piece of the destination all the same, in another order? */
static bool has_shuffled_rows(const tsr_box *box)
{
    int64_t first = box->row.dst[0], last = first;
    if (box->is_dense || box->row.is_table || box->column.tiles > 1 || !box->has_dense_columns)
        return false;
    for (int64_t r = 1; r < box->row.step; r++) {
        first = tsr_min(first, box->row.dst[r]);
        last = tsr_max(last, box->row.dst[r]);
    }
    return last - first == (box->row.step - 1) * box->row_bytes;
}

bool tsr_reads_whole_lines(const tsr_chain *row, int64_t run, const tsr_conversion *conversion)
{
    bool reads = run * conversion->src_bytes % TSR_CACHE_LINE == 0;
    for (int i = 0; i < row->count; i++)
        reads = reads || (!row->loop[i].src_table && row->loop[i].src == run);
    return reads;
}

/* Short ones, which the caches gather as fast as memory takes them. */
static bool copies_in_order(const tsr_box *box, const tsr_conversion *conversion)
{
    return box->is_dense && !tsr_is_long_row(box->row_bytes) &&
           tsr_reads_whole_lines(&box->row, box->column.n, conversion);
}

/* By way of scratch memory, runs of two lines or more take longer than through a near last cache. */
static bool streams_source_alone(const tsr_box *box, const tsr_workshop *workshop)
{
    const tsr_conversion *conversion = workshop->conversion;
    return box->motion == TSR_MOTION_COPY && conversion->is_copy && workshop->is_near && !workshop->must_stream &&
           box->column.n * conversion->src_bytes >= 2 * TSR_CACHE_LINE;
}

static bool can_stream_source(const tsr_box *box, const tsr_conversion *conversion)
{
    return tsr_is_streamed_from_source(box->column.step * conversion->src_bytes, box->dst_bits % TSR_CACHE_LINE == 0);
}

/* ---- rows that share the sets of a cache ---- */

/* How far the rows of a transpose begin from each other in the destination; 1 if that differs. */
static int64_t pitch_of(const tsr_chain *row, const tsr_conversion *conversion)
{
    return row->count == 0 || row->loop[0].dst_table ? 1 : llabs(row->loop[0].dst * conversion->dst_bytes);
}

/* Is a distance a multiple of a period, or nearly so? */
static bool is_near_multiple(int64_t bytes, int64_t period, int64_t nearly)
{
    const int64_t beyond = bytes % period;
    return bytes > period - nearly && (beyond < nearly || beyond > period - nearly);
}

/* Do lines so far apart map onto a few sets, or nearly so? */
static bool share_sets(int64_t bytes)
{
    return is_near_multiple(bytes, TSR_PERIOD_OF_SETS / 2, 8);
}

bool tsr_rows_share_sets(const tsr_chain *row, const tsr_conversion *conversion)
{
    return share_sets(pitch_of(row, conversion));
}

bool tsr_rows_drift(const tsr_chain *row, const tsr_conversion *conversion)
{
    return is_near_multiple(pitch_of(row, conversion), TSR_PERIOD_OF_SETS / 8, 9);
}

/* How far columns begin from each other in the source; 0 if that differs. */
static int64_t distance_of(const tsr_chain *column, const tsr_conversion *conversion)
{
    return column->loop[0].src_table ? 0 : llabs(column->loop[0].src) * conversion->src_bytes;
}

/* The largest power of two that divides the distance of rows in the destination, at least a line: the more, the fewer
 * sets they have. */
static int64_t period_of(const tsr_chain *row, const tsr_conversion *conversion)
{
    const int64_t pitch = pitch_of(row, conversion);
    return tsr_max(TSR_CACHE_LINE, pitch & -pitch);
}

/* The same of the first-level cache's sets. */
static int64_t period_in_l1(const tsr_chain *row, const tsr_conversion *conversion)
{
    return tsr_min(period_of(row, conversion), TSR_PERIOD_OF_SETS);
}

int64_t tsr_rows_in_sets(const tsr_chain *row, const tsr_workshop *workshop)
{
    return workshop->topology->l1_bytes / period_in_l1(row, workshop->conversion);
}

/* How many rows of a tile, at least, are a multiple of that period apart. */
static int64_t rows_of_period(const tsr_box *box, const tsr_conversion *conversion)
{
    const int64_t period = period_in_l1(&box->row, conversion);
    int64_t rows = 1;
    for (int i = 0; i < box->row.count && !box->row.loop[i].dst_table; i++)
        if (box->row.loop[i].dst * conversion->dst_bytes % period == 0)
            rows *= box->row.loop[i].n;
    return tsr_min(rows, box->row.step);
}

/*
 * Lines that are written in parts have to stay in a cache until they are whole; rows that share sets do not let them.
 * Lines that are written at once need not; but a block of narrow elements has many rows, and if all of these have one
 * set, they are slow, too.
 */
static bool loses_lines(const tsr_box *box, const tsr_workshop *workshop)
{
    const tsr_conversion *conversion = workshop->conversion;
    if (box->motion != TSR_MOTION_TRANSPOSE || !tsr_rows_share_sets(&box->row, conversion))
        return false;
    if (!workshop->kernels->writes_lines || box->dst_bits % TSR_CACHE_LINE != 0)
        return true;
    return tsr_is_narrow(conversion->dst_bytes) && pitch_of(&box->row, conversion) % TSR_PERIOD_OF_SETS == 0;
}

/*
 * Does a block write the sets that it reads? It does if rows there and columns here are one element more than some
 * halves of a page apart: element (i, j) lies i + j elements into a set of few lines on either side, wherever the
 * block.
 */
static bool meets_its_source(const tsr_box *box, const tsr_conversion *conversion)
{
    enum { PERIOD = TSR_PERIOD_OF_SETS / 2 };
    const int64_t distance = distance_of(&box->column, conversion);
    const int64_t pitch = pitch_of(&box->row, conversion);
    return tsr_min(pitch, distance) > PERIOD && pitch % PERIOD == conversion->dst_bytes &&
           distance % PERIOD == conversion->src_bytes;
}

/*
 * The same for the first-level cache and tensors that the others hold: are there more rows than it has room for, in a
 * block that reads whole lines of the source? Where lines are written at once, there have to be twice as many; a near
 * last cache takes those of wide elements as well as they come, and CPUs with a far one all.
 */
static bool should_buffer(const tsr_box *box, const tsr_workshop *workshop)
{
    const tsr_conversion *conversion = workshop->conversion;
    const int64_t line = TSR_CACHE_LINE / conversion->src_bytes;
    if (box->motion != TSR_MOTION_TRANSPOSE || !tsr_is_straight(conversion) || box->padding_bytes > 0)
        return false;
    if (!workshop->exceeds_l1 || (workshop->exceeds_l2 && !workshop->is_near) || !box->has_dense_columns)
        return false;
    if (workshop->topology->has_near_l3 && !workshop->streams_sets && meets_its_source(box, conversion))
        return true;
    const int64_t fitting = tsr_rows_in_sets(&box->row, workshop), rows = rows_of_period(box, conversion);
    if (!workshop->kernels->writes_lines)
        return fitting < tsr_min(line, rows);
    return workshop->topology->has_near_l3 && 2 * fitting < rows &&
           pitch_of(&box->row, conversion) % TSR_PERIOD_OF_SETS == 0 &&
           (tsr_is_narrow(conversion->dst_bytes) || !workshop->streams_sets);
}

/*
 * Kernels read 16 bytes of as many columns as fill a vector, and come back for the next ones. Where columns share a
 * set, their lines are gone by then, and it is better to read a vector of each of 16. That takes stores of 16 bytes,
 * which are for rows near each other, or for scratch memory that is not read before they have reached it.
 */
static bool should_read_lines(const tsr_box *box, const tsr_workshop *workshop)
{
    enum { NEAR = 1 << 10 };
    const tsr_conversion *conversion = workshop->conversion;
    const int64_t distance = distance_of(&box->column, conversion);
    if (box->motion != TSR_MOTION_TRANSPOSE || !tsr_is_straight(conversion) || conversion->src_bytes > 1)
        return false;
    return workshop->exceeds_l1 && distance > 0 && distance % TSR_PERIOD_OF_SETS == 0 &&
           (box->streams || box->buffers ? tsr_is_long_row(box->column.step) : pitch_of(&box->row, conversion) <= NEAR);
}

/* Blocks of two times 16 bytes of each column do not fit into the registers. They are for columns that share a set, and
 * for what a near last cache is too small for. */
static bool should_read_pairs(const tsr_box *box, const tsr_workshop *workshop)
{
    const tsr_conversion *conversion = workshop->conversion;
    return box->motion == TSR_MOTION_TRANSPOSE && conversion->dst_bytes == 1 &&
           ((workshop->is_near && workshop->is_huge) || share_sets(distance_of(&box->column, conversion)));
}

/* ---- streaming ---- */

/* Lines that are written in two parts are whole soon enough for a far last cache, if they are few of its own, and do
 * not share the sets of the first one. */
static bool takes_parts_of_lines(const tsr_chain *row, const tsr_workshop *workshop)
{
    static const double most = 0.2;
    return workshop->is_far && tsr_is_straight(workshop->conversion) && workshop->l3_share <= most &&
           !tsr_rows_share_sets(row, workshop->conversion);
}

/* Long ones of a conversion, as they are converted. */
static bool can_stream_rows(const tsr_box *box, const tsr_conversion *conversion)
{
    return tsr_can_stream_rows(box, conversion) && box->column.step * conversion->dst_bytes >= LONG_PIECE;
}

/* A last cache that is near takes them as fast, until it takes so much of the source as well; longer, what becomes
 * wider, as most of it is written, and most of all from several threads, which memory serves no faster. */
static bool gains_from_streaming_rows(const tsr_box *box, const tsr_workshop *workshop)
{
    static const double least = 0.33, of_wider = 0.45, of_wider_from_several = 0.6;
    const tsr_conversion *conversion = workshop->conversion;
    const bool is_wider = conversion->dst_bytes > conversion->src_bytes;
    const double share = !is_wider ? least : workshop->threads > 1 ? of_wider_from_several : of_wider;
    return can_stream_rows(box, conversion) && workshop->l3_share > share;
}

/*
 * Where the last cache keeps up: copies do that are not in order, if short runs are gathered for it, or they need not
 * be; transposes to a wider type; and those that convert, if they do so first only to rows of whole lines, to long
 * rows that continue each other, or to rows that it cannot hold.
 */
static bool gains_from_streaming(const tsr_box *box, const tsr_workshop *workshop)
{
    const tsr_conversion *conversion = workshop->conversion;
    if (gains_from_streaming_rows(box, workshop))
        return true;
    if (box->motion == TSR_MOTION_COPY)
        return conversion->is_copy && !copies_in_order(box, conversion) &&
               (!streams_source_alone(box, workshop) || can_stream_source(box, conversion));
    if (box->motion != TSR_MOTION_TRANSPOSE)
        return false;
    if (conversion->dst_bytes > conversion->src_bytes)
        return true;
    const bool is_long = box->is_dense && tsr_is_long_row(box->row_bytes);
    const bool is_whole = box->dst_bits % TSR_CACHE_LINE == 0 || !tsr_converts_first(box, conversion);
    return (!conversion->is_copy && is_whole) || is_long || tsr_rows_share_sets(&box->row, conversion);
}

/* Pixels of few channels in wide blocks: much more is written than read. */
static bool writes_mostly_zeros(const tsr_box *box)
{
    return tsr_is_padded_transpose(box) && box->is_dense && 2 * box->padding_bytes >= box->row_bytes;
}

/* Streaming has its price, and is for what the caches do not gather as well. */
static bool should_stream(const tsr_box *box, const tsr_workshop *workshop)
{
    const int64_t dst_bytes = workshop->conversion->dst_bytes;
    if (workshop->must_stream)
        return true;
    if (has_few_streams(box, workshop) || has_shuffled_rows(box))
        return false;
    if (box->motion == TSR_MOTION_TRANSPOSE && !box->is_dense && box->dst_bits % TSR_CACHE_LINE != 0 &&
        takes_parts_of_lines(&box->row, workshop))
        return false;
    if (workshop->streams_sets && (loses_lines(box, workshop) || writes_mostly_zeros(box)))
        return true;
    if (!workshop->streams || (workshop->is_near && !gains_from_streaming(box, workshop)))
        return false;
    return workshop->is_huge || !writes_in_order(box, dst_bytes) ||
           (workshop->is_far && can_stream_rows(box, workshop->conversion));
}

/* Does the kernel of a box write all lines at once, or fill them one after the other? Of few rows it does not. */
static bool fills_lines(const tsr_box *box, int64_t dst_bytes)
{
    if (box->motion == TSR_MOTION_INTERLEAVE)
        return box->is_dense && !tsr_gathers_pixels(box);
    if (box->motion == TSR_MOTION_DEINTERLEAVE)
        return box->dst_bits % TSR_CACHE_LINE == 0 && !box->piece && !tsr_shuffles_pixels(box);
    if (box->motion != TSR_MOTION_TRANSPOSE || box->row.step * dst_bytes < TSR_LANE_BYTES)
        return false;
    if (box->is_dense && (box->row_bytes == TSR_LANE_BYTES || box->row_bytes == 2 * TSR_LANE_BYTES))
        return true;
    return box->dst_bits % TSR_CACHE_LINE == 0 && box->column.step * dst_bytes >= TSR_CACHE_LINE;
}

/* Columns that come from the same pages may have several lines of each row. */
static int64_t lines_of_near_columns(int64_t period, const tsr_workshop *workshop)
{
    enum { SHORT_PERIOD = 128, WIDE_BYTES = 8 };
    if (workshop->kernels->writes_lines)
        return period <= SHORT_PERIOD ? 4 : 8;
    return workshop->conversion->dst_bytes == WIDE_BYTES ? 4 : 2;
}

/* Others are as many streams, from as many pages: one line of each row at a time, if the last cache does not hold
 * these, or rows have sets enough. Bytes have so many columns to a line that it makes no difference, unless rows share
 * all sets. */
static int64_t lines_of_far_columns(int64_t period, const tsr_workshop *workshop, double share)
{
    enum { LONG_PERIOD = 512 };
    static const double most_of_pages = 0.7;
    const bool are_bytes = workshop->conversion->dst_bytes == 1 && period < TSR_PERIOD_OF_SETS;
    if (period < LONG_PERIOD || (share > most_of_pages && !are_bytes))
        return 1;
    return workshop->kernels->writes_lines ? 8 : 4;
}

/* Do columns share the sets of the first-level cache alone? Bytes are rather read by lines then (should_read_lines). */
static bool are_read_by_lines(int64_t distance, const tsr_conversion *conversion)
{
    enum { PERIOD_IN_L2 = 32 << 10 };
    return conversion->dst_bytes == 1 && distance % TSR_PERIOD_OF_SETS == 0 && distance % PERIOD_IN_L2 != 0;
}

/*
 * Where the last cache is far, memory takes lines of an odd distance from each other, those of a few long rows of narrow
 * elements, and those of many bytes; else it wants several lines of each row, from scratch memory. The figures were
 * measured on an Emerald Rapids.
 */
static int64_t lines_for_far_cache(const tsr_chain *row, const tsr_chain *column, bool has_near_columns,
                                   const tsr_workshop *workshop)
{
    enum { LINES = 4, FEW_ROWS = 16, SHORT_PERIOD = 128 };
    static const double least_of_bytes = 0.1;
    const int64_t dst_bytes = workshop->conversion->dst_bytes, period = period_of(row, workshop->conversion);
    const bool is_long = column->loop[0].n * dst_bytes >= LONG_PIECE;
    if (tsr_is_narrow(dst_bytes) && tsr_steps_of(row) <= FEW_ROWS && is_long && has_near_columns)
        return LINES;
    if (period == TSR_CACHE_LINE)
        return tsr_is_narrow(dst_bytes) ? 1 : LINES;
    return dst_bytes == 1 && workshop->l3_share > least_of_bytes && period <= SHORT_PERIOD ? 1 : 0;
}

/* The figures were measured on a Zen 4. Rows that share all sets gain beyond a third of the last cache alone. */
int64_t tsr_lines_to_stream(const tsr_chain *row, const tsr_chain *column, const tsr_workshop *workshop)
{
    static const double least_in_one_set = 0.33;
    const tsr_conversion *conversion = workshop->conversion;
    const int64_t period = period_of(row, conversion), distance = distance_of(column, conversion);
    const bool has_near_columns = distance > 0 && distance <= TSR_PAGE / conversion->dst_bytes;
    const double share = workshop->must_stream ? 1 : workshop->l3_share;
    if (!workshop->may_stream_lines || !tsr_is_straight(conversion))
        return 0;
    if (workshop->is_far && !workshop->must_stream)
        return lines_for_far_cache(row, column, has_near_columns, workshop);
    if (period >= TSR_PERIOD_OF_SETS && share <= least_in_one_set)
        return 0;
    if (tsr_rows_share_sets(row, conversion) && are_read_by_lines(distance, conversion))
        return 0;
    return has_near_columns ? lines_of_near_columns(period, workshop) : lines_of_far_columns(period, workshop, share);
}

/* Do the tiles have as many lines of a row as they should, or whole rows, or what was asked for? Half of them will
 * do, where scratch memory has no room. */
static bool has_lines_to_stream(const tsr_box *box, const tsr_workshop *workshop)
{
    const int64_t lines = tsr_lines_to_stream(&box->row, &box->column, workshop);
    const int64_t bytes = box->column.step * workshop->conversion->dst_bytes;
    const bool are_all = box->column.tiles == 1 || workshop->tile_bytes > 0;
    return lines > 0 && (are_all || 2 * bytes >= lines * TSR_CACHE_LINE);
}

/* Kernels read a few bytes of each of many columns at once, most of narrow elements. Are these columns' lines in so few
 * sets that they are lost before the kernel comes back for the rest? */
static bool loses_columns(const tsr_chain *column, const tsr_workshop *workshop)
{
    const int64_t dst_bytes = workshop->conversion->dst_bytes;
    const bool has_many = workshop->kernels->writes_lines ? dst_bytes == 1 : tsr_is_narrow(dst_bytes);
    return has_many && share_sets(distance_of(column, workshop->conversion));
}

/* The widest elements of far columns: a line of AVX-512 takes 8 of these, from as many pages, which the last cache keeps
 * as well. */
static bool has_few_of_far_columns(const tsr_chain *column, const tsr_workshop *workshop)
{
    enum { WIDEST = 8, FAR = 1 << 10 };
    const int64_t distance = distance_of(column, workshop->conversion);
    return workshop->kernels->writes_lines && workshop->conversion->dst_bytes == WIDEST && distance > FAR;
}

/* Where the last cache is far, fewer bytes and narrower vectors than that gain: the wider, the more. */
static bool finds_for_far_cache(const tsr_chain *row, const tsr_workshop *workshop)
{
    enum { WIDE = 4, WIDEST = 8 };
    static const double of_bytes = 0.4;
    const int64_t dst_bytes = workshop->conversion->dst_bytes;
    const bool writes_lines = workshop->kernels->writes_lines;
    if (are_few_streams(tsr_steps_of(row), workshop))
        return false;
    if (dst_bytes == WIDEST || (dst_bytes == WIDE && writes_lines))
        return true;
    if (takes_parts_of_lines(row, workshop) || (dst_bytes < WIDE && !writes_lines))
        return false;
    return dst_bytes > 1 || workshop->l3_share > of_bytes;
}

/*
 * Rows that begin anywhere, too. Joining their lines takes a kernel some time, and what rows have of their first and
 * last ones goes another way; so rows are to be long, and to take so much of the last cache that it loses lines which
 * it should keep until they are whole. The figures were measured on a Zen 4.
 */
bool tsr_finds_lines(const tsr_chain *row, const tsr_chain *column, const tsr_workshop *workshop)
{
    enum { LONG_ROW = 12 * TSR_CACHE_LINE };
    static const double least = 0.3, of_bytes = 0.4, of_shared_sets = 0.2;
    const int64_t dst_bytes = workshop->conversion->dst_bytes;
    const bool rows_share_sets = tsr_rows_share_sets(row, workshop->conversion);
    const double share = rows_share_sets ? of_shared_sets : dst_bytes == 1 ? of_bytes : least;
    if (!workshop->may_stream_lines || !tsr_is_straight(workshop->conversion))
        return false;
    if (row->loop[0].n < TSR_ROWS_WITH_LINES || column->loop[0].n * dst_bytes < LONG_ROW)
        return false;
    if (workshop->must_stream)
        return true;
    if (workshop->is_far)
        return finds_for_far_cache(row, workshop);
    return workshop->l3_share > share && !loses_columns(column, workshop) && !has_few_of_far_columns(column, workshop);
}

/* Tiles that end inside of lines, though more of a row follow, would have ends as well. */
static bool should_find_lines(const tsr_box *box, const tsr_workshop *workshop)
{
    const int64_t bytes = box->column.step * workshop->conversion->dst_bytes;
    if (box->motion != TSR_MOTION_TRANSPOSE || box->padding_bytes > 0 || !box->has_dense_columns)
        return false;
    return box->dst_bits % TSR_CACHE_LINE != 0 && tsr_is_long_row(bytes) &&
           (bytes % TSR_CACHE_LINE == 0 || box->column.tiles == 1) &&
           tsr_finds_lines(&box->row, &box->column, workshop);
}

/* Are runs widened to whole lines? */
static bool converts_to_lines(const tsr_box *box, const tsr_conversion *conversion)
{
    return tsr_converts_runs(box, conversion) && conversion->only && conversion->dst_bytes > conversion->src_bytes &&
           (box->column.n * conversion->dst_bytes | box->dst_bits) % TSR_CACHE_LINE == 0;
}

/* Rows that are interleaved, or fill a piece of memory in any order, are near each other all the same; and what is
 * converted takes so long that lines have time. */
static bool should_stream_lines(const tsr_box *box, const tsr_workshop *workshop)
{
    static const double least_of_pixels = 0.45; /* less, in order, a near last cache takes as fast as memory does */
    const tsr_conversion *conversion = workshop->conversion;
    if (box->padding_bytes > 0 || !workshop->may_stream_lines)
        return false;
    if (converts_to_lines(box, conversion))
        return true;
    if (!fills_lines(box, conversion->dst_bytes))
        return false;
    if (tsr_converts_first(box, conversion))
        return true;
    if (!tsr_is_straight(conversion))
        return false;
    if (box->motion == TSR_MOTION_DEINTERLEAVE)
        return workshop->must_stream || workshop->is_far;
    if (box->motion == TSR_MOTION_INTERLEAVE)
        return workshop->must_stream || workshop->is_far || workshop->l3_share > least_of_pixels;
    return has_lines_to_stream(box, workshop) || (!workshop->is_far && has_shuffled_rows(box));
}

/* ---- all together ---- */

/*
 * Short runs, of which the next tile has those that lie behind them: so many streams that prefetchers follow none. Of
 * very short ones there are many to a line, which are fetched only from memory.
 */
static bool copies_many_streams(const tsr_box *box, const tsr_workshop *workshop)
{
    const int64_t run = box->column.n * workshop->conversion->src_bytes;
    const int64_t least = workshop->is_huge ? 0 : TSR_CACHE_LINE / 2;
    const tsr_loop *next = box->walk_count > 0 ? &box->walk[box->walk_count - 1] : NULL;
    return workshop->is_near && workshop->conversion->is_copy && run >= least && run < LONG_PIECE && next &&
           !next->src_table && next->src == run && tsr_is_long_row(next->n * run);
}

/* Runs that come from several places, of which each is converted before the next one is read. */
static bool converts_many_streams(const tsr_box *box, const tsr_workshop *workshop)
{
    return workshop->is_huge && box->is_dense && tsr_converts_runs(box, workshop->conversion);
}

/* The destination of a transpose, or the source of pixels or runs, where prefetchers need help. Other kernels do not
 * ask. */
static bool should_fetch(const tsr_box *box, const tsr_workshop *workshop)
{
    if (box->motion == TSR_MOTION_COPY)
        return copies_many_streams(box, workshop) || converts_many_streams(box, workshop);
    if (box->motion == TSR_MOTION_DEINTERLEAVE)
        return workshop->is_near && !workshop->conversion->unpack;
    if (workshop->topology->has_near_l3 && !workshop->is_huge)
        return false; /* which takes longer than to wait */
    return workshop->exceeds_l1 && !box->streams && !box->buffers && tsr_is_straight(workshop->conversion) &&
           gains_from_fetching(box, workshop->conversion->dst_bytes);
}

void tsr_choose_writes(tsr_box *box, const tsr_workshop *workshop)
{
    box->streams_lines = should_stream_lines(box, workshop);
    box->finds_lines = should_find_lines(box, workshop);
    box->streams = !box->finds_lines && tsr_may_stream(workshop) && can_stream(box) && should_stream(box, workshop);
    box->streams_source = streams_source_alone(box, workshop);
    box->streams_rows = box->streams && can_stream_rows(box, workshop->conversion);
    box->buffers = !box->streams && !box->finds_lines && should_buffer(box, workshop);
    box->reads_lines = should_read_lines(box, workshop);
    box->reads_pairs = should_read_pairs(box, workshop);
    box->fills_lines = workshop->exceeds_l1;
    box->fetches_ahead = should_fetch(box, workshop);
}
