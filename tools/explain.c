/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "measure.h"
#include "problems.h"
#include "workload.h"

/* Time over that of memcpy, and speed below its. */
static void print_ratio(const char *kind, double ratio)
{
    printf("  %s time: %.2f x memcpy", kind, ratio);
    if (ratio > 0)
        printf(", %.0f%% of its speed", 100 / ratio);
    printf("\n");
}

/* m is NULL when nothing was run. */
static void print_text(const char *text, const tsr_plan *plan, const measurement *m)
{
    char line[TSR_TEXT_SIZE];
    tsr_plan_info info = tsr_plan_get_info(plan);
    tsr_verdict verdict;
    tsr_plan_describe(plan, line, sizeof line);
    printf("%s\n  %s\n", text, line);
    print_ratio("expected", info.cost);
    if (m)
        print_ratio("measured", measurement_ratio(m));
    printf("  rows:\n");
    for (int i = 0; tsr_plan_verdict(plan, i, &verdict); i++) {
        if (verdict.applicable)
            printf("    %-11s %.2f x memcpy%s\n", verdict.row, verdict.cost,
                   verdict.row == info.row ? ", taken"
                   : verdict.is_tentative  ? ", if it can be prepared"
                                           : "");
        else
            printf("    %-11s no: %s\n", verdict.row, verdict.reason);
    }
    if (strcmp(info.row, "onednn") == 0)
        return; /* it does not run our boxes */
    printf("  boxes, SRC:DST of the first element, then STEPS(SRC_STRIDE:DST_STRIDE) of outer loops | kernel loops:\n");
    for (int i = 0; i < info.boxes + info.zero_boxes; i++) {
        tsr_plan_describe_box(plan, i, line, sizeof line);
        printf("    %s\n", line);
    }
}

static void add_share(json_t *object, const char *key, double ratio)
{
    if (ratio > 0)
        json_object_set_new(object, key, json_real(1 / ratio));
}

static void print_json(const char *text, const tsr_plan *plan, const measurement *m)
{
    char line[TSR_TEXT_SIZE];
    tsr_plan_info info = tsr_plan_get_info(plan);
    tsr_verdict verdict;
    json_t *rows = json_array(), *boxes = json_array();
    for (int i = 0; tsr_plan_verdict(plan, i, &verdict); i++)
        json_array_append_new(
            rows, verdict.applicable
                      ? json_pack("{s:s, s:b, s:b, s:f}", "row", verdict.row, "applicable", 1, "tentative",
                                  verdict.is_tentative, "cost", verdict.cost)
                      : json_pack("{s:s, s:b, s:s}", "row", verdict.row, "applicable", 0, "reason", verdict.reason));
    for (int i = 0; i < info.boxes + info.zero_boxes; i++) {
        tsr_plan_describe_box(plan, i, line, sizeof line);
        json_array_append_new(boxes, json_string(line));
    }
    json_t *object = json_pack("{s:s, s:s, s:s, s:i, s:i, s:i, s:b, s:f, s:o, s:o}", "problem", text, "row", info.row,
                               "kernel", info.kernel, "boxes", info.boxes, "zero_boxes", info.zero_boxes, "threads",
                               info.threads, "tuned", info.tuned, "cost", info.cost, "rows", rows, "box", boxes);
    add_share(object, "share", info.cost);
    if (m) {
        json_object_set_new(object, "measured", measurement_json(m));
        add_share(object, "measured_share", measurement_ratio(m));
    }
    json_print_line(object);
}

static int explain_problem(const char *text, const struct problem_options *options)
{
    workload work;
    measurement m;
    tsr_plan *plan = NULL;
    tsr_error error = {0};
    tsr_status status = workload_init(&work, text, &error);
    if (status == TSR_OK) {
        work.options.row = options->row;
        work.options.threads = options->threads;
        status = tsr_plan_create(&plan, &work.problem.src, &work.problem.dst, &work.options, &error);
    }
    if (status == TSR_OK && options->run)
        status = measure(&m, &(reorder_case){&work.problem.src, &work.problem.dst, &work.options}, NULL, onednn_alone,
                         &error);
    if (status == TSR_OK)
        (options->json ? print_json : print_text)(text, plan, options->run ? &m : NULL);
    tsr_plan_free(&plan);
    workload_reset(&work);
    return status == TSR_OK ? EXIT_SUCCESS : fail_with(status, &error);
}

static int run(int argc, char **argv)
{
    const tsr_wisdom *wisdom;
    tsr_error error = {0};
    if (tsr_default_wisdom(&wisdom, &error) != TSR_OK)
        fprintf(stderr, "tessera: wisdom is ignored: %s\n", error.message);
    return visit_problems(&command_explain, "ftrjR", NULL, argc, argv, explain_problem);
}

const struct command command_explain = {
    .name = "explain",
    .arguments = "[--file LIST] [--row R] [--threads N] [--run] [--json] PROBLEM...",
    .summary = "show the boxes of a reorder, the row chosen for it, and why",
    .help = "  --file LIST   a problem on each line; # begins a comment; - is standard input\n"
            "  --row R       take this row of the selection table instead of the cheapest\n"
            "  --threads N   at most so many threads\n"
            "  --run         time it, too, as `tessera bench` does\n"
            "  --json        one JSON object a line; share and measured_share are of memcpy's speed\n",
    .run = run,
};
