/* SPDX-License-Identifier: Apache-2.0 */
#include "reorder/streams.h"

#include <stdlib.h>

#include "base/int.h"
#include "reorder/caches.h"
#include "reorder/lines.h"
#include "reorder/sets.h"

/* ---- rows whose lines are whole, or follow each other ---- */

static bool are_whole_lines(const tsr_box *box)
{
    return (box->row_bytes | box->dst_bits) % TSR_CACHE_LINE == 0;
}

bool tsr_can_stream(const tsr_box *box)
{
    const bool are_pieces = box->motion == TSR_MOTION_DEINTERLEAVE && box->piece;
    if (box->motion == TSR_MOTION_ZERO || !box->has_dense_columns || are_pieces)
        return false;
    if (box->pads_pixels)
        return false; /* but by lines, as the kernel writes them */
    if (box->is_dense)
        return tsr_is_long_row(box->row_bytes * box->row.step);
    return tsr_is_long_row(box->row_bytes) || are_whole_lines(box);
}

/* Are lines written soon after each other? Then the last cache takes them as well as memory does, if it has room. */
static bool writes_in_order(const tsr_box *box, int64_t dst_bytes)
{
    return box->is_dense || box->column.step * dst_bytes >= TSR_LONG_PIECE;
}

bool tsr_gains_from_fetching(const tsr_box *box, int64_t dst_bytes)
{
    if (box->is_dense && box->row_bytes <= TSR_CACHE_LINE)
        return false;
    return !tsr_is_narrow(dst_bytes) || box->dst_bits % TSR_CACHE_LINE != 0;
}

/* Are there a few rows alone, long or with lines fetched ahead, each of which is written in order? */
static bool has_few_streams(const tsr_box *box, const tsr_workshop *workshop)
{
    const int64_t dst_bytes = workshop->conversion->dst_bytes;
    return box->motion == TSR_MOTION_TRANSPOSE && !box->is_dense && tsr_are_few_streams(box->row.n, workshop) &&
           box->column.tiles > 1 && (box->row_bytes >= TSR_LONG_PIECE || tsr_gains_from_fetching(box, dst_bytes)) &&
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

/* Copies of runs that are streamed from where they are: a far last cache takes longer for these than memory does, even
 * where they are in order (measured on an Emerald Rapids). */
static bool copies_from_source(const tsr_box *box, const tsr_conversion *conversion)
{
    return box->motion == TSR_MOTION_COPY && conversion->is_copy && can_stream_source(box, conversion);
}

/* ---- rows that share the sets of a cache ---- */

bool tsr_completes_lines(const tsr_box *box, const tsr_workshop *workshop)
{
    return tsr_writes_near_halves(workshop) && box->dst_bits % TSR_CACHE_LINE == 0;
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
    return tsr_is_narrow(conversion->dst_bytes) && tsr_pitch_of(&box->row, conversion) % tsr_period_of_sets() == 0;
}

bool tsr_streams_sets(const tsr_box *box, const tsr_workshop *workshop)
{
    static const double least_of_halves = 0.33;
    if (!workshop->streams || !workshop->is_near)
        return false;
    return !tsr_completes_lines(box, workshop) || workshop->l3_share > least_of_halves;
}

/* ---- by way of scratch memory, or from the source ---- */

/* Long ones of a conversion, as they are converted. */
static bool can_stream_rows(const tsr_box *box, const tsr_conversion *conversion)
{
    return tsr_can_stream_rows(box, conversion) && box->column.step * conversion->dst_bytes >= TSR_LONG_PIECE;
}

/* A last cache that is near takes them as fast, until it takes so much of the source as well; longer, what becomes
 * wider, as most of it is written, and most of all from several threads, which memory serves no faster. */
static bool gains_from_streaming_rows(const tsr_box *box, const tsr_workshop *workshop)
{
    static const double least = 0.33, of_wider = 0.45, of_wider_from_several = 0.6;
    const tsr_conversion *conversion = workshop->conversion;
    const double share = !tsr_widens(conversion) ? least : workshop->threads > 1 ? of_wider_from_several : of_wider;
    return can_stream_rows(box, conversion) && workshop->l3_share > share;
}

/* Are short runs joined to whole lines of a destination that is dense? Not those that come from many places far apart,
 * which are better read by themselves (1.05 to 1.2 of the time). */
static bool joins_lines(const tsr_box *box, const tsr_workshop *workshop)
{
    enum { MOST_PLACES = 16, FAR_BYTES = 16 << 10 };
    const tsr_loop *places = &box->row.loop[0];
    const bool are_short = box->row_bytes == TSR_LANE_BYTES || box->row_bytes == 2 * TSR_LANE_BYTES;
    if (box->motion != TSR_MOTION_COPY || !box->is_dense || !are_short || !tsr_is_straight(workshop->conversion))
        return false;
    if (box->row.count == 0 || tsr_loop_has_table(places))
        return false;
    return !workshop->is_far &&
           (places->n <= MOST_PLACES || llabs(places->src) * workshop->conversion->src_bytes < FAR_BYTES);
}

bool tsr_joins_runs_of(int64_t bytes, int64_t n, const tsr_workshop *workshop)
{
    enum { MOST_BYTES = 8 << 10, LEAST_TOGETHER = 1 << 10 };
    return workshop->is_far && workshop->may_stream_lines && workshop->conversion->is_copy && bytes > TSR_CACHE_LINE &&
           bytes <= MOST_BYTES && n * bytes >= LEAST_TOGETHER;
}

/* Are those of a tile? Whole lines need not be. */
static bool joins_runs(const tsr_box *box, const tsr_workshop *workshop)
{
    return box->motion == TSR_MOTION_COPY && box->is_dense && box->padding_bytes == 0 &&
           tsr_joins_runs_of(box->row_bytes, box->row.step, workshop) && !are_whole_lines(box);
}

/* Copies that are not in order, or that are joined to lines, if short runs are gathered for it, or need not be. */
static bool gains_from_streaming_copies(const tsr_box *box, const tsr_workshop *workshop)
{
    const tsr_conversion *conversion = workshop->conversion;
    const bool takes_lines = !copies_in_order(box, conversion) || joins_lines(box, workshop);
    return conversion->is_copy && workshop->streams_copies && takes_lines && !box->leaves_gaps &&
           (!streams_source_alone(box, workshop) || can_stream_source(box, conversion));
}

/*
 * Where the last cache keeps up: copies do, as above; transposes to a wider type; and those that convert, if they do so
 * first only to rows of whole lines, to long rows that continue each other, or to rows that it cannot hold.
 */
static bool gains_from_streaming(const tsr_box *box, const tsr_workshop *workshop)
{
    const tsr_conversion *conversion = workshop->conversion;
    if (gains_from_streaming_rows(box, workshop))
        return true;
    if (box->motion == TSR_MOTION_COPY)
        return gains_from_streaming_copies(box, workshop);
    if (box->motion != TSR_MOTION_TRANSPOSE)
        return false;
    if (tsr_widens(conversion))
        return true;
    const bool is_long = box->is_dense && tsr_is_long_row(box->row_bytes);
    const bool is_whole = box->dst_bits % TSR_CACHE_LINE == 0 || !box->converts_first;
    return (!conversion->is_copy && is_whole) || is_long ||
           (tsr_streams_sets(box, workshop) && tsr_rows_share_sets(&box->row, conversion));
}

/* Pixels of few channels in wide blocks: much more is written than read. */
static bool writes_mostly_zeros(const tsr_box *box)
{
    return tsr_moves_padding(box) && box->is_dense && 2 * box->padding_bytes >= box->row_bytes;
}

/* Would as many columns of the next tile be converted as a tile has, in several steps? (Measured beside a far last
 * cache.) */
static bool converts_all_twice(const tsr_box *box, const tsr_workshop *workshop)
{
    const tsr_conversion *conversion = workshop->conversion;
    return workshop->is_far && box->converts_first && !conversion->only && box->column.tiles > 1 &&
           box->dst_bits % TSR_CACHE_LINE != 0 && TSR_CACHE_LINE / conversion->dst_bytes >= box->column.step;
}

/* Streaming has its price, and is for what the caches do not gather as well. */
static bool should_stream(const tsr_box *box, const tsr_workshop *workshop)
{
    const int64_t dst_bytes = workshop->conversion->dst_bytes;
    if (workshop->must_stream)
        return true;
    if (has_few_streams(box, workshop) || has_shuffled_rows(box) || converts_all_twice(box, workshop))
        return false;
    if (box->motion == TSR_MOTION_TRANSPOSE && !box->is_dense && box->dst_bits % TSR_CACHE_LINE != 0 &&
        tsr_takes_parts_of_lines(&box->row, &box->column, workshop))
        return false;
    if (workshop->is_near && writes_mostly_zeros(box))
        return true;
    if (tsr_streams_sets(box, workshop) && loses_lines(box, workshop))
        return true;
    if (workshop->is_near && !gains_from_streaming(box, workshop))
        return false;
    return workshop->is_huge || !writes_in_order(box, dst_bytes) ||
           (workshop->is_far &&
            (can_stream_rows(box, workshop->conversion) || copies_from_source(box, workshop->conversion)));
}

/* ---- by kernels ---- */

/* Does the kernel of a box write all lines at once, or fill them one after the other? Of few rows it does not. */
static bool can_fill_lines(const tsr_box *box, int64_t dst_bytes)
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

/* Do the tiles have as many lines of a row as they should, or whole rows, or what was asked for? Half of them will
 * do, where scratch memory has no room. */
static bool has_lines_to_stream(const tsr_box *box, const tsr_workshop *workshop)
{
    const int64_t lines = tsr_lines_to_stream(box->row.n, &box->row, &box->column, workshop);
    const int64_t bytes = box->column.step * workshop->conversion->dst_bytes;
    const bool are_all = box->column.tiles == 1 || workshop->tile_bytes > 0;
    return lines > 0 && (are_all || 2 * bytes >= lines * TSR_CACHE_LINE);
}

/* Tiles that end inside of lines, though more of a row follow, have ends as well, which long ones can afford as rows
 * do. */
static bool should_find_lines(const tsr_box *box, const tsr_workshop *workshop)
{
    const int64_t bytes = box->column.step * workshop->conversion->dst_bytes;
    if (box->motion != TSR_MOTION_TRANSPOSE || box->padding_bytes > 0 || !box->has_dense_columns)
        return false;
    return box->dst_bits % TSR_CACHE_LINE != 0 && tsr_is_long_row(bytes) &&
           (bytes % TSR_CACHE_LINE == 0 || box->column.tiles == 1 || bytes >= TSR_ROW_WITH_LINES) &&
           tsr_finds_lines(&box->row, &box->column, workshop);
}

/* Are runs widened to whole lines? */
static bool converts_to_lines(const tsr_box *box, const tsr_conversion *conversion)
{
    return tsr_converts_runs(box, conversion) && !conversion->store.first && tsr_widens(conversion) &&
           (box->column.n * conversion->dst_bytes | box->dst_bits) % TSR_CACHE_LINE == 0;
}

/* Are rows written at once, padding and all? Pixels may be parts of lines, which the kernel has whole. */
static bool can_stream_padding(const tsr_box *box)
{
    return box->writes_padding && (are_whole_lines(box) || (box->pads_pixels && box->is_dense));
}

/* Pixels of bytes that are converted take long enough for a near last cache to keep up while it can; maps do not
 * (Zen 4). */
static bool streams_loaded_bytes(const tsr_workshop *workshop)
{
    static const double least = 1, of_mapped = 0.5;
    if (workshop->must_stream || !workshop->is_near)
        return workshop->must_stream || workshop->is_huge;
    return workshop->l3_share > (workshop->conversion->map_row ? of_mapped : least);
}

/* Rows that are interleaved, or fill a piece of memory in any order, are near each other all the same; and what is
 * converted takes so long that lines have time. */
static bool should_stream_lines(const tsr_box *box, const tsr_workshop *workshop)
{
    static const double least_of_pixels = 0.33; /* less, a near last cache takes as fast as memory does */
    const tsr_conversion *conversion = workshop->conversion;
    if (!workshop->may_stream_lines || box->motion == TSR_MOTION_UNPAD)
        return false;
    if (!workshop->streams)
        return box->motion == TSR_MOTION_TRANSPOSE && box->padding_bytes == 0 &&
               can_fill_lines(box, conversion->dst_bytes) && has_lines_to_stream(box, workshop);
    if (box->padding_bytes > 0)
        return can_stream_padding(box) && should_stream(box, workshop);
    if (converts_to_lines(box, conversion))
        return true;
    if (joins_lines(box, workshop))
        return should_stream(box, workshop);
    if (box->joins_runs)
        return true;
    if (!can_fill_lines(box, conversion->dst_bytes))
        return false;
    if (box->converts_first)
        return true;
    const bool are_loaded = tsr_box_loads_pixels(box, conversion);
    if (are_loaded && conversion->src_bytes == 1)
        return streams_loaded_bytes(workshop);
    if (!are_loaded && !tsr_is_straight(conversion))
        return false;
    if (tsr_moves_pixels(box))
        return workshop->must_stream || workshop->is_far || workshop->l3_share > least_of_pixels;
    return has_lines_to_stream(box, workshop) || (!workshop->is_far && has_shuffled_rows(box));
}

void tsr_choose_streams(tsr_box *box, const tsr_workshop *workshop)
{
    box->joins_runs = joins_runs(box, workshop);
    box->streams_lines = should_stream_lines(box, workshop);
    box->streams_by_rows = box->motion == TSR_MOTION_TRANSPOSE && tsr_streams_by_rows(&box->row, workshop);
    box->finds_lines = should_find_lines(box, workshop);
    box->streams = !box->finds_lines && !box->joins_runs && workshop->streams && tsr_can_stream(box) &&
                   should_stream(box, workshop);
    box->streams_source = streams_source_alone(box, workshop);
    box->streams_rows = box->streams && can_stream_rows(box, workshop->conversion);
}
