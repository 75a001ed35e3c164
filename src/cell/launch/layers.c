#include "cell/launch/layers.h"

#include "base/fd.h"
#include "inside/clocks.h"
#include "inside/cores.h"
#include "inside/weak.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MAX_START_MS 600000 /* most ms to build a cell, on the slowest machine */

static void add_row(struct hc_manifest *m, const char *name, bool on, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

static void add_row(struct hc_manifest *m, const char *name, bool on, const char *fmt, ...)
{
    if (m->layer_count >= HC_MAX_LAYERS)
        return;
    struct hc_layer *l = &m->layers[m->layer_count++];
    *l = (struct hc_layer){.name = name, .on = on};
    va_list ap;
    va_start(ap, fmt);
    (void)vsnprintf(l->evidence, sizeof l->evidence, fmt, ap);
    va_end(ap);
}

/* Whether a weakened build switches the layer off. If so, add the layer's row to the manifest. */
static bool is_off(struct hc_manifest *m, const char *name)
{
    if (!hc_weak_named(name))
        return false;
    add_row(m, name, false, "switched off in a weakened build");
    return true;
}

/* The evidence does not show the host's uptime: the manifest goes to the sender of the job. */
static int check_clocks(char *evidence, size_t size, pid_t pid, struct hc_error *err)
{
    int64_t ms = hc_clocks_read(pid);
    if (ms < 0 || ms > MAX_START_MS)
        return hc_fail_as(err, HC_EXIT_UNAVAILABLE, 0, "the cell's clocks do not start at zero");
    (void)snprintf(evidence, size, "; its clocks, read from outside, started %lld ms ago", (long long)ms);
    return 0;
}

/* For the clocks, check the namespace of the first process's children: the interpreter is one of them, and no
 * guest code runs in the first process. */
static const struct {
    const char *file, *layer; /* name in /proc/PID/ns; name in the manifest */
} namespaces[HC_NAMESPACES] = {{"user", "user_namespace"},     {"mnt", "mount_namespace"},
                               {"pid", "pid_namespace"},       {"net", "network_namespace"},
                               {"ipc", "ipc_namespace"},       {"uts", "uts_namespace"},
                               {"cgroup", "cgroup_namespace"}, {"time_for_children", "time_namespace"}};

int hc_namespaces_read(pid_t pid, struct hc_namespaces *out, struct hc_error *err)
{
    for (size_t i = 0; i < HC_NAMESPACES; i++) {
        char path[48];
        struct stat st;
        (void)snprintf(path, sizeof path, "/proc/%d/ns/%s", pid, namespaces[i].file);
        if (stat(path, &st) < 0)
            return hc_fail_as(err, HC_EXIT_UNAVAILABLE, errno, "look at %s", path);
        out->inodes[i] = st.st_ino;
    }
    return 0;
}

ino_t hc_namespaces_network(const struct hc_namespaces *of)
{
    for (size_t i = 0; i < HC_NAMESPACES; i++)
        if (strcmp(namespaces[i].file, "net") == 0)
            return of->inodes[i];
    return 0;
}

const char *hc_namespaces_common(const struct hc_namespaces *a, const struct hc_namespaces *b)
{
    for (size_t i = 0; i < HC_NAMESPACES; i++)
        if (a->inodes[i] == b->inodes[i])
            return namespaces[i].file;
    return NULL;
}

/* The launcher never leaves its namespaces, so they are read once per process. */
static int read_own_namespaces(const struct hc_namespaces **out, struct hc_error *err)
{
    static struct hc_namespaces own;
    static pid_t of;
    if (of != getpid() && hc_namespaces_read(getpid(), &own, err) < 0)
        return -1;
    of = getpid();
    *out = &own;
    return 0;
}

static int read_childs_namespaces(pid_t pid, struct hc_namespaces *out, struct hc_error *err)
{
    if (hc_namespaces_read(pid, out, err) == 0)
        return 0;
    /* The process has executed the shim: one that fails at once may have exited. */
    return err->sys == ENOENT
               ? hc_fail(err, 0, "the cell's first process ended before its layers were looked at")
               : -1;
}

/* Each namespace of the cell must have another inode than the launcher's. */
static int check_namespaces(struct hc_manifest *m, pid_t pid, const struct hc_namespaces *seen,
                            struct hc_error *err)
{
    const struct hc_namespaces *own;
    struct hc_namespaces now;
    if (read_own_namespaces(&own, err) < 0 || (!seen && read_childs_namespaces(pid, &now, err) < 0))
        return -1;
    const struct hc_namespaces *theirs = seen ? seen : &now;
    for (size_t i = 0; i < HC_NAMESPACES; i++) {
        const char *file = namespaces[i].file, *layer = namespaces[i].layer;
        if (is_off(m, layer))
            continue;
        if (own->inodes[i] == theirs->inodes[i])
            return hc_fail_as(err, HC_EXIT_UNAVAILABLE, 0, "the cell has no %s namespace of its own", file);
        char clocks[64] = "";
        if (strcmp(layer, "time_namespace") == 0 && check_clocks(clocks, sizeof clocks, pid, err) < 0)
            return -1;
        add_row(m, layer, true, "%.*s:[%llu], launcher's %llu%s", (int)strcspn(file, "_"), file,
                (unsigned long long)theirs->inodes[i], (unsigned long long)own->inodes[i], clocks);
    }
    return 0;
}

/* The map must be this one line, except for blanks. */
static int check_map(const char *file, pid_t pid, unsigned host, struct hc_error *err)
{
    char path[48], text[256];
    (void)snprintf(path, sizeof path, "/proc/%d/%s", pid, file);
    if (hc_read_attr(AT_FDCWD, path, text, sizeof text) < 0)
        return hc_fail_as(err, HC_EXIT_UNAVAILABLE, errno, "read %s", path);
    const unsigned long expected[] = {HC_GUEST_ID, host, 1};
    char *p = text;
    bool right = host != 0 || hc_weak(HC_WEAK_IDS);
    for (size_t i = 0; i < 3; i++)
        right = right && strtoul(p, &p, 10) == expected[i];
    if (!right || *p)
        return hc_fail_as(err, HC_EXIT_UNAVAILABLE, 0, "%s is '%s'", path, text);
    return 0;
}

static int check_ids(struct hc_manifest *m, const struct hc_plan *plan, const struct hc_facts *f, pid_t pid,
                     struct hc_error *err)
{
    if (!hc_weak(HC_WEAK_USER_NAMESPACE) && (check_map("uid_map", pid, plan->host_uid, err) < 0 ||
                                             check_map("gid_map", pid, plan->host_gid, err) < 0))
        return -1;
    const uid_t uid = hc_guest_uid(plan);
    const gid_t gid = hc_guest_gid(plan);
    if ((f->pid != 1 && !hc_weak(HC_WEAK_PID_NAMESPACE)) || f->ruid != uid || f->euid != uid ||
        f->suid != uid || f->rgid != gid || f->egid != gid || f->sgid != gid ||
        (plan->drop_groups && f->groups != 0))
        return hc_fail_as(err, HC_EXIT_UNAVAILABLE, 0,
                          "the cell's first process has other ids than it should");
    if (is_off(m, "ids"))
        return 0;
    add_row(m, "ids", true, "pid 1, uid %u gid %u inside, %u and %u on the host, %d supplementary groups",
            f->euid, f->egid, plan->host_uid, plan->host_gid, f->groups);
    return 0;
}

static int check_capabilities(struct hc_manifest *m, const struct hc_facts *f, struct hc_error *err)
{
    if (is_off(m, "capabilities"))
        return 0;
    if (f->caps_effective | f->caps_permitted | f->caps_inheritable | f->caps_bounding | f->caps_ambient)
        return hc_fail_as(err, HC_EXIT_UNAVAILABLE, 0, "the cell's first process has capabilities left");
    if (f->securebits != HC_SECUREBITS)
        return hc_fail_as(err, HC_EXIT_UNAVAILABLE, 0, "securebits read back as 0x%x",
                          (unsigned)f->securebits);
    add_row(m, "capabilities", true,
            "effective, permitted, inheritable, bounding and ambient sets empty; securebits 0x%x",
            (unsigned)f->securebits);
    return 0;
}

static int check_no_new_privs(struct hc_manifest *m, const struct hc_facts *f, struct hc_error *err)
{
    if (is_off(m, "no_new_privs"))
        return 0;
    if (f->no_new_privs != 1)
        return hc_fail_as(err, HC_EXIT_UNAVAILABLE, 0, "no_new_privs is not set");
    add_row(m, "no_new_privs", true, "PR_GET_NO_NEW_PRIVS 1");
    return 0;
}

static int check_files(struct hc_manifest *m, const struct hc_facts *f, struct hc_error *err)
{
    (void)is_off(m, "mount_flags");
    (void)is_off(m, "proc");
    if (is_off(m, "read_only_tree"))
        return 0;
    if (f->root_write_errno == 0)
        return hc_fail_as(err, HC_EXIT_UNAVAILABLE, 0, "the tree is not read-only");
    add_row(m, "read_only_tree", true, "creating a file in /usr failed: %s", strerror(f->root_write_errno));
    return 0;
}

static int check_network(struct hc_manifest *m, const struct hc_facts *f, struct hc_error *err)
{
    if (hc_weak(HC_WEAK_NETWORK_NAMESPACE))
        return 0;
    if (f->interfaces != 1 || !f->loopback_up)
        return hc_fail_as(err, HC_EXIT_UNAVAILABLE, 0, "the cell's network has %d interfaces that are up",
                          f->interfaces);
    add_row(m, "network", true, "the loopback interface is up, and no other");
    return 0;
}

static int check_seccomp(struct hc_manifest *m, const struct hc_facts *f, struct hc_error *err)
{
    if (is_off(m, "seccomp"))
        return 0;
    if (f->seccomp_mode != SECCOMP_MODE_FILTER || !f->filter_errno)
        return hc_fail_as(err, HC_EXIT_UNAVAILABLE, 0, "the first seccomp filter is not on");
    add_row(m, "seccomp", true, "PR_GET_SECCOMP 2; unshare(0) failed: %s", strerror(f->filter_errno));
    return 0;
}

static void note_landlock(struct hc_manifest *m, const struct hc_facts *f)
{
    if (is_off(m, "landlock"))
        return;
    if (f->landlock_abi)
        add_row(m, "landlock", true, "ABI %d; making a symbolic link in /output failed: %s", f->landlock_abi,
                strerror(f->landlock_errno));
    else
        add_row(m, "landlock", false, "this kernel has no Landlock");
}

/* Lower limits of hotcell's caller stay in force, so each limit may be below the policy's, never above. */
static int check_rlimits(struct hc_manifest *m, const struct hc_plan *plan, const struct hc_facts *f,
                         struct hc_error *err)
{
    if (is_off(m, "rlimits"))
        return 0;
    const struct hc_limits *l = &plan->policy->limits;
    const struct {
        const char *name;
        bool set;
        uint64_t now;
        int64_t most;
    } limits[] = {
        {"core", true, f->rlimit_core, 0},
        {"open files", true, f->rlimit_files, l->open_files},
        {"file size", true, f->rlimit_file, l->file_bytes},
        {"stack", true, f->rlimit_stack, l->stack_bytes},
        {"CPU seconds", l->cpu_ms != 0, f->rlimit_cpu, l->cpu_ms / 1000 + 2},
        {"processes", plan->rlimit_pids, f->rlimit_pids, l->pids},
        {"data", plan->rlimit_memory, f->rlimit_data, 2 * l->memory + (1 << 30)},
    };
    char text[160] = "";
    for (size_t i = 0, used = 0; i < sizeof limits / sizeof *limits; i++) {
        if (!limits[i].set)
            continue;
        if (limits[i].now > (uint64_t)limits[i].most)
            return hc_fail_as(err, HC_EXIT_UNAVAILABLE, 0, "the resource limit on %s reads back as %llu",
                              limits[i].name, (unsigned long long)limits[i].now);
        int n = snprintf(text + used, sizeof text - used, "%s%s %llu", used ? ", " : "", limits[i].name,
                         (unsigned long long)limits[i].now);
        used += n > 0 && (size_t)n < sizeof text - used ? (size_t)n : 0;
    }
    add_row(m, "rlimits", true, "%s", text);
    return 0;
}

static int check_cores(struct hc_manifest *m, const struct hc_plan *plan, pid_t pid, struct hc_error *err)
{
    if (plan->policy->cores != HC_CORES_KEPT)
        return 0;
    uint64_t cookie = hc_cores_cookie(pid), ours = hc_cores_cookie(0);
    if (!cookie || cookie == ours)
        return hc_fail_as(err, HC_EXIT_UNAVAILABLE, 0, "core scheduling does not tell the cell from others");
    add_row(m, "core_scheduling", true, "read from outside, the cell has a cookie that the launcher has not");
    return 0;
}

int hc_layers_check(struct hc_manifest *m, const struct hc_plan *plan, const struct hc_facts *f, pid_t pid,
                    const struct hc_namespaces *seen, const struct hc_cgroup *cgroup, const char *no_cgroup,
                    struct hc_error *err)
{
    if (check_namespaces(m, pid, seen, err) < 0 || check_ids(m, plan, f, pid, err) < 0 ||
        check_capabilities(m, f, err) < 0 || check_no_new_privs(m, f, err) < 0 ||
        check_files(m, f, err) < 0 || check_network(m, f, err) < 0 || check_seccomp(m, f, err) < 0)
        return -1;
    note_landlock(m, f);
    (void)is_off(m, "guard");
    if (check_rlimits(m, plan, f, err) < 0 || check_cores(m, plan, pid, err) < 0)
        return -1;
    if (cgroup->fd < 0) {
        add_row(m, "cgroup", false, "%s", no_cgroup);
        return 0;
    }
    if (!hc_cgroup_holds(cgroup, pid))
        return hc_fail_as(err, HC_EXIT_UNAVAILABLE, 0, "the cell's first process is not in its cgroup");
    add_row(m, "cgroup", true, "%s holds the cell; memory.max, memory.oom.group and pids.max read back",
            cgroup->name);
    return 0;
}

void hc_layers_job_filter(struct hc_manifest *m, const char *evidence)
{
    if (hc_weak(HC_WEAK_SECCOMP))
        return;
    add_row(m, "seccomp_job", *evidence != '\0', "%s",
            *evidence ? evidence : "the interpreter did not get that far");
}
