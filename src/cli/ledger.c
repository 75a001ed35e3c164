/* hotcell jobs, hotcell usage - print what a daemon or its ledger knows of jobs. This process executes
 * another program for it, hotcell-ledger, so that "hotcell run" need not load SQLite. */
#include "cli/cli.h"

#include "base/state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int exec_ledger(int argc, char **argv)
{
    char path[PATH_MAX], name[] = "hotcell-ledger";
    struct hc_error err;
    if (hc_program_path(name, path, &err) < 0)
        return hc_report(&err);
    char **arguments = calloc((size_t)argc + 2, sizeof *arguments);
    if (arguments) {
        arguments[0] = name;
        memcpy(arguments + 1, argv, (size_t)argc * sizeof *arguments);
        (void)execv(path, arguments);
    }
    (void)hc_fail(&err, errno, "start %s", path);
    free(arguments);
    return hc_report(&err);
}

int hc_cmd_jobs(int argc, char **argv)
{
    return exec_ledger(argc, argv);
}

int hc_cmd_usage(int argc, char **argv)
{
    return exec_ledger(argc, argv);
}
