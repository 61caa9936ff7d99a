/* SPDX-License-Identifier: Apache-2.0 */
#include "command.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>

int fail(int exit_status, const char *format, ...)
{
    va_list arguments;
    fputs("tessera: ", stderr);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    return exit_status;
}

int fail_with(tsr_status status, const tsr_error *error)
{
    return fail(status == TSR_PARSE_ERROR ? EXIT_USAGE : EXIT_FAILURE, "%s: %s", tsr_status_name(status),
                error->message);
}

void print_help(FILE *out, const struct command *command)
{
    fprintf(out, "usage: tessera %s %s\n\n%s\n\n%s", command->name, command->arguments, command->summary,
            command->help);
}

int unknown_option(const struct command *command, int option)
{
    if (option == 'h') {
        print_help(stdout, command);
        return EXIT_SUCCESS;
    }
    fprintf(stderr, "usage: tessera %s %s\n", command->name, command->arguments);
    return EXIT_USAGE;
}

bool parse_int(const char *text, int least, int *number)
{
    char *end;
    errno = 0;
    long value = strtol(text, &end, 10);
    if (errno || end == text || *end || value < least || value > INT_MAX)
        return false;
    *number = (int)value;
    return true;
}
