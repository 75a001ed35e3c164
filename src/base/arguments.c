#include "base/arguments.h"

#include <stdbool.h>
#include <string.h>

/* The argument that getopt_long has just taken for a long option. */
static const char *given_option(char **argv)
{
    const char *last = argv[optind - 1];
    const char *value = strchr(last, '=');
    const bool apart = optarg && !(value && optarg == value + 1); /* its value is an argument of its own */
    return apart ? argv[optind - 2] : last;
}

int hc_getopt(int argc, char **argv, const char *letters, const struct option *options)
{
    int at = -1;
    int opt = getopt_long(argc, argv, letters, options, &at);
    if (opt == -1 || at < 0)
        return opt;
    const char *given = given_option(argv);
    const size_t len = strlen(options[at].name);
    if (strncmp(given, "--", 2) != 0 ||
        (strncmp(given + 2, options[at].name, len) == 0 && (!given[2 + len] || given[2 + len] == '=')))
        return opt;
    optind -= given != argv[optind - 1];
    optopt = 0;
    return '?';
}
