/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_TESTS_CHOICES_H
#define TESSERA_TESTS_CHOICES_H

/* What plans choose on pretended machines, as tables of problems and of what is expected of their plans. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include <tessera/cpu.h>

#include "reorder/plan.h"

#include "machines.h"
#include "right.h"
#include "workload.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum { TEXT_SIZE = 80 };

/* The first two are what the machine has of these, the others it has to have. */
enum rung { HIGHEST, UP_TO_AVX2, PLAIN_C, SSE41, AVX2, AVX512, AVX512_VBMI };
static const unsigned masks[] = {
    [HIGHEST] = TSR_CPU_ALL,
    [UP_TO_AVX2] = TSR_CPU_AVX2,
    [PLAIN_C] = 0,
    [SSE41] = TSR_CPU_SSE41,
    [AVX2] = TSR_CPU_AVX2,
    [AVX512] = TSR_CPU_AVX2 | TSR_CPU_AVX512,
    [AVX512_VBMI] = TSR_CPU_AVX2 | TSR_CPU_AVX512 | TSR_CPU_AVX512_VBMI,
};

/* A problem, the machine, what a plan is asked for, and what is expected of it: its description by the test, from which
 * what is behind a comma is left out if it may be anything. */
struct choice {
    const char *problem;
    enum rung rung;
    enum cache cache;
    const char *expected;
    int threads; /* 0: one */
    tsr_streaming streaming;
    const char *row;
};

static inline bool has_rung(enum rung rung)
{
    return rung == HIGHEST || rung == UP_TO_AVX2 || (tsr_cpu_detected() & masks[rung]) == masks[rung];
}

/* Plans for several threads are not run. */
static inline tsr_plan *plan_of(const struct choice *choice)
{
    const tsr_executor executor = {.run = NULL, .threads = choice->threads};
    workload work;
    tsr_plan *plan = NULL;
    assert_int_equal(workload_init(&work, choice->problem, NULL), TSR_OK);
    work.options.threads = choice->threads > 0 ? choice->threads : 1;
    work.options.executor = choice->threads > 1 ? &executor : NULL;
    work.options.streaming = choice->streaming;
    work.options.row = choice->row;
    tsr_cpu_set_mask(masks[choice->rung]);
    pretend(choice->cache);
    assert_int_equal(tsr_plan_create(&plan, &work.problem.src, &work.problem.dst, &work.options, NULL), TSR_OK);
    tsr_topology_pretend(NULL);
    tsr_cpu_set_mask(TSR_CPU_ALL);
    workload_reset(&work);
    return plan;
}

/* Which row of the selection table a plan takes. */
static inline void describe_row(char text[TEXT_SIZE], const tsr_plan *plan)
{
    snprintf(text, TEXT_SIZE, "%s", tsr_plan_get_info(plan).row);
}

/* Is it all of a text, or all before a comma? */
static inline bool is_expected(const char *text, const char *expected)
{
    const size_t length = strlen(expected);
    return strncmp(text, expected, length) == 0 && (text[length] == '\0' || text[length] == ',');
}

/* What this machine cannot run, it has no plans for. */
static inline void check_choices(const struct choice *choices, size_t count,
                                 void (*describe)(char text[TEXT_SIZE], const tsr_plan *plan))
{
    static const char *const cache_names[] = {
        [NEAR] = "near", [DEEP] = "near (deep sets)", [FAR] = "far", [FAR_AND_LARGE] = "far (large)"};
    for (size_t i = 0; i < count; i++) {
        const struct choice *choice = &choices[i];
        char text[TEXT_SIZE];
        if (!has_rung(choice->rung))
            continue;
        tsr_plan *plan = plan_of(choice);
        describe(text, plan);
        if (!is_expected(text, choice->expected))
            fail_msg("%s, %s cache, rung %s, %d threads, streaming %d, row %s: expected \"%s\", found \"%s\"",
                     choice->problem, cache_names[choice->cache],
                     tsr_cpu_rung_name(tsr_cpu_detected() & masks[choice->rung]), plan->threads, (int)choice->streaming,
                     choice->row ? choice->row : "any", choice->expected, text);
        tsr_plan_free(&plan);
    }
}

/* Such plans for one thread are run, too. */
static inline void check_results(const struct choice *choices, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        tsr_plan *plan = plan_of(&choices[i]);
        assert_right(plan, choices[i].problem);
        tsr_plan_free(&plan);
    }
}

/* On which side the next run of a tile continues one. */
static inline void describe_order(char text[TEXT_SIZE], const tsr_plan *plan)
{
    const tsr_loop *next = &plan->principal->row.loop[0];
    const int64_t run = plan->principal->column.n;
    snprintf(text, TEXT_SIZE, "%s", next->src == run ? "as read" : next->dst == run ? "as written" : "neither");
}

#endif
