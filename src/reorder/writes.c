/* SPDX-License-Identifier: Apache-2.0 */
#include "reorder/writes.h"

#include "base/int.h"
#include "reorder/caches.h"
#include "reorder/lines.h"
#include "reorder/reads.h"
#include "reorder/sets.h"
#include "reorder/streams.h"

/* Are rows buffered that take turns among places of one set? Of tiles that have a line of each, copies write place by
 * place. */
static bool should_write_places(const tsr_box *box, const tsr_workshop *workshop)
{
    return box->motion == TSR_MOTION_TRANSPOSE && box->padding_bytes == 0 &&
           box->column.step * workshop->conversion->dst_bytes == TSR_CACHE_LINE &&
           tsr_buffers_places(&box->row, &box->column, workshop);
}

/*
 * The same for the first-level cache and tensors that the others hold: are there more rows than it has room for, in a
 * block that reads whole lines of the source? Where lines are written at once, there have to be twice as many, unless
 * sets are deep and elements narrow; a near last cache takes those of wide elements as well as they come, and CPUs with
 * a far one all. Or do rows take turns among places of one set?
 */
static bool should_buffer(const tsr_box *box, const tsr_workshop *workshop)
{
    const tsr_conversion *conversion = workshop->conversion;
    const int64_t line = TSR_CACHE_LINE / conversion->src_bytes;
    if (box->motion != TSR_MOTION_TRANSPOSE || !tsr_is_straight(conversion) || box->padding_bytes > 0)
        return false;
    if (!workshop->exceeds_l1 || (workshop->exceeds_l2 && !workshop->is_near) || !box->has_dense_columns)
        return false;
    if (workshop->topology->has_near_l3 && !tsr_streams_sets(box, workshop) && tsr_meets_its_source(box, conversion))
        return true;
    if (box->writes_places)
        return true;
    const int64_t fitting = tsr_rows_in_sets(&box->row, conversion), rows = tsr_rows_of_period(box, conversion);
    if (!workshop->kernels->writes_lines)
        return fitting < tsr_min(line, rows) && !tsr_completes_lines(box, workshop) &&
               !tsr_meet_in_memory(box->row.n, &box->row, workshop);
    if (workshop->has_deep_sets && tsr_is_narrow(conversion->dst_bytes) && 2 * fitting < line)
        return !box->streams_lines && tsr_rows_crowd_sets(&box->row, workshop);
    return workshop->topology->has_near_l3 && 2 * fitting < rows &&
           tsr_pitch_of(&box->row, conversion) % tsr_period_of_sets() == 0 &&
           (tsr_is_narrow(conversion->dst_bytes) || !tsr_streams_sets(box, workshop));
}

void tsr_choose_writes(tsr_box *box, const tsr_workshop *workshop)
{
    tsr_choose_streams(box, workshop);
    box->writes_places = should_write_places(box, workshop);
    box->buffers = !box->streams && !box->finds_lines && should_buffer(box, workshop);
    box->fills_lines = workshop->exceeds_l1;
    tsr_choose_reads(box, workshop);
}
