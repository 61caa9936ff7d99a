/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_SRC_BLOCKED_BLOB_H
#define TESSERA_SRC_BLOCKED_BLOB_H

#include <tessera/blob.h>

#include "base/ref.h"
#include "blocked/device.h"
#include "blocked/saved.h"
#include "desc/fields.h"

/* The values of a blob in a layout at a place, or memory for them. */
typedef struct tsr_representation {
    struct tsr_representation *next;
    tsr_storage *storage;
    int64_t last_use;
    int users;                /* accesses, and conversions from it, */
    int readers;              /* which are so many of these */
    bool is_valid;            /* it holds the values */
    bool was_valid;           /* before the last access for writing */
    bool is_being_made;       /* by a thread that will say so */
    bool has_unknown_padding; /* whoever wrote it may have written that, too */
    bool has_padding;
    tsr_compact_desc *layout; /* behind this */
    tsr_compact_desc *alias;  /* behind that: the same memory in other fields, as it was asked for last; or NULL */
} tsr_representation;

/*
 * All fields but those that create sets, and the storages, which synchronise themselves, are guarded by
 * tsr_lock_of(blob). Those who hold the blob may look at what nobody changes then: version, start and home.
 */
struct tsr_blob {
    tsr_ref ref;
    int views;        /* of this one */
    tsr_blob *parent; /* of a view, or NULL */
    int64_t start;    /* of a view, in its parent */
    int64_t version;  /* how often this one has been acquired for writing */
    int64_t seen;     /* of a view: the root's version that its representations are of */
    int readers;      /* accesses that read only */
    bool has_writer;
    bool is_being_reshaped;
    int threads;
    tsr_plan_cache *plans;
    int64_t keep_bytes;
    tsr_allocator allocator;
    struct tsr_neo_buffer *buffers; /* the one that was got last */
    tsr_representation *home;       /* the first of all */
    int64_t clock;                  /* of last_use */
    int64_t acquires, hits, conversions, transfers, converted_bytes, transferred_bytes, padding_zeroed;
};

/* ---- representations; whoever calls holds the lock, or is alone with them ---- */

/* tsr_desc_check of a layout that is to be written to, and TSR_UNSUPPORTED: there is no room to write it down, as
 * docs/blobs.md says. No lock is needed. */
tsr_status tsr_blob_can_keep(const tsr_desc *layout, tsr_error *error);

/* One of a layout that has been checked. It is not valid, and over storage, of which it takes a reference, or, if that
 * is NULL, over its own on the device. TSR_OUT_OF_MEMORY. */
tsr_status tsr_representation_create(tsr_representation **made, const tsr_blob *blob, tsr_device *device,
                                     tsr_storage *storage, const tsr_desc *layout, tsr_error *error);

/* Another of the same layout at the same place, in memory of its own, as large. */
tsr_status tsr_representation_create_like(tsr_representation **made, const tsr_blob *blob,
                                          const tsr_representation *like, tsr_error *error);

/* Another layout of the same memory, which has been checked. */
void tsr_representation_rewrite(tsr_representation *representation, const tsr_desc *layout);

void tsr_representation_free(tsr_representation **representation, const tsr_allocator *allocator);

/* A list of them. */
void tsr_representation_free_all(tsr_representation *first, const tsr_allocator *allocator);

/* Of a list, that of a layout at a place, by its fields; or NULL. */
tsr_representation *tsr_representation_find(tsr_representation *first, const tsr_device *device,
                                            const tsr_desc *layout);

/* That which has been asked for by these fields before, though its layout has others; or NULL. */
tsr_representation *tsr_blob_find_alias(const tsr_blob *blob, const tsr_device *device, const tsr_desc *layout);

/* From now on, it is found by these fields, too, if there is room to write them down beside its own. */
void tsr_representation_set_alias(tsr_representation *representation, const tsr_desc *layout);

/* That whose layout describes the same memory, in other fields, too. This takes its time, and so is asked only where
 * none has the same fields. The layout has been checked. */
tsr_representation *tsr_representation_find_equal(tsr_representation *first, const tsr_device *device,
                                                  const tsr_desc *layout);

/* The valid one from which another on a device is had most cheaply; NULL if the blob is zero. */
tsr_representation *tsr_blob_best_source(const tsr_blob *blob, const tsr_device *device);

void tsr_blob_append(tsr_blob *blob, tsr_representation *made);

/* Has it memory, and what the intent asks for in there? */
bool tsr_representation_is_ready(const tsr_representation *one, tsr_intent intent);

/* From now on, nothing else holds the values. */
void tsr_blob_make_sole(tsr_blob *blob, tsr_representation *one);

/* Takes one that is not home out of the list. */
void tsr_blob_unlink(tsr_blob *blob, tsr_representation *representation);

/* The one that keep_bytes asks to be given up, unlinked; or NULL. */
tsr_representation *tsr_blob_unlink_excess(tsr_blob *blob);

/* As tsr_blob_get_desc and tsr_expand: what belongs to axes and levels that there are not stays as it was. */
void tsr_blob_expand(tsr_blob *blob, tsr_desc *desc);

/* Is that a layout of the blob's type and dims, which can be written to? */
tsr_status tsr_blob_check_layout(tsr_blob *blob, const tsr_desc *layout, tsr_error *error);

/* ---- access ---- */

/* Where a view's parent is, and in which version, for as long as that is held. */
typedef struct tsr_parent_state {
    int64_t version, offset;
} tsr_parent_state;

/* Begins to use a blob for reading, or alone. The lock is held. TSR_BUSY. */
tsr_status tsr_blob_enter(tsr_blob *blob, tsr_intent intent, tsr_error *error);

/* And ends it. */
void tsr_blob_leave(tsr_blob *blob, tsr_intent intent);

/*
 * Sees to it that a representation that is not ready has memory, and unless all of it is to be overwritten, the values
 * and zero padding. The blob has been entered. The lock is held, and given up meanwhile.
 */
tsr_status tsr_blob_prepare(tsr_blob *blob, tsr_representation *one, tsr_intent intent, tsr_error *error);

/*
 * The representation of a layout (NULL: home's, or if that is elsewhere, the like of it) on a device, which is ready
 * for the intent and stays so until it is let go. Fails as tsr_blob_acquire does.
 */
tsr_status tsr_blob_hold(tsr_representation **held, tsr_blob *blob, tsr_device *device, const tsr_desc *layout,
                         tsr_intent intent, tsr_error *error);

/* Ends that for the blob, representation and intent of an access, of which representation becomes NULL, and its
 * mapping. TSR_INVALID_ARGUMENT: nobody holds it. */
tsr_status tsr_blob_let_go(tsr_access *access, tsr_error *error);

/* Of a view: holds its parent for as long. The lock is not held. */
tsr_status tsr_view_enter_parent(tsr_blob *view, tsr_intent intent, tsr_parent_state *state, tsr_error *error);

/* Then, when the view has been entered, too: forgets what that has changed since the last time. The lock is held. */
void tsr_view_refresh(tsr_blob *view, tsr_intent intent, const tsr_parent_state *state);

/* The blob that has the memory: of a view of views, the last parent. */
tsr_blob *tsr_blob_root(tsr_blob *blob);

/* Where a blob's home begins in its buffer; a view's goes with those that it is in. */
int64_t tsr_blob_offset(tsr_blob *blob);

/* Has nobody written to a view's parents since its representations were made, or moved it? */
bool tsr_view_is_fresh(tsr_blob *view);

/*
 * Gives another shape to a view that nobody else has a reference of: it shows those elements of its parent's buffer
 * from now on, in no other layout. desc is as for tsr_blob_create_view, and has been checked. The parent has been
 * entered alone.
 */
void tsr_view_rewrite(tsr_blob *view, const tsr_desc *desc);

/* Of a view that goes away. */
void tsr_view_forget_parent(tsr_blob *view);

/* And ends it, when what was written is back in the parent. status is what has happened so far. */
tsr_status tsr_view_leave_parent(tsr_blob *view, tsr_intent intent, tsr_status status, tsr_error *error);

/* Alone with the blob: moves the values home, if they are elsewhere. The lock is held, and given up meanwhile. */
tsr_status tsr_blob_bring_home(tsr_blob *blob, tsr_error *error);

/* Ends an access behind something that may have failed, which counts more than what goes wrong now. */
tsr_status tsr_blob_release_after(tsr_access *access, tsr_status before, tsr_error *error);

/* ---- what a device may fail to write ---- */

/*
 * What an access for writing has in home, of which some bytes are to be written, can be had back by
 * tsr_blob_end_write: if the memory is the blob's alone and all that has the values, it is put aside, and the access
 * gets other memory, which is kept for the next time. If others see it, too, the bytes join saved.
 */
tsr_status tsr_blob_put_aside(tsr_access *access, tsr_bytes bytes, tsr_saved **saved, tsr_error *error);

/*
 * Ends an access for writing. If that failed, the blob has its values as before: where they are, if nothing was
 * written there; or else those of other representations, and what was put aside or saved. Frees what was saved.
 */
tsr_status tsr_blob_end_write(tsr_access *access, bool has_begun, tsr_saved **saved, tsr_status before,
                              tsr_error *error);

/* ---- from blob to blob ---- */

/* The values for reading, in a layout that the blob has them in, if possible on a device. */
tsr_status tsr_blob_acquire_as_they_are(tsr_blob *blob, tsr_device *device, tsr_access *access, tsr_error *error);

/* A blob with the values of one, in other memory than that of another: itself, shared, or a copy. */
tsr_status tsr_blob_get_apart(tsr_blob **apart, tsr_blob *blob, tsr_blob *other, tsr_error *error);

/* Are there parts, and each of them a blob? */
tsr_status tsr_blob_check_parts(tsr_blob *const *parts, int count, tsr_error *error);

#endif
