/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What blocks.h, padded.h and units.h ask of vectors that are one lane, by vec_load, vec_store and vec_store_part; and
 * narrow.h and pixels.h, by pivot_store. A compile unit of such a rung includes this once, before them.
 */
#include <stdbool.h>
#include <stdint.h>

#include "reorder/kernels/kernels.h"
#include "reorder/kernels/template.h"

enum { LANES = 1 };

/* Lanes of one are in order. */
#define in_order_8(v) (v)
#define in_order_16(v) (v)

#define vec_pixels(at, channels) vec_load(at) /* four, and what lies behind those of three channels */
#define pivot_put(to, x, streams) ((void)(streams), pivot_store(to, x))
#define vec_put(at, v, streams) ((void)(streams), vec_store(at, v)) /* nothing goes past the caches */

INLINE vec vec_gather_lanes(const char *const at[LANES])
{
    return vec_load(at[0]);
}

INLINE void vec_store_lanes(char *at, vec v, int lane, int lanes)
{
    (void)lane, (void)lanes;
    vec_store(at, v);
}

INLINE void vec_store_part_of_lane(char *at, vec v, int l, int64_t bytes)
{
    (void)l;
    vec_store_part(at, v, bytes);
}

INLINE vec vec_first_lane(vec v, int l)
{
    (void)l;
    return v;
}

INLINE void vec_put_in_turn(char *at, const vec *v, int n, bool streams)
{
    (void)streams;
    for (int j = 0; j < n; j++)
        vec_store(at + TSR_LANE_BYTES * j, v[j]);
}

#define vec_put_pairs_in_turn(at, v, n, streams) vec_put_in_turn(at, v, n, streams) /* there are no pairs */

INLINE vec vec_turn_lanes(vec v)
{
    return v;
}

INLINE bool vec_joins(int64_t bytes)
{
    (void)bytes;
    return true;
}

INLINE vec vec_join_lanes(vec v, int64_t bytes)
{
    (void)bytes;
    return v;
}

INLINE vec vec_repeat(const uint8_t bytes[TSR_LANE_BYTES])
{
    return vec_load((const char *)bytes);
}
