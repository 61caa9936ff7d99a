/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_SRC_REORDER_ONEDNN_COMPAT_H
#define TESSERA_SRC_REORDER_ONEDNN_COMPAT_H

#include <oneapi/dnnl/dnnl.h>
#include <oneapi/dnnl/dnnl_debug.h>

/*
 * What differs between oneDNN 2.6 and 3.x. In 2.x a memory descriptor is a struct and scales are
 * values of an attribute; in 3.x it is an opaque pointer and scales are an argument of the
 * execution.
 */

#if DNNL_VERSION_MAJOR >= 3

typedef dnnl_memory_desc_t tsr_md;

static inline dnnl_status_t tsr_md_by_tag(tsr_md *md, int rank, const dnnl_dims_t dims, dnnl_data_type_t type,
                                          dnnl_format_tag_t tag)
{
    return dnnl_memory_desc_create_with_tag(md, rank, dims, type, tag);
}

static inline dnnl_status_t tsr_md_by_strides(tsr_md *md, int rank, const dnnl_dims_t dims, dnnl_data_type_t type,
                                              const dnnl_dims_t strides)
{
    return dnnl_memory_desc_create_with_strides(md, rank, dims, type, strides);
}

static inline void tsr_md_free(tsr_md *md)
{
    if (*md)
        dnnl_memory_desc_destroy(*md);
    *md = NULL;
}

static inline dnnl_status_t tsr_attr_scale(dnnl_primitive_attr_t attr, int64_t count, int mask, const float *values)
{
    (void)count;
    (void)values;
    return dnnl_primitive_attr_set_scales_mask(attr, DNNL_ARG_SRC, mask);
}

static inline dnnl_status_t tsr_reorder_pd(dnnl_primitive_desc_t *pd, const tsr_md *src, const tsr_md *dst,
                                           dnnl_engine_t engine, const_dnnl_primitive_attr_t attr)
{
    return dnnl_reorder_primitive_desc_create(pd, *src, engine, *dst, engine, attr);
}

static inline dnnl_status_t tsr_memory(dnnl_memory_t *memory, const tsr_md *md, dnnl_engine_t engine, void *handle)
{
    return dnnl_memory_create(memory, *md, engine, handle);
}

#define TSR_SCALES_ARE_ARGUMENTS 1

#else

typedef dnnl_memory_desc_t tsr_md;

static inline dnnl_status_t tsr_md_by_tag(tsr_md *md, int rank, const dnnl_dims_t dims, dnnl_data_type_t type,
                                          dnnl_format_tag_t tag)
{
    return dnnl_memory_desc_init_by_tag(md, rank, dims, type, tag);
}

static inline dnnl_status_t tsr_md_by_strides(tsr_md *md, int rank, const dnnl_dims_t dims, dnnl_data_type_t type,
                                              const dnnl_dims_t strides)
{
    return dnnl_memory_desc_init_by_strides(md, rank, dims, type, strides);
}

static inline void tsr_md_free(tsr_md *md)
{
    (void)md;
}

static inline dnnl_status_t tsr_attr_scale(dnnl_primitive_attr_t attr, int64_t count, int mask, const float *values)
{
    return dnnl_primitive_attr_set_output_scales(attr, count, mask, values);
}

static inline dnnl_status_t tsr_reorder_pd(dnnl_primitive_desc_t *pd, const tsr_md *src, const tsr_md *dst,
                                           dnnl_engine_t engine, const_dnnl_primitive_attr_t attr)
{
    return dnnl_reorder_primitive_desc_create(pd, src, engine, dst, engine, attr);
}

static inline dnnl_status_t tsr_memory(dnnl_memory_t *memory, const tsr_md *md, dnnl_engine_t engine, void *handle)
{
    return dnnl_memory_create(memory, md, engine, handle);
}

#define TSR_SCALES_ARE_ARGUMENTS 0

#endif

#endif
