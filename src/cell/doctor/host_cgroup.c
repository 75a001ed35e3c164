#include "cell/doctor/host_checks.h"

#include "base/fd.h"
#include "cell/doctor/probe.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Whether cgroup v2 has the controllers that limits need. */
static bool controllers_exist(void)
{
    static const char *const places[] = {"/sys/fs/cgroup/cgroup.controllers",
                                         "/sys/fs/cgroup/unified/cgroup.controllers"};
    char text[256];
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (hc_read_attr(AT_FDCWD, places[i], text, sizeof text) == 0 && strstr(text, "memory") &&
            strstr(text, "pids"))
            return true;
    return false;
}

static void explain_cgroup(const struct hc_host *h, const struct hc_error *err, struct hc_host_row *row)
{
    const char *named = getenv("HOTCELL_CGROUP");
    const unsigned uid = geteuid();
    (void)hc_host_say(HC_HOST_NOTE, row, "%s", err->text);
    if (named && *named) {
        hc_host_mend(
            row, "set HOTCELL_CGROUP to a cgroup v2 directory that is delegated to uid %u, or unset it", uid);
    } else if (!controllers_exist()) {
        (void)hc_host_say(HC_HOST_NOTE, row, "cgroup v2 does not have memory and pids here");
        hc_host_mend(row,
                     "boot with systemd.unified_cgroup_hierarchy=1 (without systemd: cgroup_no_v1=all, and "
                     "cgroup2 mounted on /sys/fs/cgroup)");
    } else if (h->has & HC_HAS_ROOT) {
        hc_host_mend(
            row, "run it under 'systemd-run --scope -p Delegate=yes' with HOTCELL_CGROUP set to that cgroup");
    } else if (access("/run/systemd/system", F_OK) == 0) {
        hc_host_mend(
            row,
            "log in, so that uid %u has a service manager (loginctl enable-linger keeps it), or run it "
            "under 'systemd-run --user --scope -p Delegate=yes'",
            uid);
    } else {
        (void)hc_host_say(HC_HOST_NOTE, row, "not delegated to uid %u", uid);
        /* The shell must move, too: a process may only move into a cgroup that shares a delegated ancestor
         * with its old one. */
        hc_host_mend(
            row,
            "as root: cd /sys/fs/cgroup && echo +memory +pids +cpu >cgroup.subtree_control && mkdir -p "
            "hotcell-%u/shell && chown -R %u hotcell-%u && echo %d >hotcell-%u/shell/cgroup.procs (%d is "
            "your "
            "shell)",
            uid, uid, uid, getppid(), uid, getppid());
    }
}

enum hc_host_level hc_host_check_cgroup(struct hc_host *h, struct hc_host_row *row)
{
    struct hc_error err;
    if (hc_cgroup_find(&h->parent, true, &err) < 0) {
        explain_cgroup(h, &err, row);
        if (err.exit == HC_EXIT_CONFIG) { /* HOTCELL_CGROUP names an unusable place */
            row->cost = "no run works while HOTCELL_CGROUP says so";
            return HC_HOST_FAIL;
        }
        if (!(h->has & HC_HAS_POLICY) || h->policy.enforcement != HC_ENFORCE_CGROUP)
            return HC_HOST_NOTE;
        row->cost = "the default policy's limits.enforcement is \"cgroup\", so no run works";
        return HC_HOST_FAIL;
    }
    h->has |= HC_HAS_CGROUP;
    if (h->parent.cpu)
        return hc_host_say(HC_HOST_OK, row, "memory, pids, cpu%s in %s", h->parent.io ? ", io" : "",
                           h->parent.path);
    row->cost = "limits.cpus cannot be enforced";
    hc_host_mend(row, "delegate the cpu controller as well");
    return hc_host_say(HC_HOST_NOTE, row, "memory and pids, but not cpu, in %s", h->parent.path);
}

enum hc_host_level hc_host_check_leaf(struct hc_host *h, struct hc_host_row *row)
{
    struct hc_error err;
    bool has_kill = false;
    if (hc_probe_cgroup(&h->parent, &h->policy.limits, &has_kill, &err) < 0)
        return hc_host_probed(-1, &err, HC_HOST_FAIL, row, "");
    if (has_kill)
        return hc_host_say(HC_HOST_OK, row, "made, limited, entered by clone3, ended by cgroup.kill");
    row->cost = "what a killed launcher leaves is not ended by the next";
    return hc_host_say(HC_HOST_NOTE, row, "made, limited, entered by clone3, but there is no cgroup.kill");
}
