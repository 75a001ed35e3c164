#include "cell/doctor/host_checks.h"

#include "base/fd.h"
#include "base/kernel.h"
#include "base/status.h"
#include "cell/doctor/probe.h"
#include "cell/filter.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- namespaces ---- */

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

/* Whether this process is root without the capabilities by which root maps ids, as in a container that drops
 * all. */
static bool may_map_no_ids(const struct hc_host *h)
{
    const uint64_t needed = 1 << CAP_SETUID | 1 << CAP_SETGID;
    const char *text = h->has & HC_HAS_ROOT ? hc_status_read(AT_FDCWD, "/proc/self/status") : NULL;
    return text && (hc_status_field(text, "CapEff", 16, needed) & needed) != needed;
}

/* Explain what refuses user namespaces to this user, if it is a known switch. */
static void explain_userns(const struct hc_host *h, const struct hc_error *err, struct hc_host_row *row)
{
    char binary[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", binary, sizeof binary - 1);
    binary[n < 0 ? 0 : n] = '\0';
    bool refused = err->sys == EPERM || err->sys == EACCES;
    if (err->sys == ENOSPC || err->sys == EUSERS) {
        (void)hc_host_say(HC_HOST_FAIL, row, "user.max_user_namespaces is %lld",
                          (long long)sysctl_value("user.max_user_namespaces"));
        hc_host_mend(
            row,
            "as root: sysctl -w user.max_user_namespaces=15000 (and the same in /etc/sysctl.d, to keep it)");
    } else if (refused && may_map_no_ids(h)) {
        hc_host_mend(
            row, "hotcell runs as root without the capabilities SETUID and SETGID: start the container "
                 "as an ordinary user ('--user 1000', in a pod 'runAsUser: 1000'), or leave it these two");
    } else if (refused && !(h->has & HC_HAS_ROOT) && sysctl_value("kernel.unprivileged_userns_clone") == 0) {
        (void)hc_host_say(HC_HOST_FAIL, row, "kernel.unprivileged_userns_clone is 0: they are for root only");
        hc_host_mend(
            row, "as root: sysctl -w kernel.unprivileged_userns_clone=1 (and the same in /etc/sysctl.d, to "
                 "keep it)");
    } else if (refused && !(h->has & HC_HAS_ROOT) &&
               sysctl_value("kernel.apparmor_restrict_unprivileged_userns") == 1) {
        (void)hc_host_say(HC_HOST_FAIL, row,
                          "AppArmor restricts them (kernel.apparmor_restrict_unprivileged_userns is 1): %s",
                          err->text);
        hc_host_mend(
            row,
            "as root: printf 'abi <abi/4.0>,\\nprofile hotcell %s flags=(unconfined) {\\n  userns,\\n}\\n' "
            ">/etc/apparmor.d/hotcell && apparmor_parser -r /etc/apparmor.d/hotcell",
            binary);
    } else if ((refused || err->sys == ENOSYS) && hc_host_filtered()) {
        hc_host_mend(row, HC_MEND_CONTAINER);
    } else if (err->sys == EINVAL || err->sys == ENOSYS) {
        hc_host_mend(row, "use a kernel of 5.14 or later with CONFIG_USER_NS");
    }
}

enum hc_host_level hc_host_check_userns(struct hc_host *h, struct hc_host_row *row)
{
    struct hc_error err;
    if (hc_probe_userns(&h->ids, &err) < 0) {
        (void)hc_host_say(HC_HOST_FAIL, row, "%s", err.text);
        explain_userns(h, &err, row);
        return HC_HOST_FAIL;
    }
    h->has |= HC_HAS_USERNS;
    return hc_host_say(HC_HOST_OK, row, "for uid %u, with capabilities in them", geteuid());
}

enum hc_host_level hc_host_check_namespaces(struct hc_host *h, struct hc_host_row *row)
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
            hc_host_add(row, ", ", all[i].name);
            continue;
        }
        if (err.sys == ENOSPC)
            hc_host_mend(row, "as root: sysctl -w %s=15000 (it is %lld)", all[i].limit,
                         (long long)sysctl_value(all[i].limit));
        else if (hc_host_filtered())
            hc_host_mend(row, HC_MEND_CONTAINER);
        else
            hc_host_mend(row, "use a kernel of 5.14 or later with %s", all[i].config);
        return hc_host_say(HC_HOST_FAIL, row, "no %s namespace: %s", all[i].name, err.text);
    }
    return HC_HOST_OK;
}

/* ---- mounts ---- */

enum hc_host_level hc_host_check_mounts(struct hc_host *h, struct hc_host_row *row)
{
    struct hc_error err;
    return hc_host_probed(hc_probe_mounts(&h->ids, &err), &err, HC_HOST_FAIL, row,
                          "fsopen, open_tree, move_mount, mount_setattr, nosymfollow");
}

enum hc_host_level hc_host_check_proc(struct hc_host *h, struct hc_host_row *row)
{
    struct hc_error err;
    int rc = hc_probe_proc(&h->ids, &err);
    if (rc < 0 && err.sys == EPERM)
        hc_host_mend(
            row, "parts of /proc are masked, as in a container: start that with '--security-opt "
                 "systempaths=unconfined' (a pod with 'procMount: Unmasked' and 'hostUsers: false'), or use "
                 "a later kernel");
    return hc_host_probed(rc, &err, HC_HOST_NOTE, row, "hidepid=invisible, subset=pid");
}

enum hc_host_level hc_host_check_pivot_root(struct hc_host *h, struct hc_host_row *row)
{
    struct hc_error err;
    int rc = hc_probe_pivot_root(&h->ids, &err);
    if (rc < 0 && err.sys == EINVAL)
        hc_host_mend(row,
                     "the host's root is an initial RAM disk, which cannot be left: boot with a root file "
                     "system (switch_root)");
    return hc_host_probed(rc, &err, HC_HOST_FAIL, row, "works in a new mount namespace");
}

enum hc_host_level hc_host_check_devices(struct hc_host *h, struct hc_host_row *row)
{
    struct hc_error err;
    return hc_host_probed(hc_probe_devices(&h->ids, &err), &err, HC_HOST_FAIL, row,
                          "null, zero, full, random, urandom");
}

/* ---- filters ---- */

enum hc_host_level hc_host_check_filter(struct hc_host *h, struct hc_host_row *row)
{
    char cache[PATH_MAX + 8];
    struct hc_error err;
    hc_autobuf first = {0};
    hc_autobuf job = {0};
    (void)snprintf(cache, sizeof cache, "%s/cache", h->state);
    if (hc_filter_get(HC_FILTER_FIRST, &h->policy, false, cache, &first, &err) < 0 ||
        hc_filter_get(HC_FILTER_JOB, &h->policy, false, cache, &job, &err) < 0)
        return hc_host_say(HC_HOST_FAIL, row, "%s", err.text);
    return hc_host_probed(hc_probe_filter(&first, &err), &err, HC_HOST_FAIL, row,
                          "a filter was loaded, and refused what it should");
}

enum hc_host_level hc_host_check_notification(struct hc_host *h, struct hc_host_row *row)
{
    (void)h;
    struct hc_error err;
    int rc = hc_probe_notification(&err);
    if (rc < 0 && err.sys == EBUSY)
        hc_host_mend(
            row, "hotcell itself runs under a filter with a listener, and the kernel has one at most: start "
                 "it outside");
    return hc_host_probed(rc, &err, HC_HOST_NOTE, row, "refused system calls are told to the launcher");
}

/* Without SMT no two threads share a core. */
enum hc_host_level hc_host_check_cores(struct hc_host *h, struct hc_host_row *row)
{
    (void)h;
    struct hc_error err;
    int rc = hc_probe_cores(&err);
    if (rc < 0 && err.sys == ENODEV)
        return hc_host_say(HC_HOST_OK, row,
                           "not needed: the cores of this machine run one thread each (no SMT)");
    if (rc < 0 && err.sys == EINVAL)
        return hc_host_say(HC_HOST_NOTE, row, "this kernel was built without it");
    return hc_host_probed(rc, &err, HC_HOST_NOTE, row, "a cell can have processor cores for itself");
}

static void explain_landlock(const struct hc_error *err, struct hc_host_row *row)
{
    char modules[512];
    if (err->sys == ENOSYS && !hc_host_filtered())
        hc_host_mend(row, "use a kernel with CONFIG_SECURITY_LANDLOCK");
    if (err->sys != EOPNOTSUPP)
        return;
    if (hc_read_attr(AT_FDCWD, "/sys/kernel/security/lsm", modules, sizeof modules) == 0)
        hc_host_mend(row, "boot with lsm=landlock,%s on the kernel's command line", modules);
    else
        hc_host_mend(row, "put landlock first in lsm= on the kernel's command line");
}

enum hc_host_level hc_host_check_landlock(struct hc_host *h, struct hc_host_row *row)
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
        (void)hc_host_say(HC_HOST_FAIL, row, "%s", err.text);
        explain_landlock(&err, row);
        if (err.sys == ENOSYS || err.sys == EOPNOTSUPP)
            return HC_HOST_NOTE; /* cells are built without Landlock */
        row->cost = HC_NO_CELLS;
        return hc_host_probed(-1, &err, HC_HOST_FAIL, row, "");
    }
    if (abi >= 6)
        return hc_host_say(HC_HOST_OK, row, "ABI %d", abi);
    (void)hc_host_say(HC_HOST_NOTE, row, "ABI %d, without rules for", abi);
    const char *separator = " ";
    for (size_t i = 0; i < sizeof news / sizeof *news; i++) {
        if (abi >= news[i].abi)
            continue;
        hc_host_add(row, separator, news[i].what);
        separator = ", ";
    }
    hc_host_mend(row, "use a kernel of 6.12 or later");
    return HC_HOST_NOTE;
}

/* ---- descriptors and processes ---- */

enum hc_host_level hc_host_check_calls(struct hc_host *h, struct hc_host_row *row)
{
    (void)h;
    struct hc_error err;
    int rc = hc_probe_openat2(&err);
    if (rc == 0)
        rc = hc_probe_close_range(&err);
    if (rc == 0)
        rc = hc_probe_pidfd(&err);
    return hc_host_probed(rc, &err, HC_HOST_FAIL, row, "openat2, close_range, pidfd");
}

enum hc_host_level hc_host_check_children(struct hc_host *h, struct hc_host_row *row)
{
    (void)h;
    struct hc_error err;
    return hc_host_probed(hc_probe_children(&err), &err, HC_HOST_NOTE, row, "/proc/PID/task/TID/children");
}
