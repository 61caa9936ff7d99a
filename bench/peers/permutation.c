/* SPDX-License-Identifier: Apache-2.0 */
#include "permutation.h"

#include <stdlib.h>

#include "refuse.h"

struct loop {
    int64_t n, src, dst; /* steps, and how far each goes */
};

static int by_source(const void *a, const void *b)
{
    const struct loop *x = a, *y = b;
    return (x->src < y->src) - (x->src > y->src);
}

/* The loops of both sides by falling stride in the source; those that go on in both are joined. */
static int find_loops(struct loop *loops, const tsr_desc *src, const tsr_desc *dst)
{
    int all = 0, n = 0;
    for (int i = 0; i < src->levels; i++)
        if (src->block_dims[i] > 1)
            loops[all++] = (struct loop){src->block_dims[i], src->strides[i], dst->strides[i]};
    qsort(loops, (size_t)all, sizeof *loops, by_source);
    for (int i = 0; i < all; i++) {
        struct loop *last = n > 0 ? &loops[n - 1] : NULL;
        if (last && last->src == loops[i].src * loops[i].n && last->dst == loops[i].dst * loops[i].n)
            *last = (struct loop){last->n * loops[i].n, loops[i].src, loops[i].dst};
        else
            loops[n++] = loops[i];
    }
    return n;
}

static bool is_plain_memory(const tsr_desc *desc)
{
    return desc->offset == 0 && tsr_desc_is_dense(desc) && tsr_desc_padded_elements(desc) == tsr_desc_elements(desc);
}

tsr_status permutation_of(permutation *permutation, const tsr_desc *src, const tsr_desc *dst, tsr_error *error)
{
    tsr_desc fine_src, fine_dst;
    struct loop loops[TSR_MAX_LEVELS];
    if (!is_plain_memory(src) || !is_plain_memory(dst) || tsr_desc_elements(src) == 0)
        return refuse(error, TSR_UNSUPPORTED, "there are gaps or padding, or nothing at all");
    tsr_status status = tsr_desc_refine(&fine_src, &fine_dst, src, dst, error);
    if (status != TSR_OK)
        return status;
    permutation->rank = find_loops(loops, &fine_src, &fine_dst);
    for (int i = 0; i < permutation->rank; i++) {
        int place = 0; /* in the destination: behind all that take larger steps */
        for (int j = 0; j < permutation->rank; j++)
            place += loops[j].dst > loops[i].dst;
        permutation->shape[i] = loops[i].n;
        permutation->perm[place] = i;
    }
    return TSR_OK;
}

tsr_status matrices_of(matrices *matrices, const permutation *permutation, tsr_error *error)
{
    const int64_t *shape = permutation->shape;
    const int *perm = permutation->perm;
    if (permutation->rank < 2)
        *matrices = (struct matrices){1, 1, permutation->rank == 1 ? shape[0] : 1};
    else if (permutation->rank == 2)
        *matrices = (struct matrices){1, shape[0], shape[1]};
    else if (permutation->rank == 3 && perm[0] == 0 && perm[1] == 2)
        *matrices = (struct matrices){shape[0], shape[1], shape[2]};
    else
        return refuse(error, TSR_UNSUPPORTED, "no matrices");
    return TSR_OK;
}

bool has_arithmetic(const tsr_reorder_options *options)
{
    return options->scale.count > 0 || options->mean.count > 0 || options->shift.count > 0 || options->beta != 0 ||
           options->reverse != 0;
}
