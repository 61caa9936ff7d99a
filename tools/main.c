/* SPDX-License-Identifier: Apache-2.0 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"

static const struct command *const commands[] = {
    &command_describe, &command_explain, &command_check, &command_bench, &command_tune, &command_convert, &command_list,
};
enum { COMMANDS = sizeof commands / sizeof commands[0] };

static void print_usage(FILE *out)
{
    fputs("usage: tessera COMMAND [ARGUMENT...]\n\nMemory layouts of tensors: describe them, convert between them.\n\n",
          out);
    for (size_t i = 0; i < COMMANDS; i++)
        fprintf(out, "  %-9s %s\n", commands[i]->name, commands[i]->summary);
    fputs(
        "\n`tessera COMMAND --help` tells more. A LAYOUT is a name or tag such as nchw, nhwc, nChw16c, OIhw4i16o4i "
        "or acdb,\n"
        "or levels such as [a1:12800,b4:3200,c20:160,d20:8,b8:1]+7. DIMS are in logical order: 8x64x56x56.\n"
        "A PROBLEM is SRC_TYPE:SRC_LAYOUT>DST_TYPE:DST_LAYOUT DIMS [ATTRIBUTE...]; an ATTRIBUTE is scale, mean\n"
        "or shift, alone or as in scale[K] or scale[K/G], beta, reverse[K], or in-place.\n\n"
        "Exit status: 0 done, 1 it failed, 2 the command line is wrong.\n"
        "Environment: TSR_CPU=c|sse41|avx2|avx512|avx512vbmi|neon lowers the instruction set; TSR_WISDOM=FILE is what\n"
        "`tessera tune` has learnt, in place of ~/.config/tessera/wisdom, and if it is empty, nothing.\n",
        out);
}

/* What was printed may still have nowhere to go. */
static int finish(int exit_status)
{
    if (fflush(stdout) != 0 || ferror(stdout))
        return fail(EXIT_FAILURE, "cannot write to standard output");
    return exit_status;
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "";
    signal(SIGXFSZ, SIG_IGN); /* a file that grows too large is an error like others, and leaves nothing behind */
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) {
        print_usage(stdout);
        return finish(EXIT_SUCCESS);
    }
    if (strcmp(name, "--version") == 0) {
        printf("tessera %s (%s), %s\n", tsr_version(), tsr_build_features(), tsr_cpu_rung_name(tsr_cpu_flags()));
        return finish(EXIT_SUCCESS);
    }
    for (size_t i = 0; i < COMMANDS; i++)
        if (strcmp(name, commands[i]->name) == 0)
            return finish(commands[i]->run(argc - 1, argv + 1));
    if (*name)
        return fail(EXIT_USAGE, "expected a command, found \"%s\"; see tessera --help", name);
    print_usage(stderr);
    return EXIT_USAGE;
}
