/* cli.h - the subcommands of hotcell: one file each, all of the same shape. A command gets its arguments
 * without the program's name, argv[0] being its own, and returns the exit status. */
#ifndef HC_CLI_CLI_H
#define HC_CLI_CLI_H

#include "base/log.h"

/* Runs the programs of ours that are Python on the host: the system's interpreter, which sees Debian's
 * packages and has the minor version that the shim embeds. */
#define HC_HOST_PYTHON "/usr/bin/python3"

struct hc_command {
    const char *name;
    const char *summary; /* for `hotcell --help` */
    int (*run)(int argc, char **argv);
};

int hc_cmd_run(int argc, char **argv);
int hc_cmd_check(int argc, char **argv);
int hc_cmd_session(int argc, char **argv);
int hc_cmd_replay(int argc, char **argv);
int hc_cmd_batch(int argc, char **argv);
int hc_cmd_mcp(int argc, char **argv);
int hc_cmd_tree(int argc, char **argv);
int hc_cmd_policy(int argc, char **argv);
int hc_cmd_verify(int argc, char **argv);
int hc_cmd_report(int argc, char **argv);
int hc_cmd_jobs(int argc, char **argv);
int hc_cmd_order(int argc, char **argv); /* cancel, hold, release, drain, resume: argv[0] */
int hc_cmd_usage(int argc, char **argv);
int hc_cmd_doctor(int argc, char **argv);
int hc_cmd_clean(int argc, char **argv);
int hc_cmd_options(int argc, char **argv);

/* True for --help and -h as the only argument, or where a command takes no others. */
int hc_wants_help(int argc, char **argv);

/* Say what is wrong with the call and where help is. Returns HC_EXIT_USAGE. */
int hc_usage(const char *command, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
