/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_ONEDNN_H
#define TESSERA_ONEDNN_H

#include <tessera/reorder.h>

TSR_BEGIN_DECLS

/*
 * oneDNN's memory descriptors, both ways. No header of oneDNN is needed to include this one, so that
 * a descriptor is a void *: memory_desc is a dnnl_memory_desc_t * of the oneDNN that the library was
 * built with, which tsr_build_features names. In oneDNN 2.x that points to the struct, in 3.x to the
 * handle:
 *
 *     dnnl_memory_desc_t md;
 *     status = tsr_desc_to_onednn(&desc, &md, &error);
 *     status = tsr_desc_from_onednn(&desc, &md, &error);
 *
 * Both describe the same memory: the element at index v is at the offset that oneDNN's formula gives,
 * and what oneDNN calls padding is padding.
 * https://uxlfoundation.github.io/oneDNN/dev_guide_understanding_memory_formats.html
 *
 * Types have the same names on both sides, but for TSR_BOOL, which is dnnl_boolean: f32, f16, bf16,
 * s8, u8, s32; from 3.0 f64; from 3.4 bool, f8_e4m3, f8_e5m2, s4 and u4.
 *
 * In a build without oneDNN all functions are TSR_UNSUPPORTED.
 */

/*
 * The descriptor of a memory descriptor: a level for the outer blocks of each axis, by falling
 * stride, then the inner blocks. Strides of 0 make a descriptor to read from. memory_desc stays the
 * caller's.
 *
 * TSR_UNSUPPORTED       it is opaque: of a format kind other than blocked; it carries more than the
 *                       elements, such as the compensation of s8 weights; a dim or stride that is known
 *                       only at run time; no dims; a type that dtype.h does not have; padding in front
 *                       that is no whole block. oneDNN 3 does not show what it carries: there it is
 *                       found by the size, which oneDNN does not tell of a submemory
 * TSR_INVALID_ARGUMENT  NULL, or a struct that contradicts itself
 * TSR_OVERFLOW          oneDNN accepts dims whose product does not fit
 */
TSR_API TSR_MUST_CHECK tsr_status tsr_desc_from_onednn(tsr_desc *desc, const void *memory_desc, tsr_error *error);

/*
 * The inverse. memory_desc is written on success only; in oneDNN 3.x the caller then destroys it
 * with dnnl_memory_desc_destroy.
 *
 * Where oneDNN has a tag for the layout, the result equals what the tag gives; else plain layouts are
 * given by strides, which may leave gaps or be 0, and in 2.x any blocks of which the inner ones are
 * dense and innermost.
 *
 * TSR_UNSUPPORTED       0 or more than 12 axes, a type that this oneDNN lacks, a window, a negative stride,
 *                       and other layouts that it cannot say; in 3.x also a start other than 0
 *                       (take it from the descriptor and add it to the pointer), and blocks without a tag
 * TSR_INVALID_ARGUMENT  memory_desc is NULL
 * TSR_OUT_OF_MEMORY
 */
TSR_API TSR_MUST_CHECK tsr_status tsr_desc_to_onednn(const tsr_desc *desc, void *memory_desc, tsr_error *error);

/*
 * A plan between two memory descriptors, for weights in the layout that a primitive asked for: plain
 * ones, or opaque ones such as those of Winograd convolutions, packed ones of recurrent networks, and
 * s8 weights that carry a compensation:
 *
 *     wanted = dnnl_primitive_desc_query_md(convolution, dnnl_query_weights_md, 0);
 *     status = tsr_plan_create_onednn(&plan, &plain, wanted, NULL, &error);       in oneDNN 2.x
 *     status = tsr_plan_create_onednn(&plan, &plain, &wanted, NULL, &error);      in oneDNN 3.x
 *
 * Where tsr_desc_from_onednn can describe both, this is tsr_plan_create of the two. Else oneDNN
 * makes the plan and runs it, as row "onednn". The memory descriptors stay the caller's, and may be
 * destroyed at once.
 *
 * The buffers of tsr_plan_run are of dnnl_memory_desc_get_size bytes for an opaque side, of
 * tsr_desc_size_bytes for the other. What is in an opaque buffer is oneDNN's to say; of the layouts
 * named above, 2.6 and 3.7 read none back.
 *
 * Of the options, scale is handed on, and so is threads. Conversion follows oneDNN's rules, which
 * differ from those of reorder.h for NaN and denormals. There is no self-test, as there is nothing
 * to compare an opaque layout with: it is taken on trust.
 *
 * TSR_INVALID_ARGUMENT  as tsr_plan_create and tsr_desc_from_onednn say
 * TSR_UNSUPPORTED       as they say, but for opaque layouts: these are refused with a mean, a shift, a
 *                       beta, reversed axes, padding that is kept, another row than "onednn", or an
 *                       executor of the caller's with more than one thread; where oneDNN has no such
 *                       reorder; where they are sparse, of format kind any, or without elements; and
 *                       where the source carries a compensation, which oneDNN would leave out
 * TSR_OUT_OF_MEMORY     nothing is leaked
 */
TSR_API TSR_MUST_CHECK tsr_status tsr_plan_create_onednn(tsr_plan **plan, const void *src_memory_desc,
                                                         const void *dst_memory_desc,
                                                         const tsr_reorder_options *options, tsr_error *error);

TSR_END_DECLS

#endif
