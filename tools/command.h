/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_TOOLS_COMMAND_H
#define TESSERA_TOOLS_COMMAND_H

#include <stdio.h>

#include <tessera/tessera.h>

#include "refuse.h"

/*
 * The words of the command line are wrong: nothing was tried. EXIT_FAILURE is for what was tried
 * and failed.
 */
#define EXIT_USAGE 2

/* A subcommand. run gets its own name in argv[0], as main does. */
struct command {
    const char *name;
    const char *arguments;
    const char *summary;
    const char *help; /* the options, one a line */
    int (*run)(int argc, char **argv);
};

extern const struct command command_bench, command_check, command_convert, command_describe, command_explain,
    command_list, command_tune;

/* "tessera: MESSAGE" on stderr; returns the exit status, so that it can end a function. */
int fail(int exit_status, const char *format, ...) TSR_PRINTF(2, 3);

/* Fails with a library's message: as bad usage for text that does not parse, as a failure for all else. */
int fail_with(tsr_status status, const tsr_error *error);

/*
 * What getopt_long returned that the command does not know; prints help for --help. Returns the
 * exit status.
 */
int unknown_option(const struct command *command, int option);

void print_help(FILE *out, const struct command *command);

/* A whole decimal number of at least `least`; false when the text is something else. */
bool parse_int(const char *text, int least, int *number);

#endif
