/* SPDX-License-Identifier: Apache-2.0 */
/* Random walks over blobs and views of them, on the host and on a device, which fails at times if it is the tests'
 * own, beside plain arrays. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tessera/blob.h>
#include <tessera/text.h>
#include <tessera/view.h>

#include "parsed.h"
#include "place.h"
#include "random.h"

enum { ROOM = 256, NODES = 8, ACCESSES = 4, STEPS = 200 };

/* A blob, and what it should hold. Of a view, element i is element at[i] of its parent. */
struct node {
    tsr_blob *blob;
    struct node *parent;
    int64_t dims[2];
    bool is_plain; /* its home is in row-major order in its root */
    float values[ROOM];
    int at[ROOM];
    int readers, views;
    bool has_writer;
};

struct held {
    tsr_access access;
    struct node *node;
};

static struct {
    struct node nodes[NODES];
    struct held held[ACCESSES];
    tsr_device *device;
    float next;
} world;

static tsr_random numbers;

static int draw(int lo, int hi)
{
    return (int)tsr_random_range(&numbers, lo, hi);
}

/* ---- what is there, and who may use it ---- */

static int elements_of(const struct node *node)
{
    return (int)(node->dims[0] * node->dims[1]);
}

static float *value_of(struct node *node, int i)
{
    for (; node->parent; node = node->parent)
        i = node->at[i];
    return &node->values[i];
}

static bool may_enter(const struct node *node, tsr_intent intent)
{
    for (; node; node = node->parent)
        if (node->has_writer || (intent != TSR_READ && node->readers > 0))
            return false;
    return true;
}

static void enter(struct node *node, tsr_intent intent, int by)
{
    for (; node; node = node->parent) {
        if (intent == TSR_READ)
            node->readers += by;
        else
            node->has_writer = by > 0;
    }
}

static struct node *any_node(void)
{
    struct node *node = &world.nodes[draw(0, NODES - 1)];
    return node->blob ? node : &world.nodes[0];
}

static struct node *free_node(void)
{
    for (int i = 0; i < NODES; i++)
        if (!world.nodes[i].blob)
            return &world.nodes[i];
    return NULL;
}

static tsr_desc layout_of(const int64_t *dims, const char *tag)
{
    char text[64];
    snprintf(text, sizeof text, "f32:%s %dx%d", tag, (int)dims[0], (int)dims[1]);
    return parsed_desc(text);
}

static const char *any_tag(void)
{
    static const char *const tags[] = {"ab", "ba", "Ab4a", "aB8b", "Ba4b", "AB2a4b"};
    return tags[draw(0, 5)];
}

/* ---- one call of the device fails, at times ---- */

static void may_fail(void)
{
    if (!is_on_opencl && tsr_random_chance(&numbers, 6))
        failing_remote_call = remote_calls + draw(1, 8);
}

/* Has the device failed? Whatever else it was, was to be expected. */
static bool has_failed(tsr_status status, const tsr_error *error, bool is_busy)
{
    const bool has = failing_remote_call > 0 && remote_calls >= failing_remote_call;
    failing_remote_call = 0;
    if (status == TSR_IO_ERROR && has) {
        assert_string_equal(error->message, "the remote device failed");
        return true;
    }
    if (status != (is_busy ? TSR_BUSY : TSR_OK))
        fail_msg("expected %s, found %s: %s", is_busy ? "busy" : "ok", tsr_status_name(status), error->message);
    return false;
}

/* ---- what was acquired, where the host sees it ---- */

static float *element(float *data, const tsr_desc *desc, int i)
{
    int64_t at;
    assert_int_equal(tsr_desc_offset_linear(desc, i, &at, NULL), TSR_OK);
    return data + at;
}

/* All that is no element is zero. Around the home of a view is its parent. */
static void expect_zero_padding(float *data, const tsr_desc *desc, int elements)
{
    int zeros = 0;
    const int all = (int)tsr_desc_size_bytes(desc) / 4;
    unsigned char is_element[4 * ROOM] = {0};
    assert_in_range(all, elements, 4 * ROOM);
    for (int i = 0; i < elements; i++)
        is_element[element(data, desc, i) - data] = 1;
    for (int at = 0; at < all; at++)
        zeros += !is_element[at] && data[at] == 0;
    assert_int_equal(zeros, all - elements);
}

static void expect_values(struct node *node, float *data, const tsr_desc *desc)
{
    for (int i = 0; i < elements_of(node); i++)
        if (*element(data, desc, i) != *value_of(node, i))
            fail_msg("element %d: expected %g, found %g", i, *value_of(node, i), *element(data, desc, i));
}

static void use_access(struct node *node, tsr_access *access)
{
    tsr_desc desc, home;
    void *data;
    tsr_access_get_desc(access, &desc);
    tsr_blob_get_desc(node->blob, &home);
    const bool is_in_parent = node->parent && tsr_desc_equal(&desc, &home);
    assert_int_equal(tsr_access_map(access, &data, NULL), TSR_OK);
    if (access->intent != TSR_WRITE) {
        expect_values(node, data, &desc);
        if (!is_in_parent)
            expect_zero_padding(data, &desc, elements_of(node));
    }
    if (access->intent == TSR_WRITE && !is_in_parent)
        for (int at = 0; at < (int)tsr_desc_size_bytes(&desc) / 4; at++)
            ((float *)data)[at] = -1;
    for (int i = 0; i < elements_of(node); i++)
        if (access->intent == TSR_WRITE || (access->intent == TSR_READ_WRITE && tsr_random_chance(&numbers, 3)))
            *element(data, &desc, i) = *value_of(node, i) = world.next++;
    assert_int_equal(tsr_access_unmap(access, NULL), TSR_OK);
}

static int64_t moves_of(const struct node *node)
{
    const tsr_blob_stats stats = tsr_blob_get_stats(node->blob);
    return stats.conversions + stats.transfers;
}

/* ---- steps ---- */

static tsr_status acquire(struct node *node, tsr_device *device, const tsr_desc *layout, tsr_intent intent,
                          tsr_access *access, tsr_error *error)
{
    tsr_status status = tsr_blob_acquire(node->blob, device, layout, intent, access, error);
    if (status == TSR_OK)
        enter(node, intent, 1);
    return status;
}

static void release(struct node *node, tsr_access *access)
{
    tsr_error error = {0};
    const tsr_intent intent = access->intent;
    if (tsr_blob_release(access, &error) != TSR_OK)
        fail_msg("%s", error.message);
    enter(node, intent, -1);
}

static void step_acquire(void)
{
    struct held *held = &world.held[draw(0, ACCESSES - 1)];
    struct node *node = any_node();
    tsr_device *device = draw(0, 1) ? world.device : NULL;
    const tsr_intent intent = (tsr_intent)draw(TSR_READ, TSR_READ_WRITE);
    const bool is_home = tsr_random_chance(&numbers, 3);
    tsr_desc layout = layout_of(node->dims, any_tag());
    tsr_error error = {0};
    if (held->node)
        return;
    if (is_home)
        tsr_blob_get_desc(node->blob, &layout);
    const bool is_busy = !may_enter(node, intent), is_there = tsr_blob_holds(node->blob, device, &layout);
    const int64_t moves = moves_of(node);
    may_fail();
    tsr_status status = acquire(node, device, is_home ? NULL : &layout, intent, &held->access, &error);
    if (has_failed(status, &error, is_busy) || is_busy)
        return;
    if (intent == TSR_WRITE || is_there)
        assert_int_equal(moves_of(node), moves);
    tsr_access_get_desc(&held->access, &layout); /* an equal one, perhaps */
    assert_true(tsr_blob_holds(node->blob, device, &layout));
    held->node = node;
    use_access(node, &held->access);
}

static void step_release(void)
{
    struct held *held = &world.held[draw(0, ACCESSES - 1)];
    if (!held->node)
        return;
    release(held->node, &held->access);
    held->node = NULL;
}

static void step_drop(void)
{
    const struct node *node = any_node();
    const tsr_desc layout = layout_of(node->dims, any_tag());
    tsr_error error = {0};
    const bool is_busy = node->readers > 0 || node->has_writer;
    may_fail();
    has_failed(tsr_blob_drop(node->blob, draw(0, 1) ? world.device : NULL, &layout, &error), &error, is_busy);
}

static void find_elements(struct node *view, int row, int column)
{
    for (int i = 0; i < elements_of(view); i++)
        view->at[i] = (row + i / (int)view->dims[1]) * (int)view->parent->dims[1] + column + i % (int)view->dims[1];
}

static void step_create_view(void)
{
    struct node *view = free_node(), *parent = any_node();
    const int row = draw(0, (int)parent->dims[0] - 1), column = draw(0, (int)parent->dims[1] - 1);
    tsr_desc home, part;
    if (!view)
        return;
    *view = (struct node){.parent = parent, .is_plain = parent->is_plain};
    view->dims[0] = draw(1, (int)parent->dims[0] - row);
    view->dims[1] = draw(1, (int)parent->dims[1] - column);
    tsr_blob_get_desc(parent->blob, &home);
    assert_int_equal(tsr_view_crop(&part, &home, (int64_t[]){row, column}, view->dims, NULL, NULL), TSR_OK);
    assert_int_equal(tsr_blob_create_view(&view->blob, parent->blob, &part, NULL), TSR_OK);
    find_elements(view, row, column);
    parent->views++;
}

/* To anywhere, also beyond the parent, in a row-major one. */
static void step_move_view(void)
{
    struct node *view = any_node();
    tsr_error error = {0};
    tsr_desc home;
    if (!view->parent || !view->is_plain)
        return;
    const struct node *parent = view->parent;
    const int row = draw(0, (int)(parent->dims[0] - view->dims[0])),
              column = draw(0, (int)(parent->dims[1] - view->dims[1]));
    tsr_blob_get_desc(parent->blob, &home);
    int64_t first, end;
    tsr_desc_span(&home, &first, &end);
    assert_int_equal(tsr_blob_move_view(view->blob, end - home.offset, &error), TSR_OUT_OF_RANGE);
    const bool is_busy = view->readers > 0 || view->has_writer;
    tsr_status status = tsr_blob_move_view(view->blob, row * home.strides[0] + column, &error);
    if (!has_failed(status, &error, is_busy) && !is_busy)
        find_elements(view, row, column);
}

static void step_free(void)
{
    struct node *node = &world.nodes[draw(1, NODES - 1)];
    if (!node->blob || node->views > 0 || node->readers > 0 || node->has_writer)
        return;
    if (node->parent)
        node->parent->views--;
    tsr_blob_free(&node->blob);
}

static void create(struct node *node, const int64_t *dims, const char *tag)
{
    const tsr_blob_options options = {.device = draw(0, 1) ? world.device : NULL,
                                      .keep_bytes = draw(0, 1) ? 0 : draw(1, 600)};
    const tsr_desc desc = layout_of(dims, tag);
    *node = (struct node){.is_plain = strcmp(tag, "ab") == 0, .dims = {dims[0], dims[1]}};
    assert_int_equal(tsr_blob_create(&node->blob, &desc, &options, NULL), TSR_OK);
}

static void step_create(void)
{
    struct node *node = free_node();
    const int64_t dims[2] = {draw(1, 12), draw(1, 12)};
    if (node)
        create(node, dims, any_tag());
}

/* Within the room it keeps its bytes, and beyond it is zero. */
static void step_reshape(void)
{
    struct node *node = any_node();
    const int64_t dims[2] = {draw(1, 12), draw(1, 12)};
    const tsr_desc desc = layout_of(dims, "ab");
    tsr_error error = {0};
    bool reallocated = false;
    if (node->parent || !node->is_plain)
        return;
    const bool is_busy = node->views > 0 || node->readers > 0 || node->has_writer;
    may_fail();
    tsr_status status = tsr_blob_reshape(node->blob, &desc, &reallocated, &error);
    if (has_failed(status, &error, is_busy) || is_busy)
        return;
    memcpy(node->dims, dims, sizeof dims);
    if (reallocated)
        memset(node->values, 0, sizeof node->values);
}

static void write_anew(struct node *node)
{
    tsr_access access;
    assert_int_equal(acquire(node, NULL, NULL, TSR_WRITE, &access, NULL), TSR_OK);
    use_access(node, &access);
    release(node, &access);
}

static void take_values(struct node *to, int first_to, const float *values, int count)
{
    for (int i = 0; i < count; i++)
        *value_of(to, first_to + i) = values[i];
}

static void step_copy(void)
{
    struct node *dst = any_node(), *src = any_node();
    float values[ROOM];
    tsr_error error = {0};
    for (int i = 0; i < elements_of(src); i++)
        values[i] = *value_of(src, i);
    if (memcmp(dst->dims, src->dims, sizeof dst->dims) != 0) {
        assert_int_equal(tsr_blob_copy(dst->blob, src->blob, &error), TSR_INVALID_ARGUMENT);
        return;
    }
    /* one after the other, if both lie in one memory */
    const bool is_busy = dst != src && (!may_enter(src, TSR_READ) || !may_enter(dst, TSR_WRITE));
    may_fail();
    const bool failed = has_failed(tsr_blob_copy(dst->blob, src->blob, &error), &error, is_busy);
    if (!failed && !is_busy)
        take_values(dst, 0, values, elements_of(src));
}

/* A whole of rows, whose parts are made for this; they are views of one blob, or blobs in any layout. */
static void step_merge_or_split(void)
{
    struct node *whole = any_node(), parts[2];
    tsr_blob *blobs[2];
    const int rows = (int)whole->dims[0], columns = (int)whole->dims[1], cut = draw(0, rows);
    const bool is_merge = draw(0, 1);
    float values[ROOM];
    tsr_error error = {0};
    const int64_t dims[2][2] = {{cut, columns}, {rows - cut, columns}};
    if (cut == 0 || cut == rows)
        return;
    for (int i = 0; i < 2; i++) {
        create(&parts[i], dims[i], any_tag());
        write_anew(&parts[i]);
        blobs[i] = parts[i].blob;
    }
    const bool is_busy = !may_enter(whole, is_merge ? TSR_WRITE : TSR_READ);
    may_fail();
    tsr_status status =
        is_merge ? tsr_blob_merge(whole->blob, blobs, 2, 0, &error) : tsr_blob_split(blobs, 2, whole->blob, 0, &error);
    const bool failed = has_failed(status, &error, is_busy);
    for (int i = 0, first = 0; i < 2 && !failed && !is_busy; first += elements_of(&parts[i++]))
        for (int k = 0; k < elements_of(&parts[i]); k++) {
            values[k] = *value_of(is_merge ? &parts[i] : whole, is_merge ? k : first + k);
            take_values(is_merge ? whole : &parts[i], is_merge ? first + k : k, &values[k], 1);
        }
    for (int i = 0; i < 2; i++) {
        tsr_access access;
        assert_int_equal(acquire(&parts[i], NULL, NULL, TSR_READ, &access, NULL), TSR_OK);
        use_access(&parts[i], &access);
        release(&parts[i], &access);
        tsr_blob_free(&parts[i].blob);
    }
}

/* ---- walks ---- */

static void walk(void)
{
    static void (*const steps[])(void) = {step_acquire, step_acquire,   step_acquire,       step_release,
                                          step_release, step_release,   step_drop,          step_create_view,
                                          step_copy,    step_move_view, step_free,          step_create,
                                          step_reshape, step_copy,      step_merge_or_split};
    create(&world.nodes[0], (int64_t[]){draw(1, 12), draw(1, 12)}, draw(0, 1) ? "ab" : any_tag());
    for (int i = 0; i < STEPS; i++)
        steps[draw(0, sizeof steps / sizeof *steps - 1)]();
    for (int i = 0; i < ACCESSES; i++)
        if (world.held[i].node) {
            release(world.held[i].node, &world.held[i].access);
            world.held[i].node = NULL;
        }
    for (int i = 0; i < NODES; i++) {
        struct node *node = &world.nodes[i];
        tsr_access access;
        if (!node->blob)
            continue;
        assert_int_equal(acquire(node, NULL, NULL, TSR_READ, &access, NULL), TSR_OK);
        use_access(node, &access);
        release(node, &access);
    }
    for (int i = 0; i < NODES; i++)
        tsr_blob_free(&world.nodes[i].blob);
}

static void test_walks(void **state)
{
    (void)state;
    const int walks = tsr_random_cases(150);
    tsr_random_seed_from_environment(&numbers);
    world.device = find_place();
    for (int i = 0; i < walks; i++) {
        world.next = 1;
        walk();
        assert_int_equal(remote_memories, 0);
    }
    leave_place(&world.device);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_walks)};
    return has_place(argc, argv) ? cmocka_run_group_tests(tests, NULL, NULL) : 0;
}
