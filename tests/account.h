/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_TESTS_ACCOUNT_H
#define TESSERA_TESTS_ACCOUNT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <tessera/memory.h>

/* An allocator that counts. */
struct account {
    atomic_int allocations, releases;
    atomic_llong held_bytes;
    int failures; /* so many calls fail from now on */
    int fails_at; /* the call of this number fails, from 1; 0: none */
    atomic_int calls;
    long long most_bytes; /* a call that would hold more fails; 0: no limit */
    long long slow_nanoseconds;
};

static inline void *account_allocate(void *context, size_t size_bytes, size_t alignment)
{
    struct account *account = context;
    long long held = atomic_fetch_add(&account->held_bytes, (long long)size_bytes) + (long long)size_bytes;
    if (account->slow_nanoseconds)
        nanosleep(&(struct timespec){.tv_nsec = account->slow_nanoseconds}, NULL);
    const bool is_its_turn = atomic_fetch_add(&account->calls, 1) + 1 == account->fails_at;
    if (is_its_turn || (account->failures && account->failures--) ||
        (account->most_bytes && held > account->most_bytes)) {
        atomic_fetch_sub(&account->held_bytes, (long long)size_bytes);
        return NULL;
    }
    atomic_fetch_add(&account->allocations, 1);
    void *memory = aligned_alloc(alignment, (size_bytes + alignment - 1) / alignment * alignment);
    return memory ? memset(memory, 0xa5, size_bytes) : NULL;
}

static inline void account_release(void *context, void *memory, size_t size_bytes)
{
    struct account *account = context;
    atomic_fetch_add(&account->releases, 1);
    atomic_fetch_sub(&account->held_bytes, (long long)size_bytes);
    free(memory);
}

static inline tsr_allocator allocator_of(struct account *account)
{
    return (tsr_allocator){account_allocate, account_release, account};
}

static inline void expect_settled(struct account *account)
{
    assert_int_equal(atomic_load(&account->allocations), atomic_load(&account->releases));
    assert_int_equal(atomic_load(&account->held_bytes), 0);
}

#endif
