/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_DESC_H
#define TESSERA_DESC_H

#include <stdbool.h>
#include <stdint.h>

#include <tessera/dtype.h>

TSR_BEGIN_DECLS

#define TSR_MAX_RANK 32   /* logical axes */
#define TSR_MAX_LEVELS 64 /* block levels, all axes together */

/*
 * A descriptor: the type and shape of a tensor, and where each element lies in memory.
 *
 * It is a value. It owns nothing, is copied by assignment, and the functions below return new ones
 * instead of changing one in place. Fields may be read freely; build one with the functions, which
 * check it.
 *
 * Memory is a list of block levels, outermost first. Level i walks over logical axis order[i] in
 * block_dims[i] steps of strides[i] elements. An axis in one level is plain; an axis in several is
 * blocked: its innermost level counts single indices, the next one blocks of those, and so on.
 *
 *     NHWC,    {N1 C25 H20 W20}: block_dims {1,20,20,25}   order {0,2,3,1}    strides {10000,500,25,1}
 *     nChw8c,  {N1 C25 H20 W20}: block_dims {1,4,20,20,8}  order {0,1,2,3,1}  strides {12800,3200,160,8,1}
 *
 * 4 blocks of 8 hold 32 channels: the last 7 are padding, which the engine keeps zero.
 *
 * The offset of index v, in elements from the start of the buffer (OpenVINO's TensorDesc::offset):
 *
 *     from the innermost level outwards:  s[i] = v[order[i]] % block_dims[i],  v[order[i]] /= block_dims[i]
 *     the outermost level of an axis takes what is left of its index, unreduced
 *     offset(v) = offset + sum over i of (s[i] + pad_before[i]) * strides[i]
 *
 * pad_before is OpenVINO's "offset padding to data" per level. A view records its start in offset
 * alone, so that the start is counted once.
 *
 * Windows. A view that cuts a plain axis only moves the offset and scales the stride. One that cuts
 * a blocked axis inside a block cannot, so it keeps the blocks and says which of their positions it
 * sees: step[k] != 0 makes axis k a window, and v[k] above is replaced by
 *
 *     first[k] + v[k] * step[k]
 *
 * The positions that a window does not see belong to another tensor: they are not padding, and
 * nothing is written there. step[k] == 0, with first[k] == 0, is an axis that is whole: index and
 * position are the same, and positions past dims[k] are padding. The functions of view.h make
 * windows where they are needed, and the engine reads and writes through them.
 *
 * Strides may be 0 (every step is at the same place: a broadcast) or negative (an axis that runs
 * backwards; the offset is that of index 0, not of the lowest place) in a descriptor that is only
 * read from.
 */
typedef struct tsr_desc {
    tsr_dtype dtype;
    int rank;   /* logical axes, 0 to TSR_MAX_RANK */
    int levels; /* block levels, rank to TSR_MAX_LEVELS */
    int64_t offset;
    int64_t dims[TSR_MAX_RANK];
    int64_t first[TSR_MAX_RANK]; /* of a window, else 0 */
    int64_t step[TSR_MAX_RANK];  /* of a window, 1 or more; 0: the axis is whole */
    int64_t block_dims[TSR_MAX_LEVELS];
    int64_t strides[TSR_MAX_LEVELS];
    int64_t pad_before[TSR_MAX_LEVELS];
    uint8_t order[TSR_MAX_LEVELS];
} tsr_desc;

/* The memory half of a descriptor, as input. Arrays have `levels` entries, those of windows one for each axis. */
typedef struct tsr_blocking {
    int levels;
    const int64_t *block_dims;
    const int *order;
    const int64_t *strides;    /* NULL: dense, the last level has stride 1 */
    const int64_t *pad_before; /* NULL: zeros */
    int64_t offset;
    const int64_t *first; /* NULL: no windows */
    const int64_t *step;  /* NULL: no windows */
    bool read_only;       /* strides of 0 and negative strides are meant */
} tsr_blocking;

/*
 * The constructors check everything that tsr_desc_check checks, and fail with
 *
 * TSR_INVALID_ARGUMENT  a type, rank, dim, level, axis or stride that cannot be
 * TSR_OVERFLOW          the extent of the buffer in bytes does not fit into 63 bits
 *
 * Rank 0 is a scalar with one element; a dim of 0 makes a tensor without elements. Both are valid.
 */

/* Dense, row-major: the last axis has stride 1. */
TSR_API TSR_MUST_CHECK tsr_status tsr_desc_plain(tsr_desc *desc, tsr_dtype dtype, int rank, const int64_t *dims,
                                                 tsr_error *error);

/* One level for each axis, with a stride for each axis in the order of dims. */
TSR_API TSR_MUST_CHECK tsr_status tsr_desc_strided(tsr_desc *desc, tsr_dtype dtype, int rank, const int64_t *dims,
                                                   const int64_t *strides, int64_t offset, tsr_error *error);

/* Any blocking. */
TSR_API TSR_MUST_CHECK tsr_status tsr_desc_blocked(tsr_desc *desc, tsr_dtype dtype, int rank, const int64_t *dims,
                                                   const tsr_blocking *blocking, tsr_error *error);

/*
 * Is this a descriptor? Its type, rank and dims are possible; every axis has a level; the levels of
 * each axis cover its dim, or all that its window sees; no place lies before the buffer; and no two
 * cells of the levels, padding included, share a place. A stride of 0 or below over more than one
 * step is accepted only with read_only.
 *
 * That no cells share a place is certain where each stride is larger than the largest offset that
 * all smaller ones reach together, as in all usual layouts. Otherwise the combinations of steps are
 * searched; levels that are too many to search are refused as if they shared a place.
 */
TSR_API TSR_MUST_CHECK tsr_status tsr_desc_check(const tsr_desc *desc, bool read_only, tsr_error *error);

/*
 * The oracle: where the element at a logical index lies. desc must have passed tsr_desc_check.
 * TSR_OUT_OF_RANGE if rank is not the descriptor's or an index is outside its dim.
 */
TSR_API TSR_MUST_CHECK tsr_status tsr_desc_offset(const tsr_desc *desc, int rank, const int64_t *index, int64_t *offset,
                                                  tsr_error *error);

/* The same for the linear-th element in row-major order of the logical dims. */
TSR_API TSR_MUST_CHECK tsr_status tsr_desc_offset_linear(const tsr_desc *desc, int64_t linear, int64_t *offset,
                                                         tsr_error *error);

/*
 * Same type, same dims, and the same memory: every element and every padding element at the same
 * place. How that memory is written down does not count: levels of extent 1, a level split into
 * two that follow each other without a gap, or a window where a stride would do, make no difference.
 * Tensors without elements are equal when their dims are.
 *
 * Never true of different memory. Not recognised are some windows on different blocks that see the
 * same places: those whose step has no divisor in common with the innermost block, those on blocks
 * that a stride of 0 repeats, and those of three or four places that break in two ways.
 */
TSR_API bool tsr_desc_equal(const tsr_desc *a, const tsr_desc *b);

/*
 * The same question without the axes that have one index: may memory that holds a be taken as b,
 * element by element in row-major order? {1,3,1,1} is compatible with {3}. Padding along the axes
 * that are left out does not count.
 */
TSR_API bool tsr_desc_compatible(const tsr_desc *a, const tsr_desc *b);

/*
 * The one descriptor that stands for all that are equal to it: no padding before, no level that
 * could be part of another, the levels by falling stride. Equal descriptors have the same bytes in
 * all fields, and so the same text.
 */
TSR_API void tsr_desc_canonical(tsr_desc *canonical, const tsr_desc *desc);

/*
 * A hash of the canonical descriptor: equal descriptors have equal hashes, in every version and on
 * every machine. It is FNV-1a of 64 bits, by Fowler, Noll and Vo, over these numbers as eight bytes
 * each, lowest first: dtype, rank, levels, offset; dims, first and step of each axis; order,
 * block_dims and strides of each level.
 */
TSR_API uint64_t tsr_desc_hash(const tsr_desc *desc);

/* Sizes of a checked descriptor. */
TSR_API int64_t tsr_desc_elements(const tsr_desc *desc);        /* the product of dims */
TSR_API int64_t tsr_desc_padded_elements(const tsr_desc *desc); /* and the cells of padding */

/*
 * The elements [first, end) that the tensor reaches in its buffer, padding included; first == end
 * when it is empty. A window reaches the blocks that it sees a part of.
 */
TSR_API void tsr_desc_span(const tsr_desc *desc, int64_t *first, int64_t *end);

/*
 * Bytes that a buffer needs to hold the tensor: from its start to the last element; 0 when it is
 * empty. Types below 8 bits are packed, and the last byte counts in full.
 */
TSR_API int64_t tsr_desc_size_bytes(const tsr_desc *desc);

TSR_END_DECLS

#endif
