/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_DIALECT_H
#define TESSERA_DIALECT_H

#include <tessera/text.h>

TSR_BEGIN_DECLS

/*
 * Layouts in the words of other projects. The example is f32:nChw16c 8x64x56x56, or f32:nhwc
 * 8x64x56x56 in those that have no blocks.
 *
 *     TESSERA    text.h's, of the canonical descriptor
 *                nChw16c
 *     OPENVINO   names of the Inference Engine, or the axes in memory order
 *                NHWC   [N,H,W,C]
 *     ONEDNN     tags, in the letters of a role or a, b, c, ...
 *                nChw16c   aBcd16b
 *     TVM        axes in upper case, their blocks in lower case behind a size
 *                NCHW16c
 *     EINOPS     the logical axes with their blocks -> memory order
 *                n (c 16) h w -> n c h w 16
 *     CUTE       (shape):(stride), one mode for each axis, inner blocks first
 *                (8,(16,4),56,56):(200704,(1,50176),896,16)
 *     XLA        axes from minor to major, and the tiles of the minor ones
 *                {3,2,1,0:T(16,1,1)}
 *     NUMPY      shape, and strides and offset in bytes, as numpy.ndarray takes them
 *                shape=(8, 64, 56, 56), strides=(802816, 4, 14336, 256)
 */
typedef enum tsr_dialect {
    TSR_DIALECT_TESSERA,
    TSR_DIALECT_OPENVINO,
    TSR_DIALECT_ONEDNN,
    TSR_DIALECT_TVM,
    TSR_DIALECT_EINOPS,
    TSR_DIALECT_CUTE,
    TSR_DIALECT_XLA,
    TSR_DIALECT_NUMPY,
    TSR_DIALECT_COUNT
} tsr_dialect;

/* "tessera", "openvino", "onednn", "tvm", "einops", "cute", "xla", "numpy". NULL for any other number. */
TSR_API const char *tsr_dialect_name(tsr_dialect dialect);

/* The inverse, case-sensitive. TSR_PARSE_ERROR for any other word. */
TSR_API TSR_MUST_CHECK tsr_status tsr_dialect_from_name(tsr_dialect *dialect, const char *name, tsr_error *error);

/*
 * Writes the layout of a descriptor; role decides between the names that oneDNN has for one layout.
 * What is written reads back, with the same type and dims, as an equal descriptor.
 *
 * TSR_UNSUPPORTED    the dialect cannot say it; the message says why
 * TSR_OUT_OF_RANGE   the text and its terminator need more than size bytes; TSR_TEXT_SIZE is always enough
 */
TSR_API TSR_MUST_CHECK tsr_status tsr_dialect_print(const tsr_desc *desc, tsr_dialect dialect, tsr_role role,
                                                    char *text, size_t size, tsr_error *error);

/*
 * Reads one. The dims are logical. dims may be NULL, and rank is not read, where the text has a shape
 * of its own: CuTe's and NumPy's always, XLA's with one in front: f32[8,64]{1,0}. A shape that is in
 * the text must be that of the dims.
 *
 * TSR_PARSE_ERROR       not a text of this dialect
 * TSR_INVALID_ARGUMENT  the dims do not belong to it, or are missing
 * TSR_UNSUPPORTED       it says something that a descriptor cannot: XLA's memory spaces and so on
 * and whatever the constructors of desc.h say of the descriptor that it describes
 */
TSR_API TSR_MUST_CHECK tsr_status tsr_dialect_parse(tsr_desc *desc, tsr_dialect dialect, tsr_dtype dtype, int rank,
                                                    const int64_t *dims, const char *text, tsr_error *error);

TSR_END_DECLS

#endif
