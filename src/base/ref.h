/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_SRC_BASE_REF_H
#define TESSERA_SRC_BASE_REF_H

#include <stdatomic.h>
#include <stdbool.h>

/* An atomic reference count. */
typedef struct tsr_ref {
    atomic_int count;
} tsr_ref;

static inline void tsr_ref_init(tsr_ref *ref)
{
    atomic_init(&ref->count, 1);
}

static inline void tsr_ref_take(tsr_ref *ref)
{
    atomic_fetch_add_explicit(&ref->count, 1, memory_order_relaxed);
}

/*
 * True for the last reference: all that other owners wrote is then visible, and the object is the
 * caller's to free.
 */
static inline bool tsr_ref_drop(tsr_ref *ref)
{
    return atomic_fetch_sub_explicit(&ref->count, 1, memory_order_acq_rel) == 1;
}

/* Has nobody but the caller a reference? */
static inline bool tsr_ref_is_sole(const tsr_ref *ref)
{
    return atomic_load_explicit(&ref->count, memory_order_acquire) == 1;
}

#endif
