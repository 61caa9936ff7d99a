/* SPDX-License-Identifier: Apache-2.0 */
#include "problems.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

static int worst(int a, int b)
{
    return a > b ? a : b;
}

/* Cuts a comment and blanks off a line, in place. */
static char *trim(char *line)
{
    line[strcspn(line, "#\r\n")] = '\0';
    line += strspn(line, " \t");
    size_t length = strlen(line);
    while (length > 0 && strchr(" \t", line[length - 1]))
        line[--length] = '\0';
    return line;
}

int visit_list(const char *path, const struct problem_options *options, problem_visitor visit)
{
    FILE *file = strcmp(path, "-") == 0 ? stdin : fopen(path, "r");
    char *line = NULL;
    size_t size = 0;
    int exit_status = EXIT_SUCCESS;
    if (!file)
        return fail(EXIT_FAILURE, "cannot open %s: %s", path, strerror(errno));
    while (getline(&line, &size, file) >= 0) {
        const char *text = trim(line);
        if (*text)
            exit_status = worst(exit_status, visit(text, options));
    }
    if (ferror(file))
        exit_status = fail(EXIT_FAILURE, "cannot read %s: %s", path, strerror(errno));
    free(line);
    if (file != stdin)
        fclose(file);
    return exit_status;
}

/* Joins words up to the one that begins the next problem. */
static int visit_words(int count, char **words, const struct problem_options *options, problem_visitor visit)
{
    int exit_status = EXIT_SUCCESS;
    for (int i = 0; i < count;) {
        char text[TSR_TEXT_SIZE];
        size_t length = 0;
        do {
            int written = snprintf(text + length, sizeof text - length, "%s%s", length ? " " : "", words[i]);
            length += (size_t)written;
            if (length >= sizeof text)
                return fail(EXIT_USAGE, "a problem of more than %d bytes", TSR_TEXT_SIZE);
        } while (++i < count && !strchr(words[i], '>'));
        exit_status = worst(exit_status, visit(trim(text), options));
    }
    return exit_status;
}

int visit_problems(const struct command *command, const char *letters, const char *const *otherwise, int argc,
                   char **argv, problem_visitor visit)
{
    enum { RUN = 'R' }; /* as "row" begins with the same letter */
    static const struct option long_options[] = {
        {"file", required_argument, NULL, 'f'}, {"threads", required_argument, NULL, 't'},
        {"row", required_argument, NULL, 'r'},  {"json", no_argument, NULL, 'j'},
        {"run", no_argument, NULL, RUN},        {"output", required_argument, NULL, 'o'},
        {"help", no_argument, NULL, 'h'},       {0}};
    struct problem_options options = {0};
    const char *path = NULL;
    int option, exit_status = EXIT_SUCCESS;
    while ((option = getopt_long(argc, argv, "h", long_options, NULL)) != -1) {
        if (!strchr(letters, option))
            return unknown_option(command, option);
        if (option == 'f')
            path = optarg;
        else if (option == 'r')
            options.row = optarg;
        else if (option == 'j')
            options.json = true;
        else if (option == RUN)
            options.run = true;
        else if (option == 'o')
            options.output = optarg;
        else if (!parse_int(optarg, 1, &options.threads))
            return fail(EXIT_USAGE, "expected a number of threads, found \"%s\"", optarg);
    }
    if (!path && optind == argc && !otherwise)
        return unknown_option(command, '?');
    for (; !path && optind == argc && *otherwise; otherwise++)
        exit_status = worst(exit_status, visit(*otherwise, &options));
    if (path)
        exit_status = visit_list(path, &options, visit);
    return worst(exit_status, visit_words(argc - optind, argv + optind, &options, visit));
}
