/* SPDX-License-Identifier: Apache-2.0 */
#include "reorder/lanes.h"

#include <string.h>

#include "base/alloc.h"
#include "base/int.h"

/* A row of elements that is being cut. */
struct row {
    const int64_t *column;
    int64_t n, bytes;
    int64_t window;    /* bytes that a part of a lane may be read from */
    int64_t full;      /* elements that a lane has */
    int64_t reached;   /* the elements of the shortest tile with the lane that is being made, */
    int64_t low, high; /* and the bytes of the source that they span */
};

/* Bytes of the source that a part is loaded from. */
struct window {
    int64_t low, high;
};

static bool is_in_reach(const struct row *row, const struct window *window, int64_t c)
{
    return tsr_max(window->high, row->column[c] + row->bytes) - tsr_min(window->low, row->column[c]) <= row->window;
}

static void widen(const struct row *row, struct window *window, int64_t c)
{
    window->low = tsr_min(window->low, row->column[c]);
    window->high = tsr_max(window->high, row->column[c] + row->bytes);
}

/* Are windows read as a whole, or else as far as there is anything that a part needs? */
static bool reads_whole_windows(const struct row *row)
{
    return row->window == TSR_LANE_BYTES;
}

/* Goes on until a tile has so many elements, and the source a window to read. */
static bool reach(struct row *row, int64_t elements)
{
    const int64_t least = reads_whole_windows(row) ? row->window : 0;
    while (row->reached < row->n && (row->reached < elements || row->high - row->low < least)) {
        const int64_t at = row->column[row->reached++];
        row->low = tsr_min(row->low, at);
        row->high = tsr_max(row->high, at + row->bytes);
    }
    return row->reached >= elements && row->high - row->low >= least;
}

/* How many elements from `first` on, up to `end`, one part has. */
static int64_t elements_of_part(const struct row *row, int64_t first, int64_t end)
{
    struct window window = {row->column[first], row->column[first]};
    int64_t c = first;
    for (; c < end && is_in_reach(row, &window, c); c++)
        widen(row, &window, c);
    return c - first;
}

/* Of a window that is read as a whole: with what is needed, or earlier, where the source ends; and always earlier in
 * rows that go backwards, as the first one has to, so that all have one order. */
static int64_t begin_of_whole(const struct row *row, const struct window *window, int64_t first)
{
    if (row->column[first] < row->column[0])
        return tsr_max(row->low, window->high - row->window);
    return tsr_min(window->low, row->high - row->window);
}

/*
 * Takes as many of the elements [first, end) as a window of the source has, beginning with the first one that is not
 * taken yet. False if all are.
 */
static bool take_part(const struct row *row, int64_t first, int64_t end, bool *is_taken, tsr_lane *lane)
{
    struct window window = {0, 0};
    bool is_mine[TSR_WIDEST_LANE] = {false}, is_any = false;
    for (int64_t c = first; c < end; c++) {
        if (is_taken[c - first])
            continue;
        if (!is_any)
            window = (struct window){row->column[c], row->column[c]};
        if (!is_in_reach(row, &window, c))
            continue;
        widen(row, &window, c);
        is_any = is_taken[c - first] = is_mine[c - first] = true;
    }
    if (!lane || !is_any)
        return is_any;
    if (reads_whole_windows(row))
        window.low = begin_of_whole(row, &window, first);
    *lane = (tsr_lane){.src = window.low,
                       .window = (int32_t)(window.high - window.low),
                       .dst = (int32_t)(first * row->bytes),
                       .columns = (int32_t)row->reached};
    const int64_t base = reads_whole_windows(row) ? 0 : TSR_WIDEST_LANE;
    for (int64_t i = 0; i < TSR_WIDEST_LANE; i++)
        lane->order[i] = (uint8_t)(reads_whole_windows(row) ? TSR_FROM_ELSEWHERE : i);
    for (int64_t i = 0; i < (end - first) * row->bytes; i++)
        if (is_mine[i / row->bytes])
            lane->order[i] = (uint8_t)(base + row->column[first + i / row->bytes] - lane->src + i % row->bytes);
    return true;
}

/* The parts that the elements [first, end) come in, which are written to lane unless it is NULL. */
static int64_t take_parts(const struct row *row, int64_t first, int64_t end, tsr_lane *lane)
{
    bool is_taken[TSR_WIDEST_LANE] = {false};
    int64_t parts = 0;
    while (take_part(row, first, end, is_taken, lane ? &lane[parts] : NULL))
        parts++;
    for (int64_t i = 0; lane && i < parts; i++)
        lane[i].parts = (int32_t)(parts - i);
    return parts;
}

/*
 * Where a lane that begins with an element ends: it is one part that the next one overwrites where it ends early, or
 * all bytes in several parts, whichever takes less for an element. A store is as much as two loads and shuffles.
 */
static int64_t end_of_lane(const struct row *row, int64_t first)
{
    enum { STORE = 2 };
    const int64_t end = tsr_min(row->n, first + row->full), of_one = elements_of_part(row, first, end);
    const int64_t parts = take_parts(row, first, end, NULL);
    return (parts + STORE) * of_one < (1 + STORE) * (end - first) ? end : first + of_one;
}

/* How many parts there are, and the sentinel, which are written unless `lane` is NULL. The last lane begins early
 * enough to be whole. */
static int64_t cut(tsr_lane *lane, const tsr_lanes *lanes, int64_t bytes)
{
    const int64_t n = lanes->n, first_of_row = lanes->src[0];
    struct row row = {.column = lanes->src,
                      .n = n,
                      .bytes = bytes,
                      .window = lanes->window,
                      .full = tsr_min(n, lanes->bytes / bytes),
                      .low = first_of_row,
                      .high = first_of_row};
    int64_t count = 0, done = 0;
    while (done < n) {
        const bool is_last = done + row.full >= n;
        const int64_t first = is_last ? n - row.full : done;
        if (!reach(&row, first + row.full))
            break;
        const int64_t end = is_last ? n : end_of_lane(&row, first);
        count += take_parts(&row, first, end, lane ? &lane[count] : NULL);
        done = end;
    }
    if (lane)
        lane[count] = (tsr_lane){.dst = (int32_t)(done * bytes), .columns = INT32_MAX};
    return count + 1;
}

/* Has lane i the order of the one before it, and are both as far from each other as that one and the one before? */
static bool goes_on(const tsr_lane *lane, int64_t i, int64_t first)
{
    const tsr_lane *one = &lane[first];
    return lane[i].parts == 1 && lane[i].window == one->window &&
           lane[i].src - lane[i - 1].src == one[1].src - one->src &&
           lane[i].dst - lane[i - 1].dst == one[1].dst - one->dst &&
           memcmp(lane[i].order, one->order, sizeof one->order) == 0;
}

/* Finds the stretches of n lanes that are alike. Gives how many lanes these have, if they are most of them, and long:
 * else lanes are rather taken one by one, of all rows. */
static int64_t find_alike(tsr_lane *lane, int64_t n)
{
    int64_t all = 0, end;
    for (int64_t first = 0; first < n; first = end) {
        end = first + 1;
        while (lane[first].parts == 1 && end < n && goes_on(lane, end, first))
            end++;
        for (int64_t i = first; i < end; i++)
            lane[i].alike = (int32_t)(end - i);
        all += end - first > TSR_FEW_ALIKE ? end - first : 0;
    }
    return 2 * all > n ? all : 0;
}

/* As long as its windows, or as the row fills. */
static int64_t bytes_of_lane(int64_t row_bytes, int64_t window)
{
    int64_t bytes = window;
    while (bytes > TSR_LANE_BYTES && bytes > row_bytes)
        bytes /= 2;
    return bytes;
}

/* In cycles, more or less, of a Zen 4. Wide loads cross cache lines; more parts than few have their orders loaded each
 * time, and those of others are once, when CPUs have not foreseen how many there are. */
static double cost_of(const tsr_lanes *lanes, int64_t times, bool go_along_rows)
{
    const bool is_wide = lanes->window > TSR_LANE_BYTES;
    const double per_lane = is_wide ? 30 : 20, store = is_wide ? 1.5 : 1, part = is_wide ? 2.5 : 0.75,
                 part_of_many = part + 1;
    double cost = 0;
    for (int64_t i = 0; i < lanes->count - 1; i += lanes->lane[i].parts) {
        const int64_t parts = lanes->lane[i].parts;
        const bool is_alike = go_along_rows && lanes->alike > 0 && lanes->lane[i].alike > 1;
        cost += (is_alike ? 0 : per_lane) +
                (double)times * (store + (double)parts * (parts > TSR_FEW_PARTS ? part_of_many : part));
    }
    return cost;
}

/* Looks the row up, if that takes less than its lanes, of many rows. */
static tsr_status look_up(tsr_lanes *lanes, int64_t bytes, const tsr_allocator *allocator)
{
    enum { MANY_ROWS = 64 };
    const tsr_status status = tsr_lookup_make(&lanes->lookup, lanes->src, lanes->n, bytes, allocator);
    if (lanes->lookup && MANY_ROWS * tsr_lookup_cost(lanes->lookup) > cost_of(lanes, MANY_ROWS, false))
        tsr_lookup_free(&lanes->lookup, allocator);
    return status;
}

tsr_status tsr_lanes_init(tsr_lanes *lanes, const tsr_lane_row *row, int64_t window, const tsr_allocator *allocator)
{
    const int64_t n = row->inner_count * row->outer_count;
    *lanes = (tsr_lanes){.n = n,
                         .bytes = bytes_of_lane(n * row->bytes, window),
                         .window = window,
                         .src = tsr_allocate_zeroed(allocator, (size_t)n, sizeof *lanes->src)};
    if (!lanes->src)
        return TSR_OUT_OF_MEMORY;
    for (int64_t i = 0; i < n; i++)
        lanes->src[i] = row->inner[i % row->inner_count] + row->outer[i / row->inner_count];
    lanes->count = cut(NULL, lanes, row->bytes);
    lanes->lane = tsr_allocate_zeroed(allocator, (size_t)lanes->count, sizeof *lanes->lane);
    if (!lanes->lane)
        return TSR_OUT_OF_MEMORY;
    cut(lanes->lane, lanes, row->bytes);
    lanes->alike = find_alike(lanes->lane, lanes->count - 1);
    return window > TSR_LANE_BYTES && lanes->alike == 0 ? look_up(lanes, row->bytes, allocator) : TSR_OK;
}

double tsr_lanes_cost(const tsr_lanes *lanes, int64_t times, bool go_along_rows)
{
    return lanes->lookup ? (double)times * tsr_lookup_cost(lanes->lookup) : cost_of(lanes, times, go_along_rows);
}

int64_t tsr_lanes_parts(const tsr_lanes *lanes)
{
    int64_t parts = 0;
    if (lanes->lookup)
        return lanes->lookup->lines * lanes->lookup->windows / 2;
    for (int64_t i = 0; i < lanes->count - 1; i += lanes->lane[i].parts)
        parts += lanes->lane[i].parts * (lanes->lane[i].parts > TSR_FEW_PARTS ? 2 : 1);
    return parts;
}

int64_t tsr_lanes_stored(const tsr_lanes *lanes)
{
    int64_t stored = 0;
    if (lanes->lookup)
        return lanes->lookup->lines;
    for (int64_t i = 0; i < lanes->count - 1; i += lanes->lane[i].parts)
        stored++;
    return stored;
}

bool tsr_lanes_are_filled(const tsr_lanes *lanes, int64_t bytes, int64_t least)
{
    const int64_t elements = lanes->lane[lanes->count - 1].dst / bytes;
    int64_t parts = 0, last = 0;
    for (int64_t i = 0; i < lanes->count - 1; i += last) {
        last = lanes->lane[i].parts;
        parts += last;
    }
    return elements > 0 && elements >= least * (lanes->alike > 0 ? parts - last : parts);
}

void tsr_lanes_reset(tsr_lanes *lanes, const tsr_allocator *allocator)
{
    tsr_deallocate(allocator, lanes->lane, (size_t)lanes->count * sizeof *lanes->lane);
    tsr_deallocate(allocator, lanes->src, (size_t)lanes->n * sizeof *lanes->src);
    tsr_lookup_free(&lanes->lookup, allocator);
    *lanes = (tsr_lanes){0};
}
