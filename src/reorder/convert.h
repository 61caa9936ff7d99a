/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_SRC_REORDER_CONVERT_H
#define TESSERA_SRC_REORDER_CONVERT_H

#include <stdbool.h>

#include "base/int.h"
#include "reorder/kernels/kernels.h"

/* One row kernel, or two with f32 between them; NULL is no step. */
typedef struct tsr_steps {
    tsr_row_kernel first, second;
} tsr_steps;

/*
 * What is done to the values on the way, as reorder.h has it. The tables have as many entries as the
 * axis that they run along, or one.
 */
typedef struct tsr_arithmetic {
    const float *mean, *scale, *shift;
    float beta;       /* 0: what dst holds is not read */
    bool scales_only; /* all means are 0.0 and all shifts -0.0 */
} tsr_arithmetic;

/* Where on the way the arithmetic is done. */
typedef enum tsr_arithmetic_stage { TSR_NO_ARITHMETIC, TSR_ON_LOAD, TSR_ON_STORE, TSR_BETWEEN } tsr_arithmetic_stage;

/*
 * From one type to another, by way of a pivot: f64 if either type is f64, s64 or u64, else f32. A step
 * that is not needed is NULL. Where one step needs no pivot, a limit or a map, it is where a store would be.
 * Elements of less than a byte are converted as bytes, s8 for s4, u8 for u4 and u1, and indices of nf4; they are
 * unpacked before that, and packed after it.
 */
typedef struct tsr_conversion {
    bool is_copy;     /* same type, no arithmetic: bits move unchanged */
    bool keeps_bytes; /* which are packed on one side, and unpacked or packed, and that is all */
    int64_t src_bytes, dst_bytes;
    int src_packing, dst_packing;   /* as tsr_packing has them */
    tsr_packed_kernel unpack, pack; /* NULL for elements of whole bytes */
    tsr_packed_kernel unpack_old;
    tsr_tile_kernel unpack_rows, pack_rows;
    tsr_pixels_kernel pixels;        /* to parted channels at once, if there is a way; or NULL */
    tsr_pixels_kernel padded_pixels; /* likewise, to channels among padding */
    tsr_pixels_kernel joined_pixels; /* and planes to pixels, as they are joined */
    tsr_steps load;
    tsr_steps load_old; /* of dst, for beta */
    tsr_row_kernel affine;
    tsr_steps store;
    tsr_row_kernel at_once;  /* load, add if there is a beta, and store, with nothing in memory between them; or NULL */
    tsr_row_kernel only;     /* all that there is to do, if that is one step, arithmetic and all; or NULL */
    tsr_row_kernel periodic; /* the same, if factors come again and again, and there is such a kernel; or NULL */
    tsr_row_kernel stream;   /* the last step, of lines that are written past the caches; or NULL */
    tsr_runs_kernel runs;    /* all that there is to do, to many short rows; or NULL */
    tsr_arithmetic_stage stage;
    tsr_arithmetic arithmetic;
    tsr_row_kernel map_row, stream_map_row, maps_row; /* to take the place of all steps, as map.h tells; or NULL */
    const uint8_t *map;                               /* what the only step looks up; or NULL */
    const uint8_t (*maps)[TSR_MAP_BYTES]; /* for each entry of the tables, what may be looked up instead; or NULL, */
    int64_t map_count;                    /* and 0 */
    bool is_far; /* the source is not in the caches, and is worth prefetching; false until someone knows */
} tsr_conversion;

/* Do elements go straight from the source to the destination, unless they are streamed or buffered? */
static inline bool tsr_is_straight(const tsr_conversion *conversion)
{
    return conversion->is_copy && !conversion->unpack;
}

/* Are they odd units, of a number of bytes that only transposes have kernels for? */
static inline bool tsr_has_odd_units(const tsr_conversion *conversion)
{
    return !tsr_is_power_of_two(conversion->src_bytes);
}

/* Is there anything to compute, beyond another type? */
static inline bool tsr_computes(const tsr_conversion *conversion)
{
    return conversion->stage != TSR_NO_ARITHMETIC;
}

/* The map of an entry of the tables, or that of all, if there is one; or NULL. */
static inline const uint8_t *tsr_map_of_factor(const tsr_conversion *conversion, int64_t factor)
{
    return factor < conversion->map_count ? conversion->maps[factor] : conversion->map;
}

/* Has the only step something to look at, factors or a map? */
static inline bool tsr_takes_affine(const tsr_conversion *conversion)
{
    return tsr_computes(conversion) || conversion->map;
}

/* Are there elements of less than a byte on either side? */
static inline bool tsr_is_packed(const tsr_conversion *conversion)
{
    return conversion->unpack || conversion->pack;
}

/* To a narrower type? Elements are better converted before they are moved then. */
static inline bool tsr_narrows(const tsr_conversion *conversion)
{
    return conversion->dst_bytes < conversion->src_bytes;
}

static inline bool tsr_widens(const tsr_conversion *conversion)
{
    return conversion->dst_bytes > conversion->src_bytes;
}

/* Kernels of short rows take so many elements or more. */
enum { TSR_SHORTEST_RUN = 8 };

/* Where something is kept between two steps, more elements are converted so many at a time; and where the source is
 * far, those further on in a long row are asked for meanwhile. */
enum { TSR_CONVERT_CHUNK = 512 };

/* Bytes [begin, end) from `at` on; they may lie beyond the end of a buffer, as nothing is read. */
static inline void tsr_prefetch(const void *at, int64_t begin, int64_t end)
{
    for (int64_t i = begin; i < end; i += TSR_CACHE_LINE)
        __builtin_prefetch((const void *)((uintptr_t)at + (uintptr_t)i));
}

/* The binary logarithm of the elements in a byte: 3 of u1, 1 of types of 4 bits, else 0. */
int tsr_packing(tsr_dtype dtype);

static inline int64_t tsr_elements_in_byte(int packing)
{
    return INT64_C(1) << packing;
}

/* Of a position among packed elements, or of positions or-ed: does it begin with a whole byte, or do all? */
static inline bool tsr_begins_byte(int64_t at, int packing)
{
    return (at & (tsr_elements_in_byte(packing) - 1)) == 0;
}

/* What an element of s4, u4 or u1 is when it stands alone. */
tsr_dtype tsr_dtype_unpacked(tsr_dtype dtype);

/* The type that elements of 4 bits are moved as: those that are not s4, as u4. Any other type stays. */
tsr_dtype tsr_dtype_packed(tsr_dtype dtype);

/* arithmetic NULL is none. */
void tsr_conversion_init(tsr_conversion *conversion, const tsr_kernels *kernels, tsr_dtype src, tsr_dtype dst,
                         const tsr_arithmetic *arithmetic);

/* What a row kernel does to elements that take entry factor, and those after it the ones step further on. */
void tsr_conversion_affine(const tsr_conversion *conversion, tsr_affine *affine, int64_t factor, int64_t step);

/*
 * Converts n elements side by side; element i takes entry factor + i * step of the tables, step 0 or 1.
 * With beta, the old values are those at dst. dst may be src where both types have one width.
 */
void tsr_convert_row(const tsr_conversion *conversion, void *dst, const void *src, int64_t n, int64_t factor,
                     int64_t step);

/* The same past the caches, but for what lies at either end in lines that are not whole. There is such a last step;
 * source and destination do not overlap. */
void tsr_stream_row(const tsr_conversion *conversion, void *dst, const void *src, int64_t n, int64_t factor,
                    int64_t step);

#endif
