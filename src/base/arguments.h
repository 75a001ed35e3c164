/* arguments.h - parse the options of a command line, which must be given by their exact names. */
#ifndef HC_BASE_ARGUMENTS_H
#define HC_BASE_ARGUMENTS_H

#include <getopt.h>

/* Works as getopt_long(3), but accepts no abbreviated names: an option that a command does not have would
 * else be taken for another one that begins like it. Returns '?' for an abbreviation, as for any unknown
 * option; argv[optind - 1] is then the option as it was given. */
int hc_getopt(int argc, char **argv, const char *letters, const struct option *options);

#endif
