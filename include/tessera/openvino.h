/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_OPENVINO_H
#define TESSERA_OPENVINO_H

#include <tessera/desc.h>

TSR_BEGIN_DECLS

/*
 * The vocabulary of OpenVINO's Inference Engine, for those who port code that speaks it: Precision,
 * Layout, BlockingDesc and TensorDesc. Numbers and rules are those of its releases 2022 and 2023;
 * docs/coming-from-openvino.md says where each function of theirs went. Everything is a value, and
 * what would change an object in place returns a new value; nothing is changed on failure.
 *
 * What differs from the original, which may crash or go on with nonsense there: products that do not
 * fit are errors; descriptors that miss an axis, do not cover their dims or overlap are refused; an
 * index outside the tensor is an error; the start of a region counts once; and a layout is never
 * renamed without the memory being described anew.
 */

/* ---- precisions ---- */

/* Numbers of the original. */
typedef enum tsr_precision_value {
    TSR_PRECISION_MIXED = 0,
    TSR_PRECISION_FP32 = 10,
    TSR_PRECISION_FP16 = 11,
    TSR_PRECISION_BF16 = 12,
    TSR_PRECISION_FP64 = 13,
    TSR_PRECISION_NF4 = 14,
    TSR_PRECISION_Q78 = 20,
    TSR_PRECISION_I16 = 30,
    TSR_PRECISION_U4 = 39,
    TSR_PRECISION_U8 = 40,
    TSR_PRECISION_BOOL = 41,
    TSR_PRECISION_I4 = 49,
    TSR_PRECISION_I8 = 50,
    TSR_PRECISION_U16 = 60,
    TSR_PRECISION_I32 = 70,
    TSR_PRECISION_BIN = 71,
    TSR_PRECISION_I64 = 72,
    TSR_PRECISION_U64 = 73,
    TSR_PRECISION_U32 = 74,
    TSR_PRECISION_CUSTOM = 80,
    TSR_PRECISION_UNSPECIFIED = 255
} tsr_precision_value;

/* A precision. The name is borrowed: of static storage, or what tsr_precision_custom was given. */
typedef struct tsr_precision {
    tsr_precision_value value;
    int bits; /* 0 for MIXED and UNSPECIFIED */
    const char *name;
} tsr_precision;

/* Any number that is not in the list is UNSPECIFIED. So is CUSTOM, which needs its bits. */
TSR_API tsr_precision tsr_precision_from_value(int value);

/* "FP32", case-sensitive. Any other word, "CUSTOM" included, is UNSPECIFIED. */
TSR_API tsr_precision tsr_precision_from_name(const char *name);

/* bits is 1 or more; name may be NULL: "CUSTOM". TSR_INVALID_ARGUMENT. */
TSR_API TSR_MUST_CHECK tsr_status tsr_precision_custom(tsr_precision *precision, int bits, const char *name,
                                                       tsr_error *error);

/* The same value, bits and name. */
TSR_API bool tsr_precision_equal(const tsr_precision *a, const tsr_precision *b);

/* Bytes of one element that stands alone: its bits rounded up. TSR_INVALID_ARGUMENT for MIXED and UNSPECIFIED. */
TSR_API TSR_MUST_CHECK tsr_status tsr_precision_size_bytes(const tsr_precision *precision, size_t *size_bytes,
                                                           tsr_error *error);

TSR_API bool tsr_precision_is_float(const tsr_precision *precision);     /* FP16, BF16, FP32 and FP64 */
TSR_API bool tsr_precision_is_signed(const tsr_precision *precision);    /* all but U4 to U64 and BOOL */
TSR_API bool tsr_precision_is_specified(const tsr_precision *precision); /* all but UNSPECIFIED */

/* May elements of this precision be kept in variables of C type storage (TSR_F32 for float, TSR_S8 for int8_t ...)? */
TSR_API bool tsr_precision_is_stored_as(const tsr_precision *precision, tsr_dtype storage);

/* The type of the elements; TSR_DTYPE_NONE for MIXED, CUSTOM and UNSPECIFIED. And the way back. */
TSR_API tsr_dtype tsr_precision_dtype(const tsr_precision *precision);
TSR_API tsr_precision tsr_precision_of_dtype(tsr_dtype dtype);

/* ---- layouts ---- */

/* Numbers of the original. */
typedef enum tsr_ie_layout {
    TSR_IE_ANY = 0, /* not decided: there are dims, but no memory is described */
    TSR_IE_NCHW = 1,
    TSR_IE_NHWC = 2,
    TSR_IE_NCDHW = 3,
    TSR_IE_NDHWC = 4,
    TSR_IE_OIHW = 64,
    TSR_IE_GOIHW = 65,
    TSR_IE_OIDHW = 66,
    TSR_IE_GOIDHW = 67,
    TSR_IE_SCALAR = 95, /* one element; no axes are described */
    TSR_IE_C = 96,
    TSR_IE_CHW = 128,
    TSR_IE_HWC = 129,
    TSR_IE_HW = 192,
    TSR_IE_NC = 193,
    TSR_IE_CN = 194,
    TSR_IE_BLOCKED = 200 /* any order of axes, with or without inner blocks */
} tsr_ie_layout;

/* "NCHW"; NULL for a number that is no layout. */
TSR_API const char *tsr_ie_layout_name(tsr_ie_layout layout);

/* The inverse, case-sensitive. TSR_PARSE_ERROR for any other word. */
TSR_API TSR_MUST_CHECK tsr_status tsr_ie_layout_from_name(tsr_ie_layout *layout, const char *name, tsr_error *error);

/* The number of its axes; -1 for ANY and BLOCKED, which have any number, and for a number that is no layout. */
TSR_API int tsr_ie_layout_rank(tsr_ie_layout layout);

/* The logical axis of memory position i; order has room for 6. Identity where a layout says nothing else. */
TSR_API void tsr_ie_layout_order(tsr_ie_layout layout, int *order);

/*
 * The usual layout of a tensor: SCALAR, C, NC, -, NCHW, NCDHW for 0 to 5 axes, BLOCKED for more. For 3
 * the documents and the code of the original disagree: by dims, as the documents say, it is BLOCKED; by
 * rank, as the code does, CHW. The dims {0}, which mean that nothing is known, are BLOCKED in both; a
 * caller who knows only a rank passes NULL for dims.
 */
TSR_API tsr_ie_layout tsr_ie_layout_by_dims(int rank, const int64_t *dims);
TSR_API tsr_ie_layout tsr_ie_layout_by_rank(int rank, const int64_t *dims);

/* ---- tensor descriptors ---- */

/*
 * A TensorDesc. Where memory is described, desc is a descriptor like any other, and what the engine
 * and all other functions take. Memory is not described (desc.levels is 0) where the layout is ANY or
 * SCALAR, and while dims are empty.
 *
 * The layout says how the descriptor was made, as in the original: NCHW, OIHW and a BLOCKED with their
 * order are the same memory. tsr_desc_equal(&a.desc, &b.desc) asks about memory;
 * tsr_tensor_desc_equal compares all that the original compares.
 */
typedef struct tsr_tensor_desc {
    tsr_precision precision;
    tsr_ie_layout layout;
    tsr_desc desc;
    int64_t region_start[TSR_MAX_LEVELS]; /* by level; for information, it is in desc.offset already */
} tsr_tensor_desc;

/* TensorDesc(): ANY, UNSPECIFIED, no dims. */
TSR_API tsr_tensor_desc tsr_tensor_desc_default(void);

/* TensorDesc(precision, layout): no dims yet. */
TSR_API tsr_tensor_desc tsr_tensor_desc_empty(tsr_precision precision, tsr_ie_layout layout);

/*
 * TensorDesc(precision, dims, layout): dense, dims in logical order. TSR_INVALID_ARGUMENT where the
 * rank is not that of the layout.
 */
TSR_API TSR_MUST_CHECK tsr_status tsr_tensor_desc_from_layout(tsr_tensor_desc *tensor, tsr_precision precision,
                                                              int rank, const int64_t *dims, tsr_ie_layout layout,
                                                              tsr_error *error);

/*
 * The same from block dims, which are in the order of the layout in memory: {1,20,20,25} in NHWC has 25
 * channels. The documents of the original show this of BlockingDesc(dims, layout), whose code takes
 * logical dims.
 */
TSR_API TSR_MUST_CHECK tsr_status tsr_tensor_desc_from_block_dims(tsr_tensor_desc *tensor, tsr_precision precision,
                                                                  int rank, const int64_t *block_dims,
                                                                  tsr_ie_layout layout, tsr_error *error);

/*
 * TensorDesc(precision, dims, BlockingDesc): all forms of a BlockingDesc are a tsr_blocking, whose
 * later fields may be left out. The layout is the one with this order, or BLOCKED.
 */
TSR_API TSR_MUST_CHECK tsr_status tsr_tensor_desc_from_blocking(tsr_tensor_desc *tensor, tsr_precision precision,
                                                                int rank, const int64_t *dims,
                                                                const tsr_blocking *blocking, tsr_error *error);

/* setPrecision. The memory stays where it is, counted in elements. */
TSR_API TSR_MUST_CHECK tsr_status tsr_tensor_desc_set_precision(tsr_tensor_desc *tensor, const tsr_tensor_desc *from,
                                                                tsr_precision precision, tsr_error *error);

/*
 * setDims: the same layout, dense again, of other dims. SCALAR takes {} and {1}, which change nothing.
 * BLOCKED keeps its order of axes; one with inner blocks is refused, as its blocks may not fit the dims.
 */
TSR_API TSR_MUST_CHECK tsr_status tsr_tensor_desc_set_dims(tsr_tensor_desc *tensor, const tsr_tensor_desc *from,
                                                           int rank, const int64_t *dims, tsr_error *error);

/*
 * setLayout: the same dims, dense, in another layout. Only for what is dense in its own layout, or not
 * described: the original renames anything else and leaves its memory as it was, and that is refused.
 */
TSR_API TSR_MUST_CHECK tsr_status tsr_tensor_desc_set_layout(tsr_tensor_desc *tensor, const tsr_tensor_desc *from,
                                                             tsr_ie_layout layout, tsr_error *error);

/* reshape(dims, layout): new dims, dense; ANY keeps the layout. Refused for padding before data, and for a region. */
TSR_API TSR_MUST_CHECK tsr_status tsr_tensor_desc_reshape(tsr_tensor_desc *tensor, const tsr_tensor_desc *from,
                                                          int rank, const int64_t *dims, tsr_ie_layout layout,
                                                          tsr_error *error);

/* reshape(dims, BlockingDesc). The layout becomes BLOCKED. */
TSR_API TSR_MUST_CHECK tsr_status tsr_tensor_desc_reshape_blocking(tsr_tensor_desc *tensor, const tsr_tensor_desc *from,
                                                                   int rank, const int64_t *dims,
                                                                   const tsr_blocking *blocking, tsr_error *error);

/* A rectangle of one image of a batch. */
typedef struct tsr_roi {
    int64_t id; /* which image */
    int64_t pos_x, pos_y;
    int64_t size_x, size_y; /* 0 is allowed, and makes an empty tensor */
} tsr_roi;

/*
 * make_roi_desc: a region of a tensor in NCHW or NHWC, or begin (included) to end (not included) of one
 * with one level for each axis. In the memory of the original, or dense in memory of its own.
 * TSR_OUT_OF_RANGE where it leaves the tensor.
 */
TSR_API TSR_MUST_CHECK tsr_status tsr_tensor_desc_roi(tsr_tensor_desc *tensor, const tsr_tensor_desc *from,
                                                      const tsr_roi *roi, bool in_original_memory, tsr_error *error);
TSR_API TSR_MUST_CHECK tsr_status tsr_tensor_desc_range(tsr_tensor_desc *tensor, const tsr_tensor_desc *from, int rank,
                                                        const int64_t *begin, const int64_t *end,
                                                        bool in_original_memory, tsr_error *error);

/*
 * offset(v) and offset(l). Where no memory is described, as in a SCALAR, the only place is the offset;
 * ANY has none: TSR_INVALID_ARGUMENT.
 */
TSR_API TSR_MUST_CHECK tsr_status tsr_tensor_desc_offset(const tsr_tensor_desc *tensor, int rank, const int64_t *index,
                                                         int64_t *offset, tsr_error *error);
TSR_API TSR_MUST_CHECK tsr_status tsr_tensor_desc_offset_linear(const tsr_tensor_desc *tensor, int64_t linear,
                                                                int64_t *offset, tsr_error *error);

/* Precision, layout, dims and all fields of the blocking. */
TSR_API bool tsr_tensor_desc_equal(const tsr_tensor_desc *a, const tsr_tensor_desc *b);

TSR_END_DECLS

#endif
