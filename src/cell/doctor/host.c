#include "cell/host.h"

#include "base/status.h"
#include "cell/doctor/host_checks.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define NEW_KERNEL "use a kernel of 5.14 or later"

/* One check of the host. */
struct check {
    const char *name; /* name of the check's row */
    hc_host_check_fn *run;
    unsigned needs;   /* HC_HAS_* bits; without them the check is left out */
    const char *cost; /* what is lost if it fails, unless `run` says otherwise */
    const char *mend; /* the remedy, unless `run` gives another; empty: none */
};

/* ---- what a row says ---- */

enum hc_host_level hc_host_say(enum hc_host_level level, struct hc_host_row *row, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    (void)vsnprintf(row->detail, sizeof row->detail, fmt, ap);
    va_end(ap);
    return level;
}

void hc_host_add(struct hc_host_row *row, const char *separator, const char *text)
{
    size_t len = strlen(row->detail);
    (void)snprintf(row->detail + len, sizeof row->detail - len, "%s%s", len ? separator : "", text);
}

void hc_host_mend(struct hc_host_row *row, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    (void)vsnprintf(row->mend, sizeof row->mend, fmt, ap);
    va_end(ap);
}

bool hc_host_filtered(void)
{
    const char *text = hc_status_read(AT_FDCWD, "/proc/self/status");
    return text && hc_status_field(text, "Seccomp", 10, 0) == 2;
}

#define MEND_MODULE                                                                                          \
    "a security module refuses it: have it allow namespaces and mounts for hotcell; around a container "     \
    "that is '--security-opt apparmor=unconfined'"

enum hc_host_level hc_host_probed(int rc, const struct hc_error *err, enum hc_host_level level,
                                  struct hc_host_row *row, const char *good)
{
    if (rc == 0)
        return hc_host_say(HC_HOST_OK, row, "%s", good);
    if (row->mend[0])
        return hc_host_say(level, row, "%s", err->text);
    if ((err->sys == ENOSYS || err->sys == EPERM) && hc_host_filtered())
        hc_host_mend(row, HC_MEND_CONTAINER);
    else if (err->sys == EACCES)
        hc_host_mend(row, MEND_MODULE);
    return hc_host_say(level, row, "%s", err->text);
}

/* ---- the table of checks ---- */

static const struct check checks[] = {
    {"default policy", hc_host_check_policy, 0, "runs need another policy, with -p",
     "mend or remove that file"},
    {"state directory", hc_host_check_state, 0, "no run works",
     "set HOTCELL_STATE to a directory of your own"},
    {"host ids", hc_host_check_ids, 0, HC_NO_CELLS,
     "make /run/hotcell writable for root, or widen HOTCELL_UID_RANGE"},
    {"user namespaces", hc_host_check_userns, 0, HC_NO_CELLS,
     "find out what forbids user namespaces here: a container, a chroot, a security module"},
    {"other namespaces", hc_host_check_namespaces, HC_HAS_USERNS, HC_NO_CELLS, NEW_KERNEL},
    {"mount interface", hc_host_check_mounts, HC_HAS_USERNS, HC_NO_CELLS, NEW_KERNEL},
    {"proc", hc_host_check_proc, HC_HAS_USERNS,
     "there are no warm cells, as those that they are copies of need a /proc; others have none", NEW_KERNEL},
    {"pivot_root", hc_host_check_pivot_root, HC_HAS_USERNS, HC_NO_CELLS, NEW_KERNEL},
    {"devices", hc_host_check_devices, HC_HAS_USERNS, HC_NO_CELLS, "make the device with mknod(1)"},
    {"idmapped mounts", hc_host_check_idmap, HC_HAS_USERNS | HC_HAS_IDS | HC_HAS_ROOT | HC_HAS_STATE,
     "inputs that only their owner may read, and output.mode \"bind\", do not work there",
     "make such inputs readable for all, and keep data on ext4, xfs or btrfs"},
    {"seccomp filters", hc_host_check_filter, HC_HAS_POLICY | HC_HAS_STATE, HC_NO_CELLS,
     "use a kernel with CONFIG_SECCOMP_FILTER"},
    {"seccomp notifications", hc_host_check_notification, 0,
     "manifests do not say which system calls were refused", NEW_KERNEL},
    {"Landlock", hc_host_check_landlock, 0,
     "what it would refuse a second time is refused once, by mounts, namespaces and seccomp", ""},
    {"core scheduling", hc_host_check_cores, 0, "a policy with core_scheduling \"on\" does not run",
     "use a kernel with CONFIG_SCHED_CORE"},
    {"files and processes", hc_host_check_calls, 0, HC_NO_CELLS, NEW_KERNEL},
    {"cgroup v2 controllers", hc_host_check_cgroup, 0,
     "limits are enforced by rlimits and a watch, which is coarser", ""},
    {"cgroup of a job", hc_host_check_leaf, HC_HAS_CGROUP | HC_HAS_POLICY, HC_NO_CELLS, NEW_KERNEL},
    {"child lists", hc_host_check_children, 0, "without cgroups, only the first process of a cell is watched",
     "use a kernel with CONFIG_PROC_CHILDREN"},
    {"shim", hc_host_check_shim, 0, HC_NO_CELLS, "build or install hotcell-shim together with hotcell"},
    {"default tree", hc_host_check_tree, HC_HAS_POLICY | HC_HAS_STATE, "runs need another tree, with -t",
     "build a tree: 'hotcell tree build scientific'"},
    {"content of trees", hc_host_check_stamps, HC_HAS_POLICY | HC_HAS_STATE | HC_HAS_TREE,
     "batches, sessions and hotcelld refuse such a tree, and so do runs that notice",
     "build it anew, or restore it and verify it again"},
    {"a cell", hc_host_check_cell, HC_HAS_POLICY | HC_HAS_IDS | HC_HAS_USERNS | HC_HAS_TREE, "no run works",
     ""},
};

static void run_check(const struct check *c, struct hc_host *h, struct hc_host_row *row)
{
    *row = (struct hc_host_row){.name = c->name};
    row->level = c->run(h, row);
    if (!row->cost)
        row->cost = c->cost;
    if (!row->mend[0])
        hc_host_mend(row, "%s", c->mend);
    if (row->level == HC_HOST_OK) {
        row->cost = "";
        row->mend[0] = '\0';
    }
}

const char *hc_host_level_name(enum hc_host_level level)
{
    static const char *const names[] = {"ok", "note", "fail"};
    return names[level];
}

bool hc_host_examine(hc_host_visitor *each, void *ctx)
{
    struct hc_host h = {
        .has = geteuid() == 0 ? HC_HAS_ROOT : 0,
        .ids = {.uid = geteuid(), .gid = getegid(), .lease_fd = -1}, /* until hc_host_check_ids leases some */
        .parent = {.fd = -1},
    };
    bool works = true;
    hc_policy_init(&h.policy);
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++) {
        if (checks[i].needs & ~h.has)
            continue;
        struct hc_host_row row;
        run_check(&checks[i], &h, &row);
        works = works && row.level != HC_HOST_FAIL;
        each(ctx, &row);
    }
    hc_cgroup_parent_finish(&h.parent);
    hc_ids_release(&h.ids);
    hc_policy_finish(&h.policy);
    return works;
}
