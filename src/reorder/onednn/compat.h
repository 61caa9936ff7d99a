/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_SRC_REORDER_ONEDNN_COMPAT_H
#define TESSERA_SRC_REORDER_ONEDNN_COMPAT_H

#include <stdbool.h>
#include <string.h>

#include <oneapi/dnnl/dnnl.h>
#include <oneapi/dnnl/dnnl_debug.h>

/*
 * What differs between oneDNN 2.6 and 3.x. In 2.x a memory descriptor is a struct and scales are
 * values of an attribute; in 3.x it is an opaque pointer and scales are an argument of the
 * execution.
 */

#define TSR_ONEDNN_AT_LEAST(major, minor)                                                                              \
    (DNNL_VERSION_MAJOR > (major) || (DNNL_VERSION_MAJOR == (major) && DNNL_VERSION_MINOR >= (minor)))

typedef dnnl_memory_desc_t tsr_md;

/*
 * What a descriptor of the kind dnnl_blocked says: the outer blocks of each dim and their strides,
 * and the inner blocks, outermost first, which are dense.
 */
typedef struct tsr_md_blocking {
    dnnl_data_type_t type;
    int rank;
    dnnl_dims_t dims, padded_dims, padded_offsets, strides;
    dnnl_dim_t start;
    int blocks;
    dnnl_dims_t block_dims, block_axes;
} tsr_md_blocking;

/* dnnl_fmt_kind2str does not know all of them, and asserts that it does. */
static inline const char *tsr_md_kind_name(dnnl_format_kind_t kind)
{
#if DNNL_VERSION_MAJOR >= 3
    static const char *const names[] = {"undef", "any", "blocked", "opaque", "sparse"};
#else
    static const char *const names[] = {"undef", "any", "blocked", "wino", "rnn_packed"};
#endif
    return (unsigned)kind < sizeof names / sizeof names[0] ? names[kind] : "unknown";
}

/* Is this a kind that primitives choose, and nobody else can read? Sparse ones have more buffers than one. */
static inline bool tsr_md_kind_is_opaque(dnnl_format_kind_t kind)
{
#if DNNL_VERSION_MAJOR >= 3
    return kind == dnnl_format_kind_opaque;
#else
    return kind == dnnl_format_kind_wino || kind == dnnl_format_kind_rnn_packed;
#endif
}

#if DNNL_VERSION_MAJOR >= 3

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

static inline dnnl_status_t tsr_md_clone(tsr_md *md, const tsr_md *from)
{
    return dnnl_memory_desc_clone(md, *from);
}

static inline size_t tsr_md_size_bytes(const tsr_md *md)
{
    return dnnl_memory_desc_get_size(*md);
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

static inline bool tsr_md_is_there(const tsr_md *md)
{
    return md && *md;
}

static inline int tsr_md_rank(const tsr_md *md)
{
    int rank = 0;
    (void)dnnl_memory_desc_query(*md, dnnl_query_ndims_s32, &rank);
    return rank;
}

static inline dnnl_format_kind_t tsr_md_kind(const tsr_md *md)
{
    dnnl_format_kind_t kind = dnnl_format_kind_undef;
    (void)dnnl_memory_desc_query(*md, dnnl_query_format_kind, &kind);
    return kind;
}

static inline dnnl_status_t tsr_md_dims(const tsr_md *md, dnnl_query_t what, int count, dnnl_dims_t dims)
{
    const dnnl_dims_t *found = NULL;
    dnnl_status_t status = dnnl_memory_desc_query(*md, what, &found);
    for (int i = 0; status == dnnl_success && i < count && i < DNNL_MAX_NDIMS; i++)
        dims[i] = (*found)[i];
    return status;
}

/* Type, rank and dims, which memory descriptors of any kind have. */
static inline dnnl_status_t tsr_md_read_shape(tsr_md_blocking *blocking, const tsr_md *md)
{
    blocking->rank = tsr_md_rank(md);
    dnnl_status_t status = dnnl_memory_desc_query(*md, dnnl_query_data_type, &blocking->type);
    return status == dnnl_success ? tsr_md_dims(md, dnnl_query_dims, blocking->rank, blocking->dims) : status;
}

static inline dnnl_status_t tsr_md_read(tsr_md_blocking *blocking, const tsr_md *md)
{
    dnnl_status_t status = tsr_md_read_shape(blocking, md);
    if (status == dnnl_success)
        status = dnnl_memory_desc_query(*md, dnnl_query_submemory_offset_s64, &blocking->start);
    if (status == dnnl_success)
        status = dnnl_memory_desc_query(*md, dnnl_query_inner_nblks_s32, &blocking->blocks);
    if (status == dnnl_success)
        status = tsr_md_dims(md, dnnl_query_padded_dims, blocking->rank, blocking->padded_dims);
    if (status == dnnl_success)
        status = tsr_md_dims(md, dnnl_query_padded_offsets, blocking->rank, blocking->padded_offsets);
    if (status == dnnl_success)
        status = tsr_md_dims(md, dnnl_query_strides, blocking->rank, blocking->strides);
    if (status == dnnl_success && blocking->blocks)
        status = tsr_md_dims(md, dnnl_query_inner_blks, blocking->blocks, blocking->block_dims);
    if (status == dnnl_success && blocking->blocks)
        status = tsr_md_dims(md, dnnl_query_inner_idxs, blocking->blocks, blocking->block_axes);
    return status;
}

/* Its flags cannot be asked for, but what they add to the buffer can be seen in the size. */
static inline bool tsr_md_has_extra(const tsr_md *md, size_t size_bytes)
{
    return tsr_md_size_bytes(md) > size_bytes;
}

static inline const char *tsr_md_type_name(dnnl_data_type_t type)
{
    return dnnl_dt2str(type);
}

#define TSR_MD_IS_STRUCT 0

static inline dnnl_status_t tsr_md_write(tsr_md *md, const tsr_md_blocking *blocking)
{
    (void)md;
    (void)blocking;
    return dnnl_unimplemented;
}

static inline void tsr_md_set_start(tsr_md *md, dnnl_dim_t start)
{
    (void)md;
    (void)start;
}

#else

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

static inline dnnl_status_t tsr_md_clone(tsr_md *md, const tsr_md *from)
{
    *md = *from;
    return dnnl_success;
}

static inline size_t tsr_md_size_bytes(const tsr_md *md)
{
    return dnnl_memory_desc_get_size(md);
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

static inline bool tsr_md_is_there(const tsr_md *md)
{
    return md != NULL;
}

static inline int tsr_md_rank(const tsr_md *md)
{
    return md->ndims;
}

static inline dnnl_format_kind_t tsr_md_kind(const tsr_md *md)
{
    return md->format_kind;
}

static inline dnnl_status_t tsr_md_read_shape(tsr_md_blocking *blocking, const tsr_md *md)
{
    *blocking = (tsr_md_blocking){.type = md->data_type, .rank = md->ndims};
    memcpy(blocking->dims, md->dims, sizeof md->dims);
    return dnnl_success;
}

static inline dnnl_status_t tsr_md_read(tsr_md_blocking *blocking, const tsr_md *md)
{
    const dnnl_blocking_desc_t *inner = &md->format_desc.blocking;
    (void)tsr_md_read_shape(blocking, md);
    blocking->start = md->offset0;
    blocking->blocks = inner->inner_nblks;
    memcpy(blocking->padded_dims, md->padded_dims, sizeof md->padded_dims);
    memcpy(blocking->padded_offsets, md->padded_offsets, sizeof md->padded_offsets);
    memcpy(blocking->strides, inner->strides, sizeof inner->strides);
    memcpy(blocking->block_dims, inner->inner_blks, sizeof inner->inner_blks);
    memcpy(blocking->block_axes, inner->inner_idxs, sizeof inner->inner_idxs);
    return dnnl_success;
}

static inline bool tsr_md_has_extra(const tsr_md *md, size_t size_bytes)
{
    (void)size_bytes;
    return md->extra.flags != dnnl_memory_extra_flag_none;
}

/* A struct may hold any number, and oneDNN asserts that it knows it. */
static inline const char *tsr_md_type_name(dnnl_data_type_t type)
{
    return type >= dnnl_data_type_undef && type <= dnnl_u8 ? dnnl_dt2str(type) : "unknown";
}

#define TSR_MD_IS_STRUCT 1

static inline dnnl_status_t tsr_md_write(tsr_md *md, const tsr_md_blocking *blocking)
{
    memset(md, 0, sizeof *md);
    md->ndims = blocking->rank;
    md->data_type = blocking->type;
    md->offset0 = blocking->start;
    md->format_kind = dnnl_blocked;
    memcpy(md->dims, blocking->dims, sizeof md->dims);
    memcpy(md->padded_dims, blocking->padded_dims, sizeof md->padded_dims);
    memcpy(md->padded_offsets, blocking->padded_offsets, sizeof md->padded_offsets);
    dnnl_blocking_desc_t *inner = &md->format_desc.blocking;
    inner->inner_nblks = blocking->blocks;
    memcpy(inner->strides, blocking->strides, sizeof inner->strides);
    memcpy(inner->inner_blks, blocking->block_dims, sizeof inner->inner_blks);
    memcpy(inner->inner_idxs, blocking->block_axes, sizeof inner->inner_idxs);
    return dnnl_success;
}

static inline void tsr_md_set_start(tsr_md *md, dnnl_dim_t start)
{
    md->offset0 = start;
}

#endif

#endif
