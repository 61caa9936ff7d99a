/* SPDX-License-Identifier: Apache-2.0 */
/* Copies, merges and splits that fail, for one of many reasons: what was to be written is as before. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "blob_values.h"
#include "failing_allocator.h"

/* ---- somebody holds it ---- */

static const char first[] = "f32:nhwc 2x7x3x5", second[] = "f32:nChw8c 2x13x3x5";

/* A whole, and what it is merged from or split into. */
struct division {
    tsr_blob *whole, *parts[2];
};

static tsr_status divide(const struct division *d, bool is_split, tsr_error *error)
{
    return is_split ? tsr_blob_split(d->parts, 2, d->whole, 1, error) : tsr_blob_merge(d->whole, d->parts, 2, 1, error);
}

static void free_all(struct division *d)
{
    tsr_blob_free(&d->whole);
    tsr_blob_free(&d->parts[0]);
    tsr_blob_free(&d->parts[1]);
}

static void expect_first_values(const struct division *d, float of_whole, float of_first, float of_second)
{
    expect_read(d->whole, NULL, of_whole);
    expect_read(d->parts[0], NULL, of_first);
    expect_read(d->parts[1], NULL, of_second);
}

/* Whoever of them is held by somebody else: nothing has moved. */
static void test_what_is_busy(void **state)
{
    (void)state;
    struct division d = {blob_of(nchw, NULL), {blob_of(first, NULL), blob_of(second, NULL)}};
    tsr_blob *const all[] = {d.whole, d.parts[0], d.parts[1]};
    for (int is_split = 0; is_split < 2; is_split++)
        for (int i = 0; i < 3; i++) {
            const bool is_written = is_split == (i > 0);
            tsr_error error = {0};
            write_values(d.whole, NULL, 1);
            write_values(d.parts[0], NULL, 2);
            write_values(d.parts[1], "f32:nhwc 2x13x3x5", 3); /* home has to be found again */
            tsr_access access = acquire_home(all[i], NULL, is_written ? TSR_READ : TSR_READ_WRITE);
            assert_int_equal(divide(&d, is_split, &error), TSR_BUSY);
            assert_string_equal(error.message,
                                is_written ? "expected nobody to hold what is to be written, found 1 who read it"
                                           : "the blob is acquired for writing");
            release(&access);
            expect_first_values(&d, 1, 2, 3);
        }
    free_all(&d);
}

/* ---- it lies in one memory ---- */

static tsr_status divide_rows(tsr_blob *whole, tsr_blob *a, tsr_blob *b, bool is_split, tsr_error *error)
{
    tsr_blob *const parts[] = {a, b};
    return is_split ? tsr_blob_split(parts, 2, whole, 0, error) : tsr_blob_merge(whole, parts, 2, 0, error);
}

static void divide_one_storage(bool is_split)
{
    tsr_error error = {0};
    tsr_storage *storage = storage_of(4096);
    const tsr_blob_options shared = {.storage = storage};
    tsr_blob *whole = blob_of("f32:ab 4x8", &shared), *apart = blob_of("f32:ab 2x8", NULL),
             *within = blob_of("f32:[b8:2,a2:1]+16 2x8", &shared), *beside = blob_of("f32:[a2:8,b8:1]+32 2x8", &shared);
    write_values_at(home_device, whole, NULL, TSR_READ_WRITE, 100);
    write_values(apart, NULL, 1);
    assert_int_equal(divide_rows(whole, apart, within, is_split, &error), TSR_OVERLAP);
    assert_string_equal(error.message, "expected part 1 in other memory than the whole");
    expect_read(whole, NULL, 100);
    expect_read(apart, NULL, 1);
    write_values_at(home_device, beside, NULL, TSR_READ_WRITE, is_split ? 0 : 17);
    assert_int_equal(divide_rows(whole, apart, beside, is_split, &error), TSR_OK);
    if (is_split) {
        assert_int_equal(divide_rows(whole, beside, apart, false, &error), TSR_OK);
        assert_int_equal(divide_rows(whole, apart, beside, true, &error), TSR_OK);
        expect_read(apart, NULL, 116);
    } else {
        expect_read(whole, NULL, 1);
    }
    tsr_storage_release(&storage);
    tsr_blob_free(&whole);
    tsr_blob_free(&apart);
    tsr_blob_free(&within);
    tsr_blob_free(&beside);
}

/* A part whose memory is the whole's, too, is found before anything moves; one beside it is not in the way. */
static void test_parts_in_one_storage(void **state)
{
    (void)state;
    divide_one_storage(false);
    divide_one_storage(true);
}

/* ---- there is no memory ---- */

/* Where a merge and a split run out of memory. */
struct place {
    tsr_device *device;
    const char *whole, *first, *second;
};

/* With a cache of one plan, and the nth allocation from there on failing: what is written to is as before. */
static tsr_status divide_without_memory(const struct place *place, bool is_split, int nth)
{
    failing_allocator counter = {0};
    const tsr_allocator allocator = failing_allocator_of(&counter);
    const tsr_desc layout = parsed_desc(place->second);
    tsr_plan_cache *plans = NULL;
    assert_int_equal(tsr_plan_cache_create(&plans, 1, &allocator, NULL), TSR_OK);
    const tsr_blob_options options = {.plans = plans, .allocator = &allocator, .device = place->device};
    struct division d = {blob_of(place->whole, &options),
                         {blob_of(place->first, &options), blob_of(place->second, &options)}};
    write_values_at(place->device, d.whole, NULL, TSR_WRITE, 9);
    write_values_at(place->device, d.parts[0], NULL, TSR_WRITE, 1);
    if (!is_split)
        write_values_at(place->device, d.parts[1], NULL, TSR_WRITE, 1);
    counter.fail_at = counter.allocations + nth;
    tsr_status status = divide(&d, is_split, NULL);
    counter.fail_at = 0;
    if (status != TSR_OK && is_split) {
        expect_read_at(place->device, d.parts[0], NULL, 1);
        assert_false(tsr_blob_holds(d.parts[1], place->device, &layout));
    } else if (status != TSR_OK) {
        expect_read_at(place->device, d.whole, NULL, 9);
    }
    free_all(&d);
    tsr_plan_cache_free(&plans);
    assert_int_equal(counter.live, 0);
    return status;
}

static tsr_status reorder_nothing(void *context, const tsr_desc *src_desc, const void *src, const tsr_desc *dst_desc,
                                  void *dst, tsr_error *error)
{
    (void)context, (void)src_desc, (void)src, (void)dst_desc, (void)dst, (void)error;
    return TSR_UNSUPPORTED;
}

/*
 * A merge and a split have all of their plans before they begin: also where the cache has room for one, where a device
 * is asked first, and where it copies rows.
 */
static void test_merge_and_split_out_of_memory(void **state)
{
    (void)state;
    tsr_device_functions with_reorder = remote_functions, with_rows = remote_functions;
    with_reorder.reorder = reorder_nothing;
    with_rows.copy_rows = remote_copy_rows;
    struct place places[] = {
        {NULL, nchw, first, second},
        {register_functions("asked", &with_reorder), nchw, first, second},
        {register_functions("rows", &with_rows), nchw, first, second},
        {NULL, "f32:nchw 2x20x16x16", "f32:nchw 2x7x16x16", "f32:nchw 2x13x16x16"},
    };
    places[3].device = places[2].device;
    remote_row_copies = 0;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        for (int is_split = 0; is_split < 2; is_split++) {
            tsr_status status = TSR_OUT_OF_MEMORY;
            for (int nth = 1; status != TSR_OK; nth++) {
                status = divide_without_memory(&places[i], is_split, nth);
                assert_true(status == TSR_OK || status == TSR_OUT_OF_MEMORY);
                assert_in_range(nth, 1, 100);
            }
        }
    assert_true(remote_row_copies > 0);
    forget_remote(&places[1].device);
    forget_remote(&places[2].device);
}

/* ---- a device fails ---- */

/* What a blob has before it is written: values at home, on the host in another layout, or none, and so zeros. */
enum before { AT_HOME, ON_HOST, NOWHERE };

static void write_before(tsr_blob *blob, enum before before, float value)
{
    if (before == AT_HOME)
        write_values_at(tsr_blob_get_device(blob), blob, NULL, TSR_WRITE, value);
    if (before == ON_HOST)
        write_values(blob, nChw8c, value);
}

static void expect_zeros(tsr_blob *blob)
{
    tsr_desc desc;
    tsr_access access = acquire_at(tsr_blob_get_device(blob), blob, NULL, TSR_READ);
    const float *values = map(&access);
    tsr_access_get_desc(&access, &desc);
    for (int64_t i = 0; i < tsr_desc_size_bytes(&desc) / 4; i++)
        assert_true(values[i] == 0);
    release(&access);
}

static void expect_before(tsr_blob *blob, enum before before, float value)
{
    tsr_desc home;
    tsr_blob_get_desc(blob, &home);
    assert_int_equal(tsr_blob_holds(blob, tsr_blob_get_device(blob), &home), before == AT_HOME);
    if (before == NOWHERE)
        expect_zeros(blob);
    else
        expect_read_at(tsr_blob_get_device(blob), blob, NULL, value);
}

/* The nth call from now on. */
static void let_remote_fail(int nth)
{
    failing_remote_call = remote_calls + nth;
}

/* Has the device failed, and said so? */
static bool has_failed(tsr_status status, const tsr_error *error)
{
    failing_remote_call = 0;
    if (status == TSR_OK)
        return false;
    assert_int_equal(status, TSR_IO_ERROR);
    assert_string_equal(error->message, "the remote device failed");
    return true;
}

/* ---- copies ---- */

/* Whose memory is written: the blob's alone, what a view of it sees, a view's, what another blob has, the caller's. */
enum owner { ITS_OWN, WITH_A_VIEW, A_VIEW, SHARED, WRAPPED, OWNERS };

/* What is written to, and who else sees it. */
struct target {
    tsr_blob *blob, *other;
    void *memory;
};

/* The middle of it is the target. */
static const char around_nchw[] = "f32:nchw 4x20x3x5";

static tsr_blob *middle_of(tsr_blob *around)
{
    return crop_of(around, (int64_t[]){1, 0, 0, 0}, (int64_t[]){2, 20, 3, 5});
}

static tsr_storage *wrap(tsr_device *device, const tsr_desc *desc, void **memory)
{
    tsr_storage *storage = NULL;
    const size_t size = (size_t)tsr_desc_size_bytes(desc);
    if (device)
        assert_int_equal(remote_allocate(NULL, size, memory, NULL), TSR_OK);
    else
        *memory = malloc(size);
    assert_non_null(*memory);
    assert_int_equal(
        tsr_storage_wrap_on(&storage, device ? device : tsr_device_host(), *memory, size, NULL, NULL, NULL), TSR_OK);
    return storage;
}

static struct target target_of(tsr_device *device, enum owner owner)
{
    struct target target = {0};
    tsr_storage *storage = NULL;
    const tsr_desc desc = parsed_desc(nchw);
    tsr_blob_options options = {.device = device};
    if (owner == A_VIEW) {
        target.other = blob_of(around_nchw, &options);
        target.blob = middle_of(target.other);
        return target;
    }
    if (owner == WRAPPED)
        storage = wrap(device, &desc, &target.memory);
    else if (owner == SHARED)
        assert_int_equal(tsr_storage_create_on(&storage, device ? device : tsr_device_host(),
                                               (size_t)tsr_desc_size_bytes(&desc), NULL),
                         TSR_OK);
    options.storage = storage;
    target.blob = blob_of(nchw, &options);
    if (owner == SHARED)
        target.other = blob_of(nchw, &options);
    if (owner == WITH_A_VIEW)
        assert_int_equal(tsr_blob_create_view(&target.other, target.blob, &desc, NULL), TSR_OK);
    tsr_storage_release(&storage);
    return target;
}

static void free_target(struct target *target, tsr_device *device)
{
    tsr_blob_free(&target->blob);
    tsr_blob_free(&target->other);
    if (target->memory && device)
        remote_release(NULL, target->memory, 0);
    else
        free(target->memory);
}

/* Of a view, with what lies around it. */
static void write_target(const struct target *target, enum owner owner, enum before before, float value)
{
    if (owner == A_VIEW)
        write_before(target->other, before, value - 20 * 3 * 5);
    else
        write_before(target->blob, before, value);
}

/* Others see the same. */
static void expect_target(const struct target *target, tsr_device *device, enum owner owner, enum before before,
                          float value)
{
    if (owner == A_VIEW)
        expect_read(target->blob, nhwc, value);
    else
        expect_before(target->blob, before, value);
    if (target->other)
        expect_read_at(device, target->other, NULL, owner == A_VIEW ? value - 20 * 3 * 5 : value);
}

/* False if there are less than nth calls. */
static bool copy_with_failure(tsr_device *to, tsr_device *from, const char *layout, enum owner owner,
                              enum before before, int nth)
{
    struct target dst = target_of(to, owner);
    tsr_blob *src = blob_of(layout, &(tsr_blob_options){.device = from});
    tsr_error error = {0};
    write_before(src, AT_HOME, 1);
    write_target(&dst, owner, before, 2);
    let_remote_fail(nth);
    const bool failed = has_failed(tsr_blob_copy(dst.blob, src, &error), &error);
    if (failed) {
        expect_target(&dst, to, owner, before, 2);
        assert_int_equal(tsr_blob_copy(dst.blob, src, NULL), TSR_OK);
    }
    expect_read(dst.blob, nhwc, 1);
    expect_read(src, nhwc, 1);
    tsr_blob_free(&src);
    free_target(&dst, to);
    return failed;
}

static void copy_with_each_failure(tsr_device *to, tsr_device *from, enum owner owner, enum before before)
{
    for (int is_converted = 0; is_converted < 2; is_converted++) {
        int nth = 1;
        while (copy_with_failure(to, from, is_converted ? nhwc : nchw, owner, before, nth))
            nth++;
        assert_in_range(nth, 2, 20);
    }
}

/* Whichever call of a device fails, dst is as before, and can be copied to later on. */
static void test_failing_copy(void **state)
{
    (void)state;
    tsr_device *remote = register_remote("remote");
    for (int where = 1; where < 4; where++)
        for (enum before before = AT_HOME; before <= NOWHERE; before++)
            copy_with_each_failure(where & 1 ? remote : NULL, where & 2 ? remote : NULL, ITS_OWN, before);
    forget_remote(&remote);
}

/* The same of memory that others see, who find it as before, too. */
static void test_failing_copy_that_others_see(void **state)
{
    (void)state;
    tsr_device *remote = register_remote("remote");
    for (int where = 1; where < 4; where++)
        for (enum owner owner = WITH_A_VIEW; owner < OWNERS; owner++)
            for (enum before before = AT_HOME; before <= (owner == WITH_A_VIEW ? ON_HOST : AT_HOME); before++)
                copy_with_each_failure(where & 1 ? remote : NULL, where & 2 ? remote : NULL, owner, before);
    forget_remote(&remote);
}

/* The inner pixels of an image, which are written on the host and go back when that is over. */
static bool release_with_failure(tsr_device *remote, int nth)
{
    tsr_blob *image = blob_of(around_nchw, &(tsr_blob_options){.device = remote}),
             *window = crop_of(image, (int64_t[]){1, 3, 1, 1}, (int64_t[]){2, 9, 2, 3});
    tsr_error error = {0};
    write_before(image, AT_HOME, 1);
    tsr_access access = acquire(window, "f32:nhwc 2x9x2x3", TSR_READ_WRITE);
    memset(map(&access), 0x11, 2 * 9 * 2 * 3 * sizeof(float));
    let_remote_fail(nth);
    const bool failed = has_failed(tsr_blob_release(&access, &error), &error);
    if (failed)
        expect_read_at(remote, image, NULL, 1);
    write_values(window, "f32:nhwc 2x9x2x3", 5);
    expect_read(window, NULL, 5);
    tsr_blob_free(&window);
    tsr_blob_free(&image);
    return failed;
}

/* Then all of its parent has what was there before. */
static void test_failing_release_of_a_window(void **state)
{
    (void)state;
    tsr_device *remote = register_remote("remote");
    int nth = 1;
    while (release_with_failure(remote, nth))
        nth++;
    assert_in_range(nth, 3, 20);
    forget_remote(&remote);
}

static int allocations;

static tsr_status count_allocate(void *context, size_t size_bytes, void **memory, tsr_error *error)
{
    allocations++;
    return remote_allocate(context, size_bytes, memory, error);
}

/* ---- merges and splits ---- */

/* The bits of where say who is on the device. */
static bool divide_with_failure(tsr_device *remote, int where, bool is_split, enum before before, int nth)
{
    const tsr_blob_options options[] = {{.device = where & 1 ? remote : NULL},
                                        {.device = where & 2 ? remote : NULL},
                                        {.device = where & 4 ? remote : NULL}};
    struct division d = {blob_of(nchw, &options[0]), {blob_of(first, &options[1]), blob_of(second, &options[2])}};
    tsr_error error = {0};
    write_before(d.whole, is_split ? AT_HOME : before, 1);
    write_before(d.parts[0], is_split ? before : AT_HOME, 2);
    write_before(d.parts[1], is_split ? before : AT_HOME, 3);
    let_remote_fail(nth);
    const bool failed = has_failed(divide(&d, is_split, &error), &error);
    if (failed) {
        expect_before(d.whole, is_split ? AT_HOME : before, 1);
        expect_before(d.parts[0], is_split ? before : AT_HOME, 2);
        expect_before(d.parts[1], is_split ? before : AT_HOME, 3);
        assert_int_equal(divide(&d, is_split, NULL), TSR_OK);
    }
    write_values(is_split ? d.whole : d.parts[0], NULL, 5);
    assert_int_equal(divide(&d, !is_split, NULL), TSR_OK); /* back to where it came from */
    if (is_split)
        expect_read(d.whole, NULL, 1);
    else
        expect_read(d.parts[1], NULL, 3);
    free_all(&d);
    return failed;
}

/* The same of a merge, and of all parts of a split. */
static void test_failing_division(void **state)
{
    (void)state;
    tsr_device *remote = register_remote("remote");
    for (int where = 1; where < 8; where++)
        for (int is_split = 0; is_split < 2; is_split++)
            for (int is_zero = 0; is_zero < 2; is_zero++) {
                int nth = 1;
                while (divide_with_failure(remote, where, is_split, is_zero ? NOWHERE : AT_HOME, nth))
                    nth++;
                assert_in_range(nth, 2, 40);
            }
    forget_remote(&remote);
}

static tsr_blob *channels_of(tsr_blob *around, int64_t begin, int64_t channels)
{
    return crop_of(around, (int64_t[]){0, begin, 0, 0}, (int64_t[]){2, channels, 3, 5});
}

/* What is written are views of a larger tensor: of the whole, or of both parts, which overlap by a channel. */
static bool divide_views_with_failure(tsr_device *remote, int where, bool is_split, int nth)
{
    const tsr_blob_options of_seen = {.device = where & 1 ? remote : NULL},
                           of_other = {.device = where & 2 ? remote : NULL};
    tsr_blob *around = blob_of("f32:nhwc 2x30x3x5", &of_seen);
    struct division d =
        is_split
            ? (struct division){blob_of(nchw, &of_other), {channels_of(around, 1, 7), channels_of(around, 7, 13)}}
            : (struct division){channels_of(around, 4, 20), {blob_of(first, &of_other), blob_of(second, &of_other)}};
    tsr_error error = {0};
    write_before(around, AT_HOME, 1);
    if (is_split)
        write_before(d.whole, AT_HOME, 2000);
    for (int i = 0; i < 2 && !is_split; i++)
        write_before(d.parts[i], AT_HOME, (float)(1 + i) * 1000);
    let_remote_fail(nth);
    const bool failed = has_failed(divide(&d, is_split, &error), &error);
    if (failed) {
        expect_read_at(of_seen.device, around, NULL, 1);
        assert_int_equal(divide(&d, is_split, NULL), TSR_OK);
    }
    if (is_split) { /* the parts are not apart, and the last one has its values */
        assert_int_equal(tsr_blob_merge(d.whole, d.parts, 2, 1, NULL), TSR_OK);
        tsr_access access = acquire(d.whole, NULL, TSR_READ);
        assert_true(((const float *)access.data)[0] == 2000);
        assert_true(((const float *)access.data)[6 * 15] == 2000 + 7 * 15);
        release(&access);
    } else {
        write_values(d.parts[1], NULL, 5);
        assert_int_equal(divide(&d, true, NULL), TSR_OK);
        expect_read(d.parts[0], NULL, 1000);
        expect_read(d.parts[1], NULL, 2000);
    }
    free_all(&d);
    tsr_blob_free(&around);
    return failed;
}

static void test_failing_division_that_others_see(void **state)
{
    (void)state;
    tsr_device *remote = register_remote("remote");
    for (int where = 1; where < 4; where++)
        for (int is_split = 0; is_split < 2; is_split++) {
            int nth = 1;
            while (divide_views_with_failure(remote, where, is_split, nth))
                nth++;
            assert_in_range(nth, 2, 40);
        }
    forget_remote(&remote);
}

/* ---- what that takes ---- */

/* Where others see it, it is given back; for many parts in one memory, there is one allocation of what they span. */
static void test_saved_memory(void **state)
{
    enum { PARTS = 20 };
    (void)state;
    tsr_device_functions functions = remote_functions;
    functions.allocate = count_allocate;
    tsr_device *device = register_functions("counting", &functions);
    tsr_blob *around = blob_of("f32:nhwc 2x30x3x5", &(tsr_blob_options){.device = device}),
             *whole = blob_of(nchw, NULL), *parts[PARTS];
    for (int i = 0; i < PARTS; i++)
        parts[i] = channels_of(around, 5 + i, 1);
    write_before(around, AT_HOME, 1);
    write_before(whole, AT_HOME, 1000);
    const int memories = remote_memories;
    allocations = 0;
    assert_int_equal(tsr_blob_split(parts, PARTS, whole, 1, NULL), TSR_OK);
    assert_int_equal(allocations, 1);
    assert_int_equal(remote_memories, memories);
    for (int i = 0; i < PARTS; i++)
        tsr_blob_free(&parts[i]);
    tsr_blob_free(&around);
    tsr_blob_free(&whole);
    forget_remote(&device);
}

/* A device that goes on failing in one of its functions: what it cannot save it is not asked to write. */
static void test_lasting_failure(void **state)
{
    (void)state;
    tsr_device *remote = register_remote("remote");
    tsr_blob *src = blob_of(nchw, NULL), *around = blob_of(around_nchw, &(tsr_blob_options){.device = remote}),
             *dst = middle_of(around);
    tsr_error error = {0};
    write_before(src, AT_HOME, 1);
    write_before(around, AT_HOME, 2);
    remote_fails(REMOTE_UNMAP); /* what is brought back is not mapped */
    assert_int_equal(tsr_blob_copy(dst, src, &error), TSR_IO_ERROR);
    remote_fails(REMOTE_NOTHING);
    expect_read_at(remote, around, NULL, 2);
    remote_fails(REMOTE_COPY_WITHIN); /* nothing is saved, and so nothing written */
    assert_int_equal(tsr_blob_copy(dst, src, &error), TSR_IO_ERROR);
    remote_fails(REMOTE_NOTHING);
    expect_read_at(remote, around, NULL, 2);
    assert_int_equal(tsr_blob_copy(dst, src, NULL), TSR_OK);
    expect_read(dst, nhwc, 1);
    tsr_blob_free(&dst);
    tsr_blob_free(&around);
    tsr_blob_free(&src);
    forget_remote(&remote);
}

/* The memory that this takes is allocated once, as large as home's, and can be given up. */
static void test_spare_memory(void **state)
{
    (void)state;
    tsr_device *remote = register_remote("remote");
    const tsr_desc home = parsed_desc(nchw), small = parsed_desc("f32:nchw 2x20x3x2");
    tsr_blob *src = blob_of(nhwc, NULL), *dst = blob_of(nchw, &(tsr_blob_options){.device = remote}),
             *bounded = blob_of(nchw, &(tsr_blob_options){.device = remote, .keep_bytes = 1});
    bool reallocated = true;
    write_values(src, NULL, 1);
    write_before(dst, AT_HOME, 2);
    write_before(bounded, AT_HOME, 2);
    assert_int_equal(tsr_blob_copy(dst, src, NULL), TSR_OK);
    assert_int_equal(tsr_blob_copy(bounded, src, NULL), TSR_OK);
    assert_int_equal(tsr_blob_get_stats(dst).representations, 2);
    assert_int_equal(tsr_blob_get_stats(bounded).representations, 1);
    remote_fails(REMOTE_ALLOCATE);
    assert_int_equal(tsr_blob_copy(dst, src, NULL), TSR_OK);
    remote_fails(REMOTE_NOTHING);
    expect_read_at(remote, dst, NULL, 1);
    assert_int_equal(tsr_blob_drop(dst, remote, &home, NULL), TSR_OK);
    assert_int_equal(tsr_blob_get_stats(dst).representations, 1);
    expect_read_at(remote, dst, NULL, 1);

    tsr_blob *narrow = blob_of("f32:nchw 2x20x3x2", NULL);
    assert_int_equal(tsr_blob_reshape(dst, &small, NULL, NULL), TSR_OK);
    write_values(narrow, NULL, 7);
    assert_int_equal(tsr_blob_copy(dst, narrow, NULL), TSR_OK);
    expect_read_at(remote, dst, NULL, 7);
    assert_int_equal(tsr_blob_reshape(dst, &home, &reallocated, NULL), TSR_OK);
    assert_false(reallocated);
    tsr_access access = acquire_at(remote, dst, NULL, TSR_READ);
    const float *values = map(&access);
    for (int i = 0; i < 2 * 20 * 3 * 5; i++) /* as bytes are kept within the room */
        assert_true(values[i] == (float)(i < 2 * 20 * 3 * 2 ? 7 + i : 1 + i));
    release(&access);
    tsr_blob_free(&narrow);
    tsr_blob_free(&src);
    tsr_blob_free(&dst);
    tsr_blob_free(&bounded);
    forget_remote(&remote);
}

/* Bytes in gaps stay where they are, too. */
static void test_copy_into_gaps(void **state)
{
    (void)state;
    tsr_device *remote = register_remote("remote");
    const tsr_desc all = parsed_desc("f32:a 8"), apart = parsed_desc("f32:[a4:2]+1 4");
    tsr_blob *dst = blob_of("f32:a 8", &(tsr_blob_options){.device = remote}), *src = blob_of("f32:a 4", NULL);
    write_before(dst, AT_HOME, 1);
    write_before(src, AT_HOME, 50);
    assert_int_equal(tsr_blob_reshape(dst, &apart, NULL, NULL), TSR_OK);
    assert_int_equal(tsr_blob_copy(dst, src, NULL), TSR_OK);
    assert_int_equal(tsr_blob_reshape(dst, &all, NULL, NULL), TSR_OK);
    tsr_access access = acquire_at(remote, dst, NULL, TSR_READ);
    const float *values = map(&access);
    for (int i = 0; i < 8; i++)
        assert_true(values[i] == (float)(i % 2 == 1 ? 50 + i / 2 : 1 + i));
    release(&access);
    tsr_blob_free(&dst);
    tsr_blob_free(&src);
    forget_remote(&remote);
}

/* ---- a view that is made while a copy is on its way ---- */

static tsr_blob *viewed, *view;

static tsr_status allocate_and_view(void *context, size_t size_bytes, void **memory, tsr_error *error)
{
    tsr_desc home;
    if (viewed && !view) {
        tsr_blob_get_desc(viewed, &home);
        assert_int_equal(tsr_blob_create_view(&view, viewed, &home, NULL), TSR_OK);
    }
    return remote_allocate(context, size_bytes, memory, error);
}

static void test_view_meanwhile(void **state)
{
    (void)state;
    tsr_device_functions functions = remote_functions;
    functions.allocate = allocate_and_view;
    tsr_device *device = register_functions("views", &functions);
    tsr_blob *dst = blob_of(nchw, &(tsr_blob_options){.device = device}), *src = blob_of(nhwc, NULL);
    write_before(dst, AT_HOME, 1);
    write_before(src, AT_HOME, 2);
    viewed = dst;
    assert_int_equal(tsr_blob_copy(dst, src, NULL), TSR_OK);
    viewed = NULL;
    assert_non_null(view);
    expect_read_at(device, dst, NULL, 2);
    expect_read_at(device, view, NULL, 2);
    write_values(view, NULL, 3);
    expect_read(dst, NULL, 3);
    tsr_blob_free(&view);
    tsr_blob_free(&src);
    tsr_blob_free(&dst);
    forget_remote(&device);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parts_in_one_storage),
        cmocka_unit_test(test_what_is_busy),
        cmocka_unit_test(test_merge_and_split_out_of_memory),
        cmocka_unit_test(test_failing_copy),
        cmocka_unit_test(test_failing_copy_that_others_see),
        cmocka_unit_test(test_failing_division),
        cmocka_unit_test(test_failing_division_that_others_see),
        cmocka_unit_test(test_failing_release_of_a_window),
        cmocka_unit_test(test_saved_memory),
        cmocka_unit_test(test_lasting_failure),
        cmocka_unit_test(test_spare_memory),
        cmocka_unit_test(test_copy_into_gaps),
        cmocka_unit_test(test_view_meanwhile),
        at_place(test_parts_in_one_storage),
        at_place(test_what_is_busy),
    };
    return choose_place(argc, argv) ? cmocka_run_group_tests(tests, NULL, NULL) : 0;
}
