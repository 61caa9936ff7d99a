/* SPDX-License-Identifier: Apache-2.0 */
/* Devices over an allocator with lock and unlock: what is locked, for what, and when that ends. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include <tessera/blob.h>

#include "parsed.h"

/* Memory with a handle that is not its address, and with a count of who holds it. */
static struct block {
    bool is_used;
    int locks;
    unsigned char *bytes;
} blocks[8];

static struct log {
    int locks[4]; /* for an intent */
    int unlocks, allocated, released;
    bool has_no_memory, does_not_lock;
} seen;

static void *allocate(void *context, size_t size_bytes)
{
    struct log *log = context;
    int k = 0;
    while (k < 8 && blocks[k].is_used)
        k++;
    assert_int_not_equal(k, 8);
    if (log->has_no_memory)
        return NULL;
    blocks[k] = (struct block){.is_used = true, .bytes = malloc(size_bytes)};
    memset(blocks[k].bytes, 0x5a, size_bytes);
    log->allocated++;
    return &blocks[k];
}

static bool release(void *context, void *handle)
{
    struct block *block = handle;
    struct log *log = context;
    assert_true(block->is_used && block->locks == 0);
    free(block->bytes);
    block->is_used = false;
    log->released++;
    return true;
}

static void *lock(void *context, void *handle, tsr_intent intent)
{
    struct block *block = handle;
    struct log *log = context;
    if (log->does_not_lock)
        return NULL;
    log->locks[intent]++;
    block->locks++;
    return block->bytes;
}

static void unlock(void *context, void *handle)
{
    struct block *block = handle;
    struct log *log = context;
    assert_true(block->locks > 0);
    block->locks--;
    log->unlocks++;
}

static const tsr_locking_allocator allocator = {allocate, release, lock, unlock, &seen};

static int held(void)
{
    int locks = 0;
    for (int k = 0; k < 8; k++)
        locks += blocks[k].is_used ? blocks[k].locks : 0;
    return locks;
}

/* A blob of f32 whose memory is the allocator's; nothing has been asked of that yet. */
static tsr_blob *create_locked(const char *text)
{
    tsr_device *device = NULL;
    tsr_blob *blob = NULL;
    const tsr_desc desc = parsed_desc(text);
    seen = (struct log){0};
    assert_int_equal(tsr_device_register_allocator("locked", &allocator, NULL), TSR_OK);
    assert_int_equal(tsr_device_find("locked", &device, NULL), TSR_OK);
    assert_int_equal(tsr_device_unregister("locked", NULL), TSR_OK);
    assert_int_equal(tsr_blob_create(&blob, &desc, &(tsr_blob_options){.device = device}, NULL), TSR_OK);
    tsr_device_release(&device);
    assert_int_equal(seen.allocated, 0);
    return blob;
}

static void drop_locked(tsr_blob **blob)
{
    tsr_blob_free(blob);
    assert_int_equal(held(), 0);
    assert_int_equal(seen.locks[TSR_READ] + seen.locks[TSR_WRITE] + seen.locks[TSR_READ_WRITE], seen.unlocks);
    assert_int_equal(seen.allocated, seen.released);
}

static tsr_access acquire_home(tsr_blob *blob, tsr_intent intent)
{
    tsr_access access = {0};
    assert_int_equal(tsr_blob_acquire(blob, tsr_blob_get_device(blob), NULL, intent, &access, NULL), TSR_OK);
    return access;
}

/* The lock begins with the first look, is for the intent of the access, and ends with that. */
static void test_locked_access(void **state)
{
    static const tsr_intent intents[] = {TSR_READ, TSR_WRITE, TSR_READ_WRITE};
    (void)state;
    tsr_blob *blob = create_locked("f32:nchw 1x2x3x4");
    for (int i = 0; i < 3; i++) {
        void *host;
        tsr_access access = acquire_home(blob, intents[i]);
        seen = (struct log){.allocated = seen.allocated};
        assert_int_equal(held(), 0);
        assert_int_equal(tsr_access_map(&access, &host, NULL), TSR_OK);
        assert_int_equal(held(), 1);
        assert_int_equal(seen.locks[intents[i]], 1);
        for (int k = 0; k < 24; k++)
            assert_true(((float *)host)[k] == 0);
        assert_int_equal(tsr_blob_release(&access, NULL), TSR_OK);
        assert_int_equal(held(), 0);
        assert_int_equal(seen.unlocks, 1);
    }
    drop_locked(&blob);
}

/* An access that nobody looks at locks nothing; two readers lock twice. */
static void test_who_locks(void **state)
{
    (void)state;
    void *host;
    tsr_blob *blob = create_locked("f32:nchw 1x2x3x4");
    tsr_access one = acquire_home(blob, TSR_READ), two = acquire_home(blob, TSR_READ);
    assert_int_equal(held(), 0);
    assert_int_equal(tsr_access_map(&one, &host, NULL), TSR_OK);
    assert_int_equal(tsr_access_map(&two, &host, NULL), TSR_OK);
    assert_int_equal(held(), 2);
    assert_int_equal(tsr_blob_release(&one, NULL), TSR_OK);
    assert_int_equal(held(), 1);
    assert_int_equal(tsr_blob_release(&two, NULL), TSR_OK);
    drop_locked(&blob);
}

/* What does not lock is not unlocked, and can be tried again. */
static void test_lock_fails(void **state)
{
    (void)state;
    void *host = NULL;
    tsr_error error = {0};
    tsr_blob *blob = create_locked("f32:nchw 1x2x3x4");
    tsr_access access = acquire_home(blob, TSR_READ);
    seen.does_not_lock = true;
    assert_int_equal(tsr_access_map(&access, &host, &error), TSR_IO_ERROR);
    assert_string_equal(error.message, "the allocator does not lock its 96 bytes");
    assert_null(host);
    seen.does_not_lock = false;
    assert_int_equal(tsr_access_map(&access, &host, NULL), TSR_OK);
    assert_non_null(host);
    assert_int_equal(tsr_blob_release(&access, NULL), TSR_OK);
    drop_locked(&blob);
}

/* Neither memory that cannot be had nor memory that cannot be zeroed is kept. */
static void test_no_memory(void **state)
{
    (void)state;
    tsr_error error = {0};
    tsr_access access = {0};
    tsr_blob *blob = create_locked("f32:nchw 1x2x3x4");
    tsr_device *device = tsr_blob_get_device(blob);
    seen.has_no_memory = true;
    assert_int_equal(tsr_blob_acquire(blob, device, NULL, TSR_READ, &access, &error), TSR_OUT_OF_MEMORY);
    assert_string_equal(error.message, "the allocator has no memory for 96 bytes");
    seen = (struct log){.does_not_lock = true};
    assert_int_equal(tsr_blob_acquire(blob, device, NULL, TSR_READ, &access, &error), TSR_IO_ERROR);
    assert_int_equal(seen.allocated, 1);
    assert_int_equal(seen.released, 1);
    seen.does_not_lock = false;
    access = acquire_home(blob, TSR_READ);
    assert_int_equal(tsr_blob_release(&access, NULL), TSR_OK);
    drop_locked(&blob);
}

/* Values go to the host and back, and from layout to layout there. */
static void test_values(void **state)
{
    (void)state;
    void *host;
    const tsr_desc nhwc = parsed_desc("f32:nhwc 1x2x3x4");
    tsr_blob *blob = create_locked("f32:nchw 1x2x3x4"), *copy = NULL;
    tsr_device *device = tsr_blob_get_device(blob);
    tsr_access access = acquire_home(blob, TSR_WRITE);
    assert_int_equal(tsr_access_map(&access, &host, NULL), TSR_OK);
    for (int k = 0; k < 24; k++)
        ((float *)host)[k] = (float)k;
    assert_int_equal(tsr_blob_release(&access, NULL), TSR_OK);
    for (int there = 0; there < 2; there++) {
        assert_int_equal(tsr_blob_acquire(blob, there ? device : NULL, &nhwc, TSR_READ, &access, NULL), TSR_OK);
        assert_int_equal(tsr_access_map(&access, &host, NULL), TSR_OK);
        for (int p = 0; p < 12; p++)
            assert_true(((float *)host)[2 * p] == (float)p && ((float *)host)[2 * p + 1] == (float)(12 + p));
        assert_int_equal(tsr_blob_release(&access, NULL), TSR_OK);
    }
    tsr_desc desc;
    tsr_blob_get_desc(blob, &desc);
    assert_int_equal(tsr_blob_create(&copy, &desc, &(tsr_blob_options){.device = device}, NULL), TSR_OK);
    assert_int_equal(tsr_blob_copy(copy, blob, NULL), TSR_OK); /* within the device */
    assert_int_equal(tsr_blob_acquire(copy, NULL, NULL, TSR_READ, &access, NULL), TSR_OK);
    for (int k = 0; k < 24; k++)
        assert_true(((float *)access.data)[k] == (float)k);
    assert_int_equal(tsr_blob_release(&access, NULL), TSR_OK);
    tsr_blob_free(&copy);
    drop_locked(&blob);
}

static void expect_refused(const char *name, const tsr_locking_allocator *refused, const char *message)
{
    tsr_error error = {0};
    assert_int_equal(tsr_device_register_allocator(name, refused, &error), TSR_INVALID_ARGUMENT);
    assert_string_equal(error.message, message);
}

static void test_refusals(void **state)
{
    (void)state;
    const char *incomplete = "expected an allocator with all of its functions";
    tsr_locking_allocator lacking = allocator;
    lacking.lock = NULL;
    expect_refused("locked", NULL, incomplete);
    expect_refused("locked", &lacking, incomplete);
    expect_refused("host", &allocator, "there is a device \"host\" already");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_locked_access), cmocka_unit_test(test_who_locks), cmocka_unit_test(test_lock_fails),
        cmocka_unit_test(test_no_memory),     cmocka_unit_test(test_values),    cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
