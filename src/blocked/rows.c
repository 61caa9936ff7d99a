/* SPDX-License-Identifier: Apache-2.0 */
#include "blocked/rows.h"

#include "base/error.h"
#include "reorder/plan.h"

/* A call takes a device about as long as it takes to move so many bytes. */
enum { BYTES_OF_A_CALL = 4096 };

struct rows {
    const tsr_planned_move *move;
    const tsr_located *dst, *src;
    int64_t element_bytes;
    bool has_called;
    tsr_error *error;
};

/* A box as rows: its innermost loop is one, the next one counts them, and the others say where they begin. */
static bool has_rows(const tsr_nest *nest, int64_t element_bytes)
{
    const tsr_loop *row = nest->count > 0 ? &nest->loop[nest->count - 1] : NULL;
    if (!row || row->src != 1 || row->dst != 1)
        return false;
    int64_t bytes = row->n * element_bytes;
    for (int i = 0; i < nest->count; i++)
        if (tsr_loop_has_table(&nest->loop[i]))
            return false;
    if (nest->count > 1) {
        const tsr_loop *rows = &nest->loop[nest->count - 2];
        if (rows->src < row->n || rows->dst < row->n)
            return false;
        bytes *= rows->n;
    }
    return bytes >= BYTES_OF_A_CALL;
}

/* The loops from `outer` on, of which all but the two innermost are run here. */
static tsr_status copy_from(struct rows *rows, const tsr_nest *nest, int outer, int64_t src, int64_t dst)
{
    const tsr_device *device = rows->dst->device;
    const size_t bytes = (size_t)rows->element_bytes;
    tsr_status status = TSR_OK;
    if (outer >= nest->count - 2) {
        const tsr_loop *row = &nest->loop[nest->count - 1], *next = nest->count > 1 ? row - 1 : NULL;
        rows->has_called = true;
        return device->does.copy_rows(
            device->context, rows->dst->memory, rows->move->dst_origin + (size_t)dst * bytes,
            next ? (size_t)next->dst * bytes : 0, rows->src->memory, rows->move->src_origin + (size_t)src * bytes,
            next ? (size_t)next->src * bytes : 0, (size_t)row->n * bytes, next ? (size_t)next->n : 1, rows->error);
    }
    const tsr_loop *loop = &nest->loop[outer];
    for (int64_t i = 0; i < loop->n && status == TSR_OK; i++)
        status = copy_from(rows, nest, outer + 1, src + i * loop->src, dst + i * loop->dst);
    return status;
}

static tsr_status check_box(void *context, const tsr_nest *nest)
{
    const struct rows *rows = context;
    if (has_rows(nest, rows->element_bytes))
        return TSR_OK;
    return tsr_fail(rows->error, TSR_UNSUPPORTED, "the elements lie in no rows that are worth a call");
}

static tsr_status copy_box(void *context, const tsr_nest *nest)
{
    return copy_from(context, nest, 0, nest->src, nest->dst);
}

tsr_status tsr_move_rows(const tsr_planned_move *move, tsr_mover *mover, const tsr_located *dst, const tsr_located *src,
                         tsr_error *error)
{
    struct rows rows = {move, dst, src, (int64_t)tsr_dtype_size_bytes(dst->desc->dtype), false, error};
    if (dst->desc->dtype != src->desc->dtype || tsr_dtype_bits(dst->desc->dtype) < 8)
        return tsr_fail(error, TSR_UNSUPPORTED, "expected elements that are bytes");
    tsr_status status = tsr_lower_elements(&move->plan->lowering, check_box, &rows);
    if (status == TSR_OK)
        status = tsr_lower_elements(&move->plan->lowering, copy_box, &rows);
    if (status == TSR_OUT_OF_MEMORY && !rows.has_called)
        return tsr_fail(error, TSR_UNSUPPORTED, "no memory to look for rows");
    mover->has_begun = mover->has_begun || rows.has_called;
    return status;
}
