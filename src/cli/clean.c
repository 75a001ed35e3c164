/* hotcell clean - removes cgroups of cells whose launcher was killed (every `hotcell run` does the same for
 * its own user), directories of killed servers, old policies, or a session's older steps. */
#include "cli/cli.h"

#include "cell/cgroup.h"
#include "cell/policy_store.h"
#include "cell/steps.h"
#include "mcp/child/directory.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "usage: hotcell clean\n"
    "Remove cgroups, and processes in them, that no launcher holds any more, and temporary directories of\n"
    "servers (hotcell mcp) that were killed; and policies that are kept by their hash and that no job has\n"
    "had for a year.\n\n"
    "       hotcell clean --keep N DIR/SESSION\n"
    "Remove the steps of a session (hotcell run --session) but for the N that changed "
    "last.\n";

static void clean_servers(void)
{
    int n = hc_directory_reap();
    if (n > 0)
        (void)printf("%d left-over director%s of killed servers removed\n", n, n == 1 ? "y" : "ies");
}

#define POLICY_DAYS 366 /* days without a job after which a stored policy is removed */

static void clean_policies(void)
{
    int n = hc_policies_sweep(POLICY_DAYS);
    if (n > 0)
        (void)printf("%d polic%s removed that no job has had for a year\n", n, n == 1 ? "y" : "ies");
}

static int clean_cells(void)
{
    struct hc_cgroup_parent parent;
    struct hc_error err;
    /* Does not ask systemd for a scope: a scope ends by itself with its last process. */
    if (hc_cgroup_find(&parent, false, &err) < 0) {
        (void)puts("nothing to clean: no cgroups are in use here");
        return HC_EXIT_OK;
    }
    int n = hc_cgroup_reap_all(&parent);
    (void)printf("%d left-over cell%s removed from %s\n", n, n == 1 ? "" : "s", parent.path);
    hc_cgroup_parent_finish(&parent);
    return HC_EXIT_OK;
}

static int clean_steps(const char *count, const char *path)
{
    char *end = NULL;
    errno = 0;
    unsigned long keep = strtoul(count, &end, 10);
    if (errno || *count < '0' || *count > '9' || *end)
        return hc_usage("clean", "--keep: expected a number, got '%s'", count);
    struct hc_error err = {0};
    int n = hc_session_clean(path, keep, stdout, &err);
    if (n < 0)
        return hc_report(&err);
    (void)printf("%d step%s removed from %s\n", n, n == 1 ? "" : "s", path);
    return HC_EXIT_OK;
}

int hc_cmd_clean(int argc, char **argv)
{
    if (hc_wants_help(argc, argv)) {
        (void)fputs(help, stdout);
        return HC_EXIT_OK;
    }
    if (argc == 1) {
        clean_servers();
        clean_policies();
        return clean_cells();
    }
    if (argc == 4 && strcmp(argv[1], "--keep") == 0)
        return clean_steps(argv[2], argv[3]);
    return hc_usage("clean", "expected no arguments, or --keep N DIR/SESSION");
}
