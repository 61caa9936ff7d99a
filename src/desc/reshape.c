/* SPDX-License-Identifier: Apache-2.0 */
#include <tessera/view.h>

#include <inttypes.h>

#include "base/error.h"
#include "desc/check.h"

/* Reshaping goes along both lists of dims and brings `made` from one to the other, axis by axis. */
struct walk {
    tsr_desc *made;
    const int64_t *dims;
    int rank;
    int at; /* made and dims agree in front of this axis */
};

static bool has_source(const struct walk *walk)
{
    return walk->at < walk->made->rank;
}

static bool has_target(const struct walk *walk)
{
    return walk->at < walk->rank;
}

/* Axes with one index further on give way where there would be too many axes. */
static tsr_status make_room(struct walk *walk, int more, tsr_error *error)
{
    tsr_status status = TSR_OK;
    for (int k = walk->made->rank - 1; status == TSR_OK && k >= walk->at && walk->made->rank + more > TSR_MAX_RANK; k--)
        if (walk->made->dims[k] == 1)
            status = tsr_view_squeeze(walk->made, walk->made, k, error);
    return status;
}

/* The shortest runs of axes from here on with the same product become one axis, and that the other run. */
static tsr_status regroup(struct walk *walk, tsr_error *error)
{
    const int64_t *from = walk->made->dims + walk->at, *to = walk->dims + walk->at;
    int joined = 1, parts = 1;
    for (int64_t have = from[0], want = to[0]; have != want;) {
        if (have < want)
            have *= from[joined++];
        else
            want *= to[parts++];
    }
    tsr_status status = tsr_view_join(walk->made, walk->made, walk->at, joined, error);
    if (status == TSR_OK)
        status = make_room(walk, parts - 1, error);
    if (status == TSR_OK)
        status = tsr_view_split(walk->made, walk->made, walk->at, parts, to, error);
    walk->at += parts;
    return status;
}

static tsr_status step(struct walk *walk, tsr_error *error)
{
    int64_t have = has_source(walk) ? walk->made->dims[walk->at] : 0;
    int64_t want = has_target(walk) ? walk->dims[walk->at] : 0;
    if (have == want) {
        walk->at++;
        return TSR_OK;
    }
    if (have == 1)
        return tsr_view_squeeze(walk->made, walk->made, walk->at, error);
    if (want != 1)
        return regroup(walk, error);
    tsr_status status = make_room(walk, 1, error);
    return status == TSR_OK ? tsr_view_unsqueeze(walk->made, walk->made, walk->at++, error) : status;
}

tsr_status tsr_view_reshape(tsr_desc *view, const tsr_desc *desc, int rank, const int64_t *dims, tsr_error *error)
{
    tsr_desc made = *desc;
    struct walk walk = {.made = &made, .dims = dims, .rank = rank};
    int64_t elements = 1, had = tsr_desc_elements(desc);
    tsr_status status = tsr_check_shape(desc->dtype, rank, dims, error);
    for (int k = 0; status == TSR_OK && k < rank; k++)
        elements *= dims[k];
    if (status == TSR_OK && elements != had)
        status = tsr_fail(error, TSR_INVALID_ARGUMENT, "the dims have %" PRId64 " elements, expected %" PRId64,
                          elements, had);
    if (status == TSR_OK && elements == 0)
        status = tsr_desc_plain(&made, desc->dtype, rank, dims, error);
    while (status == TSR_OK && elements > 0 && (has_source(&walk) || has_target(&walk)))
        status = step(&walk, error);
    if (status == TSR_OK)
        *view = made;
    return status;
}
