/* SPDX-License-Identifier: Apache-2.0 */
#include "reorder/workshop.h"

#include "base/int.h"
#include "reorder/caches.h"
#include "reorder/plan.h"

/* Bytes that a run reads and writes, zeros as well, before it reads some of them again, if it does. */
static double traffic_of_run(const tsr_plan *plan)
{
    const double elements = (double)tsr_desc_elements(&plan->dst), parts = (double)tsr_max(plan->way.batch.n, 1);
    const double zeros =
        plan->padding == TSR_PADDING_ZERO ? (double)tsr_desc_padded_elements(&plan->dst) - elements : 0;
    return (2 * tsr_plan_copied_bytes(plan, elements) + zeros * (double)tsr_dtype_bits(plan->dst.dtype) / 8) / parts;
}

static bool can_stream(const tsr_plan *plan)
{
    if (plan->conversion.arithmetic.beta != 0)
        return false; /* lines that two tiles share would be added to twice */
    if (plan->moved.pack)
        return false;       /* parts of bytes are read before they are written */
    return !plan->in_place; /* what is written was read just now, and is cached; nor may lines be read that have been
                               written */
}

/*
 * More of the last cache than others leave, as they use it as well, most of all where it is not near; but what is
 * converted may have to be copied once more to be streamed. Beside deep sets it is so much faster than memory that it
 * has to be more.
 */
static double share_of_huge(const tsr_workshop *workshop, const tsr_plan *plan)
{
    static const double near = 0.2, deep = 0.28, far = 0.1, far_of_converted = 0.33;
    if (workshop->topology->has_near_l3)
        return workshop->has_deep_sets ? deep : near;
    return plan->conversion.is_copy ? far : far_of_converted;
}

/* Several threads have more of a near one, as memory takes their lines no faster than those of one. */
static double room_in_l3(const tsr_workshop *workshop)
{
    static const double more_for_several = 1.5, more_beside_deep_sets = 2;
    const double room = (double)workshop->topology->l3_bytes;
    if (!workshop->topology->has_near_l3 || workshop->threads == 1)
        return room;
    return room * (workshop->has_deep_sets ? more_beside_deep_sets : more_for_several);
}

/* What does not stay in the caches need not pass through them either. */
static void set_streaming(tsr_workshop *workshop, const tsr_plan *plan, double traffic)
{
    static const double of_copies = 0.28; /* the last cache has not room for source and destination twice */
    const bool always = plan->streaming == TSR_STREAMING_ALWAYS, may = plan->streaming != TSR_STREAMING_NEVER;
    workshop->l3_share = traffic / room_in_l3(workshop);
    workshop->is_huge = workshop->l3_share > share_of_huge(workshop, plan);
    workshop->must_stream = always;
    workshop->streams = always || (may && workshop->exceeds_l2 && (workshop->is_huge || !workshop->is_near));
    workshop->streams_copies = workshop->streams && (always || !workshop->is_near || workshop->l3_share > of_copies);
    workshop->may_stream_lines = plan->kernels.can_stream_lines && !tsr_has_odd_units(&plan->moved) &&
                                 (workshop->streams || (may && workshop->is_near && workshop->has_deep_sets));
}

void tsr_workshop_init(tsr_workshop *workshop, const tsr_plan *plan)
{
    static const double of_l2 = 1.25;
    const tsr_topology *topology = tsr_topology_machine();
    const double traffic = traffic_of_run(plan);
    *workshop = (tsr_workshop){.kernels = &plan->kernels,
                               .conversion = &plan->moved,
                               .topology = topology,
                               .threads = tsr_plan_busy_threads(plan), /* tiles of one alone need not be shared */
                               .tile_bytes = plan->tile_bytes,
                               .is_soon_read = plan->streaming == TSR_STREAMING_NEVER,
                               .allocator = &plan->allocator};
    workshop->exceeds_l1 = traffic > (double)topology->l1_bytes;
    workshop->exceeds_l2 = traffic > of_l2 * (double)topology->l2_bytes;
    workshop->is_near = workshop->exceeds_l2 && topology->has_near_l3;
    workshop->is_far = workshop->exceeds_l2 && !topology->has_near_l3;
    workshop->has_deep_sets = tsr_has_deep_sets();
    if (can_stream(plan))
        set_streaming(workshop, plan, traffic);
}
