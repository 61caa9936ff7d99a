/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_TOOLS_PROBLEMS_H
#define TESSERA_TOOLS_PROBLEMS_H

#include "command.h"

/* The options of the commands that take problems. */
struct problem_options {
    int threads; /* 0: all */
    const char *row;
    bool json;
    bool run;
    const char *output;
};

/*
 * Works on one problem. text is as the user wrote it, without comment and outer blanks. Returns the
 * exit status; the worst of all problems becomes that of the command.
 */
typedef int (*problem_visitor)(const char *text, const struct problem_options *options);

/* Visits the problems of a file, one on each line; # begins a comment, and the path - is standard input. */
int visit_list(const char *path, const struct problem_options *options, problem_visitor visit);

/*
 * Reads the command line [--file LIST] [--threads N] [--row R] [--json] [--run] [--output FILE] PROBLEM...
 * and visits each problem, those of LIST first. A problem on the command line may be one argument or, as
 * it contains blanks, several: a new one begins at each '>'.
 *
 * A command takes the options whose letters it names: first letters, and R for --run. Where no problem is given, it
 * works on those of `otherwise`, which ends with NULL; if that is NULL, there has to be one.
 */
int visit_problems(const struct command *command, const char *letters, const char *const *otherwise, int argc,
                   char **argv, problem_visitor visit);

#endif
