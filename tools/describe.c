/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "json.h"
#include "show.h"

/* What the command line asks for. */
struct request {
    tsr_desc desc;
    int indices;
    int64_t (*index)[TSR_MAX_RANK];
    int64_t *offsets;
    tsr_dialect from;
    bool dialects;
    bool json;
};

/* I,J,... with one number for each axis; nothing at all for a scalar */
static tsr_status parse_index(const char *text, int rank, int64_t *index, tsr_error *error)
{
    const char *at = text;
    bool is_index = rank > 0 || !*text;
    for (int k = 0; is_index && k < rank; k++) {
        char *end = NULL;
        errno = 0;
        index[k] = strtoll(at, &end, 10);
        is_index = strchr("-0123456789", *at) && end != at && errno == 0 && *end == (k + 1 < rank ? ',' : '\0');
        at = end + 1;
    }
    return is_index ? TSR_OK
                    : refuse(error, TSR_PARSE_ERROR, "expected an index of %d numbers, found \"%.80s\"", rank, text);
}

static void print_text(const struct request *request)
{
    (request->dialects ? show_dialects : show_text)(&request->desc);
    for (int i = 0; i < request->indices; i++) {
        printf("%-15s", "offset of");
        for (int k = 0; k < request->desc.rank; k++)
            printf("%s%" PRId64, k ? "," : "", request->index[i][k]);
        printf(": %" PRId64 "\n", request->offsets[i]);
    }
}

static void print_json(const struct request *request)
{
    json_t *object = show_json(&request->desc, request->dialects);
    json_object_set_new(object, "offsets", json_numbers(request->offsets, request->indices));
    json_print_line(object);
}

/* Looks up the offsets and prints everything. */
static int describe(struct request *request, char **index_texts)
{
    tsr_error error = {0};
    for (int i = 0; i < request->indices; i++) {
        tsr_status status = parse_index(index_texts[i], request->desc.rank, request->index[i], &error);
        if (status == TSR_OK)
            status =
                tsr_desc_offset(&request->desc, request->desc.rank, request->index[i], &request->offsets[i], &error);
        if (status != TSR_OK)
            return fail_with(status, &error);
    }
    (request->json ? print_json : print_text)(request);
    return EXIT_SUCCESS;
}

static int run(int argc, char **argv)
{
    static const struct option options[] = {{"dtype", required_argument, NULL, 'd'},
                                            {"from", required_argument, NULL, 'f'},
                                            {"index", required_argument, NULL, 'i'},
                                            {"dialects", no_argument, NULL, 'D'},
                                            {"json", no_argument, NULL, 'j'},
                                            {"help", no_argument, NULL, 'h'},
                                            {0}};
    struct request request = {0};
    tsr_dtype dtype = TSR_F32;
    tsr_error error = {0};
    int option, rank, exit_status = EXIT_FAILURE;
    int64_t dims[TSR_MAX_RANK];
    char **index_texts = calloc((size_t)argc, sizeof *index_texts);
    request.index = calloc((size_t)argc, sizeof *request.index);
    request.offsets = calloc((size_t)argc, sizeof *request.offsets);
    tsr_status status = TSR_OK;
    if (!index_texts || !request.index || !request.offsets)
        status = refuse(&error, TSR_OUT_OF_MEMORY, "no memory for %d indices", argc);

    while (status == TSR_OK && (option = getopt_long(argc, argv, "h", options, NULL)) != -1) {
        if (option == 'd') {
            status = tsr_dtype_parse(&dtype, optarg, &error);
        } else if (option == 'i') {
            index_texts[request.indices++] = optarg;
        } else if (option == 'f') {
            status = tsr_dialect_from_name(&request.from, optarg, &error);
        } else if (option == 'D') {
            request.dialects = true;
        } else if (option == 'j') {
            request.json = true;
        } else {
            exit_status = unknown_option(&command_describe, option);
            goto done;
        }
    }
    if (argc - optind != 2 && status == TSR_OK) {
        exit_status = unknown_option(&command_describe, '?');
        goto done;
    }
    if (status == TSR_OK)
        status = tsr_dims_parse(dims, &rank, argv[optind + 1], &error);
    if (status == TSR_OK)
        status = tsr_dialect_parse(&request.desc, request.from, dtype, rank, dims, argv[optind], &error);
    exit_status = status == TSR_OK ? describe(&request, index_texts) : fail_with(status, &error);
done:
    free(index_texts);
    free(request.index);
    free(request.offsets);
    return exit_status;
}

const struct command command_describe = {
    .name = "describe",
    .arguments = "LAYOUT DIMS [--dtype T] [--from DIALECT] [--dialects] [--index I,J,...]... [--json]",
    .summary = "show block dims, order, strides, size and padding of a layout",
    .help = "  --dtype T        element type, f32 if not given\n"
            "  --from DIALECT   LAYOUT is written as in openvino, onednn, tvm, einops, cute, xla or numpy\n"
            "  --dialects       print the layout in all of these, or why one cannot say it, and nothing else\n"
            "  --index I,J,...  print the offset of this element; may be given several times\n"
            "  --json           one JSON object on one line\n",
    .run = run,
};
