/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_REORDER_H
#define TESSERA_REORDER_H

#include <tessera/desc.h>
#include <tessera/memory.h>
#include <tessera/parallel.h>

TSR_BEGIN_DECLS

/*
 * A reorder moves a tensor from one layout and type to another:
 *
 *     for every logical index i:  dst[offset(dst, i)] = convert(src[offset(src, i)])
 *
 * A plan is made once for two descriptors, which have equal dims, and is then run on any number of
 * buffers:
 *
 *     tsr_plan *plan = NULL;
 *     status = tsr_plan_create(&plan, &src_desc, &dst_desc, NULL, &error);
 *     status = tsr_plan_run(plan, src, dst, &error);
 *     tsr_plan_free(&plan);
 *
 * Conversion. Any two types will do. Between equal types without arithmetic, elements are copied
 * bit by bit. Otherwise the new value y of an element is, from the source's x and the destination's old
 * value,
 *
 *     v = (x - mean) * scale
 *     v = v + beta * old
 *     y = round(v + shift)
 *
 * or round(x) of the exact value when none of these is asked for. The arithmetic is in f64 where
 * either type is f64, s64 or u64, else in f32; x and old are rounded to it first, and so is the result
 * of each step. For quantised types, mean is the zero point of the source, and shift that of the
 * destination. The plain a * convert(x) + b * old is scale a and beta b.
 *
 * Rounding is to nearest, ties to even. A bool is true if any bit of its byte is set, and becomes 1 or
 * 0; to bool, every value but zero is 1, however small, and so is NaN. Other integers, u1 among them,
 * and q78, which counts in 256ths, saturate to the limits of their type and take 0 for NaN. Floats
 * overflow to infinity, keep -0 and denormals, and a NaN stays a NaN with its sign and the leading bits
 * of its payload, made quiet (bf16 to f32 alone keeps every bit); f8_e4m3 has one NaN of either sign,
 * which is also what infinity becomes, and what overflows. An nf4 is one of the 16 quantiles of QLoRA
 * (arXiv:2305.14314, appendix E), from -1 to 1: the nearest one, in the middle between two the lower
 * one, and 0 for NaN. Results are the same on every instruction set and for any number of threads, but
 * for the sign and payload of a NaN that the arithmetic itself makes or passes on. The caller leaves the
 * floating-point environment at its default.
 *
 * Packed types. Elements of 4 bits lie two to a byte and those of u1 eight, and they may begin and end
 * inside of one; the bits beside them, if they are neither elements nor padding to be zeroed, stay as
 * they are. But they are read and written back: no other thread may write them meanwhile.
 */
typedef struct tsr_plan tsr_plan;

/* What becomes of the elements of a blocked destination that no index reaches. */
typedef enum tsr_padding {
    TSR_PADDING_ZERO = 0, /* their bits are set to zero, which as an nf4 is -1 */
    TSR_PADDING_KEEP      /* they are left alone */
} tsr_padding;

/* Are the lines of a destination written past the caches? In place they never are, whatever is asked for. */
typedef enum tsr_streaming {
    TSR_STREAMING_AUTO = 0, /* if both sides together exceed the second-level cache, or a fifth of a near last one */
    TSR_STREAMING_NEVER,    /* for a destination that is soon read */
    TSR_STREAMING_ALWAYS
} tsr_streaming;

/*
 * One value for the tensor (count 1), one for each index of an axis (count == dims[axis]), or one for
 * each group of neighbouring indices (count == dims[axis] / group, rounded up). {0} is none. Indices
 * are those of the destination.
 */
typedef struct tsr_factors {
    const float *values; /* copied by tsr_plan_create */
    int64_t count;
    int axis;
    int64_t group; /* 0 is 1 */
} tsr_factors;

/*
 * In place, a plan is run on one buffer, which holds the source before and the destination after: a
 * buffer of the larger of both tsr_desc_size_bytes. The result is what a copy of the source would give;
 * bytes that are neither elements nor padding of the destination are left alone. Elements that stay
 * where they are, and two axes of equal length that change places, take no further memory. Everything
 * else takes scratch memory, from the plan's allocator during a run: a copy of the source, or of one
 * slice of it for each thread where slices are reordered each by itself (the images of a batch, say).
 * If scratch_bytes forbids that, elements go round in cycles, which is slower, and which needs no
 * more than a bit each, or nothing; but source and destination have to be the same memory for that.
 */

/*
 * Tuning. tile_bytes is how long the rows of a tile are in the destination where elements are
 * transposed (kernels transpose_*; it does not matter elsewhere): at least one element, and at most
 * what scratch memory has room for, some 320 to 3000 bytes depending on the types. Whoever does not
 * name a row, a streaming or a tile_bytes, nor keeps padding, gets what wisdom says of the problem, or
 * else what the cost model expects to be fastest. With least_share, create fails with TSR_UNSUPPORTED
 * where the row taken is expected to be slower than that share of memcpy's speed, which is
 * 1 / tsr_plan_info.cost.
 */

/* What measurements on this machine have taught; see wisdom.h. */
typedef struct tsr_wisdom tsr_wisdom;

/* {0} asks for a plain reorder with everything chosen by the library, and so does NULL. */
typedef struct tsr_reorder_options {
    tsr_factors scale;
    tsr_factors mean;  /* taken away before scaling */
    tsr_factors shift; /* added after it */
    float beta;        /* of what the destination holds; 0: that is not read */
    uint32_t reverse;  /* bit k: axis k of the source runs backwards, dims[k] - 1 - i in place of i */
    tsr_padding padding;
    tsr_streaming streaming;
    int64_t tile_bytes;             /* of each row of a transposed tile, in the destination; 0: chosen by the library */
    bool in_place;                  /* source and destination are one buffer */
    int64_t scratch_bytes;          /* in place alone: at most so many in a run; 0: as many as the source has */
    const char *row;                /* take this row of the selection table and no other; NULL: the cheapest */
    float least_share;              /* of memcpy's speed, which create has to expect, or it fails; 0: any */
    const tsr_wisdom *wisdom;       /* read by create; NULL: the default */
    bool untested;                  /* admit oneDNN although its self-test failed: to time it, not to use it */
    int threads;                    /* at most so many; 0: as many as the executor has */
    const tsr_executor *executor;   /* copied; NULL: the default, with the threads that it has at create */
    const tsr_allocator *allocator; /* copied; NULL: the default */
} tsr_reorder_options;

/*
 * Makes a plan; free it with tsr_plan_free. Both descriptors are copied.
 *
 * That takes 5 to 20 microseconds for most problems (median 14 of 723 on an Emerald Rapids), up to some hundred where
 * several steps may do better, and some milliseconds for blocks that do not nest; the first plan of a process looks at
 * the machine, which takes some milliseconds more. Plans are for keeping: tessera/plan_cache.h does.
 *
 * TSR_INVALID_ARGUMENT  a descriptor that is none, dims that differ, a destination that overlaps itself,
 *                       factors that do not fit, an axis to reverse that there is not, an unknown row,
 *                       an option out of its range
 * TSR_UNSUPPORTED       factors along different axes, an axis that takes more levels than there may be
 *                       to be seen backwards, the row asked for does not apply, a speed expected below
 *                       least_share, or scratch_bytes are too few; the message says how many are not
 * TSR_OUT_OF_MEMORY     nothing is leaked
 */
TSR_API TSR_MUST_CHECK tsr_status tsr_plan_create(tsr_plan **plan, const tsr_desc *src, const tsr_desc *dst,
                                                  const tsr_reorder_options *options, tsr_error *error);

/*
 * Runs a plan. src and dst are the starts of buffers of tsr_desc_size_bytes of their descriptors;
 * any alignment will do. The plan is not changed: several threads may run it at once on different
 * destinations. Padding of the source may be read, whatever it holds, and that of the destination
 * written more than once. Each thread of a run takes up to 256 KB of its stack.
 *
 * TSR_OVERLAP           the spans of source and destination share memory, unless both are the
 *                       same buffer and the same layout (row "alias"), or the plan is in place
 * TSR_INVALID_ARGUMENT  a NULL buffer for a tensor that has elements; a plan in place, and two buffers
 * TSR_OUT_OF_MEMORY     no scratch memory for a plan in place; the buffer is as it was
 * TSR_UNSUPPORTED       oneDNN refused to run (row "onednn")
 */
TSR_API TSR_MUST_CHECK tsr_status tsr_plan_run(const tsr_plan *plan, const void *src, void *dst, tsr_error *error);

TSR_API void tsr_plan_free(tsr_plan **plan);

/* Create, run and free in one call, without options. */
TSR_API TSR_MUST_CHECK tsr_status tsr_reorder(const tsr_desc *src_desc, const void *src, const tsr_desc *dst_desc,
                                              void *dst, tsr_error *error);

/*
 * The same result as a plan, by the definition: element by element through tsr_desc_offset. It
 * shares no code with the engine but the checks of its arguments, and is what the engine is tested
 * against. Slow. Fails as tsr_plan_create and tsr_plan_run do; row, least_share, threads, executor,
 * allocator and the bound of scratch memory are not looked at: in place, it copies the source.
 */
TSR_API TSR_MUST_CHECK tsr_status tsr_reorder_by_definition(const tsr_desc *src_desc, const void *src,
                                                            const tsr_desc *dst_desc, void *dst,
                                                            const tsr_reorder_options *options, tsr_error *error);

/* ---- What a plan says of itself ---- */

typedef struct tsr_plan_info {
    const char *row;    /* the row of the selection table */
    const char *kernel; /* of the box with the most elements; "-" when there is none */
    int boxes;          /* boxes that move elements */
    int zero_boxes;     /* boxes that zero padding */
    int threads;        /* the most that a run uses */
    double cost;        /* expected time over that of memcpy for the same bytes; measured, when tuned */
    bool tuned;         /* wisdom decided */
} tsr_plan_info;

TSR_API tsr_plan_info tsr_plan_get_info(const tsr_plan *plan);

/*
 * One line: "transpose, 2 boxes, 1 zero box, transpose_32_avx2, 1 thread", and ", tuned" behind it where
 * wisdom decided. Returns as snprintf does.
 */
TSR_API int tsr_plan_describe(const tsr_plan *plan, char *text, size_t size);

/*
 * Box i of tsr_plan_info.boxes + zero_boxes, the zero boxes last, 0 <= i: where it begins in source
 * and destination, its outer loops, behind a bar the rows and columns of its tiles, each loop as
 * STEPS(SRC_STRIDE:DST_STRIDE), or STEPS+ZEROS(...) where padding follows, and the kernel: "0:0
 * 8(219520:250880) 4(50176:50176) | 3136(1:16) x 16(3136:1), transpose_32_avx2". Returns as snprintf
 * does; there is no text for any other number.
 */
TSR_API int tsr_plan_describe_box(const tsr_plan *plan, int box, char *text, size_t size);

/* What the selection found for one row of its table. */
typedef struct tsr_verdict {
    const char *row;
    bool applicable;
    bool is_tentative;  /* it would have been prepared before it was taken, which may fail, and was not asked */
    double cost;        /* when applicable */
    const char *reason; /* why it does not apply; "" when it does. Lives as long as the plan. */
} tsr_verdict;

/* Row i of the table, in its order; false when there is no such row. */
TSR_API bool tsr_plan_verdict(const tsr_plan *plan, int i, tsr_verdict *verdict);

TSR_END_DECLS

#endif
