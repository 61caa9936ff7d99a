/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "json.h"
#include "measure.h"
#include "problems.h"
#include "workload.h"

/* What is tuned when no problem is given: images and activations, within the caches and beyond. */
static const char *const common[] = {
    "u8:nhwc>u8:nchw 1x3x224x224",
    "u8:nhwc>u8:nchw 1x3x1080x1920",
    "u8:nchw>u8:nhwc 1x3x224x224",
    "u8:nchw>u8:nhwc 1x3x1080x1920",
    "u8:nhwc>f32:nchw 1x3x224x224 scale[1] mean[1]",
    "u8:nhwc>f32:nchw 1x3x1080x1920 scale[1] mean[1]",
    "f32:nhwc>f32:nchw 1x64x56x56",
    "f32:nhwc>f32:nchw 32x64x56x56",
    "f32:nchw>f32:nhwc 1x64x56x56",
    "f32:nchw>f32:nhwc 32x64x56x56",
    "f32:nchw>f32:nChw8c 1x64x56x56",
    "f32:nchw>f32:nChw8c 32x64x56x56",
    "f32:nChw8c>f32:nchw 1x64x56x56",
    "f32:nChw8c>f32:nchw 32x64x56x56",
    "f32:nchw>f32:nChw16c 1x64x56x56",
    "f32:nchw>f32:nChw16c 32x64x56x56",
    "f32:nChw16c>f32:nchw 1x64x56x56",
    "f32:nChw16c>f32:nchw 32x64x56x56",
    NULL,
};

static const char *const streaming_names[] = {"auto", "never", "always"};

/* Every row, and one of them in so many ways. */
enum { MOST_TRIALS = 32 };

struct trials {
    tsr_lesson lesson[MOST_TRIALS];
    int n;
};

static void add(struct trials *trials, const char *row, tsr_streaming streaming, int64_t tile_bytes)
{
    if (trials->n < MOST_TRIALS)
        trials->lesson[trials->n++] = (tsr_lesson){row, streaming, tile_bytes, 0};
}

static bool has_transpose(const tsr_plan *plan)
{
    char line[TSR_TEXT_SIZE];
    for (int i = 0; i < tsr_plan_get_info(plan).boxes; i++) {
        tsr_plan_describe_box(plan, i, line, sizeof line);
        if (strstr(line, ", transpose_"))
            return true;
    }
    return false;
}

/* A row that runs our boxes takes the options that say how they are cut and written. */
static bool runs_boxes(const char *row)
{
    static const char *const rows[] = {"copy", "transpose", "convert", "gather"};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (strcmp(rows[i], row) == 0)
            return true;
    return false;
}

/* All that is tried beside what the plan has chosen. Rows that are expected to be slower by far are left out; and all
 * others where one buffer may be both, which they do not allow. */
static void find_trials(struct trials *trials, const tsr_plan *plan)
{
    static const int64_t tile_bytes[] = {0, 64, 128, 256, 512};
    static const double by_far = 20;
    const size_t tiles = has_transpose(plan) ? sizeof tile_bytes / sizeof tile_bytes[0] : 1;
    const tsr_plan_info info = tsr_plan_get_info(plan);
    tsr_verdict verdict;
    trials->n = 0;
    if (strcmp(info.row, "alias") == 0)
        return;
    for (int i = 0; tsr_plan_verdict(plan, i, &verdict); i++) {
        if (!verdict.applicable || verdict.cost > by_far * (info.cost > 1 ? info.cost : 1))
            continue;
        if (strcmp(verdict.row, info.row) != 0)
            add(trials, verdict.row, TSR_STREAMING_AUTO, 0);
        for (size_t t = 0; runs_boxes(verdict.row) && t < tiles; t++) {
            add(trials, verdict.row, TSR_STREAMING_NEVER, tile_bytes[t]);
            add(trials, verdict.row, TSR_STREAMING_ALWAYS, tile_bytes[t]);
        }
    }
}

/* What came of it: the lesson, and times of what the library chooses by itself and of what the lesson says. */
struct finding {
    tsr_lesson lesson;
    double default_us, best_us, memcpy_us;
};

static tsr_status try(struct finding *finding, const reorder_case *wanted, const tsr_lesson *lesson, tsr_error *error)
{
    tsr_reorder_options options = *wanted->options;
    options.row = lesson->row;
    options.streaming = lesson->streaming;
    options.tile_bytes = lesson->tile_bytes;
    finding->lesson = *lesson;
    return measure_two(&finding->default_us, &finding->best_us, &finding->memcpy_us, wanted, &options, error);
}

static double gain(const struct finding *finding)
{
    return finding->best_us > 0 ? finding->default_us / finding->best_us : 0;
}

/* The best of many is good by luck, too: it has to win once more. */
static tsr_status tune(struct finding *best, const reorder_case *wanted, const tsr_plan *plan, tsr_error *error)
{
    static const double worth_keeping = 1.03;
    const tsr_lesson own = {tsr_plan_get_info(plan).row, TSR_STREAMING_AUTO, 0, 0};
    struct trials trials;
    struct finding finding;
    find_trials(&trials, plan);
    tsr_status status = try(best, wanted, &own, error);
    best->best_us = best->default_us;
    for (int i = 0; status == TSR_OK && i < trials.n; i++) {
        status = try(&finding, wanted, &trials.lesson[i], error);
        if (status == TSR_OK && gain(&finding) > gain(best))
            *best = finding;
        if (status == TSR_UNSUPPORTED) /* oneDNN, at its self-test */
            status = TSR_OK;
    }
    if (status == TSR_OK && gain(best) > worth_keeping)
        status = try(best, wanted, &best->lesson, error);
    if (status == TSR_OK && gain(best) <= worth_keeping) {
        best->lesson = own;
        best->best_us = best->default_us;
    }
    if (best->memcpy_us > 0)
        best->lesson.cost = best->best_us / best->memcpy_us;
    return status;
}

/* ---- the file ---- */

/* Wisdom that this machine cannot use gives way. */
static tsr_status read_wisdom(tsr_wisdom **wisdom, const char *path, tsr_error *error)
{
    if (access(path, F_OK) != 0)
        return tsr_wisdom_create(wisdom, error);
    tsr_status status = tsr_wisdom_read(wisdom, path, error);
    if (status != TSR_UNSUPPORTED)
        return status;
    fprintf(stderr, "tessera: written anew: %s\n", error->message);
    return tsr_wisdom_create(wisdom, error);
}

/* The folders on the way to a file, as far as they are missing; whether they are there shows when it is opened. */
static void make_folders(char *path)
{
    for (char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(path, 0777);
        *slash = '/';
    }
}

/* ---- the command ---- */

static void print_text(const char *text, int threads, const struct finding *f)
{
    static bool has_heading;
    if (!has_heading)
        printf("%10s %10s %8s %7s  %-11s %-9s %5s  problem\n", "default us", "best us", "x memcpy", "threads", "row",
               "streaming", "tile");
    has_heading = true;
    printf("%10.2f %10.2f %8.2f %7d  %-11s %-9s %5lld  %s\n", f->default_us, f->best_us, f->lesson.cost, threads,
           f->lesson.row, streaming_names[f->lesson.streaming], (long long)f->lesson.tile_bytes, text);
}

static void print_json(const char *text, int threads, const struct finding *f)
{
    json_print_line(json_pack("{s:s, s:s, s:i, s:f, s:f, s:f, s:s, s:s, s:I}", "problem", text, "cpu",
                              tsr_cpu_rung_name(tsr_cpu_flags()), "threads", threads, "default_us", f->default_us,
                              "best_us", f->best_us, "memcpy_us", f->memcpy_us, "row", f->lesson.row, "streaming",
                              streaming_names[f->lesson.streaming], "tile_bytes", (json_int_t)f->lesson.tile_bytes));
}

/* What is known of the file, and nothing, which is what the default is measured with. */
struct wisdoms {
    char path[4096];
    tsr_wisdom *known, *none;
};

/* Writes after each problem, so that nothing is lost if the command is stopped. */
static tsr_status tune_threads(const char *text, workload *work, int threads, struct wisdoms *wisdoms, bool json,
                               tsr_error *error)
{
    const reorder_case wanted = {&work->problem.src, &work->problem.dst, &work->options};
    struct finding best = {0};
    tsr_plan *plan = NULL;
    work->options.threads = threads;
    work->options.wisdom = wisdoms->none;
    tsr_status status = tsr_plan_create(&plan, wanted.src, wanted.dst, wanted.options, error);
    if (status == TSR_OK)
        status = tune(&best, &wanted, plan, error);
    if (status == TSR_OK)
        status = tsr_wisdom_learn(wisdoms->known, &work->problem, threads, &best.lesson, error);
    if (status == TSR_OK)
        status = tsr_wisdom_write(wisdoms->known, wisdoms->path, error);
    if (status == TSR_OK)
        (json ? print_json : print_text)(text, threads, &best);
    fflush(stdout);
    tsr_plan_free(&plan);
    return status;
}

/* The file that is named, or the default, which may be the first in its folder. */
static tsr_status find_wisdoms(struct wisdoms *wisdoms, const char *output, tsr_error *error)
{
    const int size = (int)sizeof wisdoms->path;
    int length = output ? snprintf(wisdoms->path, sizeof wisdoms->path, "%s", output)
                        : tsr_wisdom_path(wisdoms->path, sizeof wisdoms->path);
    if (length == 0 || length >= size)
        return refuse(error, TSR_INVALID_ARGUMENT, "expected --output FILE, as TSR_WISDOM and HOME name none");
    if (!output)
        make_folders(wisdoms->path);
    tsr_status status = tsr_wisdom_create(&wisdoms->none, error);
    return status == TSR_OK ? read_wisdom(&wisdoms->known, wisdoms->path, error) : status;
}

static int tune_problem(const char *text, const struct problem_options *options)
{
    const int all = tsr_default_executor().threads;
    const int first = options->threads == 0 ? 1 : options->threads < all ? options->threads : all;
    workload work = {0};
    struct wisdoms wisdoms = {0};
    tsr_error error = {0};
    tsr_status status = find_wisdoms(&wisdoms, options->output, &error);
    if (status == TSR_OK)
        status = workload_init(&work, text, &error);
    if (status == TSR_OK)
        status = tune_threads(text, &work, first, &wisdoms, options->json, &error);
    if (status == TSR_OK && options->threads == 0 && all > 1)
        status = tune_threads(text, &work, all, &wisdoms, options->json, &error);
    workload_reset(&work);
    tsr_wisdom_free(&wisdoms.known);
    tsr_wisdom_free(&wisdoms.none);
    return status == TSR_OK ? EXIT_SUCCESS : fail_with(status, &error);
}

static int run(int argc, char **argv)
{
    return visit_problems(&command_tune, "ftjo", common, argc, argv, tune_problem);
}

const struct command command_tune = {
    .name = "tune",
    .arguments = "[--file LIST] [--threads N] [--output FILE] [--json] [PROBLEM...]",
    .summary = "measure which row and which tiles are fastest here, and save it for plans to read",
    .help =
        "Without a problem, common ones are tuned, in some minutes. For each, the row that the library chooses by\n"
        "itself is timed against every other one that applies, and in its boxes against tiles of other sizes,\n"
        "written past the caches and not. What is faster by more than 3% is kept, twice measured; else the choice.\n\n"
        "  --file LIST    a problem on each line; # begins a comment; - is standard input\n"
        "  --threads N    for plans of at most so many threads; if not given, of one, and of all\n"
        "  --output FILE  what is known of other problems stays; if not given, where plans look for it: the file\n"
        "                 that TSR_WISDOM names, or ~/.config/tessera/wisdom\n"
        "  --json         one JSON object a line: problem, cpu, threads, default_us, best_us, memcpy_us, row,\n"
        "                 streaming, tile_bytes\n",
    .run = run,
};
