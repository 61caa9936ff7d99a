/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "json.h"
#include "problems.h"
#include "workload.h"

/* What came of one problem. row is NULL when there was no plan. */
struct outcome {
    bool ok;
    const char *row;
    int boxes;
};

static void report(const char *text, const struct outcome *outcome, const tsr_error *error, bool json)
{
    if (!json) {
        printf("%-6s %-9s %3d  %s\n", outcome->ok ? "ok" : "FAILED", outcome->row ? outcome->row : "-", outcome->boxes,
               text);
        return;
    }
    json_t *object = json_pack("{s:o, s:b, s:s?, s:i}", "problem", json_text(text), "ok", outcome->ok, "row",
                               outcome->row, "boxes", outcome->boxes);
    if (!outcome->ok)
        json_object_set_new(object, "error", json_text(error->message));
    json_print_line(object);
}

/* Runs a workload on awkward bits; the plan is the caller's to free, since the row's name is the plan's. */
static tsr_status check(const workload *work, const struct problem_options *options, tsr_plan **plan, bool *is_right,
                        tsr_error *error)
{
    const tsr_problem *problem = &work->problem;
    tsr_reorder_options wanted = work->options;
    size_t bytes = (size_t)tsr_desc_size_bytes(&problem->src);
    wanted.row = options->row;
    wanted.threads = options->threads;
    tsr_status status = tsr_plan_create(plan, &problem->src, &problem->dst, &wanted, error);
    if (status != TSR_OK)
        return status;
    void *src = malloc(bytes + 1);
    if (!src)
        return refuse(error, TSR_OUT_OF_MEMORY, "no memory for %zu bytes", bytes);
    fill_awkward(src, bytes, 1);
    status = verify_plan(*plan, &problem->src, src, &problem->dst, &wanted, is_right, error);
    free(src);
    return status;
}

static int check_problem(const char *text, const struct problem_options *options)
{
    workload work;
    tsr_plan *plan = NULL;
    tsr_error error = {0};
    struct outcome outcome = {0};
    tsr_status status = workload_init(&work, text, &error);
    int exit_status = status == TSR_PARSE_ERROR ? EXIT_USAGE : EXIT_FAILURE;
    if (status == TSR_OK)
        status = check(&work, options, &plan, &outcome.ok, &error);
    if (plan) {
        tsr_plan_info info = tsr_plan_get_info(plan);
        outcome.row = info.row;
        outcome.boxes = info.boxes;
    }
    report(text, &outcome, &error, options->json);
    if (!outcome.ok)
        fail(exit_status, "%s: %s: %s", text, status == TSR_OK ? "differs from the oracle" : tsr_status_name(status),
             error.message);
    tsr_plan_free(&plan);
    workload_reset(&work);
    return outcome.ok ? EXIT_SUCCESS : exit_status;
}

static int run(int argc, char **argv)
{
    return visit_problems(&command_check, "ftrj", NULL, argc, argv, check_problem);
}

const struct command command_check = {
    .name = "check",
    .arguments = "[--file LIST] [--row R] [--threads N] [--json] PROBLEM...",
    .summary = "run reorders and compare them with the oracle, element by element",
    .help = "  --file LIST   a problem on each line; # begins a comment; - is standard input\n"
            "  --row R       take this row of the selection table: alias, copy, transpose, convert, gather, relay,\n"
            "                onednn; in place: alias, elementwise, square, slices, cycles\n"
            "  --threads N   at most so many threads\n"
            "  --json        one JSON object a line: problem, ok, row, boxes\n",
    .run = run,
};
