/* SPDX-License-Identifier: Apache-2.0 */
#include "reorder/shapes.h"

#include <stdlib.h>

#include "reorder/caches.h"

/* What comes before a kernel takes longer than so few bytes of padded pixels. */
enum { LEAST_BYTES = 2 << 10 };

/* Those that go by way of scratch memory stay in the first-level cache; */
enum { CONVERTED_BYTES = 12 << 10 };

/* of others, of so many bytes each, and at any rate so many at most, as tables have an entry for each. */
enum { MOST_OF_CALL = 4096 };

static int64_t pixels_of_call(int64_t bytes)
{
    enum { MANY = 1024, MANY_BYTES = 64 << 10 };
    return tsr_max(MANY, tsr_min(MOST_OF_CALL, MANY_BYTES / bytes));
}

/* ---- to pixels with padding behind their channels ---- */

/* Does a kernel copy pixels with their padding sooner than they are parted: a lane of each, or few of them? */
static bool copies_padded_pixels(const tsr_draft *draft, const tsr_loop *channels)
{
    enum { FEW = 64 };
    const tsr_conversion *conversion = draft->workshop->conversion;
    const int64_t bytes = channels->n * conversion->dst_bytes, padding = channels->padding * conversion->dst_bytes;
    const tsr_loop *pixels = tsr_find_loop(draft, channels->n, channels->n + channels->padding);
    if (!tsr_is_straight(conversion) || (bytes + padding) % TSR_LANE_BYTES != 0)
        return false;
    return tsr_is_lane_with_padding(bytes, padding) || !pixels || pixels->n < FEW;
}

bool tsr_take_padded_pixels(tsr_draft *draft)
{
    const tsr_loop *channels = &draft->column->loop[0];
    const tsr_conversion *conversion = draft->workshop->conversion;
    const bool is_short = (channels->n + channels->padding) * conversion->dst_bytes < TSR_CACHE_LINE;
    const bool is_parted_fast = channels->n < 5 || channels->n == 8 || conversion->src_bytes != 2;
    if (channels->padding == 0 || !tsr_is_short_side(channels->n) || tsr_is_packed(conversion))
        return false;
    if (copies_padded_pixels(draft, channels) || !is_short || !is_parted_fast)
        return false;
    return tsr_take_loop(draft, draft->row, channels->n, channels->n + channels->padding);
}

tsr_motion tsr_shape_padded_pixels(tsr_draft *draft)
{
    const tsr_conversion *conversion = draft->workshop->conversion;
    const tsr_loop *channels = &draft->column->loop[0];
    const int64_t bytes = tsr_widest_type(conversion) * (channels->n + channels->padding);
    const int64_t most = draft->pads_pixels ? pixels_of_call(bytes) : tsr_share_of_l1(CONVERTED_BYTES) / bytes;
    draft->rows = tsr_shared_steps(draft, draft->row, most, TSR_CACHE_LINE / conversion->src_bytes);
    return TSR_MOTION_TRANSPOSE;
}

/* To rows of whole lines, a copy is as fast run by run, unless it turns them round, and single channels are joined with
 * planes of zeros. */
static bool is_copy_better_padded(const tsr_draft *draft, const tsr_loop *channels, int64_t width)
{
    const int64_t bytes = draft->workshop->conversion->dst_bytes;
    return draft->workshop->kernels->shuffles_lanes && channels->n > 1 && channels->n * bytes <= TSR_LANE_BYTES &&
           (channels->src != 1 || width * bytes < TSR_CACHE_LINE);
}

/* The zeros are computed with, or looked up with a few channels. Where maps have bytes looked up before, more channels
 * are joined with zeros sooner, in blocks of up to 8; and so is one channel alone, unless it becomes f32. */
static bool is_conversion_better_padded(const tsr_draft *draft, const tsr_loop *channels, int64_t width)
{
    const tsr_conversion *conversion = draft->workshop->conversion;
    const bool has_maps = conversion->map || conversion->maps;
    const bool is_looked_up_before = has_maps && conversion->dst_bytes == 1 && channels->src == 1 &&
                                     channels->n > TSR_MOST_MAPS && width <= TSR_LONGEST_SHORT_SIDE;
    const bool is_alone = channels->n == 1 && conversion->dst_bytes < 4;
    return conversion->padded_pixels && channels->n <= TSR_MOST_PADDED_CHANNELS && width <= TSR_WIDEST_PADDED &&
           !is_alone && !is_looked_up_before;
}

/* Channels may come backwards. */
static bool may_be_padded(const tsr_draft *draft, const tsr_loop *channels)
{
    enum { NARROWEST = 4 };
    const tsr_conversion *conversion = draft->workshop->conversion;
    const int64_t width = channels->n + channels->padding;
    const bool are_side_by_side = channels->n == 1 || llabs(channels->src) == 1;
    if (channels->padding == 0 || tsr_loop_has_table(channels) || !are_side_by_side || tsr_is_packed(conversion) ||
        width < NARROWEST || !tsr_is_power_of_two(width))
        return false;
    return tsr_is_straight(conversion) ? is_copy_better_padded(draft, channels, width)
                                       : is_conversion_better_padded(draft, channels, width);
}

bool tsr_take_pixels_among_padding(tsr_draft *draft)
{
    const tsr_loop *channels = tsr_find_loop(draft, TSR_ANY, 1);
    if (!channels || !may_be_padded(draft, channels))
        return false;
    const int64_t width = channels->n + channels->padding;
    const tsr_loop *pixels = tsr_find_loop(draft, channels->n, width);
    if (!pixels || pixels->factor != 0 || pixels->n * width * draft->workshop->conversion->dst_bytes < LEAST_BYTES)
        return false;
    tsr_take_loop(draft, draft->column, TSR_ANY, 1);
    tsr_take_loop(draft, draft->row, pixels->src, pixels->dst);
    draft->pads_pixels = true;
    return true;
}

/* ---- from there ---- */

/* Four channels of a pixel are read, or a lane. */
enum { MOST_CHANNELS = 4 };

static int64_t most_channels(int64_t bytes)
{
    return tsr_max(1, tsr_min(MOST_CHANNELS, TSR_LANE_BYTES / bytes));
}

/* Does nothing that the box moves lie between these pixels, but their channels? */
static bool are_apart(const tsr_draft *draft, const tsr_loop *pixels, const tsr_loop *channels)
{
    for (int i = 0; i < draft->nest->count; i++) {
        const tsr_loop *loop = &draft->nest->loop[i];
        if (loop != pixels && loop != channels && (loop->src_table || llabs(loop->src) < pixels->src))
            return false;
    }
    return true;
}

/* Do pixels lie so far from each other that a kernel may read a lane, or four channels, of each? Or side by side, and
 * are turned round, and converted? What is not is shuffled as fast. */
static bool can_be_unpadded(const tsr_draft *draft, const tsr_loop *pixels, const tsr_loop *channels)
{
    const tsr_conversion *conversion = draft->workshop->conversion;
    const int64_t n = channels ? channels->n : 1, most = most_channels(conversion->src_bytes);
    const bool are_turned = channels && channels->src == -1 && pixels->src == n && !tsr_is_straight(conversion);
    return n <= most && ((pixels->src > n && pixels->src >= most) || are_turned);
}

static bool may_be_unpadded(const tsr_draft *draft, const tsr_loop *pixels, const tsr_loop *channels)
{
    enum { FARTHEST_BYTES = 1 << 10 };
    const tsr_conversion *conversion = draft->workshop->conversion;
    if (!draft->workshop->kernels->shuffles_lanes || tsr_is_packed(conversion) || tsr_has_odd_units(conversion))
        return false;
    if (!pixels || tsr_loop_has_table(pixels) || pixels->padding > 0 || pixels->src < 1 ||
        pixels->src > FARTHEST_BYTES / conversion->src_bytes)
        return false;
    return pixels->n >= LEAST_BYTES / tsr_min(pixels->src * conversion->src_bytes, TSR_CACHE_LINE) &&
           can_be_unpadded(draft, pixels, channels) && are_apart(draft, pixels, channels);
}

/* Single channels have no loop. */
bool tsr_take_pixels_from_padding(tsr_draft *draft)
{
    const tsr_loop *first = tsr_find_loop(draft, TSR_ANY, 1);
    if (!first || first->padding > 0 || tsr_loop_has_table(first))
        return false;
    const tsr_loop *channels = llabs(first->src) == 1 ? first : NULL;
    const tsr_loop *pixels = channels ? tsr_find_loop(draft, TSR_ANY, channels->n) : first;
    if (!may_be_unpadded(draft, pixels, channels))
        return false;
    if (channels)
        tsr_take_loop(draft, draft->column, TSR_ANY, 1);
    tsr_take_loop(draft, draft->row, pixels->src, pixels->dst);
    return true;
}

/* Scratch memory has what is converted, before it is, and all that is streamed. Its tables have fewer pixels, but these
 * are dense there. */
tsr_motion tsr_shape_unpadded_pixels(tsr_draft *draft)
{
    const tsr_conversion *conversion = draft->workshop->conversion;
    const bool is_straight = tsr_is_straight(conversion), streams = draft->workshop->streams;
    const int64_t channels = tsr_steps_of(draft->column),
                  bytes = channels * (streams ? tsr_widest_type(conversion) : conversion->src_bytes);
    const int64_t most = is_straight && !streams ? pixels_of_call(draft->row->loop[0].src * conversion->src_bytes)
                                                 : tsr_min(MOST_OF_CALL, tsr_share_of_l1(CONVERTED_BYTES) / bytes);
    draft->rows = tsr_shared_steps(draft, draft->row, most, TSR_CACHE_LINE / conversion->dst_bytes);
    draft->columns = channels;
    return TSR_MOTION_UNPAD;
}
