/* SPDX-License-Identifier: Apache-2.0 */
/* Merge and split against plain loops: along each axis, and in both readings of "by object", of any type, parts
 * and layouts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "accesses.h"
#include "place.h"
#include "random.h"

/* Below these, a way to cut a whole is an axis. */
enum { BY_OBJECTS = TSR_NEO_AXES, BY_CONTENTS, WAYS };

enum { MOST_PARTS = 4 };

struct tensor {
    tsr_neo_dims dims;
    tsr_desc desc;
    tsr_blob *blob;
};

struct sample {
    int way, count;
    struct tensor whole, parts[MOST_PARTS];
};

static int64_t product(const tsr_neo_dims *dims, int first)
{
    int64_t product = 1;
    for (int k = first; k < TSR_NEO_AXES; k++)
        product *= dims->of[k];
    return product;
}

/* ---- what is expected: of row-major tensors, parts lie beside each other in rows of so many elements ---- */

static int64_t row_of(const struct tensor *tensor, int way)
{
    if (way == BY_OBJECTS)
        return product(&tensor->dims, 0);
    return product(&tensor->dims, way == BY_CONTENTS ? TSR_NEO_HEIGHT : way);
}

/* Which element of the whole is element i of a part, with so many of each row before it? */
static int64_t place_in_whole(const struct sample *sample, const struct tensor *part, int64_t before, int64_t i)
{
    const int64_t row = row_of(part, sample->way);
    return i / row * row_of(&sample->whole, sample->way) + before + i % row;
}

/* The bits of element i of the whole; a type takes as many as it has. */
static uint64_t bits_of(int64_t i)
{
    return ((uint64_t)i + 1) * UINT64_C(0x9e3779b97f4a7c15) >> 3;
}

/* Writes a tensor where it is at home, or compares: with what its places in the whole have. */
static void visit(const struct sample *sample, const struct tensor *tensor, int64_t before, tsr_intent intent)
{
    const size_t bytes = tsr_dtype_size_bytes(tensor->desc.dtype);
    tsr_access access = acquire(tensor->blob, NULL, intent);
    for (int64_t i = 0, at; i < product(&tensor->dims, 0); i++) {
        const uint64_t bits = bits_of(place_in_whole(sample, tensor, before, i));
        assert_int_equal(tsr_desc_offset_linear(&tensor->desc, i, &at, NULL), TSR_OK);
        char *element = (char *)access.data + (size_t)at * bytes;
        if (intent == TSR_WRITE)
            memcpy(element, &bits, bytes);
        else
            assert_memory_equal(element, &bits, bytes);
    }
    release(&access);
}

static void visit_parts(const struct sample *sample, tsr_intent intent)
{
    int64_t before = 0;
    for (int i = 0; i < sample->count; i++) {
        visit(sample, &sample->parts[i], before, intent);
        before += row_of(&sample->parts[i], sample->way);
    }
}

/* ---- random wholes and parts ---- */

static void draw_dims(tsr_random *random, tsr_neo_dims *dims, int first, int end)
{
    for (int k = first; k < end; k++)
        dims->of[k] = tsr_random_range(random, 1, 3);
}

/* Parts that agree where they have to, and a whole where the rest adds up along one axis. */
static void draw_parts(tsr_random *random, struct sample *sample)
{
    const int way = sample->way;
    const int first = way == BY_CONTENTS ? TSR_NEO_HEIGHT : way == BY_OBJECTS ? 0 : way;
    const int end = way == BY_CONTENTS ? TSR_NEO_AXES : way == BY_OBJECTS ? TSR_NEO_HEIGHT : way + 1;
    tsr_neo_dims *whole = &sample->whole.dims;
    int64_t sum = 0;
    draw_dims(random, whole, 0, TSR_NEO_AXES);
    for (int i = 0; i < sample->count; i++) {
        tsr_neo_dims *part = &sample->parts[i].dims;
        int64_t cut = 1;
        *part = *whole;
        draw_dims(random, part, first, end);
        for (int k = 0; k < TSR_NEO_HEIGHT && way == BY_CONTENTS; k++)
            part->of[k] = whole->of[(k + i) % TSR_NEO_HEIGHT]; /* as many objects, in other dims */
        for (int k = first; k < end; k++)
            cut *= part->of[k];
        sum += cut;
    }
    for (int k = first; k < end; k++)
        whole->of[k] = 1;
    whole->of[tsr_random_range(random, first, end - 1)] = sum;
}

/* In any layout; if the objects are rows, in any whose memory can be seen so. */
static void create(tsr_random *random, const struct sample *sample, struct tensor *tensor, tsr_dtype dtype)
{
    const tsr_random_options options = {.max_blocks = 1, .max_elements = 16384, .strided = true, .offset = true};
    const int64_t size = product(&tensor->dims, TSR_NEO_HEIGHT), objects = product(&tensor->dims, 0) / size;
    tsr_desc rows;
    do
        tensor->desc = tsr_random_desc(random, dtype, TSR_NEO_AXES, tensor->dims.of, &options);
    while (sample->way >= BY_OBJECTS &&
           tsr_view_reshape(&rows, &tensor->desc, 2, (int64_t[]){objects, size}, NULL) != TSR_OK);
    tensor->blob = blob_at_home(&tensor->desc);
}

/* ---- there and back ---- */

static tsr_status merge(const struct sample *sample, tsr_blob *const *parts, tsr_error *error)
{
    if (sample->way == BY_OBJECTS)
        return tsr_neo_merge_objects(sample->whole.blob, parts, sample->count, error);
    if (sample->way == BY_CONTENTS)
        return tsr_neo_merge_contents(sample->whole.blob, parts, sample->count, error);
    return tsr_blob_merge(sample->whole.blob, parts, sample->count, sample->way, error);
}

static tsr_status split(const struct sample *sample, tsr_blob *const *parts, tsr_error *error)
{
    if (sample->way == BY_OBJECTS)
        return tsr_neo_split_objects(parts, sample->count, sample->whole.blob, error);
    if (sample->way == BY_CONTENTS)
        return tsr_neo_split_contents(parts, sample->count, sample->whole.blob, error);
    return tsr_blob_split(parts, sample->count, sample->whole.blob, sample->way, error);
}

static void check(tsr_random *random, int way, tsr_dtype dtype)
{
    struct sample sample = {.way = way, .count = (int)tsr_random_range(random, 1, MOST_PARTS)};
    tsr_blob *parts[MOST_PARTS];
    tsr_error error = {0};
    draw_parts(random, &sample);
    create(random, &sample, &sample.whole, dtype);
    for (int i = 0; i < sample.count; i++) {
        create(random, &sample, &sample.parts[i], dtype);
        parts[i] = sample.parts[i].blob;
    }
    visit_parts(&sample, TSR_WRITE);
    if (merge(&sample, parts, &error) != TSR_OK)
        fail_msg("merge %d: %s", way, error.message);
    visit(&sample, &sample.whole, 0, TSR_READ);
    for (int i = 0; i < sample.count; i++)
        assert_int_equal(tsr_blob_clear(parts[i], NULL), TSR_OK);
    if (split(&sample, parts, &error) != TSR_OK)
        fail_msg("split %d: %s", way, error.message);
    visit_parts(&sample, TSR_READ);
    for (int i = 0; i < sample.count; i++)
        tsr_blob_free(&parts[i]);
    tsr_blob_free(&sample.whole.blob);
}

static void test_merge_and_split(void **state)
{
    static const tsr_dtype dtypes[] = {TSR_F32, TSR_S32, TSR_U8, TSR_F16, TSR_F64};
    tsr_random random;
    (void)state;
    tsr_random_seed_from_environment(&random);
    for (int i = 0; i < tsr_random_cases(450); i++)
        check(&random, i % WAYS, dtypes[i / WAYS % 5]);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_merge_and_split), at_place(test_merge_and_split)};
    return choose_place(argc, argv) ? cmocka_run_group_tests(tests, NULL, NULL) : 0;
}
