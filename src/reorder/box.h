/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_SRC_REORDER_BOX_H
#define TESSERA_SRC_REORDER_BOX_H

#include "reorder/chain.h"
#include "reorder/convert.h"
#include "reorder/lanes.h"
#include "reorder/nest.h"
#include "reorder/scratch.h"
#include "reorder/workshop.h"

/* How the elements of a box move. All but the last are kernel families. */
typedef enum tsr_motion {
    TSR_MOTION_COPY,         /* columns lie side by side on both sides */
    TSR_MOTION_TRANSPOSE,    /* rows lie side by side in the source, columns in the destination */
    TSR_MOTION_INTERLEAVE,   /* a transpose to rows of 2 to 8 */
    TSR_MOTION_DEINTERLEAVE, /* and from columns of as many */
    TSR_MOTION_UNPAD,        /* rows are pixels with more behind a few channels, columns, which are dense afterwards */
    TSR_MOTION_PICK,         /* none of these: a shuffle, if columns come in lanes, or else a pick */
    TSR_MOTION_ZERO          /* nothing moves, zeros are written */
} tsr_motion;

/* What happens to packed elements on their way. A transpose may move whole bytes of them: all the way, until they are
 * unpacked, or since they were packed. */
typedef enum tsr_packed_move {
    TSR_MOVED_UNPACKED,
    TSR_KEPT_PACKED,
    TSR_UNPACKED_LAST,
    TSR_PACKED_FIRST
} tsr_packed_move;

/* How a tile gets where it belongs (tile.h), and what fills a group of its rows (group.h). */
struct tsr_place;
struct tsr_group;
struct tsr_target;
typedef void (*tsr_tile_writer)(const struct tsr_place *place);
typedef void (*tsr_group_filler)(const struct tsr_group *group, const struct tsr_target *target);

/*
 * A box whose items are all the same tile, which goes straight to where it belongs, wherever buffers begin: small
 * tensors, and boxes of small blocks. What is told of it is laid out with the plan, so that its runs, of a few bytes as
 * they may be, have nothing to do but to move it, convert it, or both. Pointers are to its first elements.
 */
struct tsr_box;
typedef void (*tsr_tile_runner)(const struct tsr_box *box, const tsr_conversion *conversion, char *dst, const char *src,
                                int64_t factor);
typedef struct tsr_one_tile {
    tsr_tile_runner run;   /* NULL: the box is no such */
    tsr_tile moved;        /* what the kernel is told, of all tiles of a call; */
    tsr_tile converted;    /* and the lines that are converted, */
    const tsr_chain *line; /* each of which is this chain of the box; NULL: they are one, with one factor */
} tsr_one_tile;

/*
 * A loop nest ready to run. Its loops become the two chains of a tile, rows and columns, and an
 * outer walk; the tiles of both chains are loops of the walk, too, which is ordered so that what
 * lies close together in either memory is done soon after each other. One work item is one tile.
 */
typedef struct tsr_box {
    tsr_motion motion;
    tsr_tile_kernel kernel; /* NULL for zero and where conversion alone moves the elements */
    const char *kernel_name;
    int64_t src, dst, factor; /* first element */
    int64_t elements;
    tsr_chain row, column;
    int outer_count; /* loops of neither chain, outermost first, in elements */
    tsr_loop *outer;
    int walk_count; /* the same and the tiles, outermost first, in bytes where they are no tables */
    tsr_loop *walk;
    int row_walk, column_walk; /* which of them are the tiles */
    int next_walk;             /* which has the rows in which others go on in the destination; or -1 */
    int64_t items;
    int threads;              /* that its items are worth */
    tsr_lanes lanes;          /* of the columns of a pick; of pixels that are brought side by side before they move */
    int64_t lane_rows;        /* of a pick: so many rows are one for its lanes; 0: these are for any */
    int64_t *piece;           /* of pixels in pieces: where those of a tile begin, in the source to be interleaved, and
                                 in the destination, parted; */
    int64_t *src_piece;       /* and in the source then, or NULL; */
    int64_t pieces;           /* so many; or NULL and 0 */
    tsr_scratch scratch;      /* for the columns of a tile */
    tsr_scratch wide_scratch; /* and for those of the next one that share its last cache lines, or for the padding, or
                                 for the ends of rows alone */
    int64_t row_bytes;        /* of the destination, over all tiles and with the padding behind them */
    int64_t padding_bytes;    /* these are zeros, and columns are one tile; */
    bool writes_padding;      /* by the kernel that moves the elements; */
    bool pads_pixels;         /* which may have one for pixels that are dense on both sides: of a transpose */
    bool streams;             /* whole cache lines are written past the caches, from scratch memory or the source; */
    bool streams_source;      /* of a copy, from the source alone, or else they go through the caches; */
    bool streams_lines;       /* or by the kernel, as far as addresses allow it; */
    bool joins_runs;          /* and if so, in lines that are put together from runs, wherever these begin; */
    bool streams_by_rows;     /* or all lines of a few rows before the next ones; */
    bool finds_lines;         /* or those that the rows of a transpose have, wherever these begin; */
    bool streams_rows;        /* or by the last step of a conversion, but for the ends of rows: streams says so, too */
    bool writes_places;       /* from scratch memory, place by place: rows take turns among places of one set */
    bool buffers;             /* or through them, as a few sets would lose lines that are not whole yet */
    bool fills_lines;         /* by a kernel of transposes, at once, as the first-level cache does not hold them */
    bool fetches_ahead;       /* lines that are not in the first-level cache: of the destination, or pixels or runs */
    bool fetches_lines;       /* of the destination, to which pixels are parted */
    bool fetches_columns;     /* of transposes that stream: lines of the source */
    bool fetches_next;        /* of transposes: the source of the next tile */
    bool gathers;             /* of transposes, some lines of each column first, as columns share the sets of a cache */
    bool reads_lines;         /* or of bytes, a line of each column at once */
    bool reads_pairs;         /* of bytes, 32 of each column at once instead of 16 */
    bool converts_first;      /* along the source, and moves what has been converted */
    bool converts_lines;      /* of a transpose that converts first, one of each column at a time */
    int64_t joined_tiles;     /* the first ones of the walk's innermost loop, so many, are moved by one call; or 0 */
    bool scatters;            /* runs of a copy are pixels that lie among others, evenly and near each other */
    bool goes_by_rows;        /* of a transpose, all columns of the rows of a tile come before the next ones */
    bool has_places;          /* the first loop of rows is over places that runs of a copy go to side by side */
    bool leaves_gaps;         /* and the runs of all places leave gaps behind in the source */
    tsr_packed_move packed_move;
    bool is_serial;         /* items share bytes of a packed destination, so that one thread runs them all */
    bool has_dense_columns; /* the columns of a tile lie side by side in the destination */
    bool is_dense;          /* and its rows continue each other there */
    bool is_dense_in_src;   /* and runs do in the source */
    int64_t
        dst_bits; /* all offsets of the destination from its first element or-ed: what they all are multiples of shows
                         at its low end */
    int64_t loop_bytes;
    tsr_tile_writer write; /* its tiles, as far as that is not for their addresses to say, */
    tsr_group_filler fill; /* and their groups */
    tsr_one_tile one_tile;
} tsr_box;

/* Of so many bytes side by side, most cache lines are whole. */
static inline bool tsr_is_long_row(int64_t bytes)
{
    return bytes >= 4 * TSR_CACHE_LINE;
}

/* Can runs of a copy, of so many bytes, be streamed from where they are? Those of whole cache lines, and long ones. */
static inline bool tsr_is_streamed_from_source(int64_t bytes, bool begins_line)
{
    enum { LONG_RUN = 1 << 10 };
    return bytes >= LONG_RUN || (bytes % TSR_CACHE_LINE == 0 && begins_line);
}

/* Are they part of a lane, or one, with others behind it that are padding? */
static inline bool tsr_is_lane_with_padding(int64_t bytes, int64_t padding_bytes)
{
    const int64_t all = bytes + padding_bytes;
    return bytes <= TSR_LANE_BYTES && all > TSR_LANE_BYTES && all % TSR_LANE_BYTES == 0;
}

/* Is this a loop over many runs, of a few elements of so many bytes, that lie among others in the destination, and no
 * farther from each other in the source? */
static inline bool tsr_scatters_runs(const tsr_loop *loop, int64_t run, int64_t bytes)
{
    enum { MANY = 64 };
    return !tsr_loop_has_table(loop) && loop->padding == 0 && loop->n >= MANY && loop->dst > run &&
           loop->dst * bytes <= TSR_LANE_BYTES && loop->src >= run && loop->src <= loop->dst;
}

/* So many channels of pixels are interleaved and parted. */
static inline bool tsr_is_short_side(int64_t n)
{
    return n >= 2 && n <= TSR_LONGEST_SHORT_SIDE;
}

/* Can pixels of so many channels be shuffled before they are interleaved or parted? Those of 16 bytes are
 * transposed as fast. */
static inline bool tsr_can_shuffle_pixels(int64_t n, const tsr_conversion *conversion)
{
    return tsr_is_short_side(n) && n * conversion->src_bytes < TSR_LANE_BYTES && !conversion->unpack &&
           !tsr_has_odd_units(conversion);
}

/* Are runs as short as a kernel wants them that converts many, and the factors of one the same, or side by
 * side? */
bool tsr_converts_runs(const tsr_box *box, const tsr_conversion *conversion);

/* Are rows converted from where they are to where they belong, with a last step that can write past the caches? */
bool tsr_can_stream_rows(const tsr_box *box, const tsr_conversion *conversion);

/* Does one kernel convert pixels as it parts them, or joins them, or either? */
bool tsr_box_loads_pixels(const tsr_box *box, const tsr_conversion *conversion);
bool tsr_box_joins_pixels(const tsr_box *box, const tsr_conversion *conversion);

static inline bool tsr_has_pixels_at_once(const tsr_box *box, const tsr_conversion *conversion)
{
    return tsr_box_loads_pixels(box, conversion) || tsr_box_joins_pixels(box, conversion);
}

/* The elements that a call of a converter has. TSR_ONE_LINE: so many that calls do not matter; TSR_GATHERED_LINE: as
 * many, which are gathered first, or whose factors are spread out. */
enum { TSR_ONE_LINE = 0, TSR_GATHERED_LINE = -1 };
int64_t tsr_converted_line(const tsr_box *box, const tsr_conversion *conversion);

/* Does a call of a kernel convert many such lines? */
bool tsr_converts_many_lines(const tsr_box *box, const tsr_conversion *conversion);

/* Whole rows are written at once then, by a kernel that writes zeros as well, or with columns of zeros. */
static inline bool tsr_is_padded_transpose(const tsr_box *box)
{
    return box->padding_bytes > 0 && box->motion == TSR_MOTION_TRANSPOSE;
}

/* Are zeros moved along with the elements, so that rows are whole wherever these go? */
static inline bool tsr_moves_padding(const tsr_box *box)
{
    return box->writes_padding || tsr_is_padded_transpose(box);
}

/* Are its columns channels of pixels, side by side in the source? */
static inline bool tsr_parts_pixels(const tsr_box *box)
{
    return tsr_is_padded_transpose(box) && box->column.loop[0].src == 1 && box->column.n > 1;
}

/* Are pixels gathered from where several loops have them, before or as they are interleaved? */
static inline bool tsr_gathers_pixels(const tsr_box *box)
{
    return box->motion == TSR_MOTION_INTERLEAVE && (box->piece || box->lanes.lane);
}

/* Are pixels interleaved or parted? */
static inline bool tsr_moves_pixels(const tsr_box *box)
{
    return box->motion == TSR_MOTION_INTERLEAVE || box->motion == TSR_MOTION_DEINTERLEAVE;
}

/* Do pixels lie in another order than the kernel wants them? */
static inline bool tsr_shuffles_pixels(const tsr_box *box)
{
    return box->lanes.lane && box->motion != TSR_MOTION_PICK;
}

/* The loop that goes from each item to the next one, or NULL if there is one item alone. */
static inline const tsr_loop *tsr_innermost_of_walk(const tsr_box *box)
{
    return box->walk_count > 0 ? &box->walk[box->walk_count - 1] : NULL;
}

/* Chooses motion, kernel and tiles for a fused nest. Nothing is held on failure. TSR_OUT_OF_MEMORY. */
tsr_status tsr_box_init(tsr_box *box, const tsr_nest *nest, bool is_padding, const tsr_workshop *workshop);

void tsr_box_reset(tsr_box *box, const tsr_allocator *allocator);

/* Runs the items [begin, end) of a box over buffers that start at src and dst. */
void tsr_box_run(const tsr_box *box, const tsr_kernels *kernels, const tsr_conversion *conversion, const void *src,
                 void *dst, int64_t begin, int64_t end);

#endif
