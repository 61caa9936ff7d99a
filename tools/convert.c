/* SPDX-License-Identifier: Apache-2.0 */
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "json.h"
#include "measure.h"
#include "physical.h"
#include "workload.h"

/* What the command line asks for. */
struct request {
    const char *in, *out, *from, *to, *dims, *dtype;
    const char *factors[3]; /* mean, scale, shift */
    int axis, group;
    uint32_t reverse;
    int threads;
    bool verify, bench, json;
};

/* What one conversion holds. */
struct conversion {
    tsr_npy *npy;
    tsr_desc src, dst;
    float *factors; /* means, then scales, then shifts */
    tsr_reorder_options options;
    tsr_plan *plan;
    tsr_storage *storage;
    void *result;
    bool is_verified;
    measurement m;
};

static void conversion_reset(struct conversion *c)
{
    tsr_plan_free(&c->plan);
    tsr_storage_release(&c->storage);
    tsr_npy_close(&c->npy);
    free(c->factors);
}

/* V,V,... into values, which has room for one in every two characters of the text. */
static tsr_status parse_factors(const char *text, float *values, tsr_factors *factors, const struct request *request,
                                tsr_error *error)
{
    int64_t n = 0;
    for (const char *at = text;; at++) {
        char *end;
        values[n++] = strtof(at, &end);
        if (end == at || (*end && *end != ','))
            return refuse(error, TSR_PARSE_ERROR, "expected numbers such as 0.5,0.25, found \"%.80s\"", text);
        at = end;
        if (!*end)
            break;
    }
    *factors = (tsr_factors){values, n, request->axis, request->group};
    return TSR_OK;
}

static tsr_status set_factors(struct conversion *c, const struct request *request, tsr_error *error)
{
    tsr_factors *const all[] = {&c->options.mean, &c->options.scale, &c->options.shift};
    size_t room = 0, used = 0;
    tsr_status status = TSR_OK;
    c->options.threads = request->threads ? request->threads : request->bench;
    c->options.reverse = request->reverse;
    for (int i = 0; i < 3; i++)
        room += request->factors[i] ? strlen(request->factors[i]) + 1 : 1;
    c->factors = calloc(room, sizeof *c->factors);
    if (!c->factors)
        return refuse(error, TSR_OUT_OF_MEMORY, "no memory for the factors");
    for (int i = 0; status == TSR_OK && i < 3; i++) {
        if (request->factors[i])
            status = parse_factors(request->factors[i], c->factors + used, all[i], request, error);
        used += (size_t)all[i]->count;
    }
    return status;
}

/* A file that does not parse is a failure, not bad usage. */
static tsr_status open_input(struct conversion *c, const struct request *request, tsr_error *error)
{
    tsr_status status = tsr_npy_open(&c->npy, request->in, error);
    return status == TSR_PARSE_ERROR ? TSR_INVALID_ARGUMENT : status;
}

static tsr_status set_descs(struct conversion *c, const struct request *request, tsr_error *error)
{
    int64_t dims[TSR_MAX_RANK];
    int rank = -1;
    tsr_dtype dtype = TSR_DTYPE_NONE;
    tsr_status status = TSR_OK;
    if (request->dims)
        status = tsr_dims_parse(dims, &rank, request->dims, error);
    if (status == TSR_OK && request->dtype)
        status = tsr_dtype_parse(&dtype, request->dtype, error);
    if (status == TSR_OK)
        status = open_input(c, request, error);
    if (status == TSR_OK)
        status = desc_of_array(&c->src, tsr_npy_desc(c->npy), request->from, request->dims ? dims : NULL, rank, error);
    if (status == TSR_OK)
        status =
            tsr_desc_from_layout(&c->dst, dtype ? dtype : c->src.dtype, c->src.rank, c->src.dims, request->to, error);
    if (status == TSR_OK && !is_dense(&c->dst))
        status =
            refuse(error, TSR_INVALID_ARGUMENT, "layout \"%.80s\" has gaps, which a file cannot keep", request->to);
    return status;
}

static tsr_status reorder(struct conversion *c, const struct request *request, tsr_error *error)
{
    const void *src = tsr_npy_data(c->npy);
    tsr_status status = tsr_plan_create(&c->plan, &c->src, &c->dst, &c->options, error);
    if (status == TSR_OK)
        status = tsr_storage_create(&c->storage, (size_t)tsr_desc_size_bytes(&c->dst), NULL, error);
    if (status == TSR_OK)
        status = tsr_storage_data(c->storage, &c->result, error);
    if (status == TSR_OK)
        status = tsr_plan_run(c->plan, src, c->result, error);
    if (status == TSR_OK && request->verify) {
        status = verify_plan(c->plan, &c->src, src, &c->dst, &c->options, &c->is_verified, error);
        if (status == TSR_OK && !c->is_verified) {
            tsr_error difference = *error;
            status = refuse(error, TSR_INVALID_ARGUMENT, "differs from the oracle: %.200s", difference.message);
        }
    }
    if (status == TSR_OK && request->bench)
        status = measure(&c->m, &(reorder_case){&c->src, &c->dst, &c->options}, src, onednn_alone, error);
    return status;
}

/* The result with its physical shape: one axis for each block level. */
static tsr_status write_result(const struct conversion *c, const char *path, tsr_error *error)
{
    tsr_npy_writer *writer = NULL;
    tsr_status status =
        tsr_npy_writer_open(&writer, path, c->dst.dtype, c->dst.levels, c->dst.block_dims, false, error);
    if (status == TSR_OK)
        status = tsr_npy_writer_append(writer, c->result, tsr_desc_padded_elements(&c->dst), error);
    if (status == TSR_OK)
        return tsr_npy_writer_finish(&writer, error);
    tsr_npy_writer_abort(&writer);
    return status;
}

/* The problem in the words of the command line. */
static void print_problem(const struct conversion *c, const struct request *request, char *text, size_t size)
{
    static const char *const names[] = {" scale", " mean", " shift"};
    const tsr_factors *factors[] = {&c->options.scale, &c->options.mean, &c->options.shift};
    char dims[TSR_TEXT_SIZE], attributes[512] = "";
    size_t length = 0;
    for (int i = 0; i < 3; i++) {
        if (factors[i]->count > 0)
            length += (size_t)snprintf(attributes + length, sizeof attributes - length, "%s", names[i]);
        if (factors[i]->count > 1 && factors[i]->group > 1)
            length += (size_t)snprintf(attributes + length, sizeof attributes - length, "[%d/%" PRId64 "]",
                                       factors[i]->axis, factors[i]->group);
        else if (factors[i]->count > 1)
            length += (size_t)snprintf(attributes + length, sizeof attributes - length, "[%d]", factors[i]->axis);
    }
    for (int k = 0; k < TSR_MAX_RANK; k++)
        if (c->options.reverse >> k & 1)
            length += (size_t)snprintf(attributes + length, sizeof attributes - length, " reverse[%d]", k);
    tsr_dims_print(c->src.dims, c->src.rank, dims, sizeof dims);
    snprintf(text, size, "%s:%s>%s:%s %s%s", tsr_dtype_name(c->src.dtype), request->from, tsr_dtype_name(c->dst.dtype),
             request->to, dims, attributes);
}

static void report(const struct conversion *c, const struct request *request, FILE *out)
{
    char problem[2 * TSR_TEXT_SIZE];
    tsr_plan_info info = tsr_plan_get_info(c->plan);
    print_problem(c, request, problem, sizeof problem);
    const measurement *m = &c->m;
    if (!request->json) {
        fprintf(out, "%s\n  %s -> %s: %" PRId64 " bytes, %s (%s)%s\n", problem, request->in, request->out,
                tsr_desc_size_bytes(&c->dst), info.row, info.kernel, request->verify ? ", equal to the oracle" : "");
        if (request->bench)
            fprintf(out, "  %.1f us, %.2f x memcpy\n", m->median_us, measurement_ratio(m));
        return;
    }
    json_t *object = json_pack("{s:s, s:o, s:o, s:I, s:s, s:s, s:i}", "problem", problem, "in", json_text(request->in),
                               "out", json_text(request->out), "size_bytes", (json_int_t)tsr_desc_size_bytes(&c->dst),
                               "row", info.row, "kernel", info.kernel, "boxes", info.boxes);
    if (request->verify)
        json_object_set_new(object, "ok", json_boolean(c->is_verified));
    if (request->bench)
        json_object_update_new(object, measurement_json(m));
    json_print_line_to(object, out);
}

static int convert(const struct request *request)
{
    struct conversion c = {0};
    tsr_error error = {0};
    tsr_status status = set_factors(&c, request, &error);
    if (status == TSR_OK)
        status = set_descs(&c, request, &error);
    if (status == TSR_OK)
        status = reorder(&c, request, &error);
    if (status == TSR_OK)
        status = write_result(&c, request->out, &error);
    if (status == TSR_OK)
        report(&c, request, strcmp(request->out, "/dev/stdout") == 0 ? stderr : stdout);
    conversion_reset(&c);
    return status == TSR_OK ? EXIT_SUCCESS : fail_with(status, &error);
}

static const struct option long_options[] = {
    {"from", required_argument, NULL, 'f'},    {"to", required_argument, NULL, 't'},
    {"dims", required_argument, NULL, 'd'},    {"dtype", required_argument, NULL, 'y'},
    {"mean", required_argument, NULL, 'm'},    {"scale", required_argument, NULL, 's'},
    {"shift", required_argument, NULL, 'i'},   {"axis", required_argument, NULL, 'a'},
    {"group", required_argument, NULL, 'g'},   {"reverse", required_argument, NULL, 'r'},
    {"threads", required_argument, NULL, 'n'}, {"verify", no_argument, NULL, 'v'},
    {"bench", no_argument, NULL, 'b'},         {"json", no_argument, NULL, 'j'},
    {"help", no_argument, NULL, 'h'},          {0},
};

/* Where the value of an option goes; NULL when it has no text. */
static const char **text_of(struct request *request, int option)
{
    switch (option) {
    case 'f':
        return &request->from;
    case 't':
        return &request->to;
    case 'd':
        return &request->dims;
    case 'y':
        return &request->dtype;
    case 'm':
        return &request->factors[0];
    case 's':
        return &request->factors[1];
    case 'i':
        return &request->factors[2];
    default:
        return NULL;
    }
}

/* Likewise for what is on or off. */
static bool *flag_of(struct request *request, int option)
{
    switch (option) {
    case 'v':
        return &request->verify;
    case 'b':
        return &request->bench;
    case 'j':
        return &request->json;
    default:
        return NULL;
    }
}

/* An option with a number; false when it is not one, or the number does not do. */
static bool take_number(struct request *request, int option, const char *text)
{
    int axis;
    switch (option) {
    case 'a':
        return parse_int(text, 0, &request->axis);
    case 'g':
        return parse_int(text, 1, &request->group);
    case 'n':
        return parse_int(text, 1, &request->threads);
    default:
        if (!parse_int(text, 0, &axis) || axis >= TSR_MAX_RANK)
            return false;
        request->reverse |= UINT32_C(1) << axis;
        return true;
    }
}

static int run(int argc, char **argv)
{
    struct request request = {.axis = 1};
    int option;
    while ((option = getopt_long(argc, argv, "h", long_options, NULL)) != -1) {
        if (text_of(&request, option))
            *text_of(&request, option) = optarg;
        else if (flag_of(&request, option))
            *flag_of(&request, option) = true;
        else if (!strchr("agnr", option))
            return unknown_option(&command_convert, option);
        else if (!take_number(&request, option, optarg))
            return fail(EXIT_USAGE, "expected a number, found \"%s\"", optarg);
    }
    if (argc - optind != 2 || !request.from || !request.to)
        return unknown_option(&command_convert, '?');
    request.in = argv[optind];
    request.out = argv[optind + 1];
    return convert(&request);
}

const struct command command_convert = {
    .name = "convert",
    .arguments = "IN.npy OUT.npy --from LAYOUT --to LAYOUT [OPTION...]",
    .summary = "reorder the tensor in a .npy file",
    .help =
        "A file holds a layout in its physical shape, one axis for each level: nChw16c of 8x64x56x56 is an array\n"
        "of 8x4x56x56x16. Reading one, --dims says which part of the last blocks is not padding; without\n"
        "--dims all blocks are taken to be full.\n\n"
        "  --from LAYOUT    of IN.npy; its axes in memory order\n"
        "  --to LAYOUT      of OUT.npy\n"
        "  --dims DIMS      the logical dims\n"
        "  --dtype T        element type of OUT.npy; that of IN.npy if not given\n"
        "  --mean V,...     subtract: one value, or one for each index of --axis\n"
        "  --scale V,...    multiply, after the mean: one value, or one for each index of --axis\n"
        "  --shift V,...    add, after the scale: one value, or one for each index of --axis\n"
        "  --axis K         logical axis of --mean, --scale and --shift; 1 if not given\n"
        "  --group N        one value for each N neighbouring indices of --axis\n"
        "  --reverse K      turn logical axis K round: RGB to BGR; may be given several times\n"
        "  --threads N      at most so many threads\n"
        "  --verify         compare the result with the oracle, element by element\n"
        "  --bench          time it against memcpy and oneDNN, on one thread if --threads is not given\n"
        "  --json           one JSON object: problem, in, out, size_bytes, row, kernel, boxes, and what --verify and\n"
        "                   --bench found\n",
    .run = run,
};
