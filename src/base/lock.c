/* SPDX-License-Identifier: Apache-2.0 */
#include "base/lock.h"

#include <stddef.h>
#include <stdint.h>

#define LOCK                                                                                                           \
    {                                                                                                                  \
        PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER                                                            \
    }
#define LOCKS_4 LOCK, LOCK, LOCK, LOCK

tsr_lock *tsr_lock_of(const void *object)
{
    static tsr_lock locks[] = {LOCKS_4, LOCKS_4, LOCKS_4, LOCKS_4, LOCKS_4, LOCKS_4, LOCKS_4, LOCKS_4};
    enum { LOCKS = sizeof locks / sizeof *locks, SMALLEST_OBJECT = 64 };
    return &locks[(uintptr_t)object / SMALLEST_OBJECT % LOCKS];
}
