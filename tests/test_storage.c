/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <tessera/storage.h>

/* An allocator that counts. */
struct account {
    atomic_int allocations, releases;
    atomic_llong held_bytes;
    int failures;         /* so many calls fail from now on */
    long long most_bytes; /* a call that would hold more fails; 0: no limit */
    long long slow_nanoseconds;
};

static void *account_allocate(void *context, size_t size_bytes, size_t alignment)
{
    struct account *account = context;
    long long held = atomic_fetch_add(&account->held_bytes, (long long)size_bytes) + (long long)size_bytes;
    if (account->slow_nanoseconds)
        nanosleep(&(struct timespec){.tv_nsec = account->slow_nanoseconds}, NULL);
    if ((account->failures && account->failures--) || (account->most_bytes && held > account->most_bytes)) {
        atomic_fetch_sub(&account->held_bytes, (long long)size_bytes);
        return NULL;
    }
    atomic_fetch_add(&account->allocations, 1);
    void *memory = aligned_alloc(alignment, (size_bytes + alignment - 1) / alignment * alignment);
    return memory ? memset(memory, 0xa5, size_bytes) : NULL;
}

static void account_release(void *context, void *memory, size_t size_bytes)
{
    struct account *account = context;
    atomic_fetch_add(&account->releases, 1);
    atomic_fetch_sub(&account->held_bytes, (long long)size_bytes);
    free(memory);
}

static tsr_allocator allocator_of(struct account *account)
{
    return (tsr_allocator){account_allocate, account_release, account};
}

static void expect_settled(struct account *account)
{
    assert_int_equal(atomic_load(&account->allocations), atomic_load(&account->releases));
    assert_int_equal(atomic_load(&account->held_bytes), 0);
}

static unsigned char *data_of(tsr_storage *storage)
{
    void *data = NULL;
    tsr_error error = {0};
    if (tsr_storage_data(storage, &data, &error) != TSR_OK)
        fail_msg("%s", error.message);
    return data;
}

/* --- memory of its own --- */

static void test_allocated_when_asked(void **state)
{
    (void)state;
    struct account account = {0};
    tsr_allocator allocator = allocator_of(&account);
    tsr_storage *storage = NULL;
    assert_int_equal(tsr_storage_create(&storage, 1000, &allocator, NULL), TSR_OK);
    memset(&allocator, 0, sizeof allocator); /* it was copied */
    assert_int_equal(tsr_storage_capacity_bytes(storage), 1000);
    assert_false(tsr_storage_is_allocated(storage));
    assert_true(atomic_load(&account.held_bytes) < 1000);

    unsigned char *data = data_of(storage);
    assert_true(tsr_storage_is_allocated(storage));
    assert_int_equal((uintptr_t)data % TSR_ALIGNMENT, 0);
    assert_true(atomic_load(&account.held_bytes) >= 1000);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(data[i], 0);
    data[999] = 7;
    assert_ptr_equal(data_of(storage), data);
    assert_int_equal(data[999], 7);
    tsr_storage_release(&storage);
    assert_null(storage);
    expect_settled(&account);
}

static void test_never_asked(void **state)
{
    (void)state;
    struct account account = {0};
    tsr_allocator allocator = allocator_of(&account);
    tsr_storage *storage = NULL;
    assert_int_equal(tsr_storage_create(&storage, SIZE_MAX, &allocator, NULL), TSR_OK);
    assert_int_equal(tsr_storage_capacity_bytes(storage), SIZE_MAX);
    tsr_storage_release(&storage);
    assert_int_equal(atomic_load(&account.allocations), 1); /* the handle */
    expect_settled(&account);
}

static void test_default_allocator(void **state)
{
    (void)state;
    for (size_t size = 1; size < 100000; size = size * 5 + 1) {
        tsr_storage *storage = NULL;
        assert_int_equal(tsr_storage_create(&storage, size, NULL, NULL), TSR_OK);
        unsigned char *data = data_of(storage);
        assert_int_equal((uintptr_t)data % TSR_ALIGNMENT, 0);
        assert_int_equal(data[0] | data[size - 1], 0);
        memset(data, 1, size);
        tsr_storage_release(&storage);
    }
}

static void test_empty(void **state)
{
    (void)state;
    struct account account = {0};
    tsr_allocator allocator = allocator_of(&account);
    tsr_storage *storage = NULL;
    void *data = &account;
    assert_int_equal(tsr_storage_create(&storage, 0, &allocator, NULL), TSR_OK);
    assert_int_equal(tsr_storage_capacity_bytes(storage), 0);
    assert_int_equal(tsr_storage_data(storage, &data, NULL), TSR_OK);
    assert_null(data);
    assert_false(tsr_storage_is_allocated(storage));
    tsr_storage_release(&storage);
    assert_int_equal(atomic_load(&account.allocations), 1);
    expect_settled(&account);
}

static void test_counted(void **state)
{
    (void)state;
    struct account account = {0};
    tsr_allocator allocator = allocator_of(&account);
    tsr_storage *first = NULL;
    assert_int_equal(tsr_storage_create(&first, 64, &allocator, NULL), TSR_OK);
    tsr_storage *second = tsr_storage_share(first), *third = tsr_storage_share(second);
    assert_ptr_equal(second, first);
    unsigned char *data = data_of(second);
    data[5] = 9;
    tsr_storage_release(&first);
    tsr_storage_release(&third);
    assert_int_equal(atomic_load(&account.releases), 0);
    assert_ptr_equal(data_of(second), data);
    assert_int_equal(data[5], 9);
    tsr_storage_release(&second);
    assert_int_equal(atomic_load(&account.releases), 2);
    expect_settled(&account);
}

static void test_null(void **state)
{
    (void)state;
    tsr_storage *none = NULL;
    tsr_storage_release(NULL);
    tsr_storage_release(&none);
    assert_null(tsr_storage_share(NULL));
}

/* --- failure --- */

static void test_no_handle(void **state)
{
    (void)state;
    struct account account = {.failures = 1};
    tsr_allocator allocator = allocator_of(&account);
    tsr_storage *storage = NULL;
    tsr_error error = {0};
    assert_int_equal(tsr_storage_create(&storage, 64, &allocator, &error), TSR_OUT_OF_MEMORY);
    assert_string_equal(error.message, "no memory for a storage handle");
    assert_null(storage);
    expect_settled(&account);
}

static void test_retry(void **state)
{
    (void)state;
    struct account account = {0};
    tsr_allocator allocator = allocator_of(&account);
    tsr_storage *storage = NULL;
    assert_int_equal(tsr_storage_create(&storage, 64, &allocator, NULL), TSR_OK);
    account.failures = 2;
    for (int i = 0; i < 2; i++) {
        tsr_error error = {0};
        void *data = &account;
        assert_int_equal(tsr_storage_data(storage, &data, &error), TSR_OUT_OF_MEMORY);
        assert_string_equal(error.message, "no memory for 64 bytes of storage");
        assert_ptr_equal(data, &account);
        assert_false(tsr_storage_is_allocated(storage));
    }
    assert_int_equal(data_of(storage)[63], 0);
    tsr_storage_release(&storage);
    expect_settled(&account);
}

/* --- memory of somebody else's --- */

struct callback {
    int calls;
    void *memory;
};

static void note_release(void *context, void *memory)
{
    struct callback *callback = context;
    callback->calls++;
    callback->memory = memory;
}

static void test_wrap(void **state)
{
    (void)state;
    unsigned char bytes[16] = {1, 2, 3};
    struct callback callback = {0};
    tsr_storage *storage = NULL;
    assert_int_equal(tsr_storage_wrap(&storage, bytes + 1, 15, note_release, &callback, NULL), TSR_OK);
    assert_int_equal(tsr_storage_capacity_bytes(storage), 15);
    assert_true(tsr_storage_is_allocated(storage));
    assert_ptr_equal(data_of(storage), bytes + 1);
    assert_int_equal(bytes[1], 2);
    tsr_storage *other = tsr_storage_share(storage);
    tsr_storage_release(&storage);
    assert_int_equal(callback.calls, 0);
    tsr_storage_release(&other);
    assert_int_equal(callback.calls, 1);
    assert_ptr_equal(callback.memory, bytes + 1);
}

static void test_wrap_without_callback(void **state)
{
    (void)state;
    unsigned char bytes[16] = {1, 2, 3};
    tsr_storage *storage = NULL;
    assert_int_equal(tsr_storage_wrap(&storage, bytes, 16, NULL, NULL, NULL), TSR_OK);
    assert_ptr_equal(data_of(storage), bytes);
    tsr_storage_release(&storage);
    assert_int_equal(bytes[2], 3);
}

static void test_wrap_nothing(void **state)
{
    (void)state;
    struct callback callback = {0};
    tsr_storage *storage = NULL;
    tsr_error error = {0};
    void *data = &callback;
    assert_int_equal(tsr_storage_wrap(&storage, NULL, 8, note_release, &callback, &error), TSR_INVALID_ARGUMENT);
    assert_string_equal(error.message, "expected memory of 8 bytes, found NULL");
    assert_null(storage);
    assert_int_equal(callback.calls, 0);

    assert_int_equal(tsr_storage_wrap(&storage, NULL, 0, note_release, &callback, NULL), TSR_OK);
    assert_true(tsr_storage_is_allocated(storage));
    assert_int_equal(tsr_storage_data(storage, &data, NULL), TSR_OK);
    assert_null(data);
    tsr_storage_release(&storage);
    assert_int_equal(callback.calls, 1);
    assert_null(callback.memory);
}

/* --- many threads --- */

enum { THREADS = 8, ROUNDS = 40 };

struct asker {
    pthread_barrier_t *barrier;
    tsr_storage *storage;
    tsr_status status;
    void *data;
};

static void *ask(void *argument)
{
    struct asker *asker = argument;
    pthread_barrier_wait(asker->barrier);
    asker->status = tsr_storage_data(asker->storage, &asker->data, NULL);
    tsr_storage_release(&asker->storage);
    return NULL;
}

/* All of them ask at once, each through its own reference. */
static void ask_at_once(tsr_storage *storage, struct asker *askers)
{
    pthread_t threads[THREADS];
    pthread_barrier_t barrier;
    assert_int_equal(pthread_barrier_init(&barrier, NULL, THREADS), 0);
    for (int i = 0; i < THREADS; i++) {
        askers[i] = (struct asker){.barrier = &barrier, .storage = tsr_storage_share(storage)};
        assert_int_equal(pthread_create(&threads[i], NULL, ask, &askers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    pthread_barrier_destroy(&barrier);
}

/* There is memory for one buffer, which is slow to come: nobody may ask for a second. */
static void test_first_touch(void **state)
{
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        struct account account = {.most_bytes = 3 << 16, .slow_nanoseconds = round % 2 ? 200000 : 0};
        tsr_allocator allocator = allocator_of(&account);
        struct asker askers[THREADS];
        tsr_storage *storage = NULL;
        assert_int_equal(tsr_storage_create(&storage, 2 << 16, &allocator, NULL), TSR_OK);
        ask_at_once(storage, askers);
        for (int i = 0; i < THREADS; i++) {
            assert_int_equal(askers[i].status, TSR_OK);
            assert_non_null(askers[i].data);
            assert_ptr_equal(askers[i].data, askers[0].data);
            assert_null(askers[i].storage);
        }
        assert_int_equal(atomic_load(&account.allocations), 2); /* handle and buffer */
        assert_ptr_equal(data_of(storage), askers[0].data);
        tsr_storage_release(&storage);
        expect_settled(&account);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_allocated_when_asked),
        cmocka_unit_test(test_never_asked),
        cmocka_unit_test(test_default_allocator),
        cmocka_unit_test(test_empty),
        cmocka_unit_test(test_counted),
        cmocka_unit_test(test_null),
        cmocka_unit_test(test_no_handle),
        cmocka_unit_test(test_retry),
        cmocka_unit_test(test_wrap),
        cmocka_unit_test(test_wrap_without_callback),
        cmocka_unit_test(test_wrap_nothing),
        cmocka_unit_test(test_first_touch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
