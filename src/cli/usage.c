/* Messages about a wrong command line, for all commands. */
#include "cli/cli.h"

#include "base/arguments.h"
#include "json/names.h"

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

/* The only option whose name begins like this; NULL: none does, or several. */
static const char *begun(const struct option *options, const char *name, size_t len)
{
    const char *found = NULL;
    for (const struct option *o = options; len && o->name; o++) {
        if (strncmp(o->name, name, len) != 0)
            continue;
        if (found)
            return NULL;
        found = o->name;
    }
    return found;
}

int hc_unknown_option(const char *command, const struct option *options, const char *given)
{
    char name[64];
    if (strncmp(given, "--", 2) != 0)
        return hc_usage(command, "unknown option %.80s", given);
    (void)snprintf(name, sizeof name, "%.*s", (int)strcspn(given + 2, "="), given + 2);
    struct hc_guess guess = {.wanted = name};
    for (const struct option *o = options; o->name; o++)
        hc_guess_consider(&guess, o->name, o->name, false);
    const char *near = begun(options, name, strlen(name));
    near = near ? near : guess.name;
    if (near && strcmp(near, name) == 0)
        return hc_usage(command, "--%s takes no value", name);
    return hc_usage(command, "unknown option --%s%s%s%s", name, near ? "; did you mean --" : "",
                    near ? near : "", near ? "?" : "");
}
