/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "json.h"
#include "measure.h"
#include "problems.h"
#include "workload.h"

static void print_text(const char *text, const measurement *m)
{
    static bool has_heading;
    if (!has_heading)
        printf("%10s %7s %8s %9s  %-9s  problem\n", "us", "GB/s", "x memcpy", "x onednn", "row");
    has_heading = true;
    printf("%10.2f %7.2f %8.2f ", m->median_us, (double)m->bytes / m->median_us * 1e-3, measurement_ratio(m));
    if (m->onednn_us > 0)
        printf("%9.2f", m->onednn_us / m->median_us);
    else
        printf("%9s", "-");
    printf("  %-9s  %s\n", m->row, text);
    fflush(stdout);
}

static void print_json(const char *text, const measurement *m)
{
    json_t *object = json_pack("{s:s, s:i, s:I, s:f, s:f, s:f, s:s, s:s}", "problem", text, "threads", m->threads,
                               "bytes", (json_int_t)m->bytes, "median_us", m->median_us, "memcpy_us", m->memcpy_us,
                               "ratio", measurement_ratio(m), "row", m->row, "kernel", m->kernel);
    if (m->onednn_us > 0)
        json_object_set_new(object, "onednn_us", json_real(m->onednn_us));
    json_print_line(object);
    fflush(stdout);
}

static int bench_problem(const char *text, const struct problem_options *options)
{
    workload work;
    measurement m;
    tsr_error error = {0};
    tsr_status status = workload_init(&work, text, &error);
    if (status == TSR_OK) {
        work.options.row = options->row;
        work.options.threads = options->threads ? options->threads : 1;
        status = measure(&m, &work.problem.src, NULL, &work.problem.dst, &work.options, &error);
    }
    if (status == TSR_OK)
        (options->json ? print_json : print_text)(text, &m);
    workload_reset(&work);
    return status == TSR_OK ? EXIT_SUCCESS : fail_with(status, &error);
}

static int run(int argc, char **argv)
{
    return visit_problems(&command_bench, argc, argv, bench_problem);
}

const struct command command_bench = {
    .name = "bench",
    .arguments = "[--file LIST] [--row R] [--threads N] [--json] PROBLEM...",
    .summary = "time reorders against memcpy and oneDNN, in one run",
    .help =
        "Columns: median time; bytes read and written in it; time over that of memcpy for as many bytes on as\n"
        "many threads; oneDNN's time over ours, where oneDNN can do it at all.\n\n"
        "  --file LIST   a problem on each line; # begins a comment; - is standard input\n"
        "  --row R       take this row of the selection table instead of the cheapest\n"
        "  --threads N   for all that is timed; 1 if not given\n"
        "  --json        one JSON object a line: problem, threads, bytes, median_us, memcpy_us, ratio, row, kernel,\n"
        "                and onednn_us where oneDNN can do it\n",
    .run = run,
};
