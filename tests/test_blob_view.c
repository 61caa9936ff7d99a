/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <tessera/blob.h>
#include <tessera/text.h>
#include <tessera/view.h>

#include "accesses.h"
#include "failing_allocator.h"
#include "parsed.h"
#include "place.h"

static tsr_blob *blob_of(const char *text)
{
    const tsr_desc desc = parsed_desc(text);
    return blob_at_home(&desc);
}

static float *element(const tsr_access *access, int64_t linear)
{
    tsr_desc desc;
    int64_t at;
    tsr_access_get_desc(access, &desc);
    assert_int_equal(tsr_desc_offset_linear(&desc, linear, &at, NULL), TSR_OK);
    return (float *)access->data + at;
}

static int64_t elements_of(tsr_blob *blob)
{
    tsr_desc desc;
    tsr_blob_get_desc(blob, &desc);
    return tsr_desc_elements(&desc);
}

/* Element i in row-major order becomes first + i. */
static void write_values(tsr_blob *blob, const char *layout, float first)
{
    tsr_access access = acquire(blob, layout, TSR_WRITE);
    for (int64_t i = 0; i < elements_of(blob); i++)
        *element(&access, i) = first + (float)i;
    release(&access);
}

static float value_at(tsr_blob *blob, const char *layout, int64_t linear)
{
    tsr_access access = acquire(blob, layout, TSR_READ);
    const float value = *element(&access, linear);
    release(&access);
    return value;
}

static tsr_blob *rows_of(tsr_blob *parent, int64_t first, int64_t rows)
{
    return crop_of(parent, (int64_t[]){first, 0}, (int64_t[]){rows, 6});
}

static void test_part(void **state)
{
    (void)state;
    tsr_blob *matrix = blob_of("f32:ab 4x6"), *part = crop_of(matrix, (int64_t[]){1, 2}, (int64_t[]){2, 3});
    write_values(matrix, NULL, 0);
    assert_true(value_at(part, NULL, 0) == 8 && value_at(part, NULL, 5) == 16);
    assert_true(value_at(part, "f32:ba 2x3", 4) == 15);
    tsr_access access = acquire(part, NULL, TSR_READ_WRITE);
    *element(&access, 0) = 100;
    release(&access);
    assert_true(value_at(matrix, NULL, 8) == 100);
    assert_true(value_at(matrix, "f32:ba 4x6", 8) == 100);
    const tsr_desc turned = parsed_desc("f32:ba 2x3");
    assert_false(tsr_blob_holds(part, NULL, &turned)); /* the one made before is of yesterday */
    assert_true(value_at(part, "f32:ba 2x3", 0) == 100);
    assert_true(tsr_blob_holds(part, NULL, &turned));
    write_values(part, NULL, 50);
    assert_true(value_at(matrix, NULL, 7) == 7 && value_at(matrix, NULL, 8) == 50 && value_at(matrix, NULL, 16) == 55);
    assert_ptr_equal(tsr_blob_get_parent(part), matrix);
    assert_null(tsr_blob_get_parent(matrix));
    tsr_blob_free(&matrix);
    assert_true(value_at(part, NULL, 5) == 55); /* the view keeps it */
    tsr_blob_free(&part);
}

/* What was written in another layout is in the parent after the release, and nothing else has changed there. */
static void test_written_in_another_layout(void **state)
{
    (void)state;
    tsr_blob *image = blob_of("f32:nChw8c 1x20x4x4"),
             *part = crop_of(image, (int64_t[]){0, 3, 1, 1}, (int64_t[]){1, 9, 2, 2});
    write_values(image, "f32:nchw 1x20x4x4", 0);
    assert_true(value_at(part, "f32:nchw 1x9x2x2", 0) == 3 * 16 + 5);
    write_values(part, "f32:nhwc 1x9x2x2", 1000);
    for (int c = 0, inside = 0; c < 20; c++)
        for (int y = 0; y < 4; y++)
            for (int x = 0; x < 4; x++) {
                const bool is_inside = c >= 3 && c < 12 && y >= 1 && y < 3 && x >= 1 && x < 3;
                const int i = (c * 4 + y) * 4 + x;
                assert_true(value_at(image, NULL, i) == (float)(is_inside ? 1000 + inside : i));
                inside += is_inside;
            }
    const int64_t conversions = tsr_blob_get_stats(part).conversions;
    assert_true(value_at(part, "f32:nhwc 1x9x2x2", 35) == 1035); /* that one still holds the values */
    assert_int_equal(tsr_blob_get_stats(part).conversions, conversions);
    tsr_access access = acquire(part, "f32:nhwc 1x9x2x2", TSR_READ_WRITE);
    assert_int_equal(tsr_blob_get_stats(part).conversions, conversions);
    release(&access);
    write_values(image, NULL, 0);
    assert_true(value_at(part, "f32:nhwc 1x9x2x2", 0) == 53);
    tsr_blob_free(&part);
    tsr_blob_free(&image);
}

static void test_another_shape(void **state)
{
    (void)state;
    tsr_blob *matrix = blob_of("f32:ab 4x6"), *flat = NULL;
    const tsr_desc line = parsed_desc("f32:a 24");
    assert_int_equal(tsr_blob_create_view(&flat, matrix, &line, NULL), TSR_OK);
    write_values(flat, NULL, 3);
    assert_true(value_at(matrix, NULL, 23) == 26);
    tsr_blob_free(&flat);
    tsr_blob_free(&matrix);
}

/* A window over rows slides; one inside of it goes with it. */
static void test_moving(void **state)
{
    (void)state;
    tsr_error error = {0};
    tsr_blob *matrix = blob_of("f32:ab 8x6"), *window = rows_of(matrix, 0, 4), *inner = rows_of(window, 1, 2);
    write_values(matrix, NULL, 0);
    assert_true(value_at(inner, "f32:ba 2x6", 0) == 6);
    const tsr_desc turned = parsed_desc("f32:ba 2x6");
    tsr_desc home;
    assert_true(tsr_blob_holds(inner, NULL, &turned));
    assert_int_equal(tsr_blob_move_view(window, 3 * 6, NULL), TSR_OK);
    assert_false(tsr_blob_holds(inner, NULL, &turned));
    tsr_blob_get_desc(inner, &home);
    assert_true(tsr_blob_holds(inner, home_device, &home));
    write_values(matrix, "f32:ba 8x6", 0);
    assert_false(tsr_blob_holds(inner, home_device, &home)); /* the values are in another layout of the parent */
    assert_int_equal(tsr_blob_get_start(window), 18);
    assert_true(value_at(window, NULL, 0) == 18);
    assert_true(value_at(inner, NULL, 0) == 24);
    assert_true(value_at(inner, "f32:ba 2x6", 0) == 24);
    assert_int_equal(tsr_blob_move_view(inner, 2 * 6, NULL), TSR_OK);
    assert_true(value_at(inner, NULL, 11) == 41);
    assert_int_equal(tsr_blob_move_view(inner, 3 * 6, &error), TSR_OUT_OF_RANGE);
    assert_int_equal(tsr_blob_move_view(window, 5 * 6, &error), TSR_OUT_OF_RANGE);
    assert_string_equal(error.message, "expected a view of elements 0 to 48, found one of 30 to 54");
    assert_int_equal(tsr_blob_move_view(window, -1, &error), TSR_OUT_OF_RANGE);
    assert_string_equal(error.message, "expected a start inside of the parent, found -1");
    assert_int_equal(tsr_blob_move_view(window, INT64_MAX, &error), TSR_OUT_OF_RANGE);
    assert_string_equal(error.message, "expected a start inside of the parent, found 9223372036854775807");
    assert_int_equal(tsr_blob_move_view(matrix, 0, &error), TSR_INVALID_ARGUMENT);
    assert_string_equal(error.message, "expected a view to move, found a blob with memory of its own");
    tsr_access access = acquire(inner, NULL, TSR_READ);
    assert_int_equal(tsr_blob_move_view(inner, 0, &error), TSR_BUSY);
    assert_int_equal(tsr_blob_move_view(window, 0, &error), TSR_BUSY); /* it is in use through the inner one */
    release(&access);
    write_values(inner, NULL, 500);
    assert_true(value_at(matrix, NULL, 30) == 500 && value_at(matrix, NULL, 29) == 29);
    tsr_blob_free(&window);
    tsr_blob_free(&matrix);
    assert_true(value_at(inner, NULL, 0) == 500);
    tsr_blob_free(&inner);
}

/* To where its home has a layout that was made of it before, in other fields. */
static void test_moving_to_a_layout(void **state)
{
    (void)state;
    tsr_blob *matrix = blob_of("f32:ab 8x6"), *row = rows_of(matrix, 2, 1);
    const tsr_desc turned = parsed_desc("f32:ba 1x6");
    write_values(matrix, NULL, 0);
    assert_true(value_at(row, "f32:ba 1x6", 0) == 12);
    const int64_t conversions = tsr_blob_get_stats(row).conversions;
    assert_int_equal(tsr_blob_move_view(row, 0, NULL), TSR_OK);
    assert_true(tsr_blob_holds(row, NULL, &turned));
    assert_true(value_at(row, "f32:ba 1x6", 5) == 5);
    assert_int_equal(tsr_blob_get_stats(row).conversions, conversions);
    tsr_blob_free(&row);
    tsr_blob_free(&matrix);
}

static void test_exclusion(void **state)
{
    (void)state;
    tsr_error error = {0};
    tsr_access refused;
    tsr_blob *matrix = blob_of("f32:ab 4x6"), *a = rows_of(matrix, 0, 2), *b = rows_of(matrix, 2, 2);
    tsr_access first = acquire(a, NULL, TSR_READ), second = acquire(b, "f32:ba 2x6", TSR_READ);
    assert_int_equal(tsr_blob_acquire(matrix, NULL, NULL, TSR_WRITE, &refused, &error), TSR_BUSY);
    release(&first);
    release(&second);
    first = acquire(a, NULL, TSR_WRITE);
    assert_int_equal(tsr_blob_acquire(b, NULL, NULL, TSR_READ, &refused, &error), TSR_BUSY);
    assert_int_equal(tsr_blob_acquire(matrix, NULL, NULL, TSR_READ, &refused, &error), TSR_BUSY);
    release(&first);
    second = acquire(b, NULL, TSR_WRITE);
    release(&second);
    tsr_blob_free(&a);
    tsr_blob_free(&b);
    write_values(matrix, NULL, 0);
    tsr_blob_free(&matrix);
}

static void test_refusals(void **state)
{
    (void)state;
    tsr_error error = {0};
    tsr_blob *matrix = blob_of("f32:ab 4x6"), *view = NULL;
    const tsr_desc larger = parsed_desc("f32:ab 4x7"), other = parsed_desc("s32:ab 4x6"),
                   smaller = parsed_desc("f32:ab 2x2");
    assert_int_equal(tsr_blob_create_view(&view, matrix, &larger, &error), TSR_OUT_OF_RANGE);
    assert_string_equal(error.message, "expected a view of elements 0 to 24, found one of 0 to 28");
    assert_int_equal(tsr_blob_create_view(&view, matrix, &other, &error), TSR_INVALID_ARGUMENT);
    assert_string_equal(error.message, "expected a view of type f32, found s32");
    assert_null(view);
    view = rows_of(matrix, 1, 2);
    const tsr_desc turned = parsed_desc("f32:ba 4x6");
    tsr_access access = acquire(matrix, "f32:ba 4x6", TSR_READ);
    release(&access);
    assert_int_equal(tsr_blob_acquire(view, NULL, &turned, TSR_WRITE, &access, &error), TSR_INVALID_ARGUMENT);
    assert_true(tsr_blob_holds(matrix, NULL, &turned)); /* nothing was to be written */
    assert_int_equal(tsr_blob_reshape(matrix, &smaller, NULL, &error), TSR_BUSY);
    assert_string_equal(error.message, "expected a blob without views, found 1");
    assert_int_equal(tsr_blob_reshape(view, &smaller, NULL, &error), TSR_INVALID_ARGUMENT);
    assert_string_equal(error.message, "a view keeps its shape, as its memory is its parent's");
    tsr_blob_free(&view);
    assert_int_equal(tsr_blob_reshape(matrix, &smaller, NULL, NULL), TSR_OK);
    tsr_blob_free(&matrix);
}

/* Copies find a window where it is, so that the engine reads and writes its parent. */
static void test_copies_of_a_moved_window(void **state)
{
    (void)state;
    tsr_desc desc;
    tsr_blob *matrix = blob_of("f32:ab 8x6"), *window = rows_of(matrix, 0, 4), *inner = rows_of(window, 1, 2),
             *other = blob_of("f32:ab 2x6");
    write_values(matrix, NULL, 0);
    assert_int_equal(tsr_blob_move_view(window, 3 * 6, NULL), TSR_OK);
    tsr_blob_get_desc(inner, &desc);
    assert_int_equal(desc.offset, 24);
    assert_int_equal(tsr_blob_copy(other, inner, NULL), TSR_OK);
    assert_true(value_at(other, NULL, 0) == 24);
    write_values(other, NULL, 90);
    assert_int_equal(tsr_blob_move_view(inner, 0, NULL), TSR_OK);
    assert_int_equal(tsr_blob_copy(inner, other, NULL), TSR_OK);
    assert_true(value_at(matrix, NULL, 17) == 17 && value_at(matrix, NULL, 18) == 90);
    assert_int_equal(tsr_blob_get_stats(inner).conversions, 0);
    assert_int_equal(tsr_blob_get_stats(inner).representations, 0);
    tsr_blob_free(&other);
    tsr_blob_free(&inner);
    tsr_blob_free(&window);
    tsr_blob_free(&matrix);
}

/* Of the window, not of what it is in. */
static void test_statistics_of_a_window(void **state)
{
    (void)state;
    tsr_blob *matrix = blob_of("f32:ab 8x6"), *window = rows_of(matrix, 2, 2);
    write_values(matrix, NULL, 0);
    write_values(window, "f32:ba 2x6", 90);
    assert_true(value_at(matrix, NULL, 12) == 90);
    const tsr_blob_stats stats = tsr_blob_get_stats(window);
    assert_int_equal(stats.conversions, 1);
    assert_int_equal(stats.converted_bytes, 2 * 6 * 4);
    assert_int_equal(stats.transfers, home_device ? 1 : 0);
    assert_int_equal(stats.transferred_bytes, home_device ? 2 * 6 * 4 : 0);
    tsr_blob_free(&window);
    tsr_blob_free(&matrix);
}

static void test_copies_to_and_from(void **state)
{
    (void)state;
    tsr_blob *matrix = blob_of("f32:ab 4x6"), *part = rows_of(matrix, 1, 2), *other = blob_of("f32:ba 2x6");
    write_values(matrix, NULL, 0);
    assert_int_equal(tsr_blob_copy(other, part, NULL), TSR_OK);
    assert_true(value_at(other, NULL, 0) == 6 && value_at(other, NULL, 11) == 17);
    write_values(other, NULL, 70);
    assert_int_equal(tsr_blob_copy(part, other, NULL), TSR_OK);
    assert_true(value_at(matrix, NULL, 5) == 5 && value_at(matrix, NULL, 6) == 70 && value_at(matrix, NULL, 18) == 18);
    tsr_blob_free(&part);
    tsr_blob_free(&other);
    tsr_blob_free(&matrix);
}

/* A view of what lives on a device, read on the host and written back to the device. */
static void test_on_a_device(void **state)
{
    (void)state;
    tsr_blob *matrix = blob_of("f32:ab 4x6");
    write_values(matrix, NULL, 0);
    tsr_blob *part = rows_of(matrix, 2, 1);
    assert_true(value_at(part, "f32:ab 1x6", 3) == 15);
    write_values(part, "f32:ab 1x6", 90);
    assert_true(value_at(matrix, NULL, 12) == 90 && value_at(matrix, NULL, 11) == 11);
    tsr_access access;
    void *host;
    assert_int_equal(tsr_blob_acquire(part, home_device, NULL, TSR_WRITE, &access, NULL), TSR_OK);
    assert_int_equal(tsr_access_map(&access, &host, NULL), TSR_OK); /* of its parent's memory, which stays */
    for (int i = 0; i < 6; i++)
        ((float *)host)[12 + i] = 70;
    release(&access);
    assert_true(value_at(matrix, NULL, 17) == 70 && value_at(matrix, NULL, 11) == 11 &&
                value_at(matrix, NULL, 18) == 18);
    tsr_blob_free(&part);
    tsr_blob_free(&matrix);
}

static tsr_blob *create_on(tsr_device *device, const char *text, float first)
{
    tsr_blob *blob = NULL;
    const tsr_desc desc = parsed_desc(text);
    assert_int_equal(tsr_blob_create(&blob, &desc, &(tsr_blob_options){.device = device}, NULL), TSR_OK);
    write_values(blob, NULL, first);
    tsr_access access = {0}; /* the values are there */
    assert_int_equal(tsr_blob_acquire(blob, device, NULL, TSR_READ, &access, NULL), TSR_OK);
    release(&access);
    return blob;
}

/* A device that copies rows maps nothing for a merge, a split or a window whose rows are long enough. */
static void test_rows_on_a_device(void **state)
{
    (void)state;
    static const int64_t begin[] = {0, 0, 3, 5}, size[] = {2, 6, 40, 64};
    tsr_device_functions functions = remote_functions;
    tsr_error error = {0};
    functions.copy_rows = remote_copy_rows;
    tsr_device *device = register_functions("rows", &functions);
    tsr_blob *whole = create_on(device, "f32:nchw 2x6x48x72", 0), *inner = create_on(device, "f32:nchw 2x6x40x64", 0),
             *parts[] = {create_on(device, "f32:nchw 2x2x48x72", 100000),
                         create_on(device, "f32:nchw 2x4x48x72", 200000)},
             *window = crop_of(whole, begin, size), *turned = create_on(device, "f32:nhwc 2x6x40x64", 0);
    const int image = 48 * 72;
    remote_fails(REMOTE_MAP);
    remote_row_copies = 0;
    assert_int_equal(tsr_blob_merge(whole, parts, 2, 1, NULL), TSR_OK);
    assert_int_equal(remote_row_copies, 2);
    assert_int_equal(tsr_blob_copy(inner, window, NULL), TSR_OK);
    assert_int_equal(remote_row_copies, 2 + 2 * 6);
    assert_int_equal(tsr_blob_copy(turned, window, &error), TSR_IO_ERROR); /* no rows: it is mapped */
    remote_fails(REMOTE_COPY_ROWS);
    assert_int_equal(tsr_blob_copy(inner, window, &error), TSR_IO_ERROR);
    assert_string_equal(error.message, "the remote device failed");
    remote_fails(REMOTE_NOTHING);
    assert_int_equal(tsr_blob_copy(inner, window, NULL), TSR_OK);
    assert_int_equal(tsr_blob_copy(turned, window, NULL), TSR_OK);

    assert_true(value_at(whole, NULL, 0) == 100000 && value_at(whole, NULL, 2 * image) == 200000);
    assert_true(value_at(whole, NULL, 6 * image + 1) == 100001 + 2 * image);
    assert_true(value_at(inner, NULL, 0) == 100000 + 3 * 72 + 5);
    for (int64_t n = 0, at = 0; n < 2; n++)
        for (int64_t c = 0; c < 6; c++)
            for (int64_t y = 0; y < 40; y += 13, at = 0) {
                at = ((n * 6 + c) * 40 + y) * 64 + 63;
                const int64_t there = ((n * 6 + c) * 48 + y + 3) * 72 + 68;
                assert_true(value_at(inner, NULL, at) == value_at(whole, NULL, there));
                assert_true(value_at(turned, NULL, at) == value_at(whole, NULL, there));
            }
    tsr_blob_free(&window);
    tsr_blob_free(&whole);
    tsr_blob_free(&inner);
    tsr_blob_free(&turned);
    for (int i = 0; i < 2; i++)
        tsr_blob_free(&parts[i]);
    forget_remote(&device);
}

/* Of a window that the host converts, nothing but its bytes is mapped, on either side. */
static void test_mapped_bytes(void **state)
{
    (void)state;
    tsr_device *remote = register_remote("remote");
    tsr_blob *matrix = create_on(remote, "f32:ab 40x6", 0), *turned = create_on(remote, "f32:ba 2x6", 1000),
             *window = rows_of(matrix, 30, 2);
    remote_mapped_bytes = 0;
    assert_int_equal(tsr_blob_copy(window, turned, NULL), TSR_OK);
    assert_int_equal(remote_mapped_bytes, 2 * 2 * 6 * 4);
    assert_int_equal(tsr_blob_copy(turned, window, NULL), TSR_OK);
    assert_int_equal(remote_mapped_bytes, 4 * 2 * 6 * 4);
    for (int i = 0; i < 40 * 6; i++)
        assert_true(value_at(matrix, NULL, i) == (float)(i < 180 || i >= 192 ? i : 1000 + i - 180));
    tsr_blob_free(&window);
    tsr_blob_free(&turned);
    tsr_blob_free(&matrix);
    forget_remote(&remote);
}

/* A device that fails when what was written goes back: the release says so, and everything can be used again. */
static void test_failing_release(void **state)
{
    (void)state;
    tsr_error error = {0};
    tsr_device *remote = register_remote("remote");
    tsr_blob *matrix = NULL;
    const tsr_desc desc = parsed_desc("f32:ab 4x6");
    assert_int_equal(tsr_blob_create(&matrix, &desc, &(tsr_blob_options){.device = remote}, NULL), TSR_OK);
    write_values(matrix, NULL, 0);
    tsr_blob *part = rows_of(matrix, 2, 1);
    assert_true(value_at(part, "f32:ab 1x6", 0) == 12);
    tsr_access access = acquire(part, "f32:ab 1x6", TSR_WRITE);
    remote_fails(REMOTE_MAP);
    assert_int_equal(tsr_blob_release(&access, &error), TSR_IO_ERROR);
    assert_string_equal(error.message, "the remote device failed");
    assert_null(access.blob);
    remote_fails(REMOTE_NOTHING);
    assert_true(value_at(part, "f32:ab 1x6", 0) == 12); /* what was written is lost, not hidden */
    assert_true(value_at(matrix, NULL, 12) == 12);
    write_values(part, "f32:ab 1x6", 7);
    assert_true(value_at(matrix, NULL, 12) == 7);
    tsr_blob_free(&part);
    tsr_blob_free(&matrix);
    forget_remote(&remote);
}

/* A window over what lives on a device takes memory of its own once, however far it moves. */
static void test_window_elsewhere(void **state)
{
    (void)state;
    tsr_device *remote = register_remote("remote");
    tsr_blob *matrix = create_on(remote, "f32:ab 40x6", 0), *window = rows_of(matrix, 0, 2);
    for (int i = 0; i < 38; i++) {
        assert_int_equal(tsr_blob_move_view(window, 6 * i, NULL), TSR_OK);
        tsr_access access = acquire(window, NULL, TSR_READ);
        for (int k = 0; k < 12; k++)
            assert_true(((const float *)access.data)[k] == (float)(6 * i + k));
        release(&access);
    }
    assert_int_equal(tsr_blob_get_stats(window).representations, 1);
    assert_int_equal(tsr_blob_get_stats(window).held_bytes, 48);
    tsr_blob_free(&window);
    tsr_blob_free(&matrix);
    forget_remote(&remote);
}

/* Two elements to a byte: a view of three leaves the fourth as it is. */
static void test_half_a_byte(void **state)
{
    (void)state;
    tsr_device *remote = register_remote("remote");
    tsr_blob *row = NULL, *part = NULL;
    tsr_access access = {0};
    const tsr_desc desc = parsed_desc("u4:a 6"), first = parsed_desc("u4:a 3");
    assert_int_equal(tsr_blob_create(&row, &desc, &(tsr_blob_options){.device = remote}, NULL), TSR_OK);
    access = acquire(row, NULL, TSR_WRITE);
    memcpy(access.data, "\x21\x43\x65", 3);
    release(&access);
    assert_int_equal(tsr_blob_create_view(&part, row, &first, NULL), TSR_OK);
    access = acquire(part, NULL, TSR_WRITE);
    memcpy(access.data, "\xba\x0c", 2);
    release(&access);
    access = acquire(row, NULL, TSR_READ);
    assert_memory_equal(access.data, "\xba\x4c\x65", 3);
    release(&access);
    tsr_blob_free(&part);
    tsr_blob_free(&row);
    forget_remote(&remote);
}

/* Windows that begin at one offset and show different indices of a block are different places. */
static void test_split_inside_of_blocks(void **state)
{
    (void)state;
    tsr_blob *whole = blob_of("f32:ab 2x16"), *target = blob_of("f32:aB8b 2x16");
    tsr_blob *parts[] = {crop_of(target, (int64_t[]){0, 0}, (int64_t[]){2, 3}),
                         crop_of(target, (int64_t[]){0, 3}, (int64_t[]){2, 0}),
                         crop_of(target, (int64_t[]){0, 3}, (int64_t[]){2, 13})},
             *twice[] = {parts[0], parts[2], parts[0]}, *larger = blob_of("f32:ab 2x19");
    tsr_error error = {0};
    write_values(whole, NULL, 5);
    assert_int_equal(tsr_blob_split(parts, 3, whole, 1, &error), TSR_OK);
    for (int i = 0; i < 32; i++)
        assert_true(value_at(target, "f32:ab 2x16", i) == (float)(5 + i));
    assert_int_equal(tsr_blob_split(twice, 3, larger, 1, &error), TSR_INVALID_ARGUMENT);
    assert_string_equal(error.message, "expected parts beside each other, found 0 and 2 at one place");
    for (int i = 0; i < 3; i++)
        tsr_blob_free(&parts[i]);
    tsr_blob_free(&target);
    tsr_blob_free(&whole);
    tsr_blob_free(&larger);
}

static void test_out_of_memory(void **state)
{
    (void)state;
    bool is_done = false;
    for (int nth = 1; !is_done; nth++) {
        failing_allocator counter = {.fail_at = nth};
        const tsr_allocator allocator = failing_allocator_of(&counter);
        tsr_blob *matrix = NULL, *part = NULL;
        tsr_error error = {0};
        const tsr_desc desc = parsed_desc("f32:ab 4x6"), rows = parsed_desc("f32:ab 2x6"),
                       turned = parsed_desc("f32:ba 2x6");
        tsr_access access;
        tsr_status status = tsr_blob_create(&matrix, &desc, &(tsr_blob_options){.allocator = &allocator}, &error);
        if (status == TSR_OK)
            status = tsr_blob_create_view(&part, matrix, &rows, &error);
        if (status == TSR_OK)
            status = tsr_blob_acquire(part, NULL, &turned, TSR_READ_WRITE, &access, &error);
        if (status == TSR_OK)
            release(&access);
        is_done = status == TSR_OK;
        assert_true(is_done || status == TSR_OUT_OF_MEMORY);
        if (matrix && !part)
            assert_int_equal(tsr_blob_reshape(matrix, &rows, NULL, NULL), TSR_OK); /* it has no view */
        tsr_blob_free(&part);
        tsr_blob_free(&matrix);
        assert_int_equal(counter.live, 0);
        assert_in_range(nth, 1, 50);
    }
}

/* ---- the first element ---- */

/* Bytes from the start of a view to its first element; -1 if that has no address. */
static int64_t bytes_to_first(tsr_blob *blob, const char *layout)
{
    tsr_access access = acquire(blob, layout, TSR_READ);
    const char *first = tsr_access_first_element(&access);
    const int64_t bytes = first ? first - (const char *)access.data : -1;
    release(&access);
    return bytes;
}

static void test_first_element(void **state)
{
    static const struct {
        const char *parent;
        int64_t begin[2], size[2];
        int64_t bytes;
    } rows[] = {
        {"f32:ab 4x6", {0, 0}, {4, 6}, 0},
        {"f32:ab 4x6", {2, 3}, {1, 2}, 60},
        {"f32:[a4,b6]+5 4x6", {1, 0}, {1, 6}, 44},
        {"f16:aB4b 4x6", {1, 5}, {2, 1}, 26}, /* a window on blocks: levels begin in front of it */
        {"u4:ab 4x6", {1, 2}, {1, 2}, 4},
        {"u4:ab 4x6", {1, 1}, {1, 2}, -1}, /* in the middle of a byte */
        {"f32:ab 4x6", {1, 1}, {0, 2}, -1},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        tsr_blob *parent = blob_of(rows[i].parent), *part = crop_of(parent, rows[i].begin, rows[i].size);
        assert_int_equal(bytes_to_first(part, NULL), rows[i].bytes);
        tsr_blob_free(&part);
        tsr_blob_free(&parent);
    }
    tsr_blob *matrix = blob_of("f32:ab 4x6"), *part = rows_of(matrix, 2, 1);
    assert_int_equal(bytes_to_first(part, "f32:ba 1x6"), 0); /* elsewhere, in memory of its own */
    tsr_device *remote = register_remote("remote");
    tsr_access access;
    assert_int_equal(tsr_blob_acquire(matrix, remote, NULL, TSR_READ, &access, NULL), TSR_OK);
    assert_null(tsr_access_first_element(&access));
    release(&access);
    tsr_blob_free(&part);
    tsr_blob_free(&matrix);
    forget_remote(&remote);
}

/* ---- many threads ---- */

static void *read_part(void *argument)
{
    static const char *const layouts[] = {NULL, "f32:ba 2x6"};
    for (int i = 0; i < 300; i++)
        if (value_at(argument, layouts[i % 2], 7) != 13)
            return argument;
    return NULL;
}

static void test_many_readers(void **state)
{
    enum { THREADS = 8 };
    (void)state;
    pthread_t threads[THREADS];
    tsr_blob *matrix = blob_of("f32:ab 4x6"), *part = rows_of(matrix, 1, 2);
    write_values(matrix, NULL, 0);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, read_part, part), 0);
    for (int i = 0; i < THREADS; i++) {
        void *wrong;
        assert_int_equal(pthread_join(threads[i], &wrong), 0);
        assert_null(wrong);
    }
    assert_int_equal(tsr_blob_get_stats(part).conversions, home_device ? 2 : 1); /* elsewhere, a view is without gaps */
    tsr_blob_free(&part);
    tsr_blob_free(&matrix);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_part),
        cmocka_unit_test(test_written_in_another_layout),
        cmocka_unit_test(test_another_shape),
        cmocka_unit_test(test_moving),
        cmocka_unit_test(test_moving_to_a_layout),
        cmocka_unit_test(test_exclusion),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_copies_of_a_moved_window),
        cmocka_unit_test(test_copies_to_and_from),
        cmocka_unit_test(test_statistics_of_a_window),
        cmocka_unit_test(test_rows_on_a_device),
        cmocka_unit_test(test_window_elsewhere),
        cmocka_unit_test(test_half_a_byte),
        cmocka_unit_test(test_split_inside_of_blocks),
        cmocka_unit_test(test_mapped_bytes),
        cmocka_unit_test(test_failing_release),
        cmocka_unit_test(test_out_of_memory),
        cmocka_unit_test(test_first_element),
        cmocka_unit_test(test_many_readers),
        at_place(test_part),
        at_place(test_written_in_another_layout),
        at_place(test_another_shape),
        at_place(test_moving),
        at_place(test_exclusion),
        at_place(test_refusals),
        at_place(test_copies_of_a_moved_window),
        at_place(test_copies_to_and_from),
        at_place(test_statistics_of_a_window),
        at_place(test_on_a_device),
        at_place(test_split_inside_of_blocks),
        at_place(test_many_readers),
    };
    return choose_place(argc, argv) ? cmocka_run_group_tests(tests, NULL, NULL) : 0;
}
