/* arguments.h - options of a command line, by their exact names. */
#ifndef HC_BASE_ARGUMENTS_H
#define HC_BASE_ARGUMENTS_H

#include <getopt.h>

/* As getopt_long(3), without its abbreviations: with them, a name that a command does not have would be taken
 * for another option that begins like it. An abbreviation is '?', as any unknown option; argv[optind - 1] is
 * then the option as it was given. */
int hc_getopt(int argc, char **argv, const char *letters, const struct option *options);

#endif
