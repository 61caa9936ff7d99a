/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "json.h"
#include "measure.h"
#include "problems.h"
#include "workload.h"

static void print_text(const char *text, const measurement *m)
{
    static bool has_heading;
    double onednn_us = m->peer_us[0];
    if (!has_heading)
        printf("%10s %7s %8s %9s  %-9s  problem\n", "us", "GB/s", "x memcpy", "x onednn", "row");
    has_heading = true;
    printf("%10.2f %7.2f %8.2f ", m->median_us, (double)m->bytes / m->median_us * 1e-3, measurement_ratio(m));
    if (onednn_us > 0)
        printf("%9.2f", onednn_us / m->median_us);
    else
        printf("%9s", "-");
    printf("  %-9s  %s\n", m->row, text);
}

static void print_json(const char *text, const measurement *m)
{
    json_t *object = json_pack("{s:s}", "problem", text);
    json_object_update_new(object, measurement_json(m));
    json_print_line(object);
}

static int bench_problem(const char *text, const struct problem_options *options)
{
    workload work;
    measurement m;
    tsr_error error = {0};
    tsr_status status = workload_init(&work, text, &error);
    const reorder_case wanted = {&work.problem.src, &work.problem.dst, &work.options};
    if (status == TSR_OK) {
        work.options.row = options->row;
        work.options.threads = options->threads ? options->threads : 1;
        status = measure(&m, &wanted, NULL, onednn_alone, &error);
    }
    if (status == TSR_OK && options->json && work.options.threads > 1)
        status = measure_gains(&m, &wanted, &error);
    if (status == TSR_OK)
        (options->json ? print_json : print_text)(text, &m);
    fflush(stdout);
    workload_reset(&work);
    return status == TSR_OK ? EXIT_SUCCESS : fail_with(status, &error);
}

static int run(int argc, char **argv)
{
    return visit_problems(&command_bench, "ftrj", NULL, argc, argv, bench_problem);
}

const struct command command_bench = {
    .name = "bench",
    .arguments = "[--file LIST] [--row R] [--threads N] [--json] PROBLEM...",
    .summary = "time reorders against memcpy and oneDNN, in one run",
    .help = "Columns: median time; bytes read and written in it; time over that of memcpy for as many bytes on as\n"
            "many threads; oneDNN's time over ours, where oneDNN can do it at all.\n\n"
            "  --file LIST   a problem on each line; # begins a comment; - is standard input\n"
            "  --row R       take this row of the selection table instead of the cheapest\n"
            "  --threads N   for all that is timed; 1 if not given\n"
            "  --json        one JSON object a line: problem, cpu (the instruction set), threads, bytes, median_us,\n"
            "                memcpy_us, ratio, row, kernel, tuned, onednn_us where oneDNN can do it, and of several\n"
            "                threads gain and memcpy_gain: the time of one over theirs, in turns with it\n",
    .run = run,
};
