/* SPDX-License-Identifier: Apache-2.0 */
#include "reorder/sets.h"

#include <stdlib.h>

#include "base/int.h"
#include "reorder/caches.h"
#include "reorder/draft.h"
#include "reorder/lines.h"

int64_t tsr_pitch_of(const tsr_chain *row, const tsr_conversion *conversion)
{
    return row->count == 0 || row->loop[0].dst_table ? 1 : llabs(row->loop[0].dst * conversion->dst_bytes);
}

int64_t tsr_distance_of(const tsr_chain *column, const tsr_conversion *conversion)
{
    return column->loop[0].src_table ? 0 : llabs(column->loop[0].src) * conversion->src_bytes;
}

/* Is a distance a multiple of a period, or nearly so? */
static bool is_near_multiple(int64_t bytes, int64_t period, int64_t nearly)
{
    const int64_t beyond = bytes % period;
    return bytes > period - nearly && (beyond < nearly || beyond > period - nearly);
}

bool tsr_share_sets(int64_t bytes)
{
    return is_near_multiple(bytes, tsr_period_of_sets() / 2, 8);
}

bool tsr_share_one_set(int64_t bytes)
{
    return is_near_multiple(bytes, tsr_period_of_sets(), 3);
}

bool tsr_rows_share_sets(const tsr_chain *row, const tsr_conversion *conversion)
{
    return tsr_share_sets(tsr_pitch_of(row, conversion));
}

bool tsr_rows_drift(const tsr_chain *row, const tsr_conversion *conversion)
{
    return is_near_multiple(tsr_pitch_of(row, conversion), tsr_period_of_sets() / 8, 9);
}

/* The same as tsr_period_of, of any distance. */
static int64_t period_of_distance(int64_t distance)
{
    return tsr_max(TSR_CACHE_LINE, distance & -distance);
}

/* The same of the first-level cache's sets. */
static int64_t period_in_l1(int64_t distance)
{
    return tsr_min(period_of_distance(distance), tsr_period_of_sets());
}

int64_t tsr_period_of(const tsr_chain *row, const tsr_conversion *conversion)
{
    return period_of_distance(tsr_pitch_of(row, conversion));
}

int64_t tsr_lines_in_l1(int64_t distance)
{
    return tsr_topology_machine()->l1_bytes / period_in_l1(distance);
}

int64_t tsr_lines_in_l2(int64_t distance)
{
    return tsr_topology_machine()->l2_bytes / period_of_distance(distance);
}

bool tsr_exceed_set(const tsr_chain *column)
{
    return column->loop[0].n > 2 * tsr_lines_of_set();
}

int64_t tsr_rows_in_sets(const tsr_chain *row, const tsr_conversion *conversion)
{
    return tsr_lines_in_l1(tsr_pitch_of(row, conversion));
}

int64_t tsr_rows_of_period(const tsr_box *box, const tsr_conversion *conversion)
{
    const int64_t period = period_in_l1(tsr_pitch_of(&box->row, conversion));
    int64_t rows = 1;
    for (int i = 0; i < box->row.count && !box->row.loop[i].dst_table; i++)
        if (box->row.loop[i].dst * conversion->dst_bytes % period == 0)
            rows *= box->row.loop[i].n;
    return tsr_min(rows, box->row.step);
}

/* Where row r begins in the destination, counted from the first one, in elements. */
static int64_t begin_of_row(const tsr_chain *row, int64_t r)
{
    int64_t begin = 0;
    for (int i = 0; i < row->count; r /= row->loop[i].n, i++)
        begin += tsr_loop_dst(&row->loop[i], r % row->loop[i].n);
    return begin;
}

/* Beyond the second-level cache, a vector of wide elements that ends in the next line needs both. */
int64_t tsr_rows_of_crowd(const tsr_chain *row, const tsr_workshop *workshop)
{
    enum { STORES_UNDER_WAY = 64, LINES_FOR_ROWS = 8, SETS = 64 };
    const bool counts_ends = workshop->is_near && !tsr_is_narrow(workshop->conversion->dst_bytes);
    const int64_t period = tsr_period_of_sets(), rows = tsr_min(STORES_UNDER_WAY, tsr_steps_of(row));
    unsigned char lines[SETS] = {0};
    int64_t keep_theirs = 0;
    bool crowd = false;
    if (!workshop->has_deep_sets)
        return INT64_MAX;
    for (int64_t r = 0; r < rows; r++) {
        const int64_t byte = (begin_of_row(row, r) * workshop->conversion->dst_bytes % period + period) % period;
        const int64_t end = counts_ends ? byte + TSR_CACHE_LINE - 1 : byte;
        int64_t in_set = 0;
        for (int64_t line = byte / TSR_CACHE_LINE; line <= end / TSR_CACHE_LINE; line++)
            in_set = tsr_max(in_set, ++lines[line % SETS]);
        crowd = crowd || in_set > tsr_lines_of_set();
        if (in_set <= LINES_FOR_ROWS && keep_theirs == r)
            keep_theirs++;
    }
    return crowd ? keep_theirs : INT64_MAX;
}

int64_t tsr_most_of_set(const int64_t *at, int64_t n)
{
    enum { MOST_SETS = 256 };
    unsigned char lines[MOST_SETS] = {0};
    const int64_t period = tsr_period_of_sets();
    int64_t most = 0;
    for (int64_t i = 0; i < n; i++)
        most = tsr_max(most, ++lines[((at[i] % period + period) % period) / TSR_CACHE_LINE % MOST_SETS]);
    return most;
}

/* There are more places than the set has lines, and rows of the next loop are near each other. */
static bool places_share_set(const tsr_chain *row, const tsr_conversion *conversion)
{
    enum { NEAR = 512 };
    const tsr_loop *place = &row->loop[0], *next = &row->loop[1];
    if (row->count != 2 || place->dst_table || next->dst_table || next->n == 1)
        return false;
    return place->n > tsr_lines_of_set() && tsr_pitch_of(row, conversion) % tsr_period_of_sets() == 0 &&
           llabs(next->dst) * conversion->dst_bytes <= NEAR;
}

int64_t tsr_rows_of_places(const tsr_chain *row, const tsr_conversion *conversion)
{
    return tsr_lcm(row->loop[0].n, TSR_CACHE_LINE / conversion->src_bytes);
}

/* Are there as many rows as fill the lines of all places, and columns that fill a line? */
static bool places_have_lines(const tsr_chain *row, const tsr_chain *column, const tsr_conversion *conversion)
{
    return row->loop[0].n * row->loop[1].n >= tsr_rows_of_places(row, conversion) &&
           column->loop[0].n * conversion->dst_bytes % TSR_CACHE_LINE == 0;
}

bool tsr_buffers_places(const tsr_chain *row, const tsr_chain *column, const tsr_workshop *workshop)
{
    const tsr_conversion *conversion = workshop->conversion;
    return tsr_is_straight(conversion) && conversion->dst_bytes > 1 && workshop->kernels->writes_lines &&
           workshop->exceeds_l1 && workshop->topology->has_near_l3 && places_share_set(row, conversion) &&
           places_have_lines(row, column, conversion) &&
           tsr_rows_of_places(row, conversion) <= TSR_SCRATCH_BYTES / TSR_CACHE_LINE;
}

/* Element (i, j) lies i + j elements into a set of few lines on either side then, wherever the block. */
bool tsr_meets_its_source(const tsr_box *box, const tsr_conversion *conversion)
{
    const int64_t period = tsr_period_of_sets() / 2;
    const int64_t distance = tsr_distance_of(&box->column, conversion);
    const int64_t pitch = tsr_pitch_of(&box->row, conversion);
    return tsr_min(pitch, distance) > period && pitch % period == conversion->dst_bytes &&
           distance % period == conversion->src_bytes;
}
