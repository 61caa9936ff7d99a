/* SPDX-License-Identifier: Apache-2.0 */
/* XNNPACK: permutations of up to six axes, of elements of every width. */
#include <stdlib.h>
#include <xnnpack.h>

#include "peers.h"
#include "permutation.h"
#include "refuse.h"

/* The same three calls for each width. */
static const struct operators {
    size_t width_bytes;
    enum xnn_status (*create)(uint32_t flags, xnn_operator_t *made);
    enum xnn_status (*reshape)(xnn_operator_t made, size_t rank, const size_t *shape, const size_t *perm,
                               pthreadpool_t pool);
    enum xnn_status (*setup)(xnn_operator_t made, const void *src, void *dst);
} all_operators[] = {
    {1, xnn_create_transpose_nd_x8, xnn_reshape_transpose_nd_x8, xnn_setup_transpose_nd_x8},
    {2, xnn_create_transpose_nd_x16, xnn_reshape_transpose_nd_x16, xnn_setup_transpose_nd_x16},
    {4, xnn_create_transpose_nd_x32, xnn_reshape_transpose_nd_x32, xnn_setup_transpose_nd_x32},
    {8, xnn_create_transpose_nd_x64, xnn_reshape_transpose_nd_x64, xnn_setup_transpose_nd_x64},
};

struct transpose {
    const struct operators *operators;
    xnn_operator_t made;
};

static void release(void *context)
{
    struct transpose *transpose = context;
    if (transpose && transpose->made)
        xnn_delete_operator(transpose->made);
    free(transpose);
}

static const struct operators *operators_of(size_t width_bytes)
{
    for (size_t i = 0; i < sizeof all_operators / sizeof all_operators[0]; i++)
        if (all_operators[i].width_bytes == width_bytes)
            return &all_operators[i];
    return NULL;
}

static bool make(struct transpose *transpose, const permutation *permutation)
{
    const struct operators *operators = transpose->operators;
    size_t shape[XNN_MAX_TENSOR_DIMS], perm[XNN_MAX_TENSOR_DIMS], rank = (size_t)permutation->rank;
    for (size_t i = 0; i < rank; i++) {
        shape[i] = (size_t)permutation->shape[i];
        perm[i] = (size_t)permutation->perm[i];
    }
    return xnn_initialize(NULL) == xnn_status_success && operators->create(0, &transpose->made) == xnn_status_success &&
           operators->reshape(transpose->made, rank, shape, perm, NULL) == xnn_status_success;
}

static tsr_status init(void **context, const reorder_case *wanted, tsr_error *error)
{
    const struct operators *operators = operators_of(tsr_dtype_size_bytes(wanted->src->dtype));
    permutation permutation;
    if (wanted->src->dtype != wanted->dst->dtype || !operators || has_arithmetic(wanted->options))
        return refuse(error, TSR_UNSUPPORTED, "XNNPACK moves elements of 1, 2, 4 and 8 bytes");
    tsr_status status = permutation_of(&permutation, wanted->src, wanted->dst, error);
    if (status != TSR_OK)
        return status;
    if (permutation.rank < 2 || permutation.rank > XNN_MAX_TENSOR_DIMS)
        return refuse(error, TSR_UNSUPPORTED, "XNNPACK permutes 2 to %d axes", XNN_MAX_TENSOR_DIMS);
    struct transpose *transpose = calloc(1, sizeof *transpose);
    *context = transpose;
    if (!transpose)
        return refuse(error, TSR_OUT_OF_MEMORY, "no memory for XNNPACK");
    transpose->operators = operators;
    return make(transpose, &permutation) ? TSR_OK : refuse(error, TSR_INVALID_ARGUMENT, "XNNPACK makes no operator");
}

static tsr_status run(void *context, const void *src, void *dst, tsr_error *error)
{
    const struct transpose *transpose = context;
    if (transpose->operators->setup(transpose->made, src, dst) != xnn_status_success ||
        xnn_run_operator(transpose->made, NULL) != xnn_status_success)
        return refuse(error, TSR_INVALID_ARGUMENT, "XNNPACK does not run");
    return TSR_OK;
}

const peer xnnpack_peer = {"xnnpack", init, run, release};
