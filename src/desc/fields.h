/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_SRC_DESC_FIELDS_H
#define TESSERA_SRC_DESC_FIELDS_H

#include <stddef.h>

#include <tessera/desc.h>

/*
 * Descriptors by their fields, as far as they have axes and levels: fast, and blind to the fact that descriptors with
 * other fields may be equal.
 */

/* Have they the same type and dims, wherever their elements lie? */
bool tsr_is_same_tensor(const tsr_desc *a, const tsr_desc *b);

/* An assignment; but what belongs to axes and levels that there are not stays as it was, which is faster. */
void tsr_fields_copy(tsr_desc *to, const tsr_desc *from);

/* One of them need not be checked. */
bool tsr_fields_are_same(const tsr_desc *a, const tsr_desc *b);

/* The indices that all blocks of an axis have together: those that there are, and those of padding. */
int64_t tsr_padded_dim(const tsr_desc *desc, int axis);

/*
 * How far apart the outermost blocks of an axis are, and the indices of each, 1 where it has no blocks. Returns false
 * where blocks hold more indices than there are, or a window shows others than all.
 */
bool tsr_find_blocks(const tsr_desc *desc, int axis, int64_t *indices, int64_t *stride);

/* The indices of each of them alone. */
int64_t tsr_indices_of_blocks(const tsr_desc *desc, int axis);

/* Of this process alone: it depends on the order of bytes. */
uint64_t tsr_fields_hash(const tsr_desc *desc);

/* tsr_desc_span; is every place of it an element's or padding's? Of a descriptor whose elements do not share places. */
bool tsr_span_without_gaps(const tsr_desc *desc, int64_t *first, int64_t *end);

/* ---- kept ---- */

/*
 * A descriptor without the axes and levels that it does not have, and without what follows from the rest, for those
 * who keep many: some 30 bytes for NCHW, where tsr_desc has 2400. The arrays are: order; where they do not follow,
 * dims, pad_before, first and step; block_dims; and where not all levels are dense, how far each stride is from a dense
 * one. A number takes a byte for each 7 of its bits, and one that may be negative has one bit more.
 */
typedef struct tsr_compact_desc {
    struct tsr_compact_head {
        int64_t offset;
        uint16_t dtype;
        uint8_t rank, levels;
        uint8_t stored;    /* a bit for each kind of arrays that is there */
        uint8_t unused[3]; /* 0 */
    } head;
    unsigned char arrays[];
} tsr_compact_desc;

/* Bytes that the descriptor takes. */
size_t tsr_compact_size(const tsr_desc *desc);

/* The same, and what another one behind it is aligned by. */
size_t tsr_compact_room(const tsr_desc *desc);

/* Writes it to memory of that size, aligned for int64_t. Equal fields are equal bytes. */
void tsr_compact(tsr_compact_desc *compact, const tsr_desc *desc);

/* What belongs to axes and levels that there are not stays as it was: this is for those who ask often. */
void tsr_expand(tsr_desc *desc, const tsr_compact_desc *compact);

/* Has desc, which need not be checked, the same fields? */
bool tsr_compact_is(const tsr_compact_desc *compact, const tsr_desc *desc);

#endif
