/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_BLOB_H
#define TESSERA_BLOB_H

#include <tessera/desc.h>
#include <tessera/device.h>
#include <tessera/memory.h>
#include <tessera/plan_cache.h>
#include <tessera/storage.h>

TSR_BEGIN_DECLS

/*
 * A blob is a tensor that operations hand on to each other: values, at one place or several, in one layout or
 * several. Each copy of the values in a layout at a place (a device, or the host) is a
 * representation. Whoever wants the values says where, in which layout, and for what:
 *
 *     tsr_access access;
 *     status = tsr_blob_acquire(blob, NULL, &nChw16c, TSR_READ, &access, &error);
 *     ... access.data is the values on the host, in that layout ...
 *     status = tsr_blob_release(&access, &error);
 *
 * If no representation there and in that layout holds the values, one is made from another that
 * does, once for all who ask; what will be overwritten is not converted. Writing makes one representation
 * the only one that holds the values, from the moment of the acquire.
 *
 * A blob that nobody has written is zero. Its first representation, in the layout that it was created with, is
 * its home. Memory is allocated when it is first acquired, zeroed and aligned to TSR_ALIGNMENT.
 *
 * Padding. Elements that no index reaches are zero in what is acquired for reading. Those of what was
 * acquired for writing may hold anything; they are zeroed before the next one reads them.
 *
 * Threads. All functions may be called by any thread. Any number of accesses for reading may be held at
 * once, or one for writing. Who would have to wait for another's access is refused with TSR_BUSY; who
 * asks for a representation that is just being made waits for that.
 */
typedef struct tsr_blob tsr_blob;

/* {0} is a blob on the host with everything chosen by the library, and so is NULL. */
typedef struct tsr_blob_options {
    tsr_device *device;             /* of its home; a reference is taken. NULL: the host */
    tsr_storage *storage;           /* of its home, which holds its values then; a reference is taken. NULL: its own */
    int64_t keep_bytes;             /* of representations but home that are not acquired, at most; 0: no limit */
    tsr_plan_cache *plans;          /* outlives the blob. NULL: the default */
    int threads;                    /* that convert, and touch memory first; 0: as many as the default executor has */
    const tsr_allocator *allocator; /* of handles, and of memory on the host; copied. NULL: the default */
} tsr_blob_options;

/*
 * A blob of the type, dims and home layout of desc, with one reference.
 *
 * TSR_INVALID_ARGUMENT  desc is no descriptor that can be written to; a storage that is not on the device
 * TSR_UNSUPPORTED       its layout takes more than the 184 bytes that a blob has for it; docs/blobs.md says which do
 * TSR_OUT_OF_RANGE      a storage that is too small
 * TSR_OUT_OF_MEMORY     nothing is leaked
 */
TSR_API TSR_MUST_CHECK tsr_status tsr_blob_create(tsr_blob **blob, const tsr_desc *desc,
                                                  const tsr_blob_options *options, tsr_error *error);

/* A blob over memory of the host that exists, of at least tsr_desc_size_bytes; its values are those of the blob. As
 * tsr_storage_wrap, release may be NULL. Fails as tsr_blob_create does. */
TSR_API TSR_MUST_CHECK tsr_status tsr_blob_wrap(tsr_blob **blob, const tsr_desc *desc, void *memory, size_t size_bytes,
                                                void (*release)(void *context, void *memory), void *context,
                                                tsr_error *error);

/* Another reference to the same blob; the argument, for convenience. NULL is passed through. */
TSR_API tsr_blob *tsr_blob_share(tsr_blob *blob);

/* Gives one reference back. An access holds one of its own. */
TSR_API void tsr_blob_free(tsr_blob **blob);

/* The descriptor of its home, */
TSR_API void tsr_blob_get_desc(tsr_blob *blob, tsr_desc *desc);

/* and where that is, for good. The reference stays with the blob. */
TSR_API tsr_device *tsr_blob_get_device(tsr_blob *blob);

/*
 * A view: a blob whose home is a part of another's home, or all of it under another shape. desc says of the parent's
 * buffer where its elements are, as the functions of view.h make it from the parent's descriptor. The view keeps its
 * parent. An access to the view is one to its parent, too, for TSR_READ, or else for TSR_READ_WRITE; and what was
 * written in another layout is there after the release. A view of a view follows when the one in the middle moves.
 * Padding that desc has must be padding of the parent's.
 *
 * TSR_INVALID_ARGUMENT  another type, or no descriptor that can be written to
 * TSR_UNSUPPORTED       as tsr_blob_create
 * TSR_OUT_OF_RANGE      it reaches beyond the parent's home
 * TSR_BUSY              the parent is just being reshaped
 * TSR_OUT_OF_MEMORY     nothing is leaked
 */
TSR_API TSR_MUST_CHECK tsr_status tsr_blob_create_view(tsr_blob **view, tsr_blob *parent, const tsr_desc *desc,
                                                       tsr_error *error);

/* What it is a view of; NULL if it is none. The reference stays with the view. */
TSR_API tsr_blob *tsr_blob_get_parent(const tsr_blob *blob);

/* Where a view begins: its offset less that of its parent's home, in elements. */
TSR_API int64_t tsr_blob_get_start(tsr_blob *view);

/*
 * Moves a view to another start. tsr_blob_get_desc says where it is, and where those are that are in it. It may begin
 * wherever it does not reach beyond the parent's home: that its elements are what the caller means, and not padding
 * of the parent's, is for the caller to see to, as for tsr_blob_create_view.
 *
 * TSR_INVALID_ARGUMENT  it is no view
 * TSR_OUT_OF_RANGE      it would reach beyond the parent's home; it is where it was
 * TSR_BUSY              somebody holds an access
 */
TSR_API TSR_MUST_CHECK tsr_status tsr_blob_move_view(tsr_blob *view, int64_t start, tsr_error *error);

/* ---- access ---- */

/* What was acquired. Fields may be read; the rest is the blob's. */
typedef struct tsr_access {
    void *data; /* the buffer that the layout describes, as its device names it; NULL if it has no bytes */
    tsr_device *device;
    tsr_intent intent;
    tsr_blob *blob; /* NULL after release */
    struct tsr_representation *representation;
    void *mapped; /* by tsr_access_map */
} tsr_access;

/*
 * Makes the values available on a device (NULL: the host) in a layout (NULL: that of home; of a view on another
 * device, without what lies around it), until tsr_blob_release. The layout has the type and dims of the blob.
 *
 * TSR_INVALID_ARGUMENT  another type or other dims, or a layout that cannot be written to
 * TSR_UNSUPPORTED       as tsr_blob_create
 * TSR_BUSY              others hold accesses that exclude this one
 * TSR_OUT_OF_MEMORY     for the representation or a conversion; the blob is as it was
 * and what a device says. The access is not changed on failure.
 */
TSR_API TSR_MUST_CHECK tsr_status tsr_blob_acquire(tsr_blob *blob, tsr_device *device, const tsr_desc *layout,
                                                   tsr_intent intent, tsr_access *access, tsr_error *error);

/*
 * Ends an access, and unmaps it. TSR_INVALID_ARGUMENT: it was released before. What a device says when it unmaps, or
 * of a view that was written, as tsr_blob_acquire: the access has ended, but what was written is lost. The parent of a
 * view that was written in another layout or at another place is as it was then.
 */
TSR_API TSR_MUST_CHECK tsr_status tsr_blob_release(tsr_access *access, tsr_error *error);

/* The layout that was acquired. */
TSR_API void tsr_access_get_desc(const tsr_access *access, tsr_desc *desc);

/*
 * Makes the data of an access reachable for the host, until tsr_access_unmap or the release: as its device maps
 * memory, which may be without a copy. On the host that is the data itself. A second call gives the same address, of
 * which the bytes that the layout reaches are there, and no others: of a window, not those in front of it.
 * NULL if it has no bytes.
 */
TSR_API TSR_MUST_CHECK tsr_status tsr_access_map(tsr_access *access, void **host, tsr_error *error);

/* Ends that; what was written to the host's address is on the device now. Nothing to do for an access that is not
 * mapped. */
TSR_API TSR_MUST_CHECK tsr_status tsr_access_unmap(tsr_access *access, tsr_error *error);

/*
 * The address of the first element, whose index is all zeros: of a view, data is where its parent's buffer begins.
 * NULL if there is no such address: without elements, in the middle of a byte, and at a device unless it is mapped.
 */
TSR_API void *tsr_access_first_element(const tsr_access *access);

/* ---- what a blob has ---- */

/* Does a representation there and in that layout hold the values? Nothing is made. */
TSR_API bool tsr_blob_holds(tsr_blob *blob, const tsr_device *device, const tsr_desc *layout);

/*
 * Frees the representation of a layout at a place, unless it is home; what is beside home in its layout goes, too.
 * Values that nothing else holds move home first.
 * TSR_BUSY, and as tsr_blob_acquire.
 */
TSR_API TSR_MUST_CHECK tsr_status tsr_blob_drop(tsr_blob *blob, tsr_device *device, const tsr_desc *layout,
                                                tsr_error *error);

/*
 * Uses storage, of which it takes a reference, for the representation of a layout (NULL: that of home) on the
 * storage's device. What it holds are the blob's values from now on, and nothing else holds them. Representations
 * stay where they are, so that what was home is home.
 *
 * TSR_INVALID_ARGUMENT  as tsr_blob_acquire; the blob is a view; another of its layouts uses the storage
 * TSR_UNSUPPORTED       as tsr_blob_create
 * TSR_OUT_OF_RANGE      the storage is too small
 * TSR_BUSY              somebody holds an access; or it is home's, and there are views of it
 * TSR_OUT_OF_MEMORY     the blob is as it was
 */
TSR_API TSR_MUST_CHECK tsr_status tsr_blob_set_storage(tsr_blob *blob, const tsr_desc *layout, tsr_storage *storage,
                                                       tsr_error *error);

/*
 * Another shape. If home's storage is large enough, it keeps its bytes, and nothing is allocated, unless the values are
 * elsewhere and have to come home first. If not, it is replaced, all values are zero and *reallocated, which may be
 * NULL, is true; but memory that is not the library's (tsr_blob_wrap) is not. All other representations are dropped.
 *
 * TSR_BUSY              somebody holds an access, or there are views of it
 * TSR_INVALID_ARGUMENT  desc is no descriptor that can be written to, or has another type; the blob is a view
 * TSR_UNSUPPORTED       as tsr_blob_create
 * TSR_OUT_OF_RANGE      home's memory is too small, and not the library's
 * TSR_OUT_OF_MEMORY     the blob is as it was
 */
TSR_API TSR_MUST_CHECK tsr_status tsr_blob_reshape(tsr_blob *blob, const tsr_desc *desc, bool *reallocated,
                                                   tsr_error *error);

/*
 * Gives dst the values of src, which has the same type and dims, in its home; src makes no further representation.
 * If both lie in one storage, as windows of a sequence, src is copied before.
 * Fails as tsr_blob_acquire does, and dst is as it was, also if a device fails while it writes: what home alone held
 * is put aside, and home gets other memory, which is kept for the next time as a representation beside it. What
 * others see, too, as its storage is shared or wrapped or dst has or is a view, is written where it is; if a device
 * takes part, its bytes are copied before, and brought back if that fails. Only a device that fails then, too, has
 * spoiled them. TSR_OVERLAP: both wrap the same memory.
 */
TSR_API TSR_MUST_CHECK tsr_status tsr_blob_copy(tsr_blob *dst, tsr_blob *src, tsr_error *error);

/*
 * Merges blobs along an axis, one behind the other, and splits one into such parts. All have the type of whole, and
 * its dims but for that axis, where the parts add up to it. No part is in the whole, and what is split goes to
 * different blobs, which may be views of one: where they overlap, the last one has its values. The same one may be
 * merged twice.
 *
 * TSR_INVALID_ARGUMENT  no parts, or parts that do not fit, which the message names; nothing has been moved
 * TSR_OVERLAP           a part between the first and last byte of the whole; nothing has been moved
 * and as tsr_blob_copy: all that was to be written is as it was. All is acquired and planned before anything moves; a
 * view is written in the memory of the blob that has it, which is acquired in its place.
 */
TSR_API TSR_MUST_CHECK tsr_status tsr_blob_merge(tsr_blob *whole, tsr_blob *const *parts, int count, int axis,
                                                 tsr_error *error);
TSR_API TSR_MUST_CHECK tsr_status tsr_blob_split(tsr_blob *const *parts, int count, tsr_blob *whole, int axis,
                                                 tsr_error *error);

/*
 * Gives dst the values of src with two axes exchanged. dst has the type of src, and its dims but for those two. Fails
 * as tsr_blob_copy does.
 */
TSR_API TSR_MUST_CHECK tsr_status tsr_blob_transpose(tsr_blob *dst, tsr_blob *src, int a, int b, tsr_error *error);

/* What has been done for a blob since it was created. */
typedef struct tsr_blob_stats {
    int64_t acquires;          /* that succeeded */
    int64_t hits;              /* of these, that found what they asked for, or were to overwrite it */
    int64_t conversions;       /* from one layout to another */
    int64_t transfers;         /* from one device to another */
    int64_t converted_bytes;   /* written by conversions */
    int64_t transferred_bytes; /* written by transfers */
    int64_t padding_zeroed;    /* times that padding was zeroed for a reader */
    int64_t representations;   /* that have memory of this blob now, */
    int64_t held_bytes;        /* and how much */
} tsr_blob_stats;

TSR_API tsr_blob_stats tsr_blob_get_stats(tsr_blob *blob);

TSR_END_DECLS

#endif
