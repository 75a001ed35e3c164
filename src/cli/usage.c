/* Messages about a wrong command line, for all commands. */
#include "cli/cli.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int hc_wants_help(int argc, char **argv)
{
    /* "tree --help", and "tree build --help" */
    if (argc != 2 && argc != 3)
        return 0;
    return strcmp(argv[argc - 1], "--help") == 0 || strcmp(argv[argc - 1], "-h") == 0;
}

int hc_usage(const char *command, const char *fmt, ...)
{
    struct hc_error err;
    va_list ap;
    va_start(ap, fmt);
    (void)vsnprintf(err.text, sizeof err.text, fmt, ap);
    va_end(ap);
    (void)fprintf(stderr, "hotcell%s%s: %s (see 'hotcell%s%s --help')\n", *command ? " " : "", command,
                  err.text, *command ? " " : "", command);
    return HC_EXIT_USAGE;
}
