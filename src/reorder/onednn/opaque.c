/* SPDX-License-Identifier: Apache-2.0 */
#include <tessera/onednn.h>

#include "base/error.h"
#include "reorder/onednn/types.h"
#include "reorder/plan.h"

/* The size of the buffer of a layout that oneDNN alone knows; 0 where nobody knows it. */
static size_t size_of(const tsr_md *md)
{
    dnnl_format_kind_t kind = tsr_md_kind(md);
    int rank = tsr_md_rank(md);
    if (rank < 1 || rank > DNNL_MAX_NDIMS || (kind != dnnl_blocked && !tsr_md_kind_is_opaque(kind)))
        return 0;
    size_t size_bytes = tsr_md_size_bytes(md);
    return size_bytes < INT64_MAX ? size_bytes : 0; /* DNNL_RUNTIME_SIZE_VAL is more */
}

/* The type and the dims of a memory descriptor, in plain order. */
static tsr_status describe_shape(tsr_desc *desc, const tsr_md *md)
{
    tsr_md_blocking shape = {0};
    tsr_dtype dtype;
    if (tsr_md_read_shape(&shape, md) != dnnl_success || !tsr_dtype_of_onednn(&dtype, shape.type))
        return TSR_UNSUPPORTED;
    return tsr_desc_plain(desc, dtype, shape.rank, shape.dims, NULL);
}

/* Finds the descriptor of one side; *opaque and *size_bytes are set where it can only give the shape. */
static tsr_status look_at(const char *side, const void *memory_desc, tsr_desc *desc, const void **opaque,
                          int64_t *size_bytes, tsr_error *error)
{
    tsr_error inner = {0};
    tsr_status status = tsr_desc_from_onednn(desc, memory_desc, &inner);
    if (status == TSR_OK)
        return TSR_OK;
    if (status == TSR_UNSUPPORTED && size_of(memory_desc) > 0 && describe_shape(desc, memory_desc) == TSR_OK) {
        *opaque = memory_desc;
        *size_bytes = (int64_t)size_of(memory_desc);
        return TSR_OK;
    }
    return tsr_fail(error, status, "%s: %.230s", side, inner.message);
}

/* What oneDNN would do wrongly, or cannot do and is not asked for by its row. */
static tsr_status check_opaque(const tsr_opaque *opaque, const tsr_reorder_options *options, tsr_error *error)
{
    /* it would leave out the compensation, and not undo a scale that came with it */
    if (opaque->src_md && tsr_md_kind(opaque->src_md) == dnnl_blocked)
        return tsr_fail(error, TSR_UNSUPPORTED,
                        "source: it carries more than its elements, such as a compensation, which oneDNN reads back "
                        "wrongly: expected it as the destination");
    if (options->reverse != 0)
        return tsr_fail(error, TSR_UNSUPPORTED,
                        "only oneDNN knows the layout of the %s, and it reverses no axes: expected a reverse of 0",
                        opaque->src_md ? "source" : "destination");
    return TSR_OK;
}

tsr_status tsr_plan_create_onednn(tsr_plan **plan, const void *src_memory_desc, const void *dst_memory_desc,
                                  const tsr_reorder_options *options, tsr_error *error)
{
    tsr_opaque opaque = {0};
    tsr_desc src, dst;
    tsr_reorder_options wanted = options ? *options : tsr_no_options;
    tsr_status status = look_at("source", src_memory_desc, &src, &opaque.src_md, &opaque.src_bytes, error);
    if (status == TSR_OK)
        status = look_at("destination", dst_memory_desc, &dst, &opaque.dst_md, &opaque.dst_bytes, error);
    if (status == TSR_OK && tsr_is_opaque(&opaque))
        status = check_opaque(&opaque, &wanted, error);
    if (status != TSR_OK)
        return status;
    if (tsr_is_opaque(&opaque) && !wanted.row)
        wanted.row = "onednn"; /* so that a refusal says why */
    return tsr_plan_make(plan, &src, &dst, &opaque, &wanted, error);
}
