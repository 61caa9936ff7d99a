/* SPDX-License-Identifier: Apache-2.0 */
#include "reorder/lines.h"

#include "base/int.h"
#include "reorder/caches.h"
#include "reorder/draft.h"
#include "reorder/sets.h"

/* Bytes of the widest elements. Units of several, which are moved as one, have more. */
enum { WIDEST = 8 };

bool tsr_are_few_streams(int64_t rows, const tsr_workshop *workshop)
{
    const int64_t most = workshop->is_huge ? 32 : 64;
    return rows <= most;
}

/* The figures were measured on a Zen 3, which has no wider vectors than half a line. */
bool tsr_meet_in_memory(int64_t rows, const tsr_chain *row, const tsr_workshop *workshop)
{
    enum { LEAST_PERIOD = 1 << 10 };
    const bool writes_parts = workshop->kernels->can_stream_lines && !workshop->kernels->writes_lines;
    if (!writes_parts || workshop->must_stream || !workshop->is_near || !workshop->is_huge)
        return false;
    return tsr_are_few_streams(rows, workshop) && tsr_period_of(row, workshop->conversion) >= LEAST_PERIOD;
}

bool tsr_takes_parts_of_wide_lines(const tsr_chain *row, const tsr_chain *column, const tsr_workshop *workshop)
{
    enum { LARGE = 400 << 20 };
    static const double most = 0.055;
    const tsr_conversion *conversion = workshop->conversion;
    if (!workshop->is_far || workshop->topology->l3_bytes < LARGE || workshop->l3_share > most)
        return false;
    return tsr_is_straight(conversion) && !tsr_is_narrow(conversion->dst_bytes) &&
           (!tsr_rows_share_sets(row, conversion) || tsr_share_sets(tsr_distance_of(column, conversion)));
}

bool tsr_takes_parts_of_lines(const tsr_chain *row, const tsr_chain *column, const tsr_workshop *workshop)
{
    static const double most = 0.2;
    if (tsr_takes_parts_of_wide_lines(row, column, workshop))
        return true;
    return workshop->is_far && tsr_is_straight(workshop->conversion) && workshop->l3_share <= most &&
           !tsr_rows_share_sets(row, workshop->conversion);
}

/* ---- rows that begin with lines ---- */

/* Do columns come from the same pages, or, if narrower vectors are to write lines of wider elements, from a few
 * lines? */
static bool are_near(int64_t distance, const tsr_workshop *workshop)
{
    enum { NEAR_LINES = 4 };
    const int64_t dst_bytes = workshop->conversion->dst_bytes;
    const bool are_pages = workshop->kernels->writes_lines || dst_bytes == 1;
    return distance > 0 && distance <= (are_pages ? TSR_PAGE / dst_bytes : NEAR_LINES * TSR_CACHE_LINE);
}

/* Is a tensor too large for the last cache to hold what is written? */
static bool exceeds_last_cache(const tsr_workshop *workshop)
{
    static const double most = 0.7;
    return workshop->l3_share > most;
}

/* Then a tile may have several lines of each row: fewer of rows that have sets enough, if the last cache holds these
 * or columns are a line or two apart. */
static int64_t lines_of_near_columns(int64_t period, const tsr_chain *column, const tsr_workshop *workshop)
{
    enum { SHORT_PERIOD = 128, TWO_LINES = 2 * TSR_CACHE_LINE };
    const int64_t dst_bytes = workshop->conversion->dst_bytes;
    const bool are_taken = !exceeds_last_cache(workshop) || tsr_distance_of(column, workshop->conversion) <= TWO_LINES;
    if (workshop->kernels->writes_lines)
        return period <= SHORT_PERIOD && are_taken ? 4 : 8;
    return dst_bytes >= WIDEST || (dst_bytes == 1 && period > SHORT_PERIOD) ? 4 : 2;
}

/* Others are as many streams, from as many pages: one line of each row at a time, if the last cache does not hold
 * these, or rows have sets enough. Bytes have so many columns to a line of AVX-512 that it makes no difference, unless
 * rows share all sets. */
static int64_t lines_of_far_columns(int64_t period, const tsr_workshop *workshop)
{
    enum { LONG_PERIOD = 512 };
    static const double most_of_narrower = 0.45;
    const int64_t dst_bytes = workshop->conversion->dst_bytes;
    const bool are_bytes = dst_bytes == 1 && period < tsr_period_of_sets();
    if (period < LONG_PERIOD)
        return 1;
    if (workshop->kernels->writes_lines)
        return (workshop->must_stream || exceeds_last_cache(workshop)) && !are_bytes ? 1 : 8;
    return workshop->l3_share <= most_of_narrower ? 4 : dst_bytes >= WIDEST ? 2 : 1;
}

/* Of bytes, memory takes lines one by one that are so near each other. */
enum { SHORT_PERIOD_OF_BYTES = 2 * TSR_CACHE_LINE };

enum { MANY_ROWS = 255, FEW_LINES = 4 };

/* What the last cache would hold, bytes are written to as fast through it, and lines near each other are taken sooner
 * than kernels make them of bytes. */
static bool takes_bursts(const tsr_chain *row, const tsr_workshop *workshop)
{
    const bool are_bytes = workshop->conversion->dst_bytes == 1;
    const bool gain = workshop->streams && tsr_period_of(row, workshop->conversion) > SHORT_PERIOD_OF_BYTES;
    return workshop->has_deep_sets && (!are_bytes || gain);
}

/* Are they worth it for what the last cache would hold, as rows crowd sets? So narrow elements only crowd those that
 * have not room for the rows of whole lines of the source. */
static bool are_worth_bursts(const tsr_chain *row, const tsr_workshop *workshop)
{
    const tsr_conversion *conversion = workshop->conversion;
    const bool have_room = tsr_rows_in_sets(row, conversion) * conversion->src_bytes >= TSR_CACHE_LINE;
    return !(tsr_is_narrow(conversion->dst_bytes) && have_room) && tsr_rows_crowd_sets(row, workshop);
}

/* Do groups of many rows of the widest elements, and of no others, read each line of the source once, as they take as
 * many as a line has? Not where lines are written by halves, of which there are twice as many then; nor is what the
 * last cache may have in need of it. */
static bool reads_lines_once(const tsr_workshop *workshop)
{
    return tsr_takes_half_of_l3(workshop) && workshop->kernels->writes_lines &&
           workshop->conversion->dst_bytes == WIDEST;
}

/* As many as the second-level cache keeps the lines of the source for which these come from; it has half of its sets
 * for them. Those that are read once it need not keep. */
static int64_t columns_of_bursts(const tsr_chain *column, const tsr_workshop *workshop)
{
    enum { FEW = 32, MANY = 64 };
    const int64_t kept = tsr_lines_in_l2(tsr_distance_of(column, workshop->conversion));
    if (reads_lines_once(workshop))
        return kept < FEW || column->loop[0].n < MANY ? FEW : MANY;
    return kept / 2;
}

/*
 * Eight lines of a row at once take a third to a half of the time of one of each, and two three quarters; but four are
 * enough for bytes, and for many rows of 32 bits, which take fewer of them at a time then. The figures were measured on
 * a Zen 5.
 */
static int64_t lines_of_bursts(const tsr_chain *row, const tsr_chain *column, const tsr_workshop *workshop)
{
    enum { LEAST = 2, MOST = 8 };
    const int64_t dst_bytes = workshop->conversion->dst_bytes;
    const bool are_few = dst_bytes == 1 || (dst_bytes == 4 && workshop->streams && tsr_steps_of(row) > MANY_ROWS);
    const int64_t lines = tsr_steps_of(column) * dst_bytes / TSR_CACHE_LINE;
    if (!workshop->streams && (lines < LEAST || !are_worth_bursts(row, workshop)))
        return 0;
    const int64_t kept = columns_of_bursts(column, workshop) * dst_bytes / TSR_CACHE_LINE;
    return tsr_max(LEAST, tsr_min(kept, are_few ? FEW_LINES : MOST));
}

int64_t tsr_rows_of_bursts(const tsr_chain *row, int64_t columns, bool are_whole, const tsr_workshop *workshop)
{
    enum { LINES = 64, MANY_OF_WIDEST = 128 };
    const tsr_conversion *conversion = workshop->conversion;
    const int64_t line = TSR_CACHE_LINE / conversion->src_bytes, dst_bytes = conversion->dst_bytes;
    const int64_t least = workshop->kernels->writes_lines ? line : 2 * line,
                  lines = columns * dst_bytes / TSR_CACHE_LINE;
    if (!takes_bursts(row, workshop))
        return INT64_MAX;
    if (dst_bytes == 1)
        return line / 2;
    if (reads_lines_once(workshop))
        return row->n > MANY_OF_WIDEST && lines >= FEW_LINES + are_whole ? line : INT64_MAX;
    const bool are_many = workshop->streams && dst_bytes == 4 && !are_whole && row->n > MANY_ROWS;
    return are_many ? tsr_max(least, LINES / tsr_max(1, lines)) : INT64_MAX;
}

/* Do columns share the sets of the first-level cache alone? Bytes are rather read by lines then (should_read_lines). */
static bool are_read_by_lines(const tsr_chain *column, const tsr_conversion *conversion)
{
    enum { PERIOD_IN_L2 = 32 << 10 };
    const int64_t distance = tsr_distance_of(column, conversion);
    return conversion->dst_bytes == 1 && tsr_exceed_set(column) && distance % tsr_period_of_sets() == 0 &&
           distance % PERIOD_IN_L2 != 0;
}

/* What such a cache has no room for, and the widest elements also of other tensors; but a few rows, caches follow. The
 * figures were measured on an Emerald Rapids. */
bool tsr_streams_by_rows(const tsr_chain *row, const tsr_workshop *workshop)
{
    const int64_t dst_bytes = workshop->conversion->dst_bytes;
    const int64_t short_period = dst_bytes == 1 ? SHORT_PERIOD_OF_BYTES : TSR_CACHE_LINE;
    return workshop->is_far && !workshop->must_stream && workshop->kernels->writes_lines &&
           (workshop->is_huge || dst_bytes >= WIDEST) && tsr_period_of(row, workshop->conversion) > short_period &&
           !tsr_are_few_streams(tsr_steps_of(row), workshop);
}

/*
 * Where the last cache is far, memory takes lines of an odd distance from each other, those of a few long rows of
 * narrow elements, and those of many bytes; else it wants several lines of each row, of bytes one, by rows or from
 * scratch memory. The figures were measured on an Emerald Rapids.
 */
static int64_t lines_for_far_cache(const tsr_chain *row, const tsr_chain *column, bool has_near_columns,
                                   const tsr_workshop *workshop)
{
    enum { LINES = 4, LINES_BY_ROWS = 2, FEW_ROWS = 16 };
    static const double least_of_bytes = 0.1;
    const int64_t dst_bytes = workshop->conversion->dst_bytes, period = tsr_period_of(row, workshop->conversion);
    const bool is_long = column->loop[0].n * dst_bytes >= TSR_LONG_PIECE;
    if (tsr_is_narrow(dst_bytes) && tsr_steps_of(row) <= FEW_ROWS && is_long && has_near_columns)
        return LINES;
    if (period == TSR_CACHE_LINE)
        return tsr_is_narrow(dst_bytes) ? 1 : LINES;
    if (tsr_streams_by_rows(row, workshop))
        return dst_bytes == 1 ? 1 : LINES_BY_ROWS;
    return dst_bytes == 1 && workshop->l3_share > least_of_bytes && period <= SHORT_PERIOD_OF_BYTES ? 1 : 0;
}

/* Rows a multiple of 4 KB apart gain beyond a third of a near last cache alone; where lines are written in parts, so do
 * all that share sets. */
static bool share_too_many_sets(const tsr_chain *row, const tsr_workshop *workshop)
{
    static const double least_share = 0.33;
    const bool are_too_many = workshop->kernels->writes_lines
                                  ? tsr_period_of(row, workshop->conversion) >= tsr_period_of_sets()
                                  : tsr_rows_share_sets(row, workshop->conversion);
    return are_too_many && workshop->l3_share <= least_share && !workshop->must_stream;
}

/* The figures were measured on a Zen 4, those of narrower vectors on a Zen 3. */
int64_t tsr_lines_to_stream(int64_t rows, const tsr_chain *row, const tsr_chain *column, const tsr_workshop *workshop)
{
    const tsr_conversion *conversion = workshop->conversion;
    const int64_t period = tsr_period_of(row, conversion);
    const bool has_near_columns = are_near(tsr_distance_of(column, conversion), workshop);
    if (!workshop->may_stream_lines || !tsr_is_straight(conversion))
        return 0;
    if (workshop->is_far && !workshop->must_stream)
        return lines_for_far_cache(row, column, has_near_columns, workshop);
    if (tsr_rows_share_sets(row, conversion) && are_read_by_lines(column, conversion))
        return 0;
    if (takes_bursts(row, workshop))
        return lines_of_bursts(row, column, workshop);
    if (!workshop->streams || share_too_many_sets(row, workshop) || tsr_meet_in_memory(rows, row, workshop))
        return 0;
    return has_near_columns ? lines_of_near_columns(period, column, workshop) : lines_of_far_columns(period, workshop);
}

/* ---- rows that begin anywhere ---- */

/* Kernels read a few bytes of each of many columns at once, most of narrow elements. Are these columns' lines in so few
 * sets that they are lost before the kernel comes back for the rest? */
static bool loses_columns(const tsr_chain *column, const tsr_workshop *workshop)
{
    const int64_t dst_bytes = workshop->conversion->dst_bytes;
    const bool has_many = workshop->kernels->writes_lines ? dst_bytes == 1 : tsr_is_narrow(dst_bytes);
    return has_many && tsr_share_sets(tsr_distance_of(column, workshop->conversion));
}

/* The widest elements of far columns: a line of AVX-512 takes 8 of these, from as many pages, which the last cache
 * keeps as well. */
static bool has_few_of_far_columns(const tsr_chain *column, const tsr_workshop *workshop)
{
    enum { FAR = 1 << 10 };
    const int64_t distance = tsr_distance_of(column, workshop->conversion);
    return workshop->kernels->writes_lines && workshop->conversion->dst_bytes >= WIDEST && distance > FAR &&
           !workshop->has_deep_sets;
}

/* Where the last cache is far, fewer bytes and narrower vectors than that gain: the wider, the more. */
static bool finds_for_far_cache(const tsr_chain *row, const tsr_chain *column, const tsr_workshop *workshop)
{
    enum { WIDE = 4 };
    static const double of_bytes = 0.4;
    const int64_t dst_bytes = workshop->conversion->dst_bytes;
    const bool writes_lines = workshop->kernels->writes_lines;
    if (tsr_are_few_streams(tsr_steps_of(row), workshop) || tsr_takes_parts_of_wide_lines(row, column, workshop))
        return false;
    if (dst_bytes >= WIDEST || (dst_bytes == WIDE && writes_lines))
        return true;
    if (tsr_takes_parts_of_lines(row, column, workshop) || (dst_bytes < WIDE && !writes_lines))
        return false;
    return dst_bytes > 1 || workshop->l3_share > of_bytes;
}

/*
 * Rows that begin anywhere, too. Joining their lines takes a kernel some time, and what rows have of their first and
 * last ones goes another way; so rows are to be long, and to take so much of the last cache that it loses lines which
 * it should keep until they are whole. The figures were measured on a Zen 4; on a Zen 5 rows of wide elements are
 * written so where they crowd sets.
 */
bool tsr_finds_lines(const tsr_chain *row, const tsr_chain *column, const tsr_workshop *workshop)
{
    static const double least = 0.3, of_bytes = 0.4, of_shared_sets = 0.2;
    const int64_t dst_bytes = workshop->conversion->dst_bytes;
    const bool rows_share_sets = tsr_rows_share_sets(row, workshop->conversion);
    const double share = rows_share_sets ? of_shared_sets : dst_bytes == 1 ? of_bytes : least;
    if (!workshop->may_stream_lines || !tsr_is_straight(workshop->conversion))
        return false;
    if (row->loop[0].n < TSR_ROWS_WITH_LINES || column->loop[0].n * dst_bytes < TSR_ROW_WITH_LINES)
        return false;
    if (workshop->must_stream || (!tsr_is_narrow(dst_bytes) && tsr_rows_crowd_sets(row, workshop)))
        return true;
    if (!workshop->streams)
        return false;
    if (workshop->is_far)
        return finds_for_far_cache(row, column, workshop);
    return workshop->l3_share > share && !loses_columns(column, workshop) && !has_few_of_far_columns(column, workshop);
}
