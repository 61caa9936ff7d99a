/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels that work on rows, on every rung of this machine: the right elements, and no others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kernel_cases.h"
#include "random.h"

/* ---- rows ---- */

/* Against the C kernel, one element at a time. */
static void check_row(const struct row_case *kernel, tsr_random *random, size_t n, size_t src_offset, size_t dst_offset)
{
    size_t size = tsr_dtype_size_bytes(kernel->type);
    bool stores = strncmp(kernel->family, "store", 5) == 0;
    size_t pivot = strstr(kernel->family, "64") ? sizeof(double) : sizeof(float);
    size_t in = stores ? pivot : size, out = stores ? size : pivot;
    unsigned char *memory, *src = source(n * in, src_offset, &memory);
    for (size_t i = 0; i < n * in; i++)
        src[i] = (unsigned char)tsr_random_next(random);
    lay_guards(n * out);
    kernel->run(found + GUARD + dst_offset, src, (int64_t)n);
    for (size_t i = 0; i < n; i++)
        kernel->reference(expected + GUARD + dst_offset + i * out, src + i * in, 1);
    if (!is_as_expected(n * out))
        fail_msg("%s: %zu elements, src at %zu, dst at %zu", kernel->name, n, src_offset, dst_offset);
    free(memory);
}

static void test_rows(void **state)
{
    tsr_random random;
    (void)state;
    tsr_random_seed_from_environment(&random);
    for (size_t i = 0; i < COUNT(rows); i++)
        for (size_t n = 0; n <= 70 && can_run(rows[i].rung); n++)
            for (size_t at = 0; at < 64; at++)
                check_row(&rows[i], &random, n, at % 8, at / 8);
}

/* ---- affine ---- */

static float draw_float(tsr_random *random)
{
    return (float)tsr_random_range(random, -100000, 100000) / 64;
}

/* The same arithmetic in either pivot; the numbers drawn are exact in both. */
static void apply(bool is_f64, void *element, float x, float mean, float scale)
{
    float single = (x - mean) * scale;
    double twofold = ((double)x - (double)mean) * (double)scale;
    if (is_f64)
        memcpy(element, &twofold, sizeof twofold);
    else
        memcpy(element, &single, sizeof single);
}

static void check_affine(const struct affine_case *kernel, tsr_random *random, size_t n, int64_t step, size_t offset,
                         bool in_place)
{
    float mean[3 * 70 + 1], scale[3 * 70 + 1];
    bool is_f64 = strcmp(kernel->family, "affine64") == 0;
    size_t size = is_f64 ? sizeof(double) : sizeof(float), bytes = n * size;
    mean[0] = scale[0] = 0;
    unsigned char *memory, *src = source(bytes, 7 - offset, &memory), *dst = found + GUARD + offset;
    lay_guards(bytes);
    for (size_t i = 0; i < n; i++) {
        size_t at = i * (size_t)step;
        float x = draw_float(random);
        if (i == 0 || step > 0) {
            mean[at] = draw_float(random);
            scale[at] = draw_float(random);
        }
        apply(is_f64, src + i * size, x, 0, 1);
        apply(is_f64, expected + GUARD + offset + i * size, x, mean[at], scale[at]);
    }
    if (in_place && n > 0)
        memcpy(dst, src, bytes);
    kernel->run(dst, in_place ? dst : src, (int64_t)n, mean, scale, step);
    if (!is_as_expected(bytes))
        fail_msg("%s: %zu elements, step %d, at %zu%s", kernel->name, n, (int)step, offset,
                 in_place ? ", in place" : "");
    free(memory);
}

static void test_affine(void **state)
{
    static const int64_t steps[] = {0, 1, 3};
    tsr_random random;
    (void)state;
    tsr_random_seed_from_environment(&random);
    for (size_t i = 0; i < COUNT(affines); i++)
        for (size_t n = 0; n <= 70 && can_run(affines[i].rung); n++)
            for (size_t s = 0; s < COUNT(steps); s++)
                for (size_t at = 0; at < 8; at++) {
                    check_affine(&affines[i], &random, n, steps[s], at, false);
                    check_affine(&affines[i], &random, n, steps[s], at, true);
                }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_affine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
