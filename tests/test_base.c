/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/int.h"
#include "base/ref.h"
#include "base/writer.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* --- status and errors --- */

static void test_status_names(void **state)
{
    (void)state;
    static const struct {
        tsr_status status;
        const char *name;
    } rows[] = {
        {TSR_OK, "ok"},
        {TSR_INVALID_ARGUMENT, "invalid argument"},
        {TSR_OUT_OF_RANGE, "out of range"},
        {TSR_OVERFLOW, "overflow"},
        {TSR_OUT_OF_MEMORY, "out of memory"},
        {TSR_UNSUPPORTED, "unsupported"},
        {TSR_PARSE_ERROR, "parse error"},
        {TSR_IO_ERROR, "input/output error"},
        {TSR_OVERLAP, "overlap"},
        {TSR_BUSY, "busy"},
        {(tsr_status)(TSR_BUSY + 1), "unknown status"},
        {(tsr_status)1000000, "unknown status"},
        {(tsr_status)-1, "unknown status"},
    };
    for (size_t i = 0; i < COUNT(rows); i++)
        assert_string_equal(tsr_status_name(rows[i].status), rows[i].name);
}

static void test_version(void **state)
{
    (void)state;
    const char *rest = tsr_version();
    for (int i = 0; i < 3; i++) {
        char *end;
        long number = strtol(rest, &end, 10);
        assert_true(end > rest && number >= 0);
        assert_int_equal(*end, i < 2 ? '.' : '\0');
        rest = end + 1;
    }
    assert_true(strlen(tsr_build_features()) > 0);
}

static void test_error_message(void **state)
{
    (void)state;
    tsr_error error = {0};
    assert_int_equal(tsr_fail(&error, TSR_OVERFLOW, "expected %d, found \"%s\"", 3, "x"), TSR_OVERFLOW);
    assert_int_equal(error.status, TSR_OVERFLOW);
    assert_string_equal(error.message, "expected 3, found \"x\"");
    assert_int_equal(tsr_fail(NULL, TSR_IO_ERROR, "nobody reads %s", "this"), TSR_IO_ERROR);
}

static void test_error_is_cut(void **state)
{
    (void)state;
    char text[2 * TSR_ERROR_MESSAGE_SIZE];
    for (size_t length = TSR_ERROR_MESSAGE_SIZE - 2; length < TSR_ERROR_MESSAGE_SIZE + 3; length++) {
        tsr_error error;
        size_t kept = length < TSR_ERROR_MESSAGE_SIZE ? length : TSR_ERROR_MESSAGE_SIZE - 1;
        memset(&error, 'z', sizeof error);
        memset(text, 'a', length);
        text[length] = '\0';
        assert_int_equal(tsr_fail(&error, TSR_PARSE_ERROR, "%s", text), TSR_PARSE_ERROR);
        assert_int_equal(strlen(error.message), kept);
        assert_memory_equal(error.message, text, kept);
    }
}

/* --- checked arithmetic --- */

static void test_multiplication(void **state)
{
    (void)state;
    static const struct {
        int64_t a, b, product;
        bool fits;
    } rows[] = {
        {0, INT64_MAX, 0, true},
        {3, -7, -21, true},
        {INT64_MAX, 1, INT64_MAX, true},
        {INT64_MIN, 1, INT64_MIN, true},
        {INT64_MIN, -1, 0, false},
        {INT64_C(1) << 31, INT64_C(1) << 31, INT64_C(1) << 62, true},
        {INT64_C(1) << 32, INT64_C(1) << 31, 0, false},
        {INT64_C(3037000500), INT64_C(3037000500), 0, false},
        {INT64_C(3037000499), INT64_C(3037000499), INT64_C(9223372030926249001), true},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        int64_t product = 0;
        assert_int_equal(tsr_mul(rows[i].a, rows[i].b, &product), rows[i].fits);
        assert_int_equal(tsr_mul(rows[i].b, rows[i].a, &product), rows[i].fits);
        if (rows[i].fits)
            assert_int_equal(product, rows[i].product);
    }
}

static void test_addition(void **state)
{
    (void)state;
    static const struct {
        int64_t a, b, sum;
        bool fits;
    } rows[] = {
        {2, 3, 5, true},           {INT64_MAX, 0, INT64_MAX, true},
        {INT64_MAX, 1, 0, false},  {INT64_MIN, INT64_MAX, -1, true},
        {INT64_MIN, -1, 0, false},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        int64_t sum = 0;
        assert_int_equal(tsr_add(rows[i].a, rows[i].b, &sum), rows[i].fits);
        assert_int_equal(tsr_add(rows[i].b, rows[i].a, &sum), rows[i].fits);
        if (rows[i].fits)
            assert_int_equal(sum, rows[i].sum);
    }
}

static void test_multiplication_and_addition(void **state)
{
    (void)state;
    int64_t sum = 5;
    assert_true(tsr_mul_add(3, 4, &sum));
    assert_int_equal(sum, 17);
    sum = INT64_MAX - 12;
    assert_true(tsr_mul_add(3, 4, &sum));
    assert_int_equal(sum, INT64_MAX);
    assert_false(tsr_mul_add(1, 1, &sum));
    sum = 0;
    assert_false(tsr_mul_add(INT64_MAX, 2, &sum));
}

static void test_division_and_bounds(void **state)
{
    (void)state;
    static const struct {
        int64_t a, b, quotient;
    } rows[] = {
        {0, 8, 0}, {1, 8, 1}, {8, 8, 1}, {9, 8, 2}, {INT64_MAX, 1, INT64_MAX}, {INT64_MAX, 2, INT64_C(1) << 62}};
    for (size_t i = 0; i < COUNT(rows); i++)
        assert_int_equal(tsr_ceil_div(rows[i].a, rows[i].b), rows[i].quotient);
    assert_int_equal(tsr_min(-3, 7), -3);
    assert_int_equal(tsr_min(7, -3), -3);
    assert_int_equal(tsr_max(-3, 7), 7);
    assert_int_equal(tsr_max(7, -3), 7);
}

/* --- memory --- */

/* An allocator that writes down what it is asked. */
struct record {
    int allocations, releases;
    size_t size_bytes, alignment, released_bytes;
    bool fails;
};

static void *record_allocate(void *context, size_t size_bytes, size_t alignment)
{
    struct record *record = context;
    record->allocations++;
    record->size_bytes = size_bytes;
    record->alignment = alignment;
    return record->fails ? NULL : aligned_alloc(alignment, (size_bytes + alignment - 1) / alignment * alignment);
}

static void record_release(void *context, void *memory, size_t size_bytes)
{
    struct record *record = context;
    record->releases++;
    record->released_bytes = size_bytes;
    free(memory);
}

static void test_allocator(void **state)
{
    (void)state;
    struct record record = {0};
    tsr_allocator allocator = {record_allocate, record_release, &record};
    unsigned char *memory = tsr_allocate_zeroed(&allocator, 7, 3);
    assert_non_null(memory);
    assert_int_equal(record.size_bytes, 21);
    assert_int_equal(record.alignment, TSR_ALIGNMENT);
    for (int i = 0; i < 21; i++)
        assert_int_equal(memory[i], 0);
    tsr_deallocate(&allocator, memory, 21);
    assert_int_equal(record.released_bytes, 21);

    memory = tsr_allocate(&allocator, 100);
    assert_int_equal(record.size_bytes, 100);
    tsr_deallocate(&allocator, memory, 100);
    assert_int_equal(record.allocations, 2);
    assert_int_equal(record.releases, 2);
}

static void test_allocator_is_spared(void **state)
{
    (void)state;
    struct record record = {0};
    tsr_allocator allocator = {record_allocate, record_release, &record};
    assert_null(tsr_allocate(&allocator, 0));
    assert_null(tsr_allocate_zeroed(&allocator, 0, 8));
    assert_null(tsr_allocate_zeroed(&allocator, SIZE_MAX / 2, 3));
    tsr_deallocate(&allocator, NULL, 8);
    assert_int_equal(record.allocations, 0);
    assert_int_equal(record.releases, 0);
}

static void test_failing_allocator(void **state)
{
    (void)state;
    struct record record = {.fails = true};
    tsr_allocator allocator = {record_allocate, record_release, &record};
    assert_null(tsr_allocate(&allocator, 8));
    assert_null(tsr_allocate_zeroed(&allocator, 8, 8));
    assert_int_equal(record.allocations, 2);
    assert_int_equal(record.releases, 0);
}

static void test_default_allocator(void **state)
{
    (void)state;
    const tsr_allocator *system = tsr_default_allocator();
    for (size_t alignment = 8; alignment <= 4096; alignment *= 2) {
        for (size_t size = 1; size <= 5000; size = size * 3 + 1) {
            void *memory = system->allocate(system->context, size, alignment);
            assert_non_null(memory);
            assert_int_equal((uintptr_t)memory % alignment, 0);
            memset(memory, 1, size);
            system->release(system->context, memory, size);
        }
    }
    assert_null(system->allocate(system->context, SIZE_MAX, 64));
    assert_null(system->allocate(system->context, SIZE_MAX - 62, 64));
}

/* --- reference counts --- */

enum { OWNERS = 8, TURNS = 20000 };

struct shared {
    tsr_ref ref;
    atomic_int last; /* how often somebody was the last */
};

static void *take_and_drop(void *argument)
{
    struct shared *shared = argument;
    for (int i = 0; i < TURNS; i++) {
        tsr_ref_take(&shared->ref);
        if (tsr_ref_drop(&shared->ref))
            atomic_fetch_add(&shared->last, 1);
    }
    if (tsr_ref_drop(&shared->ref))
        atomic_fetch_add(&shared->last, 1);
    return NULL;
}

static void test_references(void **state)
{
    (void)state;
    struct shared shared;
    pthread_t threads[OWNERS];
    tsr_ref_init(&shared.ref);
    atomic_init(&shared.last, 0);
    for (int i = 1; i < OWNERS; i++)
        tsr_ref_take(&shared.ref);
    for (int i = 0; i < OWNERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, take_and_drop, &shared), 0);
    for (int i = 0; i < OWNERS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_int_equal(atomic_load(&shared.last), 1);
}

/* --- text that grows --- */

static void test_writer(void **state)
{
    (void)state;
    static const char whole[] = "one 2, three";
    for (size_t size = 0; size < sizeof whole + 3; size++) {
        char text[sizeof whole + 3];
        tsr_writer writer = {text, size, 0};
        memset(text, '#', sizeof text);
        tsr_write(&writer, "one %d", 2);
        tsr_write(&writer, "%s", "");
        tsr_write(&writer, ", %s", "three");
        size_t kept = size < sizeof whole ? size : sizeof whole;
        assert_int_equal(writer.length, strlen(whole));
        if (size > 0) {
            assert_int_equal(strlen(text), kept - 1);
            assert_memory_equal(text, whole, kept - 1);
        }
        assert_int_equal(text[kept], '#');
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_status_names),
        cmocka_unit_test(test_version),
        cmocka_unit_test(test_error_message),
        cmocka_unit_test(test_error_is_cut),
        cmocka_unit_test(test_multiplication),
        cmocka_unit_test(test_addition),
        cmocka_unit_test(test_multiplication_and_addition),
        cmocka_unit_test(test_division_and_bounds),
        cmocka_unit_test(test_allocator),
        cmocka_unit_test(test_allocator_is_spared),
        cmocka_unit_test(test_failing_allocator),
        cmocka_unit_test(test_default_allocator),
        cmocka_unit_test(test_references),
        cmocka_unit_test(test_writer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
