#include "cell/host.h"

#include "base/fd.h"
#include "cell/filter.h"
#include "cell/kernel.h"
#include "cell/policies.h"
#include "cell/probe.h"
#include "cell/run.h"
#include "cell/state.h"
#include "cell/status.h"
#include "cell/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What checks find out, and later ones need. */
enum {
    ROOT = 1,
    POLICY = 2,
    IDS = 4,
    USERNS = 8,
    CGROUP = 16,
    TREE = 32,
    STATE = 64,
};

struct host {
    unsigned has; /* of the above */
    struct hc_policy policy;
    struct hc_ids ids;
    struct hc_cgroup_parent parent;
    char state[PATH_MAX]; /* the directory of trees; it need not exist */
    char tree[256];       /* one that is there, the default policy's if possible */
};

/* Fills row->detail, and row->cost and row->mend where they are others than the table's. */
typedef enum hc_host_level check_fn(struct host *h, struct hc_host_row *row);

struct check {
    const char *name;
    check_fn *run;
    unsigned needs; /* without them it is left out */
    const char *cost;
    const char *mend;
};

/* ---- words ---- */

#define NO_CELLS   "no cell can be built"
#define NEW_KERNEL "use a kernel of 5.14 or later"

static enum hc_host_level say(enum hc_host_level level, struct hc_host_row *row, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

static enum hc_host_level say(enum hc_host_level level, struct hc_host_row *row, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    (void)vsnprintf(row->detail, sizeof row->detail, fmt, ap);
    va_end(ap);
    return level;
}

static void add(struct hc_host_row *row, const char *separator, const char *text)
{
    size_t len = strlen(row->detail);
    (void)snprintf(row->detail + len, sizeof row->detail - len, "%s%s", len ? separator : "", text);
}

static void mend(struct hc_host_row *row, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void mend(struct hc_host_row *row, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    (void)vsnprintf(row->mend, sizeof row->mend, fmt, ap);
    va_end(ap);
}

/* A number in /proc/sys; -1: this kernel has no such switch. */
static int64_t sysctl_value(const char *name)
{
    char path[96], text[32];
    (void)snprintf(path, sizeof path, "/proc/sys/%s", name);
    for (char *p = path + strlen("/proc/sys/"); *p; p++)
        if (*p == '.')
            *p = '/';
    return hc_read_attr(AT_FDCWD, path, text, sizeof text) < 0 ? -1 : strtoll(text, NULL, 10);
}

/* Are we ourselves under a seccomp filter, as in most containers? */
static bool filtered(void)
{
    const char *text = hc_status_read(AT_FDCWD, "/proc/self/status");
    return text && hc_status_field(text, "Seccomp", 10, 0) == 2;
}

#define MEND_CONTAINER                                                                                       \
    "hotcell itself runs under a seccomp filter, as in a container: start that with '--security-opt "        \
    "seccomp=unconfined', or with a profile that allows clone3, unshare, seccomp and the mount calls"

#define MEND_MODULE                                                                                          \
    "a security module refuses it: have it allow namespaces and mounts for hotcell; around a container "     \
    "that is '--security-opt apparmor=unconfined'"

/* One probe, one sentence. A refusal may be the kernel's age or a filter around us. */
static enum hc_host_level probed(int rc, const struct hc_error *err, enum hc_host_level level,
                                 struct hc_host_row *row, const char *good)
{
    if (rc == 0)
        return say(HC_HOST_OK, row, "%s", good);
    if (row->mend[0])
        return say(level, row, "%s", err->text);
    if ((err->sys == ENOSYS || err->sys == EPERM) && filtered())
        mend(row, MEND_CONTAINER);
    else if (err->sys == EACCES)
        mend(row, MEND_MODULE);
    return say(level, row, "%s", err->text);
}

/* ---- policy and ids ---- */

static enum hc_host_level check_policy(struct host *h, struct hc_host_row *row)
{
    struct hc_error err;
    if (hc_policy_load(&h->policy, "default", hc_policies_read, NULL, &err) < 0)
        return say(HC_HOST_FAIL, row, "%s", err.text);
    h->has |= POLICY;
    return say(HC_HOST_OK, row, "'%s' is valid", h->policy.name);
}

/* Are all ids from `start` on part of the user namespace that we are in ourselves? */
static bool ids_exist_here(uid_t start, uid_t count)
{
    char text[4096];
    if (hc_read_attr(AT_FDCWD, "/proc/self/uid_map", text, sizeof text) < 0)
        return true;
    char *rest = NULL;
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        unsigned long long inside, outside, size;
        char *p = line;
        inside = strtoull(p, &p, 10);
        outside = strtoull(p, &p, 10);
        size = strtoull(p, &p, 10);
        (void)outside;
        if (start >= inside && (unsigned long long)start + count <= inside + size)
            return true;
    }
    return false;
}

static enum hc_host_level check_ids(struct host *h, struct hc_host_row *row)
{
    struct hc_error err;
    uid_t start = 0, count = 0;
    if (hc_ids_range(&start, &count, &err) < 0)
        return say(HC_HOST_FAIL, row, "%s", err.text);
    const uid_t last = start + count - 1;
    if ((h->has & ROOT) && !ids_exist_here(start, count)) {
        mend(row, "set HOTCELL_UID_RANGE=START:COUNT to a range of the ids in /proc/self/uid_map");
        return say(HC_HOST_FAIL, row,
                   "host uids %u to %u do not exist in the user namespace that hotcell itself is in", start,
                   last);
    }
    struct hc_ids leased;
    if (hc_ids_lease(&leased, &err) < 0)
        return say(HC_HOST_FAIL, row, "%s", err.text);
    h->ids = leased;
    h->has |= IDS;
    if (h->has & ROOT)
        return say(HC_HOST_OK, row, "each job gets its own of the host uids %u to %u", start, last);
    return say(HC_HOST_OK, row, "jobs run as uid %u, gid %u", h->ids.uid, h->ids.gid);
}

/* ---- namespaces ---- */

/* Who refuses user namespaces to this user? Some switches have names. */
static void explain_userns(const struct host *h, const struct hc_error *err, struct hc_host_row *row)
{
    char binary[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", binary, sizeof binary - 1);
    binary[n < 0 ? 0 : n] = '\0';
    bool refused = err->sys == EPERM || err->sys == EACCES;
    if (err->sys == ENOSPC || err->sys == EUSERS) {
        (void)say(HC_HOST_FAIL, row, "user.max_user_namespaces is %lld",
                  (long long)sysctl_value("user.max_user_namespaces"));
        mend(row,
             "as root: sysctl -w user.max_user_namespaces=15000 (and the same in /etc/sysctl.d, to keep it)");
    } else if (refused && !(h->has & ROOT) && sysctl_value("kernel.unprivileged_userns_clone") == 0) {
        (void)say(HC_HOST_FAIL, row, "kernel.unprivileged_userns_clone is 0: they are for root only");
        mend(row, "as root: sysctl -w kernel.unprivileged_userns_clone=1 (and the same in /etc/sysctl.d, to "
                  "keep it)");
    } else if (refused && !(h->has & ROOT) &&
               sysctl_value("kernel.apparmor_restrict_unprivileged_userns") == 1) {
        (void)say(HC_HOST_FAIL, row,
                  "AppArmor restricts them (kernel.apparmor_restrict_unprivileged_userns is 1): %s",
                  err->text);
        mend(row,
             "as root: printf 'abi <abi/4.0>,\\nprofile hotcell %s flags=(unconfined) {\\n  userns,\\n}\\n' "
             ">/etc/apparmor.d/hotcell && apparmor_parser -r /etc/apparmor.d/hotcell",
             binary);
    } else if ((refused || err->sys == ENOSYS) && filtered()) {
        mend(row, MEND_CONTAINER);
    } else if (err->sys == EINVAL || err->sys == ENOSYS) {
        mend(row, "use a kernel of 5.14 or later with CONFIG_USER_NS");
    }
}

static enum hc_host_level check_userns(struct host *h, struct hc_host_row *row)
{
    struct hc_error err;
    if (hc_probe_userns(&h->ids, &err) < 0) {
        (void)say(HC_HOST_FAIL, row, "%s", err.text);
        explain_userns(h, &err, row);
        return HC_HOST_FAIL;
    }
    h->has |= USERNS;
    return say(HC_HOST_OK, row, "for uid %u, with capabilities in them", geteuid());
}

static enum hc_host_level check_namespaces(struct host *h, struct hc_host_row *row)
{
    static const struct {
        uint64_t flag;
        const char *name, *limit, *config;
    } all[] = {
        {CLONE_NEWNS, "mount", "user.max_mnt_namespaces", "CONFIG_NAMESPACES"},
        {CLONE_NEWPID, "pid", "user.max_pid_namespaces", "CONFIG_PID_NS"},
        {CLONE_NEWNET, "network", "user.max_net_namespaces", "CONFIG_NET_NS"},
        {CLONE_NEWIPC, "ipc", "user.max_ipc_namespaces", "CONFIG_IPC_NS"},
        {CLONE_NEWUTS, "uts", "user.max_uts_namespaces", "CONFIG_UTS_NS"},
        {CLONE_NEWCGROUP, "cgroup", "user.max_cgroup_namespaces", "CONFIG_CGROUPS"},
        {CLONE_NEWTIME, "time", "user.max_time_namespaces", "CONFIG_TIME_NS"},
    };
    struct hc_error err;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (hc_probe_namespace(&h->ids, all[i].flag, &err) == 0) {
            add(row, ", ", all[i].name);
            continue;
        }
        if (err.sys == ENOSPC)
            mend(row, "as root: sysctl -w %s=15000 (it is %lld)", all[i].limit,
                 (long long)sysctl_value(all[i].limit));
        else if (filtered())
            mend(row, MEND_CONTAINER);
        else
            mend(row, "use a kernel of 5.14 or later with %s", all[i].config);
        return say(HC_HOST_FAIL, row, "no %s namespace: %s", all[i].name, err.text);
    }
    return HC_HOST_OK;
}

/* ---- mounts ---- */

static enum hc_host_level check_mounts(struct host *h, struct hc_host_row *row)
{
    struct hc_error err;
    return probed(hc_probe_mounts(&h->ids, &err), &err, HC_HOST_FAIL, row,
                  "fsopen, open_tree, move_mount, mount_setattr, nosymfollow");
}

static enum hc_host_level check_proc(struct host *h, struct hc_host_row *row)
{
    struct hc_error err;
    int rc = hc_probe_proc(&h->ids, &err);
    if (rc < 0 && err.sys == EPERM)
        mend(row, "parts of /proc are masked, as in a container: start that with '--security-opt "
                  "systempaths=unconfined', or use a later kernel");
    return probed(rc, &err, HC_HOST_FAIL, row, "hidepid=invisible, subset=pid");
}

static enum hc_host_level check_pivot_root(struct host *h, struct hc_host_row *row)
{
    struct hc_error err;
    int rc = hc_probe_pivot_root(&h->ids, &err);
    if (rc < 0 && err.sys == EINVAL)
        mend(row, "the host's root is an initial RAM disk, which cannot be left: boot with a root file "
                  "system (switch_root)");
    return probed(rc, &err, HC_HOST_FAIL, row, "works in a new mount namespace");
}

static enum hc_host_level check_devices(struct host *h, struct hc_host_row *row)
{
    struct hc_error err;
    return probed(hc_probe_devices(&h->ids, &err), &err, HC_HOST_FAIL, row,
                  "null, zero, full, random, urandom");
}

/* The directory itself, or what there is above it. */
static void existing_dir(const char *wanted, char out[PATH_MAX])
{
    (void)snprintf(out, PATH_MAX, "%s", wanted);
    while (access(out, F_OK) < 0 && errno == ENOENT) {
        char *slash = strrchr(out, '/');
        slash[slash == out] = '\0';
    }
}

static enum hc_host_level check_state(struct host *h, struct hc_host_row *row)
{
    char dir[PATH_MAX];
    struct hc_error err;
    if (hc_state_dir(h->state, &err) < 0)
        return say(HC_HOST_FAIL, row, "%s", err.text);
    h->has |= STATE;
    existing_dir(h->state, dir);
    if (faccessat(AT_FDCWD, dir, W_OK | X_OK, AT_EACCESS) == 0)
        return say(HC_HOST_OK, row, "%s", h->state);
    int why = errno;
    row->cost = "no trees can be built, and filters are compiled for each run";
    return say(HC_HOST_NOTE, row, "%s cannot be written to: %s", dir, strerror(why));
}

static enum hc_host_level check_idmap(struct host *h, struct hc_host_row *row)
{
    char dir[PATH_MAX], good[PATH_MAX + 32];
    struct hc_error err;
    existing_dir(h->state, dir);
    (void)snprintf(good, sizeof good, "on the file system of %s", dir);
    return probed(hc_probe_idmap(dir, &h->ids, &err), &err, HC_HOST_NOTE, row, good);
}

/* ---- filters ---- */

static enum hc_host_level check_filter(struct host *h, struct hc_host_row *row)
{
    char cache[PATH_MAX + 8];
    struct hc_error err;
    hc_autobuf first = {0};
    hc_autobuf job = {0};
    (void)snprintf(cache, sizeof cache, "%s/cache", h->state);
    if (hc_filter_get(HC_FILTER_FIRST, &h->policy, false, cache, &first, &err) < 0 ||
        hc_filter_get(HC_FILTER_JOB, &h->policy, false, cache, &job, &err) < 0)
        return say(HC_HOST_FAIL, row, "%s", err.text);
    return probed(hc_probe_filter(&first, &err), &err, HC_HOST_FAIL, row,
                  "a filter was loaded, and refused what it should");
}

static enum hc_host_level check_notification(struct host *h, struct hc_host_row *row)
{
    (void)h;
    struct hc_error err;
    int rc = hc_probe_notification(&err);
    if (rc < 0 && err.sys == EBUSY)
        mend(row, "hotcell itself runs under a filter with a listener, and the kernel has one at most: start "
                  "it outside");
    return probed(rc, &err, HC_HOST_NOTE, row, "refused system calls are told to the launcher");
}

/* Without SMT there is no one to share a core with. */
static enum hc_host_level check_cores(struct host *h, struct hc_host_row *row)
{
    (void)h;
    struct hc_error err;
    int rc = hc_probe_cores(&err);
    if (rc < 0 && err.sys == ENODEV)
        return say(HC_HOST_OK, row, "not needed: the cores of this machine run one thread each (no SMT)");
    if (rc < 0 && err.sys == EINVAL)
        return say(HC_HOST_NOTE, row, "this kernel was built without it");
    return probed(rc, &err, HC_HOST_NOTE, row, "a cell can have processor cores for itself");
}

static void explain_landlock(const struct hc_error *err, struct hc_host_row *row)
{
    char modules[512];
    if (err->sys == ENOSYS && !filtered())
        mend(row, "use a kernel with CONFIG_SECURITY_LANDLOCK");
    if (err->sys != EOPNOTSUPP)
        return;
    if (hc_read_attr(AT_FDCWD, "/sys/kernel/security/lsm", modules, sizeof modules) == 0)
        mend(row, "boot with lsm=landlock,%s on the kernel's command line", modules);
    else
        mend(row, "put landlock first in lsm= on the kernel's command line");
}

static enum hc_host_level check_landlock(struct host *h, struct hc_host_row *row)
{
    (void)h;
    static const struct {
        int abi;
        const char *what;
    } news[] = {{2, "moving files between directories"},
                {3, "truncating files"},
                {4, "TCP"},
                {5, "device control"},
                {6, "abstract sockets and signals"}};
    struct hc_error err;
    int abi = 0;
    if (hc_probe_landlock(&abi, &err) < 0) {
        (void)say(HC_HOST_FAIL, row, "%s", err.text);
        explain_landlock(&err, row);
        if (err.sys == ENOSYS || err.sys == EOPNOTSUPP)
            return HC_HOST_NOTE; /* cells are built without */
        row->cost = NO_CELLS;
        return probed(-1, &err, HC_HOST_FAIL, row, "");
    }
    if (abi >= 6)
        return say(HC_HOST_OK, row, "ABI %d", abi);
    (void)say(HC_HOST_NOTE, row, "ABI %d, without rules for", abi);
    const char *separator = " ";
    for (size_t i = 0; i < sizeof news / sizeof *news; i++) {
        if (abi >= news[i].abi)
            continue;
        add(row, separator, news[i].what);
        separator = ", ";
    }
    mend(row, "use a kernel of 6.12 or later");
    return HC_HOST_NOTE;
}

/* ---- descriptors and processes ---- */

static enum hc_host_level check_calls(struct host *h, struct hc_host_row *row)
{
    (void)h;
    struct hc_error err;
    int rc = hc_probe_openat2(&err);
    if (rc == 0)
        rc = hc_probe_close_range(&err);
    if (rc == 0)
        rc = hc_probe_pidfd(&err);
    return probed(rc, &err, HC_HOST_FAIL, row, "openat2, close_range, pidfd");
}

/* ---- cgroups ---- */

/* Does any cgroup v2 hierarchy have what limits need? */
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

static void explain_cgroup(const struct host *h, const struct hc_error *err, struct hc_host_row *row)
{
    const char *named = getenv("HOTCELL_CGROUP");
    const unsigned uid = geteuid();
    (void)say(HC_HOST_NOTE, row, "%s", err->text);
    if (named && *named) {
        mend(row, "set HOTCELL_CGROUP to a cgroup v2 directory that is delegated to uid %u, or unset it",
             uid);
    } else if (!controllers_exist()) {
        (void)say(HC_HOST_NOTE, row, "cgroup v2 does not have memory and pids here");
        mend(row, "boot with systemd.unified_cgroup_hierarchy=1 (without systemd: cgroup_no_v1=all, and "
                  "cgroup2 mounted on /sys/fs/cgroup)");
    } else if (h->has & ROOT) {
        mend(row,
             "run it under 'systemd-run --scope -p Delegate=yes' with HOTCELL_CGROUP set to that cgroup");
    } else if (access("/run/systemd/system", F_OK) == 0) {
        mend(row,
             "log in, so that uid %u has a service manager (loginctl enable-linger keeps it), or run it "
             "under 'systemd-run --user --scope -p Delegate=yes'",
             uid);
    } else {
        (void)say(HC_HOST_NOTE, row, "not delegated to uid %u", uid);
        /* The shell has to move as well: a cell may only be put into a cgroup that shares a delegated
         * ancestor with where it comes from. */
        mend(row,
             "as root: cd /sys/fs/cgroup && echo +memory +pids +cpu >cgroup.subtree_control && mkdir -p "
             "hotcell-%u/shell && chown -R %u hotcell-%u && echo %d >hotcell-%u/shell/cgroup.procs (%d is "
             "your "
             "shell)",
             uid, uid, uid, getppid(), uid, getppid());
    }
}

static enum hc_host_level check_cgroup(struct host *h, struct hc_host_row *row)
{
    struct hc_error err;
    if (hc_cgroup_find(&h->parent, true, &err) < 0) {
        explain_cgroup(h, &err, row);
        if (err.exit == HC_EXIT_CONFIG) { /* HOTCELL_CGROUP */
            row->cost = "no run works while HOTCELL_CGROUP says so";
            return HC_HOST_FAIL;
        }
        if (!(h->has & POLICY) || h->policy.enforcement != HC_ENFORCE_CGROUP)
            return HC_HOST_NOTE;
        row->cost = "the default policy's limits.enforcement is \"cgroup\", so no run works";
        return HC_HOST_FAIL;
    }
    h->has |= CGROUP;
    if (h->parent.cpu)
        return say(HC_HOST_OK, row, "memory, pids, cpu%s in %s", h->parent.io ? ", io" : "", h->parent.path);
    row->cost = "limits.cpus cannot be enforced";
    mend(row, "delegate the cpu controller as well");
    return say(HC_HOST_NOTE, row, "memory and pids, but not cpu, in %s", h->parent.path);
}

static enum hc_host_level check_leaf(struct host *h, struct hc_host_row *row)
{
    struct hc_error err;
    bool has_kill = false;
    if (hc_probe_cgroup(&h->parent, &h->policy.limits, &has_kill, &err) < 0)
        return probed(-1, &err, HC_HOST_FAIL, row, "");
    if (has_kill)
        return say(HC_HOST_OK, row, "made, limited, entered by clone3, ended by cgroup.kill");
    row->cost = "what a killed launcher leaves is not ended by the next";
    return say(HC_HOST_NOTE, row, "made, limited, entered by clone3, but there is no cgroup.kill");
}

static enum hc_host_level check_children(struct host *h, struct hc_host_row *row)
{
    (void)h;
    struct hc_error err;
    return probed(hc_probe_children(&err), &err, HC_HOST_NOTE, row, "/proc/PID/task/TID/children");
}

/* ---- files ---- */

static enum hc_host_level check_shim(struct host *h, struct hc_host_row *row)
{
    (void)h;
    char path[PATH_MAX];
    struct hc_error err;
    if (hc_shim_path(path, &err) < 0)
        return say(HC_HOST_FAIL, row, "%s", err.text);
    if (faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) < 0)
        return say(HC_HOST_FAIL, row, "%s cannot be executed: %s", path, strerror(errno));
    return say(HC_HOST_OK, row, "%s", path);
}

struct trees {
    const char *wanted;
    bool has_wanted;
    char first[256]; /* any that can be used */
    struct hc_host_row *row;
};

static void note_tree(void *ctx, const char *name, const char *id, const char *path)
{
    (void)path;
    struct trees *t = ctx;
    const char *label = *name ? name : id;
    if (strcmp(name, t->wanted) == 0) {
        t->has_wanted = true;
        return;
    }
    char entry[320];
    (void)snprintf(entry, sizeof entry, "'%.200s', %.12s", *name ? name : "unnamed", id);
    add(t->row, ", ", entry);
    if (!t->first[0])
        (void)snprintf(t->first, sizeof t->first, "%s", label);
}

static enum hc_host_level check_tree(struct host *h, struct hc_host_row *row)
{
    struct hc_host_row others = {.name = ""};
    struct trees t = {.wanted = h->policy.tree, .row = &others};
    struct hc_tree tree;
    struct hc_error err, ignored;
    (void)hc_tree_each(note_tree, &t, &ignored);
    char also[700] = "";
    if (others.detail[0])
        (void)snprintf(also, sizeof also, " (also there: %.640s)", others.detail);
    if (hc_tree_open(&tree, h->policy.tree, &err) == 0) {
        (void)snprintf(h->tree, sizeof h->tree, "%s", h->policy.tree);
        h->has |= TREE;
        (void)say(HC_HOST_OK, row, "'%s', %.12s%s", tree.name, tree.id, also);
        hc_tree_finish(&tree);
        return HC_HOST_OK;
    }
    (void)snprintf(h->tree, sizeof h->tree, "%s", t.first);
    if (t.first[0])
        h->has |= TREE;
    if (!strchr(h->policy.tree, '/'))
        mend(row, "run 'hotcell tree build %s'", h->policy.tree);
    if (t.has_wanted || strchr(h->policy.tree, '/'))
        return say(HC_HOST_FAIL, row, "%s", err.text);
    return say(HC_HOST_FAIL, row, "'%s' is not built%s", h->policy.tree, also);
}

/* ---- all of it together ---- */

static void list_layers(const struct hc_manifest *m, bool on, struct hc_host_row *row)
{
    const char *separator = on ? "; on: " : "; off: ";
    for (size_t i = 0; i < m->layer_count; i++) {
        if (m->layers[i].on != on)
            continue;
        add(row, separator, m->layers[i].name);
        separator = ", ";
    }
}

static enum hc_host_level judge_cell(const struct hc_manifest *m, const char *tree, struct hc_host_row *row)
{
    static const char expected[] = "hello\n";
    if (m->status != HC_STATUS_OK)
        return say(HC_HOST_FAIL, row, "%s: %s", hc_status_name(m->status), m->reason);
    if (m->out.text.len != strlen(expected) || memcmp(m->out.text.data, expected, strlen(expected)) != 0)
        return say(HC_HOST_FAIL, row, "what a program printed did not come out");
    (void)say(HC_HOST_OK, row, "ran on the tree '%s'", tree);
    list_layers(m, true, row);
    list_layers(m, false, row);
    return HC_HOST_OK;
}

static enum hc_host_level check_cell(struct host *h, struct hc_host_row *row)
{
    char code[] = "print('hello')\n";
    const struct hc_job job = {.code = code, .code_len = strlen(code)};
    (void)snprintf(h->policy.tree, sizeof h->policy.tree, "%s", h->tree);
    struct hc_run run = {
        .job = &job,
        .policy = &h->policy,
        .pass_stdout = -1,
        .pass_stderr = -1,
        .cancel_fd = -1,
        .default_dir = "hotcell-output", /* never made: nothing is kept */
    };
    struct hc_manifest *m = calloc(1, sizeof *m);
    if (!m)
        return say(HC_HOST_FAIL, row, "out of memory");
    struct hc_error err;
    enum hc_host_level level =
        hc_run(&run, m, &err) < 0 ? say(HC_HOST_FAIL, row, "%s", err.text) : judge_cell(m, h->tree, row);
    hc_manifest_finish(m);
    free(m);
    hc_run_finish(&run);
    return level;
}

/* ---- the table ---- */

static const struct check checks[] = {
    {"default policy", check_policy, 0, "runs need another policy, with -p", "mend or remove that file"},
    {"state directory", check_state, 0, "no run works", "set HOTCELL_STATE to a directory of your own"},
    {"host ids", check_ids, 0, NO_CELLS, "make /run/hotcell writable for root, or widen HOTCELL_UID_RANGE"},
    {"user namespaces", check_userns, 0, NO_CELLS,
     "find out what forbids user namespaces here: a container, a chroot, a security module"},
    {"other namespaces", check_namespaces, USERNS, NO_CELLS, NEW_KERNEL},
    {"mount interface", check_mounts, USERNS, NO_CELLS, NEW_KERNEL},
    {"proc", check_proc, USERNS, NO_CELLS, NEW_KERNEL},
    {"pivot_root", check_pivot_root, USERNS, NO_CELLS, NEW_KERNEL},
    {"devices", check_devices, USERNS, NO_CELLS, "make the device with mknod(1)"},
    {"idmapped mounts", check_idmap, USERNS | IDS | ROOT | STATE,
     "inputs that only their owner may read, and output.mode \"bind\", do not work there",
     "make such inputs readable for all, and keep data on ext4, xfs or btrfs"},
    {"seccomp filters", check_filter, POLICY | STATE, NO_CELLS, "use a kernel with CONFIG_SECCOMP_FILTER"},
    {"seccomp notifications", check_notification, 0, "manifests do not say which system calls were refused",
     NEW_KERNEL},
    {"Landlock", check_landlock, 0,
     "what it would refuse a second time is refused once, by mounts, namespaces and seccomp", ""},
    {"core scheduling", check_cores, 0, "a policy with core_scheduling \"on\" does not run",
     "use a kernel with CONFIG_SCHED_CORE"},
    {"files and processes", check_calls, 0, NO_CELLS, NEW_KERNEL},
    {"cgroup v2 controllers", check_cgroup, 0, "limits are enforced by rlimits and a watch, which is coarser",
     ""},
    {"cgroup of a job", check_leaf, CGROUP | POLICY, NO_CELLS, NEW_KERNEL},
    {"child lists", check_children, 0, "without cgroups, only the first process of a cell is watched",
     "use a kernel with CONFIG_PROC_CHILDREN"},
    {"shim", check_shim, 0, NO_CELLS, "build or install hotcell-shim together with hotcell"},
    {"default tree", check_tree, POLICY | STATE, "runs need another tree, with -t",
     "build a tree: 'hotcell tree build'"},
    {"a cell", check_cell, POLICY | IDS | USERNS | TREE, "no run works", ""},
};

static void perform(const struct check *c, struct host *h, struct hc_host_row *row)
{
    *row = (struct hc_host_row){.name = c->name};
    row->level = c->run(h, row);
    if (!row->cost)
        row->cost = c->cost;
    if (!row->mend[0])
        mend(row, "%s", c->mend);
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
    struct host h = {
        .has = geteuid() == 0 ? ROOT : 0,
        .ids = {.uid = geteuid(), .gid = getegid(), .lease_fd = -1}, /* until jobs have theirs */
        .parent = {.fd = -1},
    };
    bool works = true;
    hc_policy_init(&h.policy);
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++) {
        if (checks[i].needs & ~h.has)
            continue;
        struct hc_host_row row;
        perform(&checks[i], &h, &row);
        works = works && row.level != HC_HOST_FAIL;
        each(ctx, &row);
    }
    hc_cgroup_parent_finish(&h.parent);
    hc_ids_release(&h.ids);
    hc_policy_finish(&h.policy);
    return works;
}
