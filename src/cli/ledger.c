/* hotcell jobs, hotcell usage - what a daemon tells of jobs, or its ledger says. Another program reads it,
 * which this process becomes: then "hotcell run" needs no database to start. */
#include "cli/cli.h"

#include "base/state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int become_reader(int argc, char **argv)
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
    return become_reader(argc, argv);
}

int hc_cmd_usage(int argc, char **argv)
{
    return become_reader(argc, argv);
}
