/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_TEXT_H
#define TESSERA_TEXT_H

#include <tessera/desc.h>

TSR_BEGIN_DECLS

/*
 * Layouts, descriptors and problems as text. Three forms say where the axes go:
 *
 * Names         letters of the field in memory order, outermost first: nchw, NHWC, oihw, hwio, ncdhw, tnc.
 *               Their logical order is N C D H W for activations, G O I D H W for weights, T N C for
 *               sequences, and L D I G O and L D N C for recurrent networks. "scalar" has rank 0.
 * Tags          oneDNN's: axes a, b, c, ... (or the letters of a name) in memory order, then the inner blocks,
 *               outermost first. A blocked axis is in upper case: nChw16c, OIhw4i16o4i, aBcd8b, acdb.
 * Levels        anything else, one entry for each level, outermost first: AXIS EXTENT[:[-]STRIDE[/PAD]],
 *               with a +OFFSET behind them, and behind that each window as @AXIS FIRST[/STEP]. Axes are a
 *               to z, then A to F. Missing strides are dense.
 *               [a1:12800,b4:3200,c20:160,d20:8,b8:1]+7  [a4,b3]  [a2:0,b3:1]  [a3:-4,b4:1]+8  []+5
 *               [b2:128,b8:1]+4@b3/2
 *               A stride of 0 or below that is written out asks for a descriptor that is only read.
 *
 * A descriptor is TYPE:LAYOUT DIMS, as in f32:nChw16c 8x64x56x56. Dims are in logical order, joined
 * by 'x'; those of a scalar are the word scalar.
 *
 * Printing chooses the shortest form that is exact: a name or tag where memory is dense, levels
 * otherwise. What is printed parses to an equal descriptor.
 *
 * Functions that print behave as snprintf: they write at most size bytes with the terminator, and
 * return the length of the whole text.
 */

/* A buffer of this size holds any layout, descriptor or problem. */
#define TSR_TEXT_SIZE 16384

/*
 * TSR_PARSE_ERROR       the text follows none of the forms
 * and whatever the constructors of desc.h say of the descriptor that it describes
 */
TSR_API TSR_MUST_CHECK tsr_status tsr_desc_from_layout(tsr_desc *desc, tsr_dtype dtype, int rank, const int64_t *dims,
                                                       const char *layout, tsr_error *error);
TSR_API TSR_MUST_CHECK tsr_status tsr_desc_parse(tsr_desc *desc, const char *text, tsr_error *error);

/* dims has room for TSR_MAX_RANK. */
TSR_API TSR_MUST_CHECK tsr_status tsr_dims_parse(int64_t *dims, int *rank, const char *text, tsr_error *error);

TSR_API int tsr_layout_print(const tsr_desc *desc, char *text, size_t size);
TSR_API int tsr_dims_print(const int64_t *dims, int rank, char *text, size_t size);
TSR_API int tsr_desc_print(const tsr_desc *desc, char *text, size_t size);

/*
 * A dense layout that has no dims yet: the logical axis of each memory position, and the blocks. For
 * "nhwc" levels is 4 and order {0,2,3,1}; for "nChw16c" levels is 5, order {0,1,2,3,1} and block_dims
 * {0,0,0,0,16}: the outermost level of an axis has no extent yet, which is written as 0.
 */
typedef struct tsr_layout {
    int rank;
    int levels;
    int64_t block_dims[TSR_MAX_LEVELS];
    uint8_t order[TSR_MAX_LEVELS];
} tsr_layout;

/* Reads a name or tag. TSR_PARSE_ERROR for any other text. */
TSR_API TSR_MUST_CHECK tsr_status tsr_layout_parse(tsr_layout *layout, const char *text, tsr_error *error);

/* The descriptor of a tensor with these dims: as many blocks as they need, dense, from offset 0. */
TSR_API TSR_MUST_CHECK tsr_status tsr_layout_apply(tsr_desc *desc, tsr_dtype dtype, int rank, const int64_t *dims,
                                                   const tsr_layout *layout, tsr_error *error);

/*
 * The inverse: the layout that gives an equal descriptor. TSR_UNSUPPORTED, and the reason, where
 * there is none: an offset, a window, gaps, a stride that is not positive.
 */
TSR_API TSR_MUST_CHECK tsr_status tsr_layout_of(tsr_layout *layout, const tsr_desc *desc, tsr_error *error);

/*
 * What a tensor is for decides between the names of one layout: with blocks of 16 on axis 0, Oihw16o
 * and Goiw16g are both Abcd16a.
 */
typedef enum tsr_role {
    TSR_ROLE_ANY, /* the most usual name of all */
    TSR_ROLE_ACTIVATIONS,
    TSR_ROLE_WEIGHTS,
    TSR_ROLE_GROUPED_WEIGHTS,
    TSR_ROLE_RECURRENT,
    TSR_ROLE_NONE, /* no name: the letters a, b, c, ... */
    TSR_ROLE_COUNT
} tsr_role;

/*
 * A problem names a reorder (reorder.h): SRC_TYPE:SRC_LAYOUT>DST_TYPE:DST_LAYOUT DIMS [ATTRIBUTE...].
 *
 *     f32:nhwc>f32:nChw16c 8x64x56x56
 *     u8:nhwc>f32:nchw 1x3x1080x1920 scale[1] mean[1] reverse[1]
 *     s8:ab>f32:ab 4096x4096 scale[1/128]
 *
 * "scale", "mean" and "shift" are one f32 for the tensor, "scale[K]" one for each index of axis K, and
 * "scale[K/G]" one for each G of them. "beta" is one f32; "reverse[K]" turns axis K of the source
 * round; "in-place" is one buffer for both. The text says that they are there, not their values.
 */
#define TSR_ATTRIBUTE_NONE (-2)
#define TSR_ATTRIBUTE_TENSOR (-1)

typedef struct tsr_problem {
    tsr_desc src;
    tsr_desc dst;
    int scale_axis; /* TSR_ATTRIBUTE_NONE, TSR_ATTRIBUTE_TENSOR, or an axis */
    int mean_axis;
    int shift_axis;
    int64_t scale_group; /* indices that share a value: 2 or more, or 0 */
    int64_t mean_group;
    int64_t shift_group;
    bool has_beta;
    uint32_t reverse; /* bit k: axis k */
    bool in_place;
} tsr_problem;

TSR_API TSR_MUST_CHECK tsr_status tsr_problem_parse(tsr_problem *problem, const char *text, tsr_error *error);
TSR_API int tsr_problem_print(const tsr_problem *problem, char *text, size_t size);

TSR_END_DECLS

#endif
