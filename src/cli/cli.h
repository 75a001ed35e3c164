/* cli.h - the subcommands of hotcell, one file each. A command gets its arguments without the program's name
 * (argv[0] is the command's own name), and returns the exit status. */
#ifndef HC_CLI_CLI_H
#define HC_CLI_CLI_H

#include "base/log.h"

/* The interpreter for hotcell's own Python programs on the host: the system's, which sees Debian's packages
 * and has the minor version that the shim embeds. */
#define HC_HOST_PYTHON "/usr/bin/python3"

struct hc_command {
    const char *name;                  /* argv[0] of the command */
    const char *summary;               /* for `hotcell --help`; empty: not listed there */
    int (*run)(int argc, char **argv); /* the command; returns the exit status */
};

/* The commands. Each returns the exit status, and has printed what went wrong. */
int hc_cmd_run(int argc, char **argv);
int hc_cmd_exec(int argc, char **argv);
int hc_cmd_check(int argc, char **argv);
int hc_cmd_session(int argc, char **argv);
int hc_cmd_kernel(int argc, char **argv);
int hc_cmd_replay(int argc, char **argv);
int hc_cmd_batch(int argc, char **argv);
int hc_cmd_mcp(int argc, char **argv);
int hc_cmd_tree(int argc, char **argv);
int hc_cmd_policy(int argc, char **argv);
int hc_cmd_verify(int argc, char **argv);
int hc_cmd_workspace(int argc, char **argv);
int hc_cmd_report(int argc, char **argv);
int hc_cmd_jobs(int argc, char **argv);
int hc_cmd_order(int argc, char **argv); /* argv[0]: cancel, hold, release, drain or resume */
int hc_cmd_usage(int argc, char **argv);
int hc_cmd_doctor(int argc, char **argv);
int hc_cmd_clean(int argc, char **argv);

/* Is the last of at most two arguments --help or -h? */
int hc_wants_help(int argc, char **argv);

/* Prints to standard error an error of usage and where help is. `command`: "tree build"; "" for hotcell
 * itself. Returns HC_EXIT_USAGE. */
int hc_usage(const char *command, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

struct option;

/* The same for the argument `given`, an option that the command does not have: the message suggests the
 * nearest name of `options`. */
int hc_unknown_option(const char *command, const struct option *options, const char *given);

#endif
