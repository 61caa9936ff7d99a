/* SPDX-License-Identifier: Apache-2.0 */
#include "reorder/lanes.h"

#include <string.h>

#include "base/alloc.h"
#include "base/int.h"

/* A row of elements that is being cut. */
struct row {
    const int64_t *column;
    int64_t n, bytes;
    int64_t first, end; /* the elements of a lane */
    int64_t reached;    /* the elements of the shortest tile with this lane, */
    int64_t low, high;  /* and the bytes of the source that they span */
};

static bool is_near(const struct row *row, int64_t c, int64_t low, int64_t high)
{
    return tsr_max(high, row->column[c] + row->bytes) - tsr_min(low, row->column[c]) <= TSR_LANE_BYTES;
}

/* The elements from row->first on whose sources lie within 16 bytes: the place of the first of these bytes. */
static int64_t take_elements(struct row *row)
{
    int64_t low = row->column[row->first], high = low;
    for (row->end = row->first; row->end < tsr_min(row->n, row->first + TSR_LANE_BYTES / row->bytes); row->end++) {
        if (!is_near(row, row->end, low, high))
            break;
        low = tsr_min(low, row->column[row->end]);
        high = tsr_max(high, row->column[row->end] + row->bytes);
    }
    return low;
}

/* Goes on until there are 16 bytes to write, and 16 to read. */
static bool reach(struct row *row)
{
    const int64_t enough = row->first + TSR_LANE_BYTES / row->bytes;
    while (row->reached < row->n && (row->reached < enough || row->high - row->low < TSR_LANE_BYTES)) {
        const int64_t at = row->column[row->reached++];
        row->low = tsr_min(row->low, at);
        row->high = tsr_max(row->high, at + row->bytes);
    }
    return row->reached >= enough && row->high - row->low >= TSR_LANE_BYTES;
}

static void put(tsr_lane *lane, const struct row *row, int64_t low)
{
    const int64_t src = tsr_min(low, row->high - TSR_LANE_BYTES);
    *lane = (tsr_lane){.src = src, .dst = (int32_t)(row->first * row->bytes), .columns = (int32_t)row->reached};
    for (int64_t i = 0; i < (row->end - row->first) * row->bytes; i++)
        lane->order[i] = (uint8_t)(row->column[row->first + i / row->bytes] - src + i % row->bytes);
}

/* How many lanes there are, which are written unless `lane` is NULL. */
static int64_t cut(tsr_lane *lane, const int64_t *column, int64_t n, int64_t bytes)
{
    struct row row = {.column = column, .n = n, .bytes = bytes, .low = column[0], .high = column[0]};
    int64_t count = 0;
    for (; row.first < n && reach(&row); row.first = row.end, count++) {
        const int64_t low = take_elements(&row);
        if (lane)
            put(&lane[count], &row, low);
    }
    if (lane)
        lane[count] = (tsr_lane){.dst = (int32_t)(row.first * bytes), .columns = INT32_MAX};
    return count + 1;
}

/* Has lane i the order of the first one, and is it as far from the one before as the second one from the first? */
static bool is_alike(const tsr_lane *lane, int64_t i)
{
    return lane[i].src - lane[i - 1].src == lane[1].src - lane[0].src &&
           lane[i].dst - lane[i - 1].dst == lane[1].dst - lane[0].dst &&
           memcmp(lane[i].order, lane[0].order, sizeof lane->order) == 0;
}

/* Of n lanes, the first ones. */
static int64_t count_alike(const tsr_lane *lane, int64_t n)
{
    int64_t alike = tsr_min(n, 1);
    while (alike > 0 && alike < n && is_alike(lane, alike))
        alike++;
    return alike;
}

tsr_status tsr_lanes_init(tsr_lanes *lanes, const tsr_lane_row *row, const tsr_allocator *allocator)
{
    const int64_t n = row->inner_count * row->outer_count;
    *lanes = (tsr_lanes){.n = n, .src = tsr_allocate_zeroed(allocator, (size_t)n, sizeof *lanes->src)};
    if (!lanes->src)
        return TSR_OUT_OF_MEMORY;
    for (int64_t i = 0; i < n; i++)
        lanes->src[i] = row->inner[i % row->inner_count] + row->outer[i / row->inner_count];
    lanes->count = cut(NULL, lanes->src, n, row->bytes);
    lanes->lane = tsr_allocate_zeroed(allocator, (size_t)lanes->count, sizeof *lanes->lane);
    if (!lanes->lane)
        return TSR_OUT_OF_MEMORY;
    cut(lanes->lane, lanes->src, n, row->bytes);
    lanes->alike = count_alike(lanes->lane, lanes->count - 1);
    return TSR_OK;
}

void tsr_lanes_reset(tsr_lanes *lanes, const tsr_allocator *allocator)
{
    tsr_deallocate(allocator, lanes->lane, (size_t)lanes->count * sizeof *lanes->lane);
    tsr_deallocate(allocator, lanes->src, (size_t)lanes->n * sizeof *lanes->src);
    *lanes = (tsr_lanes){0};
}
