/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/error.h"
#include "desc/dialect/dialect.h"
#include "desc/tag.h"

enum { MOST_AXES = 12 }; /* DNNL_MAX_NDIMS */

static tsr_status check_rank(int rank, tsr_error *error)
{
    if (rank >= 1 && rank <= MOST_AXES)
        return TSR_OK;
    return tsr_fail(error, TSR_UNSUPPORTED, "oneDNN has tags for 1 to %d axes, found %d", MOST_AXES, rank);
}

tsr_status tsr_parse_onednn(tsr_desc *desc, tsr_dtype dtype, int rank, const int64_t *dims, const char *text,
                            tsr_error *error)
{
    static const char prefix[] = "dnnl_";
    tsr_layout layout;
    bool prefixed = strncmp(text, prefix, sizeof prefix - 1) == 0;
    tsr_status status = tsr_layout_parse(&layout, prefixed ? text + sizeof prefix - 1 : text, error);
    if (status == TSR_OK)
        status = check_rank(layout.rank, error);
    return status == TSR_OK ? tsr_layout_apply(desc, dtype, rank, dims, &layout, error) : status;
}

tsr_status tsr_print_onednn(tsr_writer *out, const tsr_desc *desc, tsr_role role, tsr_error *error)
{
    char tag[TSR_TAG_SIZE];
    tsr_layout layout;
    tsr_status status = check_rank(desc->rank, error);
    if (status == TSR_OK)
        status = tsr_layout_of(&layout, desc, error);
    if (status != TSR_OK)
        return status;
    if (!tsr_tag_print(&layout, role, tag))
        return tsr_fail(error, TSR_UNSUPPORTED, "oneDNN's tags have all blocks behind all axes");
    tsr_write(out, "%s", tag);
    return TSR_OK;
}
