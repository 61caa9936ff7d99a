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

/* x, mean, scale, shift and the old value, in either pivot. */
static void apply(bool is_f64, void *element, const float x[5], float beta, bool shifts)
{
    float single = (x[0] - x[1]) * x[2];
    double twofold = ((double)x[0] - (double)x[1]) * (double)x[2];
    if (beta != 0) {
        single += beta * x[4];
        twofold += (double)beta * (double)x[4];
    }
    if (shifts) {
        single += x[3];
        twofold += (double)x[3];
    }
    if (is_f64)
        memcpy(element, &twofold, sizeof twofold);
    else
        memcpy(element, &single, sizeof single);
}

/* Where the kernel reads and writes. */
enum placement { APART, OVER_SOURCE, OVER_OLD, PLACEMENTS };

static void put(bool is_f64, unsigned char *elements, size_t i, float x)
{
    const float value[5] = {x, 0, 1, 0, 0};
    apply(is_f64, elements + i * (is_f64 ? sizeof(double) : sizeof(float)), value, 0, false);
}

static void check_affine(const struct affine_case *kernel, tsr_random *random, size_t n, int64_t step, float beta,
                         bool shifts, size_t offset, enum placement placement)
{
    float tables[3][3 * 70 + 1];
    bool is_f64 = strcmp(kernel->family, "affine64") == 0;
    size_t size = is_f64 ? sizeof(double) : sizeof(float), bytes = n * size;
    unsigned char *memory[2], *dst = found + GUARD + offset;
    unsigned char *src = source(bytes, 7 - offset, &memory[0]), *old = source(bytes, offset, &memory[1]);
    lay_guards(bytes);
    for (size_t i = 0; i < n || i == 0; i++) {
        size_t at = i * (size_t)step;
        for (int t = 0; t < 3 && (i == 0 || step > 0); t++)
            tables[t][at] = draw_float(random);
        const float x[5] = {draw_float(random), tables[0][at], tables[1][at], tables[2][at], draw_float(random)};
        if (i == n)
            break;
        put(is_f64, src, i, x[0]);
        put(is_f64, old, i, x[4]);
        apply(is_f64, expected + GUARD + offset + i * size, x, beta, shifts);
    }
    if (placement != APART && n > 0)
        memcpy(dst, placement == OVER_SOURCE ? src : old, bytes);
    tsr_affine affine = {tables[0], tables[1], tables[2], step, placement == OVER_OLD ? dst : old, beta};
    if (beta == 0)
        affine.old = NULL;
    if (!shifts)
        affine.shift = NULL;
    kernel->run(dst, placement == OVER_SOURCE ? dst : src, (int64_t)n, &affine);
    if (!is_as_expected(bytes))
        fail_msg("%s: %zu elements, step %d, beta %g, at %zu, placement %d", kernel->name, n, (int)step, (double)beta,
                 offset, (int)placement);
    free(memory[0]);
    free(memory[1]);
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
                for (size_t at = 0; at < 8; at++)
                    for (int which = 0; which < 4 * PLACEMENTS; which++)
                        check_affine(&affines[i], &random, n, steps[s], which & 1 ? -0.75f : 0, which & 2, at,
                                     (enum placement)(which / 4));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_affine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
