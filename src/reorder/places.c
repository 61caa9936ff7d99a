/* SPDX-License-Identifier: Apache-2.0 */
#include "reorder/places.h"

#include <stdlib.h>

#include "base/int.h"
#include "reorder/caches.h"
#include "reorder/sets.h"
#include "reorder/shapes.h"
#include "reorder/streams.h"

/* Are runs written past the caches? Of converted ones, that is for what streams.c takes; others are too large for the
 * caches all the same. */
static bool streams_runs(const tsr_workshop *workshop)
{
    return workshop->conversion->is_copy ? workshop->streams_copies : workshop->streams;
}

bool tsr_are_far_lines(const tsr_workshop *workshop, const tsr_loop *next, int64_t run)
{
    const tsr_conversion *conversion = workshop->conversion;
    return conversion->is_copy && !workshop->is_far && run * conversion->src_bytes % TSR_CACHE_LINE == 0 &&
           next->n > TSR_FEW_PAGES && !next->src_table && llabs(next->src) * conversion->src_bytes >= TSR_PAGE / 2;
}

static bool are_whole_lines(const tsr_draft *draft, int64_t run)
{
    return run * draft->workshop->conversion->dst_bytes % TSR_CACHE_LINE == 0;
}

/* Runs of a copy that are parts of lines. They are written place by place, so that each line is complete soon. */
static bool share_lines(const tsr_draft *draft, int64_t run)
{
    return draft->workshop->conversion->is_copy && !are_whole_lines(draft, run);
}

/* Are runs streamed from where they are, and foreseen all the same: long ones, or those of two lines or more from a
 * last cache that has them? */
static bool are_foreseen(int64_t run_bytes, const tsr_workshop *workshop)
{
    enum { LONG_BYTES = 8 * TSR_CACHE_LINE };
    return tsr_is_streamed_from_source(run_bytes, true) &&
           (run_bytes >= LONG_BYTES || (run_bytes >= 2 * TSR_CACHE_LINE && !tsr_takes_half_of_l3(workshop)));
}

/*
 * Do the runs of all places leave others behind in the source, and are little of it side by side? Then reads that
 * prefetchers do not foresee would wait for what is written past the caches (measured on a Zen 3 and a Zen 4), and
 * longest beside deep sets.
 */
static bool leave_gaps(const tsr_draft *draft, const tsr_loop *places, const tsr_loop *next, int64_t run)
{
    enum { LITTLE_BYTES = 2 << 10, LITTLE_OF_DEEP_SETS = 8 << 10 };
    const tsr_workshop *workshop = draft->workshop;
    const int64_t bytes = workshop->conversion->src_bytes, piece = places->n * places->src;
    if (!workshop->is_near || next->src <= piece)
        return false;
    if (workshop->has_deep_sets)
        return piece * bytes < LITTLE_OF_DEEP_SETS && !are_foreseen(run * bytes, workshop);
    return piece * bytes < LITTLE_BYTES;
}

/* Are whole lines written past the caches, or converted from more than these hold, so that the order of the source
 * matters more than where they are written? */
static bool pass_by(const tsr_draft *draft, int64_t run)
{
    return streams_runs(draft->workshop) && !draft->leaves_gaps && are_whole_lines(draft, run);
}

static int64_t distance_in_dst(const tsr_draft *draft, const tsr_loop *places)
{
    return llabs(places->dst) * draft->workshop->conversion->dst_bytes;
}

/* Do sets hold the lines of twice as many places, as less is written than read, in whole lines or from more than the
 * caches hold? Then these should be halves at least, if all places share one set. */
static bool take_twice_as_many(const tsr_draft *draft, const tsr_loop *places, int64_t run)
{
    const tsr_conversion *conversion = draft->workshop->conversion;
    const bool are_halves = run * conversion->dst_bytes >= TSR_CACHE_LINE / 2;
    if (!tsr_narrows(conversion))
        return false;
    if (are_whole_lines(draft, run))
        return true;
    return streams_runs(draft->workshop) && (are_halves || !tsr_share_one_set(distance_in_dst(draft, places)));
}

/* The first-level cache has room for a line of so many of them. */
static int64_t places_in_sets(const tsr_draft *draft, const tsr_loop *places, int64_t run)
{
    const int64_t times = take_twice_as_many(draft, places, run) ? 2 : 1;
    return times * tsr_lines_in_l1(distance_in_dst(draft, places));
}

/* So many places there may be at once: caches hold a line of each, or of those that they map onto few sets; more, and
 * of any sets, if one place gets some before the next one does, or if lines pass the caches by. Fewer, if the order of
 * the destination is nearly as good. */
static int64_t fitting_places(const tsr_draft *draft, const tsr_loop *places, const tsr_loop *next, int64_t run)
{
    enum { MOST_PLACES = 64, MOST_OF_FAR_LINES = 32, MOST_PASSED = 256 };
    if (share_lines(draft, run))
        return MOST_PLACES;
    if (pass_by(draft, run))
        return MOST_PASSED;
    const int64_t most = tsr_are_far_lines(draft->workshop, next, run) ? MOST_OF_FAR_LINES : MOST_PLACES;
    return places->dst_table ? most : tsr_max(1, tsr_min(most, places_in_sets(draft, places, run)));
}

/* So many parts of the places there may be, one after the other: one alone, where the order of the destination is
 * better than two. */
static int64_t most_parts(const tsr_draft *draft, const tsr_loop *next, int64_t run)
{
    enum { PARTS_OF_SHARED = 16 };
    if (share_lines(draft, run))
        return PARTS_OF_SHARED;
    const bool are_far = !draft->leaves_gaps && tsr_are_far_lines(draft->workshop, next, run);
    return pass_by(draft, run) || are_far ? 1 : 2;
}

/* Are runs of a line or more converted within the second-level cache? It takes them wherever they go, and what is read
 * in order is there before. Measured on a Zen 4, and done on what is like it. */
static bool are_converted_nearby(const tsr_draft *draft, int64_t run)
{
    const tsr_workshop *workshop = draft->workshop;
    const bool is_like = workshop->topology->has_near_l3 && !workshop->has_deep_sets;
    return is_like && !workshop->exceeds_l2 && !workshop->conversion->is_copy &&
           run * workshop->conversion->dst_bytes >= TSR_CACHE_LINE;
}

/* All places, or as many as fit, which are a part of them; or 0. Whole lines are better written in the order of the
 * destination, if they are fewer than places, or go to many. */
static int64_t places_at_once(const tsr_draft *draft, const tsr_loop *places, const tsr_loop *next, int64_t run)
{
    const int64_t parts = tsr_ceil_div(places->n, fitting_places(draft, places, next, run));
    const int64_t at_once = places->n / parts;
    const bool are_fewer = (share_lines(draft, run) ? at_once : places->n) < next->n;
    return are_fewer && parts <= most_parts(draft, next, run) && places->n % parts == 0 ? at_once : 0;
}

/* Is the order of the destination better for runs that are converted, and end inside of lines? Those of more than a
 * line, and not of many, to more places than keep theirs until they are whole; but of what becomes narrower, more do.
 * Measured on a Zen 4. */
static bool are_converted_in_order(const tsr_draft *draft, const tsr_loop *places, int64_t run)
{
    enum { MANY_PLACES = 32, MOST_BYTES = 1 << 10 };
    const tsr_workshop *workshop = draft->workshop;
    const int64_t bytes = run * workshop->conversion->dst_bytes;
    return workshop->is_near && !workshop->has_deep_sets && streams_runs(workshop) &&
           !tsr_narrows(workshop->conversion) && places->n >= MANY_PLACES && bytes > TSR_CACHE_LINE &&
           bytes <= MOST_BYTES;
}

/* Or for parts of lines that become wider, and go to two places? Most of what is moved is written then, which a far
 * last cache wants in order. Measured on an Emerald Rapids. */
static bool are_widened_in_order(const tsr_draft *draft, const tsr_loop *places, int64_t run)
{
    const tsr_workshop *workshop = draft->workshop;
    return workshop->is_far && tsr_widens(workshop->conversion) && places->n == 2 &&
           run * workshop->conversion->dst_bytes < TSR_CACHE_LINE;
}

/* Are runs of two lines and more joined to those of the next loop? The order of the source takes two to four times as
 * long, but for shorter ones. Measured on an Emerald Rapids. */
static bool are_joined(const tsr_draft *draft, const tsr_loop *next, int64_t run)
{
    const int64_t bytes = run * draft->workshop->conversion->dst_bytes;
    return bytes >= 2 * TSR_CACHE_LINE && tsr_joins_runs_of(bytes, next->n, draft->workshop);
}

/* Or for parts of lines that are copied? It is if they are joined, or streamed, unless to few places, or a far last
 * cache has room for them; and if they lie in two lines, of what the second-level cache holds, but not beside deep
 * sets. */
static bool are_better_in_order(const tsr_draft *draft, const tsr_loop *places, const tsr_loop *next, int64_t run)
{
    enum { FEW_PLACES = 16 };
    static const double room = 0.2; /* measured on a Xeon, as what others leave of that cache */
    const tsr_workshop *workshop = draft->workshop;
    if (are_whole_lines(draft, run))
        return false;
    if (!workshop->conversion->is_copy)
        return are_converted_in_order(draft, places, run) || are_widened_in_order(draft, places, run);
    if (are_joined(draft, next, run))
        return true;
    if (streams_runs(workshop) && (workshop->is_far ? workshop->l3_share > room : places->n > FEW_PLACES))
        return true;
    return !workshop->exceeds_l2 && !workshop->has_deep_sets &&
           TSR_CACHE_LINE % (run * workshop->conversion->dst_bytes) != 0;
}

/* Do lines of the source, of which each place takes a part, stay in the first-level cache from one place to the next,
 * if runs are taken as the destination has them? */
static bool stay_between(const tsr_draft *draft, const tsr_loop *places)
{
    int64_t lines = 1, distances = 0;
    for (int i = 0; i < draft->nest->count; i++) {
        const tsr_loop *loop = &draft->nest->loop[i];
        if (draft->is_taken[i] || loop == places)
            continue;
        if (tsr_loop_has_table(loop))
            return false;
        if (llabs(loop->dst) < llabs(places->dst)) {
            lines *= loop->n;
            distances |= llabs(loop->src) * draft->workshop->conversion->src_bytes;
        }
    }
    return lines <= tsr_lines_in_l1(distances);
}

/* So many places have runs of one line of the source. */
static int64_t places_of_line(const tsr_draft *draft, int64_t run)
{
    return tsr_max(1, TSR_CACHE_LINE / (run * draft->workshop->conversion->src_bytes));
}

/* Are these a part of all places, and fewer than the runs of each? */
static bool has_places_of_line(const tsr_draft *draft, const tsr_loop *places, const tsr_loop *next, int64_t run)
{
    const int64_t of_line = places_of_line(draft, run);
    return of_line > 1 && of_line < next->n && places->n % of_line == 0;
}

/* Do runs become wider, but not whole lines, and leave the places of a line room in sets for others? Then these are
 * written side by side, whatever the size of the tensor. */
static bool widen_side_by_side(const tsr_draft *draft, const tsr_loop *places, const tsr_loop *next, int64_t run)
{
    const tsr_conversion *conversion = draft->workshop->conversion;
    return has_places_of_line(draft, places, next, run) && tsr_widens(conversion) && !are_whole_lines(draft, run) &&
           2 * places_of_line(draft, run) <= tsr_lines_in_l1(distance_in_dst(draft, places));
}

/* Are runs, parts of lines of the source, better taken otherwise? They are if the places of a line have all of it, or
 * if the second-level cache has these lines until the next place. */
static bool are_better_by_lines(const tsr_draft *draft, const tsr_loop *places, const tsr_loop *next, int64_t run)
{
    const int64_t distance = llabs(next->src) * draft->workshop->conversion->src_bytes;
    return widen_side_by_side(draft, places, next, run) ||
           (places_of_line(draft, run) > 1 && next->n <= tsr_lines_in_l2(distance));
}

/* Of one of some places, if these are more than fit, and a few lines there; a run has so many bytes of one. */
static int64_t runs_of_a_place(const tsr_loop *places, const tsr_loop *next, int64_t fitting, int64_t run_bytes)
{
    enum { LINES = 4, LEAST_LINES = 2 };
    if (run_bytes >= TSR_CACHE_LINE || places->n <= fitting || places->n > TSR_MOST_STEPS)
        return 0;
    const int64_t most = tsr_min(LINES * TSR_CACHE_LINE / run_bytes, TSR_MOST_STEPS / places->n);
    const int64_t runs = tsr_divisor_below(next->n, most);
    return runs * run_bytes >= LEAST_LINES * TSR_CACHE_LINE ? runs : 0;
}

/* To places of the destination, which share sets. */
static int64_t runs_to_places(const tsr_draft *draft, const tsr_loop *places, const tsr_loop *next, int64_t run)
{
    const tsr_conversion *conversion = draft->workshop->conversion;
    if (conversion->is_copy || are_better_by_lines(draft, places, next, run)) /* kernels of copies take turns */
        return 0;
    return runs_of_a_place(places, next, places_in_sets(draft, places, run), run * conversion->dst_bytes);
}

/* Or from those of the source; sets have lines for twice as many if runs become less than a lane. */
static int64_t runs_from_places(const tsr_draft *draft, const tsr_loop *places, const tsr_loop *next, int64_t run)
{
    const tsr_conversion *conversion = draft->workshop->conversion;
    const int64_t in_sets = tsr_lines_in_l1(llabs(places->src) * conversion->src_bytes);
    const int64_t times = run * conversion->dst_bytes < TSR_LANE_BYTES ? 2 : 1;
    if (conversion->is_copy ? draft->workshop->streams_copies : tsr_takes_half_of_l3(draft->workshop))
        return 0;
    return runs_of_a_place(places, next, times * in_sets, run * conversion->src_bytes);
}

/* In the order of the source: all places, or as many as a tile takes. */
static int64_t places_of_source(tsr_draft *draft, const tsr_loop *places, const tsr_loop *next, int64_t run)
{
    draft->leaves_gaps = leave_gaps(draft, places, next, run);
    return places_at_once(draft, places, next, run);
}

/* Or so many of them, so that each line of the source is read once. */
static int64_t places_of_lines(const tsr_draft *draft, const tsr_loop *places, const tsr_loop *next, int64_t run)
{
    const bool passes = streams_runs(draft->workshop) && !widen_side_by_side(draft, places, next, run);
    if (!has_places_of_line(draft, places, next, run) || passes)
        return 0;
    return stay_between(draft, places) ? 0 : places_of_line(draft, run);
}

tsr_order tsr_order_of_runs(tsr_draft *draft, int64_t run)
{
    enum { LEAST_BYTES = 24 };
    const tsr_conversion *conversion = draft->workshop->conversion;
    const int64_t steps = tsr_steps_of(draft->column);
    const tsr_loop *in_src = tsr_find_loop(draft, steps, TSR_ANY), *in_dst = tsr_find_loop(draft, TSR_ANY, run);
    const bool has_padding = run > steps;
    int64_t n = 0;
    if (!in_src || !in_dst || has_padding || (conversion->is_copy && run * conversion->dst_bytes < LEAST_BYTES))
        return (tsr_order){0};
    /* what is packed would be packed by one thread */
    const bool has_tables = in_src->dst_table || in_dst->src_table;
    const bool may_be_by_places = in_src != in_dst && !has_tables && !conversion->pack;
    const bool are_nearby = are_converted_nearby(draft, run),
               are_in_order = are_better_in_order(draft, in_src, in_dst, run);
    if (may_be_by_places && (n = runs_to_places(draft, in_src, in_dst, run)) > 0)
        return (tsr_order){.runs = n, .has_places_at_dst = true};
    if (!are_nearby && !are_in_order && (n = places_of_source(draft, in_src, in_dst, run)) > 0)
        return (tsr_order){.places = n};
    if (may_be_by_places && (n = runs_from_places(draft, in_dst, in_src, run)) > 0)
        return (tsr_order){.runs = n};
    if (are_nearby)
        return (tsr_order){.places = in_src->n};
    return (tsr_order){.places = are_in_order ? 0 : places_of_lines(draft, in_src, in_dst, run)};
}

int64_t tsr_bytes_of_places(const tsr_draft *draft, int64_t run)
{
    enum { STREAMED_BYTES = 16 << 10, SHARED_BYTES = 32 << 10, MOST_BYTES = 64 << 10 };
    if (streams_runs(draft->workshop))
        return STREAMED_BYTES;
    return share_lines(draft, run) ? SHARED_BYTES : MOST_BYTES;
}
