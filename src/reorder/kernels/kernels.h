/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_SRC_REORDER_KERNELS_KERNELS_H
#define TESSERA_SRC_REORDER_KERNELS_KERNELS_H

#include <stdalign.h>
#include <stdbool.h>
#include <stdint.h>

#include <tessera/cpu.h>
#include <tessera/dtype.h>

/*
 * Kernels see no descriptor and no plan: pointers, offsets and counts. Counts are 0 or more. Pointers need no
 * alignment, but of what is streamed. Source and destination do not overlap. Each kernel is declared in
 * list.inc, once, and defined in c/, x86/ or arm/ for its rung; the C kernel is the definition that
 * the others must equal bit by bit.
 */

/* An interleave has so many columns at most, and a deinterleave rows; and so many rows at least are needed to find
 * their lines. */
enum { TSR_LONGEST_SHORT_SIDE = 8, TSR_ROWS_WITH_LINES = 16 };

/*
 * Tiles, for elements of one width, whatever they mean. The offsets are in bytes:
 *
 *     for all r < rows, c < columns:  dst[dst_row[r] + dst_column[c]] = src[src_row[r] + src_column[c]]
 *
 *     pick          any
 *     shuffle       dst_column[c] == c * width, and there are lanes
 *     copy          dst_column[c] == src_column[c] == c * width: rows are runs; only for width 1, as runs are bytes
 *                   (of dense ones, what lies between two of them in the source may be read as well)
 *     stream        as copy, and past the caches: see below
 *     stream_behind a stream of rows of whole lines, of which each goes on where another one ends: in the destination,
 *                   and src_pitch bytes before it in the source. Written are the lines that end in rows, the first of
 *                   which may begin in the row before
 *     transpose     dst_column[c] == c * width and src_row[r] == r * width
 *     transpose_units
 *                   the same of elements of unit_bytes instead of width: of 3 for width 4, 5 to 7 for 8, 9 to 15 for 16
 *     lines         a transpose of 16 rows or more, which are multiples of width in memory, and of two lines' worth of
 *                   columns or more; and of that the cache lines alone, past the caches where the rung can: from the
 *                   first one that begins in a row on, as many as all rows have wherever they begin, which are
 *                   columns * width / TSR_CACHE_LINE - 1
 *     copy_padded   a copy of 1 or more columns; and zeros behind them, up to row_bytes of each row, a multiple of 16
 *     transpose_padded
 *                   a transpose with 1 to 16 bytes of columns; and zeros likewise
 *     pad           likewise of pixels: rows are dense on both sides, columns in any order within theirs in the source,
 *                   of 1 to 16 bytes, and row_bytes a larger power of two, from 4 on
 *     unpad         of pixels, too: rows are dense in the destination and src_pitch bytes apart in the source,
 *                   those of 4 elements or 16 at least, whichever is less, or as many as there; 1 column or more, up to
 *                   as many bytes, in any order within theirs
 *     scatter       a copy of 1 to 15 columns, whose rows are even: dst_pitch bytes from each other in the
 *                   destination, more than columns and at most 16, and src_pitch in the source, columns or more and at
 *                   most dst_pitch
 *     interleave    a transpose with 2 to 8 columns whose rows lie side by side: dst_row[r] == r * columns * width
 *     deinterleave  a transpose with 2 to 8 rows whose columns do: src_column[c] == c * rows * width
 *
 * Two families are for parts of bytes, and take columns as a copy does, but two or eight rows together:
 *
 *     part_halves   of rows r and r + 1, r being even, row r of the destination has the lower halves of both, and row
 *                   r + 1 the upper ones: in each byte that of row r of the source is below
 *     part_bits     of rows r to r + 7, r being a multiple of 8, row r + i of the destination has bit i of all: in
 *                   each byte that of row r + k of the source is bit k
 *
 * What lies behind the rows in the source is parted next, and is fetched.
 *
 * An interleave of pieces is several of these, one behind the other in the destination: piece i is that of all rows
 * from src + src_row[i] to dst + i * rows * columns * width. A deinterleave of pieces is several: piece i is that of
 * all columns from src + src_piece[i] to dst + dst_column[i].
 *
 * Tables whose content a family knows are not read, and may be NULL. An element of the destination
 * may be written more than once.
 */
typedef struct tsr_tile {
    int64_t rows, columns;
    const int64_t *dst_row, *src_row;
    const int64_t *dst_column, *src_column;
    const int64_t *row_factor;    /* for runs alone */
    const struct tsr_lane *lanes; /* for shuffles alone; */
    int64_t lane_bytes;           /* which a lane has, unless the row is shorter; */
    int64_t lane_window;          /* and from which its parts are read */
    bool has_alike_lanes;         /* most are in stretches of one order, which rows go along one after the other */
    int64_t lane_rows;            /* 0, or rows are equally far from each other, and their lanes are those of so many as
                                     one: 1, or more that lie side by side in the destination */
    bool fetches_ahead;           /* for transpose: the first-level cache does not hold the destination yet; for
                                     copy: nor what lies behind the rows in the source, and is copied next; for
                                     deinterleave, and pixels from f32 to f32: nor do the first two hold the source;
                                     for runs: nor what lies behind the rows in the source */
    bool fetches_lines;           /* for deinterleave, and pixels of bytes: those of dst, as that cache does not hold
                                     them */
    bool fills_lines;             /* for transpose: lines are better written at once, as it does not hold them; */
    bool gathers;                 /* for transpose, of 1 or 2 bytes: some lines of each column are copied first; */
    bool reads_lines;             /* or as much as a vector holds is read of each column at once, */
    bool reads_pairs;             /* or 32 bytes, of elements of one, instead of 16, if the rung can */
    bool streams;                 /* for transpose: past the caches, where the rung can, as a stream is; rows of every
                                     tile begin with cache lines, or with dense rows the first does, and no line is
                                     fetched ahead; for copy: rows are dense, either of 16 or 32 bytes, of which the
                                     first begins with one, or of more than 64; for interleave and joined_pixels: dst
                                     begins with one; for deinterleave and pixels: rows begin with lines; pieces do not;
                                     for load_runs, copy_padded and transpose_padded: they also end with them */
    bool streams_by_rows;         /* for transpose that streams: of as many rows as a line of a column has, all that the
                                     tile has before the next ones */
    bool fetches_columns;         /* for transpose that streams: the line after the next of each column */
    bool has_dense_rows; /* for transpose, copy and runs: each row of dst begins where the last one ends, or false */
    bool are_even;       /* for copy and transpose: rows that are written one after the other, or with places
                                     those of one, lie evenly; or false */
    int64_t dst_pitch, src_pitch; /* so many bytes from one to the next, also for scatter; src_pitch not for transpose,
                                     but for unpad and stream_behind */
    int64_t unit_bytes;           /* for transpose_units: those of an element */
    int64_t row_bytes;            /* for copy_padded and transpose_padded: those of a row and of the zeros behind it */
    int64_t pieces;               /* for interleave and deinterleave: 0, or how many there are; */
    const int64_t *src_piece;     /* and for the latter, where they begin */
    int64_t tiles;                /* for copy, transpose, those with padding, scatter and shuffle: 0 for one such tile,
                                     or as many as there are, */
    int64_t src_tile, dst_tile;   /* each so many bytes behind the one before; what lies between two of them in the
                                     source may be read as well; */
    int64_t places;               /* for copy: 0, or rows go to so many in turn, and are written place by place, some
                                     lines at a time if it fills_lines */

    const struct tsr_lookup *lookup; /* for shuffles: NULL, or what rows are looked up by that are whole */
} tsr_tile;

/*
 * 16 bytes of a row, in another order; or 32 or 64 of them, if a rung has windows of 64 bytes:
 *
 *     for all i < 16:  dst[dst_row[r] + dst + i] = src[src_row[r] + src + order[i]]
 *
 * They may come from several places: then there are as many parts, one behind the other, of which each tells where some
 * bytes come from, and has TSR_FROM_ELSEWHERE for the others. Of rows of less than 16 bytes, as many are written.
 *
 * A part is read from a window. That of 16 bytes is read as a whole. Of one of 64, `window` bytes are, 1 or more; and
 * its order is one for vpermi2b: 64 + order[i] for what it has, and i for the others.
 *
 * Several lanes of one part may have the same order, and be equally far from each other on either side.
 *
 * Lanes are taken one after the other, as those of its bytes that belong to the next one are not right
 * before that has been written. A lane is for tiles of at least `columns` columns: shorter ones end
 * before the last byte that it reads or writes. The last lane is for no tile, and lies where those
 * before it end, or before that.
 */
enum { TSR_LANE_BYTES = 16, TSR_WIDEST_LANE = 64, TSR_FROM_ELSEWHERE = 0x80 };

/*
 * A row, or as many as `lane_rows` says, that is looked up as a whole, on rungs with windows of 64 bytes: those that it
 * comes from are read once, two by two, and each of its lines chosen from all pairs. The last line begins early enough
 * to be whole.
 */
enum { TSR_MOST_WINDOWS = 8 };

typedef struct tsr_lookup {
    int64_t bytes;   /* of the row, 64 or more */
    int64_t lines;   /* which it has, of 64 */
    int64_t windows; /* from which it comes: an even number */
    int64_t src[TSR_MOST_WINDOWS];
    /* [line * windows / 2 + pair]: where that pair of windows has a byte of the line, 0 to 127, or TSR_FROM_ELSEWHERE */
    alignas(TSR_WIDEST_LANE) uint8_t order[][TSR_WIDEST_LANE];
} tsr_lookup;

/* The orders of so many parts stay in registers. */
enum { TSR_FEW_PARTS = 4 };

typedef struct tsr_lane {
    int64_t src;
    int32_t dst, columns;
    int32_t parts; /* from this one on */
    int32_t alike; /* so many lanes, from this one on */
    int32_t window;
    uint8_t order[TSR_WIDEST_LANE];
} tsr_lane;

typedef void (*tsr_tile_kernel)(void *dst, const void *src, const tsr_tile *tile);

/* Bytes that caches move at a time, on every CPU that there are kernels for. */
enum { TSR_CACHE_LINE = 64 };

/* 0, if one begins here. */
static inline int64_t tsr_bytes_to_next_line(const void *at)
{
    return (int64_t)(-(uintptr_t)at % TSR_CACHE_LINE);
}

/*
 * A stream is a copy that writes whole cache lines past the caches where the rung can. Other threads are sure to see
 * them only after the fence of the same rung, in the thread that streamed.
 */
typedef void (*tsr_fence_kernel)(void);

/*
 * The arithmetic of a conversion, in f32 or f64, each step rounded:
 *
 *     v = (x - mean[i * step]) * scale[i * step] + shift[i * step]
 *
 * step is 0 or 1.
 */
typedef struct tsr_affine {
    const float *mean, *scale, *shift;
    int64_t step;
    bool scales_only;   /* whatever the tables hold, means are 0.0 and shifts -0.0, which changes nothing */
    const void *old;    /* for affine and affine64 alone: beta * old[i] is added before the shift, unless NULL */
    float beta;         /* for add_TYPE, too */
    const uint8_t *map; /* for map, and for pixels of bytes if they have one; which look at nothing else then */
    const uint8_t *const *maps; /* for maps: those that elements take in turn, */
    int64_t turns;              /* so many */
} tsr_affine;

/*
 * Conversion of a row goes through a pivot, so that there are as many converters to write as types, not pairs
 * of types. The pivot is f32:
 *
 *     load      for all i < n:  dst[i] = arithmetic((f32)src[i])       dst is f32
 *     store     for all i < n:  dst[i] = round(arithmetic(src[i]))     src is f32
 *
 * or f64, where a type needs it: load64 and store64. Only f32 and integers of 32 and 64 bits have these of their own;
 * what fits into f32 gets to f64 and back by way of it. Without affine (NULL) there is no arithmetic.
 *
 * Where a pivot is too narrow for the type, load and store64 round to nearest; integers of 64 bits are only
 * loaded so where f32 is what is wanted. load_odd and store64_odd cut, and set the last bit if anything was cut
 * off (rounding to odd), so that a following store to a narrower type gives what rounding the exact value once
 * would give.
 *
 * What is loaded and then stored is so at once, without a pivot in memory, between the types that there are most of:
 *
 *     from_TYPE for all i < n:  dst[i] = round(arithmetic((f32)src[i]))     src is of TYPE
 *
 * Or added to what it comes to, between types that pixels have, but for f32 to f32. affine is never NULL, and has a
 * beta; old is not looked at, and dst not src. There is none in C.
 *
 *     add_TYPE  for all i < n:  dst[i] = round(arithmetic((f32)src[i])), with beta * (f32)dst[i] added before the shift
 *
 * Without arithmetic, some integers need no pivot:
 *
 *     limit     for all i < n:  dst[i] = saturated(src[i])     src is the integer as wide with the other sign; of
 *                                                              bool, any byte
 *     narrow    for all i < n:  dst[i] = saturated(src[i])     dst is s32 or u32, src as wide again
 *     widen     for all i < n:  dst[i] = src[i]                src is s32 or u32, dst as wide again
 *
 * Nor do bytes that all become something else alike, arithmetic and all, of 8 or 16 bits. Only rungs with VBMI have it.
 *
 *     map       for all i < n:  dst[i] = affine->map[src[i]], or affine->map[src[i]] + affine->map[256 + src[i]] * 256
 *     maps      for all i < n:  the same by affine->maps[i % affine->turns]; turns is 3 or 4
 *
 * dst of maps may be src, to 8 bits. Nobody else looks at affine->maps and turns, or sets them.
 *
 * affine and affine64 go from pivot to pivot, and their affine is never NULL; dst may be src or old.
 *
 * What lies side by side may take its factors again and again, as channels do:
 *
 *     periodic  for all i < n:  as from_TYPE, of types that pixels have, f32 too; of element i % TSR_PERIOD the factors
 *
 * of step 1, affine never NULL, and n a multiple of TSR_PERIODIC_ELEMENTS. Tables have as many entries as well. dst may
 * be src, if both types have one width. There is none for C.
 *
 * stream_load, stream_store, stream_limit, stream_map and stream_affine are load, store, limit, map, and affine without
 * old values, past the caches, as a stream is, on rungs that can: of whole lines, dst being a multiple of
 * TSR_CACHE_LINE bytes and n one of TSR_STREAMED_ELEMENTS.
 */
enum { TSR_STREAMED_ELEMENTS = 64 };

/* The lower bytes of what 0 to 255 become come first, and then the upper ones. */
enum { TSR_MAP_VALUES = 256, TSR_MAP_BYTES = 2 * TSR_MAP_VALUES, TSR_MOST_MAPS = 4 };

/* What has 2, 3, 4, 6 or 12 factors has them again after so many elements. */
enum { TSR_PERIOD = 12, TSR_PERIODIC_ELEMENTS = 192 };

typedef void (*tsr_row_kernel)(void *dst, const void *src, int64_t n, const tsr_affine *affine);

/*
 * The same of many short rows, each from its place to its place; of types that there are kernels for:
 *
 *     load_runs, store_runs, from_TYPE_runs    for all r < rows:  load, store or from_TYPE of columns elements from
 *                                              src + src_row[r] to dst + dst_row[r]
 *
 * That of f32 loads what is the pivot, which leaves the arithmetic alone. And where old values are at dst + dst_row[r],
 * add_runs is affine with these, whatever affine says is old; its affine is never NULL, and it fetches nothing. columns
 * is 8 or more; affine is NULL, or for all rows; with row_factor, which is NULL or has one for each, row r takes its
 * means, scales and shifts from row_factor[r] places further on. There are none for C, which takes each as a row.
 */
typedef void (*tsr_runs_kernel)(void *dst, const void *src, const tsr_tile *tile, const tsr_affine *affine);

/*
 * Pixels that are converted at once by way of f32, and parted, joined, or laid among zeros, as images are wanted so
 * often:
 *
 *     pixels           for all r < rows, c < columns:
 *                      element c from dst_row[r] on = (type of dst)arithmetic[r]((f32)src[c * rows + r])
 *     joined_pixels    for all r < rows, c < columns:
 *                      element r * columns + c = (type of dst)arithmetic[c]((f32)element r from src_column[c] on)
 *     padded_pixels    for all r < rows, c < columns, all in row_bytes:
 *                      element c of row r = (type of dst)arithmetic[c]((f32)src[r * columns + src_column[c]])
 *                      and all behind c = 0
 *
 * affine has an entry for each channel, all of step 0 and with the same scales_only, or is NULL. Instead, channels of
 * bytes may have a map each, on rungs with maps: all do if the first one does. pixels takes them to 16 bits, and
 * padded_pixels to 8 and 16, of up to TSR_MOST_MAPS columns in rows of up to TSR_WIDEST_MAPPED bytes; others have their
 * factors all the same, and are computed. pixels has 3 or 4 rows, and joined_pixels as many columns. padded_pixels has
 * up to TSR_MOST_PADDED_CHANNELS columns, which may come in any order, and rows of 4, 8, 16 or TSR_WIDEST_PADDED
 * elements, more than columns, all behind each other. There are none in C, and padded_pixels for AVX2 and AVX-512
 * alone: without, pixels are parted, joined or padded, and channels converted.
 */
enum { TSR_MOST_PADDED_CHANNELS = 8, TSR_WIDEST_PADDED = 32, TSR_WIDEST_MAPPED = 16 };
typedef void (*tsr_pixels_kernel)(void *dst, const void *src, const tsr_tile *tile, const tsr_affine *affine);

/*
 * Elements of 4 bits, or of 1, counted from the start of a buffer, the first one of a byte in its lowest bits:
 *
 *     unpack    for all i < n:  dst[i] = element first + i of src
 *     pack      for all i < n:  element first + i of dst = saturated(src[i])
 *
 * The other side is s8 for s4, and u8 for u4 and u1. first is 0 or more. Neighbours in a byte stay as they are. And in
 * tiles, whose rows and columns are those of bytes that have elements of as many other rows each:
 *
 *     unpack_rows    for all r < rows, c < columns, i < elements of a byte:
 *                    byte c from dst_row[r * elements of a byte + i] on = element i of byte c from src_row[r] on
 *     pack_rows      element i of byte c from dst_row[r] on
 *                    = saturated(byte c from src_row[r * elements of a byte + i] on)
 */
typedef void (*tsr_packed_kernel)(void *dst, const void *src, int64_t first, int64_t n);

/* Widths of elements, as indices. */
enum { TSR_WIDTH_8, TSR_WIDTH_16, TSR_WIDTH_32, TSR_WIDTH_64, TSR_WIDTH_128, TSR_WIDTHS };

typedef struct tsr_tile_entry {
    const char *name;
    tsr_tile_kernel run;
} tsr_tile_entry;

/* The best kernels for a set of CPU flags. */
typedef struct tsr_kernels {
    tsr_tile_entry pick[TSR_WIDTHS];
    tsr_tile_entry shuffle[TSR_WIDTHS];
    tsr_tile_entry copy[1], copy_padded[1], scatter[1], pad[TSR_WIDTHS], unpad[TSR_WIDTHS];
    tsr_tile_entry transpose[TSR_WIDTHS], transpose_padded[TSR_WIDTHS], transpose_units[TSR_WIDTHS];
    tsr_tile_entry lines[TSR_WIDTHS];
    tsr_tile_entry part_halves[1], part_bits[1];
    tsr_tile_entry interleave[TSR_WIDTHS];
    tsr_tile_entry deinterleave[TSR_WIDTHS];
    tsr_tile_kernel stream, stream_behind;
    tsr_fence_kernel fence;
    /* NULL for the pivot itself, and for types that do not go there in one step */
    tsr_row_kernel load[TSR_DTYPE_COUNT], load64[TSR_DTYPE_COUNT];
    tsr_row_kernel load_odd[TSR_DTYPE_COUNT], load64_odd[TSR_DTYPE_COUNT]; /* the same where nothing is cut off */
    tsr_row_kernel store[TSR_DTYPE_COUNT], store64[TSR_DTYPE_COUNT];
    tsr_row_kernel store64_odd[TSR_DTYPE_COUNT]; /* f32 alone: on the way to a narrower type */
    tsr_row_kernel from_F16[TSR_DTYPE_COUNT], from_BF16[TSR_DTYPE_COUNT], from_S8[TSR_DTYPE_COUNT],
        from_U8[TSR_DTYPE_COUNT], from_S32[TSR_DTYPE_COUNT], from_F8_E4M3[TSR_DTYPE_COUNT],
        from_F8_E5M2[TSR_DTYPE_COUNT]; /* the pairs below */
    tsr_row_kernel periodic_F32[TSR_DTYPE_COUNT], periodic_F16[TSR_DTYPE_COUNT], periodic_BF16[TSR_DTYPE_COUNT],
        periodic_S8[TSR_DTYPE_COUNT], periodic_U8[TSR_DTYPE_COUNT]; /* f32, f16, bf16, s8, u8, on some rungs */
    tsr_row_kernel add_F32[TSR_DTYPE_COUNT], add_F16[TSR_DTYPE_COUNT], add_BF16[TSR_DTYPE_COUNT],
        add_S8[TSR_DTYPE_COUNT], add_U8[TSR_DTYPE_COUNT];                     /* likewise, but for f32 to f32 */
    tsr_row_kernel limit[TSR_DTYPE_COUNT];                                    /* integers and bool */
    tsr_row_kernel narrow[TSR_DTYPE_COUNT], widen[TSR_DTYPE_COUNT];           /* s32 and u32 */
    tsr_row_kernel map[TSR_WIDTHS], stream_map[TSR_WIDTHS], maps[TSR_WIDTHS]; /* to 8 and 16 bits, on some rungs */
    tsr_row_kernel stream_load[TSR_DTYPE_COUNT], stream_store[TSR_DTYPE_COUNT], stream_limit[TSR_DTYPE_COUNT];
    tsr_row_kernel affine, affine64, stream_affine;
    tsr_runs_kernel load_runs[TSR_DTYPE_COUNT], store_runs[TSR_DTYPE_COUNT]; /* those of pairs; load: f32 */
    tsr_runs_kernel add_runs[TSR_DTYPE_COUNT];                               /* f32 */
    tsr_runs_kernel from_F16_runs[TSR_DTYPE_COUNT], from_BF16_runs[TSR_DTYPE_COUNT], from_S8_runs[TSR_DTYPE_COUNT],
        from_U8_runs[TSR_DTYPE_COUNT], from_S32_runs[TSR_DTYPE_COUNT], from_F8_E4M3_runs[TSR_DTYPE_COUNT],
        from_F8_E5M2_runs[TSR_DTYPE_COUNT];
    tsr_pixels_kernel pixels_S8[TSR_DTYPE_COUNT], pixels_U8[TSR_DTYPE_COUNT]; /* to f32, f16, bf16, on some rungs */
    tsr_pixels_kernel pixels_F32[TSR_DTYPE_COUNT];                            /* s8, u8, too */
    tsr_pixels_kernel padded_pixels_S8[TSR_DTYPE_COUNT], padded_pixels_U8[TSR_DTYPE_COUNT]; /* s8, u8, too */
    tsr_pixels_kernel joined_pixels_F32[TSR_DTYPE_COUNT], joined_pixels_F16[TSR_DTYPE_COUNT],
        joined_pixels_BF16[TSR_DTYPE_COUNT];                          /* to s8, u8; of f32 also to f32, f16, bf16 */
    tsr_packed_kernel unpack[TSR_DTYPE_COUNT], pack[TSR_DTYPE_COUNT]; /* s4, u4, u1 */
    tsr_tile_kernel unpack_rows[TSR_DTYPE_COUNT], pack_rows[TSR_DTYPE_COUNT];
    int64_t window_bytes;  /* of the parts of lanes, 16 or 64 */
    bool writes_lines;     /* at once, as a vector is one */
    bool shuffles_lanes;   /* as more than C does, element by element */
    bool can_stream_lines; /* transposes, interleaves, deinterleaves and copies write lines past the caches, if asked */
} tsr_kernels;

/* The dispatch ladder: weakest rung first, each overwriting what it does better. */
void tsr_kernels_init(tsr_kernels *kernels, unsigned cpu_flags);

/* The index of the width of an element of 1, 2, 4, 8 or 16 bytes, their log2; or of the least one that has room for a
 * unit of so many bytes. */
static inline int tsr_width_of_bytes(int64_t bytes)
{
    return bytes > 1 ? 64 - __builtin_clzll((unsigned long long)bytes - 1) : 0;
}

/* Do transposes write one half of a line after the other, before they go on to the next row? */
static inline bool tsr_writes_halves(const tsr_kernels *kernels, int64_t dst_bytes)
{
    enum { WIDE_BYTES = 4 };
    return kernels->can_stream_lines && !kernels->writes_lines && dst_bytes >= WIDE_BYTES;
}

/* f(src, dst, what) for all pairs of types that have kernels of their own for each: numbers that networks compute with
 * to each other, and f8 to the halves and back. */
#define TSR_FOR_HALVES(f, dst, what) f(F16, dst, what) f(BF16, dst, what)
#define TSR_FOR_NUMBERS(f, dst, what) TSR_FOR_HALVES(f, dst, what) f(S8, dst, what) f(U8, dst, what) f(S32, dst, what)
#define TSR_FOR_SOURCES(f, dst, what) TSR_FOR_NUMBERS(f, dst, what) f(F8_E4M3, dst, what) f(F8_E5M2, dst, what)
#define TSR_FOR_PAIRS(f, what)                                                                                         \
    TSR_FOR_SOURCES(f, F16, what)                                                                                      \
    TSR_FOR_SOURCES(f, BF16, what)                                                                                     \
    TSR_FOR_NUMBERS(f, S8, what)                                                                                       \
    TSR_FOR_NUMBERS(f, U8, what)                                                                                       \
    TSR_FOR_NUMBERS(f, S32, what)                                                                                      \
    TSR_FOR_HALVES(f, F8_E4M3, what)                                                                                   \
    TSR_FOR_HALVES(f, F8_E5M2, what)

/* Rungs as list.inc names them. */
#define TSR_RUNG_c 0U
#define TSR_RUNG_sse41 ((unsigned)TSR_CPU_SSE41)
#define TSR_RUNG_avx2 ((unsigned)TSR_CPU_AVX2)
#define TSR_RUNG_avx512 ((unsigned)TSR_CPU_AVX512)
#define TSR_RUNG_avx512vbmi ((unsigned)(TSR_CPU_AVX512 | TSR_CPU_AVX512_VBMI))
#define TSR_RUNG_neon ((unsigned)TSR_CPU_NEON)

#define TSR_TILE_KERNEL(family, width, rung)                                                                           \
    void tsr_##family##_##width##_##rung(void *dst, const void *src, const tsr_tile *tile);
#define TSR_STREAM_KERNEL(rung)                                                                                        \
    void tsr_stream_##rung(void *dst, const void *src, const tsr_tile *tile);                                          \
    void tsr_stream_behind_##rung(void *dst, const void *src, const tsr_tile *tile);                                   \
    void tsr_fence_##rung(void);
#define TSR_ROW_KERNEL(family, type, rung)                                                                             \
    void tsr_##family##_##type##_##rung(void *dst, const void *src, int64_t n, const tsr_affine *affine);
#define TSR_STREAM_ROW_KERNEL(family, type, rung) TSR_ROW_KERNEL(stream_##family, type, rung)
#define TSR_AFFINE_KERNEL(family, rung)                                                                                \
    void tsr_##family##_##rung(void *dst, const void *src, int64_t n, const tsr_affine *affine);
#define TSR_RUNS_KERNEL(family, type, rung)                                                                            \
    void tsr_##family##_##type##_##rung(void *dst, const void *src, const tsr_tile *t, const tsr_affine *affine);
#define TSR_PACKED_KERNEL(family, type, rung)                                                                          \
    void tsr_##family##_##type##_##rung(void *dst, const void *src, int64_t first, int64_t n);
#define TSR_PACKED_ROWS_KERNEL(family, type, rung)                                                                     \
    void tsr_##family##_##type##_##rung(void *dst, const void *src, const tsr_tile *tile);
#define TSR_PIXELS_KERNEL(family, src, dst, rung)                                                                      \
    void tsr_##family##_##src##_##dst##_##rung(void *to, const void *from, const tsr_tile *t, const tsr_affine *affine);
#define TSR_PAIR_KERNEL(family, src, dst, rung) TSR_ROW_KERNEL(family##_##src, dst, rung)
#define TSR_MAP_KERNEL(family, width, rung)                                                                            \
    void tsr_##family##_##width##_##rung(void *dst, const void *src, int64_t n, const tsr_affine *affine);
#include "reorder/kernels/list.inc"
#undef TSR_TILE_KERNEL
#undef TSR_STREAM_KERNEL
#undef TSR_ROW_KERNEL
#undef TSR_STREAM_ROW_KERNEL
#undef TSR_AFFINE_KERNEL
#undef TSR_RUNS_KERNEL
#undef TSR_PACKED_KERNEL
#undef TSR_PACKED_ROWS_KERNEL
#undef TSR_PIXELS_KERNEL
#undef TSR_PAIR_KERNEL
#undef TSR_MAP_KERNEL

#endif
