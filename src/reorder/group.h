/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_SRC_REORDER_GROUP_H
#define TESSERA_SRC_REORDER_GROUP_H

#include "reorder/tile.h"
#include "reorder/workshop.h"

/*
 * Rows of a tile that are moved at a time. Tables are from its first row on.
 *
 * A load that is wider than the stores which wrote what it reads is not forwarded: it waits until they have reached the
 * cache, behind all that was streamed before. So structures on the way of a tile are written and read member by member,
 * never copied, and members that compilers would read as one vector, as rows and columns here, are no neighbours.
 */
typedef struct tsr_group {
    const tsr_place *place;
    const tsr_scratch *scratch; /* how it lies in scratch memory */
    int64_t columns;
    const char *src;
    char *dst;
    int64_t rows;
    const int64_t *row_src, *row_dst, *row_factor;
} tsr_group;

/* Where a group is filled in, in the destination or in scratch memory: row r at row[r]. */
typedef struct tsr_target {
    char *at;
    const int64_t *row;
    bool is_dense;       /* the rows continue each other */
    bool is_destination; /* they lie as the loops of the box say */
} tsr_target;

/* Are all elements of the group one run there? */
static inline bool tsr_is_dense(const tsr_group *group, const tsr_target *target)
{
    return target->is_dense && group->columns == group->scratch->columns;
}

/* Several rows are one for lanes only where they continue each other. */
static inline int64_t tsr_lane_rows(const tsr_group *group, const tsr_target *target)
{
    const int64_t rows = group->place->box->lane_rows;
    return rows <= 1 || tsr_is_dense(group, target) ? rows : 0;
}

/* The kernel alone, straight from the source; and what it is told, unless pixels are shuffled first. */
void tsr_group_make_tile(tsr_tile *tile, const tsr_group *group, const tsr_target *target);
void tsr_group_move(const tsr_group *group, const tsr_target *target);

/* From rows of scratch memory to where they belong; and from columns of the source type to those of scratch memory. */
void tsr_group_convert_rows(const tsr_group *group, const tsr_target *target, const char *from);
void tsr_group_convert_columns(const tsr_group *group, char *middle, const char *src, const int64_t *src_column);

/* Should tiles of this box be converted along the source, and moved afterwards? */
bool tsr_converts_first(const tsr_box *box, const tsr_workshop *workshop);

/* Does one kernel convert pixels of these channels, rows, as it parts them; or of these, columns, as it joins them? */
bool tsr_loads_pixels(const tsr_conversion *conversion, const tsr_loop *row, const tsr_loop *column);
bool tsr_joins_pixels(const tsr_conversion *conversion, const tsr_loop *row, const tsr_loop *column);

/* A stretch of pixels at once, as the one parts them and the other joins them, or as they go among padding. */
void tsr_group_load_pixels(const tsr_group *group, const tsr_target *target);
void tsr_group_join_pixels(const tsr_group *group, const tsr_target *target);
void tsr_group_pad_pixels(const tsr_group *group, const tsr_target *target);

/* What fills the groups of a box that has elements, which are not packed in the source. */
tsr_group_filler tsr_group_filler_of(const tsr_box *box, const tsr_conversion *conversion);

/* Lays out how a group is converted that is all of its box, if that takes no more than a kernel and a converter whose
 * factors need not be spread out. */
void tsr_group_lay_conversion(tsr_one_tile *one, const tsr_group *group, const tsr_target *target);

/* The same where they are. */
void tsr_group_unpack(const tsr_group *group, const tsr_target *target);

/* What a packed destination has where a group belongs, to scratch memory, and the group from there. */
void tsr_group_unpack_old(const tsr_group *group, char *bytes);
void tsr_group_pack(const tsr_group *group, const char *bytes);

/* Or the group from where it is, if it may be; false if it may not. */
bool tsr_group_pack_kept(const tsr_group *group);

/* Can a transpose move whole bytes of packed elements? */
tsr_packed_move tsr_packed_move_of(const tsr_box *box, const tsr_conversion *conversion);

/* What fills the groups of such a box; or NULL. */
tsr_group_filler tsr_packed_filler_of(const tsr_box *box);

/* A tile of padding in a packed destination. */
void tsr_zero_packed(const tsr_place *place);

/* Does every byte of a packed destination belong to one item of the walk? */
bool tsr_packed_items_are_apart(const tsr_box *box, int packing);

#endif
