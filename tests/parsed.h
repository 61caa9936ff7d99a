/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_TESTS_PARSED_H
#define TESSERA_TESTS_PARSED_H

/*
 * Descriptors, problems and plans from text; a text that is wrong fails the test. Include behind
 * <cmocka.h>.
 */
#include <string.h>

#include <tessera/tessera.h>

/* A message that says why a row does not apply, and may go on to name one that does. */
static inline void assert_row_refused(const char *message, const char *expected)
{
    static const char does[] = " does";
    const size_t n = strlen(expected), all = strlen(message);
    if (strncmp(message, expected, n) != 0)
        fail_msg("expected \"%s\", found \"%s\"", expected, message);
    if (all > n && (strncmp(message + n, "; ", 2) != 0 || strcmp(message + all - strlen(does), does) != 0))
        fail_msg("expected \"%s\" and a row that does, found \"%s\"", expected, message);
}

static inline tsr_desc parsed_desc(const char *text)
{
    tsr_desc desc = {0};
    tsr_error error = {0};
    if (tsr_desc_parse(&desc, text, &error) != TSR_OK)
        fail_msg("%s: %s", text, error.message);
    return desc;
}

static inline tsr_problem parsed_problem(const char *text)
{
    tsr_problem problem = {0};
    tsr_error error = {0};
    if (tsr_problem_parse(&problem, text, &error) != TSR_OK)
        fail_msg("%s: %s", text, error.message);
    return problem;
}

/* A plan for a problem without attributes. */
static inline tsr_plan *parsed_plan(const char *text, const tsr_reorder_options *options)
{
    tsr_plan *plan = NULL;
    tsr_error error = {0};
    tsr_problem problem = parsed_problem(text);
    if (tsr_plan_create(&plan, &problem.src, &problem.dst, options, &error) != TSR_OK)
        fail_msg("%s: %s", text, error.message);
    return plan;
}

#endif
