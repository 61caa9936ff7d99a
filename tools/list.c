/* SPDX-License-Identifier: Apache-2.0 */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "json.h"

/* One line of the list; detail is printed behind the name. */
static void item(bool json, const char *kind, const char *name, const char *detail)
{
    if (json)
        json_print_line(json_pack("{s:s, s:s, s:s}", "kind", kind, "name", name, "detail", detail));
    else
        printf("%-8s %-12s %s\n", kind, name, detail);
}

static void list_types(bool json)
{
    for (int type = TSR_DTYPE_NONE + 1; type < TSR_DTYPE_COUNT; type++) {
        char detail[32];
        snprintf(detail, sizeof detail, "%d bit%s", tsr_dtype_bits((tsr_dtype)type),
                 tsr_dtype_bits((tsr_dtype)type) == 1 ? "" : "s");
        item(json, "type", tsr_dtype_name((tsr_dtype)type), detail);
    }
}

static void list_layouts(bool json)
{
    static const char *const names[] = {"scalar", "c",     "nc",    "cn",    "hw",     "chw",   "hwc",  "ncw",
                                        "nwc",    "nchw",  "nhwc",  "chwn",  "ncdhw",  "ndhwc", "oihw", "hwio",
                                        "ohwi",   "goihw", "oidhw", "dhwio", "goidhw", "tnc",   "ntc",  "ldigo"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        tsr_layout layout;
        char detail[8 * TSR_MAX_RANK] = "order";
        size_t length = strlen(detail);
        if (tsr_layout_parse(&layout, names[i], NULL) != TSR_OK)
            continue;
        for (int k = 0; k < layout.levels; k++)
            length += (size_t)snprintf(detail + length, sizeof detail - length, " %d", layout.order[k]);
        item(json, "layout", names[i], detail);
    }
}

static void list_rows(bool json)
{
    tsr_desc scalar;
    tsr_plan *plan = NULL;
    tsr_verdict verdict;
    if (tsr_desc_plain(&scalar, TSR_F32, 0, NULL, NULL) != TSR_OK ||
        tsr_plan_create(&plan, &scalar, &scalar, NULL, NULL) != TSR_OK)
        return;
    for (int i = 0; tsr_plan_verdict(plan, i, &verdict); i++)
        item(json, "row", verdict.row, "of the selection table");
    tsr_plan_free(&plan);
}

static void list_machine(bool json)
{
    const tsr_topology *machine = tsr_topology_machine();
    char detail[200];
    snprintf(detail, sizeof detail, "%d cores, %d threads, %d NUMA nodes, caches of %lld, %lld and %lld bytes",
             machine->cores, machine->threads, machine->numa_nodes, (long long)machine->l1_bytes,
             (long long)machine->l2_bytes, (long long)machine->l3_bytes);
    item(json, "machine", tsr_cpu_rung_name(tsr_cpu_flags()), detail);
    item(json, "library", tsr_version(), tsr_build_features());
}

static int run(int argc, char **argv)
{
    static const struct option options[] = {{"json", no_argument, NULL, 'j'}, {"help", no_argument, NULL, 'h'}, {0}};
    bool json = false;
    int option;
    while ((option = getopt_long(argc, argv, "h", options, NULL)) != -1) {
        if (option != 'j')
            return unknown_option(&command_list, option);
        json = true;
    }
    if (optind != argc)
        return unknown_option(&command_list, '?');
    list_types(json);
    list_layouts(json);
    list_rows(json);
    list_machine(json);
    return EXIT_SUCCESS;
}

const struct command command_list = {
    .name = "list",
    .arguments = "[--json]",
    .summary = "list element types, common layouts, rows, and this machine",
    .help = "  --json    one JSON object a line: kind, name, detail\n",
    .run = run,
};
