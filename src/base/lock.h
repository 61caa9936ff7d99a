/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_SRC_BASE_LOCK_H
#define TESSERA_SRC_BASE_LOCK_H

#include <pthread.h>

/*
 * A lock that an object shares with others, so that it needs no memory for one of its own. It is held for a few
 * instructions, or for as long as it takes to compare two layouts: nobody allocates, copies elements or takes another
 * lock under it.
 */
typedef struct tsr_lock {
    pthread_mutex_t mutex;
    pthread_cond_t changed; /* broadcast when what somebody waits for may have come; look again */
} tsr_lock;

/* Always the same one for an address. */
tsr_lock *tsr_lock_of(const void *object);

#endif
