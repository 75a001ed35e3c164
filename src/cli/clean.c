/* hotcell clean - remove what is left of cells whose launcher was killed. Every `hotcell run` does the same
 * for its own user. */
#include "cli/cli.h"

#include "cell/cgroup.h"

#include <stdio.h>

int hc_cmd_clean(int argc, char **argv)
{
    if (hc_wants_help(argc, argv)) {
        (void)puts(
            "usage: hotcell clean\nRemove cgroups, and processes in them, that no launcher holds any more.");
        return HC_EXIT_OK;
    }
    if (argc != 1)
        return hc_usage("clean", "expected no arguments");
    struct hc_cgroup_parent parent;
    struct hc_error err;
    if (hc_cgroup_find(&parent, &err) < 0) {
        (void)puts("nothing to clean: no cgroups are in use here");
        return HC_EXIT_OK;
    }
    int n = hc_cgroup_reap(&parent);
    (void)printf("%d left-over cell%s removed from %s\n", n, n == 1 ? "" : "s", parent.path);
    hc_cgroup_parent_finish(&parent);
    return HC_EXIT_OK;
}
