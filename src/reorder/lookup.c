/* SPDX-License-Identifier: Apache-2.0 */
#include "reorder/lookup.h"

#include "base/alloc.h"
#include "base/int.h"

/* So many windows of 64 bytes have all n elements: where each begins, the last ones so early that they end where the
 * elements do. 0 if there are too many of them, or if all elements have less than one. */
static int64_t find_windows(int64_t begin[TSR_MOST_WINDOWS], const int64_t *src, int64_t n, int64_t bytes)
{
    int64_t count = 0, low = INT64_MAX, high = INT64_MIN;
    for (int64_t i = 0; i < n; i++) {
        low = tsr_min(low, src[i]);
        high = tsr_max(high, src[i] + bytes);
    }
    if (high - low < TSR_WIDEST_LANE)
        return 0;
    for (int64_t next = low; next < INT64_MAX && count < TSR_MOST_WINDOWS; count++) {
        const int64_t last = next + TSR_WIDEST_LANE - bytes; /* the last element that this window has begins there */
        begin[count] = tsr_min(next, high - TSR_WIDEST_LANE);
        next = INT64_MAX;
        for (int64_t i = 0; i < n; i++)
            next = src[i] > last ? tsr_min(next, src[i]) : next;
        if (next < INT64_MAX && count + 1 == TSR_MOST_WINDOWS)
            return 0;
    }
    return count;
}

static int64_t line_begin(const tsr_lookup *lookup, int64_t line)
{
    return tsr_min(line * TSR_WIDEST_LANE, lookup->bytes - TSR_WIDEST_LANE);
}

/* Byte by byte of the row. */
static void fill_orders(tsr_lookup *lookup, const int64_t *src, int64_t bytes)
{
    const int64_t pairs = lookup->windows / 2;
    for (int64_t line = 0; line < lookup->lines; line++)
        for (int64_t i = 0; i < TSR_WIDEST_LANE; i++) {
            const int64_t byte = line_begin(lookup, line) + i, at = src[byte / bytes] + byte % bytes;
            int64_t window = 0;
            while (at < lookup->src[window] || at >= lookup->src[window] + TSR_WIDEST_LANE)
                window++;
            for (int64_t pair = 0; pair < pairs; pair++)
                lookup->order[line * pairs + pair][i] = TSR_FROM_ELSEWHERE;
            lookup->order[line * pairs + window / 2][i] =
                (uint8_t)(window % 2 * TSR_WIDEST_LANE + at - lookup->src[window]);
        }
}

static size_t size_of(int64_t lines, int64_t windows)
{
    return sizeof(tsr_lookup) + (size_t)(lines * windows / 2) * TSR_WIDEST_LANE;
}

tsr_status tsr_lookup_make(tsr_lookup **lookup, const int64_t *src, int64_t n, int64_t bytes,
                           const tsr_allocator *allocator)
{
    int64_t begin[TSR_MOST_WINDOWS + 1];
    *lookup = NULL;
    if (n * bytes < TSR_WIDEST_LANE || n * bytes > TSR_MOST_WINDOWS * TSR_WIDEST_LANE)
        return TSR_OK;
    const int64_t count = find_windows(begin, src, n, bytes);
    if (count == 0)
        return TSR_OK;
    begin[count] = begin[count - 1]; /* there are pairs of them */
    const int64_t lines = tsr_ceil_div(n * bytes, TSR_WIDEST_LANE), windows = tsr_ceil_div(count, 2) * 2;
    tsr_lookup *made = tsr_allocate_zeroed(allocator, 1, size_of(lines, windows));
    if (!made)
        return TSR_OUT_OF_MEMORY;
    made->bytes = n * bytes;
    made->lines = lines;
    made->windows = windows;
    for (int64_t i = 0; i < windows; i++)
        made->src[i] = begin[i];
    fill_orders(made, src, bytes);
    *lookup = made;
    return TSR_OK;
}

double tsr_lookup_cost(const tsr_lookup *lookup)
{
    static const double per_window = 2, per_line = 2, per_pair = 3;
    return per_window * (double)lookup->windows +
           (double)lookup->lines * (per_line + per_pair * (double)lookup->windows / 2);
}

void tsr_lookup_free(tsr_lookup **lookup, const tsr_allocator *allocator)
{
    if (*lookup)
        tsr_deallocate(allocator, *lookup, size_of((*lookup)->lines, (*lookup)->windows));
    *lookup = NULL;
}
