#include "cell/doctor/probe.h"

#include "base/fd.h"
#include "base/kernel.h"
#include "inside/cores.h"
#include "inside/plan.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>

#define PATIENCE_SECONDS 30 /* longest wait for an attempt */

/* ---- a child for each attempt ---- */

typedef int attempt_fn(const void *arg, struct hc_error *err);

/* An attempt in a child process. */
struct attempt {
    uint64_t namespaces;      /* the child's new namespaces (CLONE_NEW*); 0: none */
    const struct hc_ids *ids; /* the child's ids, with CLONE_NEWUSER; borrowed */
    attempt_fn *run;          /* makes the attempt in the child */
    const void *arg;          /* for `run`; borrowed */
};

static _Noreturn void run_attempt(int fd, const struct attempt *a)
{
    struct hc_error err = {0};
    char go;
    /* `drop_groups` says whether the launcher is root; inside the namespace no process is. */
    const struct hc_plan plan = {.drop_groups = a->ids && a->ids->lease_fd >= 0};
    if (recv(fd, &go, 1, 0) != 1) /* the parent has died */
        _exit(HC_EXIT_INTERNAL);
    int rc = a->namespaces & CLONE_NEWUSER ? hc_rights_become_guest(&plan, &err) : 0;
    /* Set last, as a change of ids clears it. */
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    if (rc == 0 && a->run(a->arg, &err) == 0)
        err = (struct hc_error){0};
    (void)send(fd, &err, sizeof err, MSG_NOSIGNAL);
    _exit(HC_EXIT_OK);
}

static int await_attempt(int fd, struct hc_error *err)
{
    struct hc_error heard;
    if (send(fd, "g", 1, MSG_NOSIGNAL) != 1)
        return hc_fail(err, errno, "start the attempt");
    ssize_t n = recv(fd, &heard, sizeof heard, 0);
    if (n != (ssize_t)sizeof heard)
        return hc_fail(err, n < 0 ? errno : 0, "the attempt ended without an answer");
    if (heard.exit == HC_EXIT_OK)
        return 0;
    *err = heard;
    return -1;
}

static void end_child(pid_t pid)
{
    (void)kill(pid, SIGKILL); /* an unreaped child, so the pid is still its own */
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
}

static int try_in_child(const struct attempt *a, struct hc_error *err)
{
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
        return hc_fail(err, errno, "socketpair");
    hc_autofd ours = pair[0];
    hc_autofd theirs = pair[1];
    const struct timeval patience = {.tv_sec = PATIENCE_SECONDS};
    if (setsockopt(ours, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) < 0)
        return hc_fail(err, errno, "setsockopt");
    struct clone_args args = {.flags = a->namespaces | CLONE_CLEAR_SIGHAND, .exit_signal = SIGCHLD};
    pid_t pid = hc_clone3(&args);
    if (pid == 0) {
        hc_close_fd(&ours);
        run_attempt(theirs, a);
    }
    if (pid < 0)
        return hc_fail(err, errno, "clone3");
    hc_close_fd(&theirs);
    int rc = a->namespaces & CLONE_NEWUSER
                 ? hc_ids_write_maps(pid, HC_GUEST_ID, a->ids->uid, HC_GUEST_ID, a->ids->gid, err)
                 : 0;
    if (rc == 0)
        rc = await_attempt(ours, err);
    end_child(pid);
    return rc;
}

/* ---- namespaces ---- */

static int nothing(const void *arg, struct hc_error *err)
{
    (void)arg;
    (void)err;
    return 0;
}

/* A security module may allow a user namespace but refuse the capabilities in it. */
static int use_capability(const void *arg, struct hc_error *err)
{
    (void)arg;
    return prctl(PR_CAPBSET_DROP, CAP_SYS_BOOT, 0, 0, 0) < 0
               ? hc_fail(err, errno, "use a capability in the new user namespace")
               : 0;
}

int hc_probe_userns(const struct hc_ids *ids, struct hc_error *err)
{
    return try_in_child(&(struct attempt){CLONE_NEWUSER, ids, use_capability, NULL}, err);
}

int hc_probe_namespace(const struct hc_ids *ids, uint64_t flag, struct hc_error *err)
{
    return try_in_child(&(struct attempt){CLONE_NEWUSER | flag, ids, nothing, NULL}, err);
}

/* ---- mounts ---- */

static int make_fs(const char *type, const char *const options[][2], uint64_t attr, struct hc_error *err)
{
    hc_autofd fs = hc_fsopen(type);
    if (fs < 0)
        return hc_fail(err, errno, "fsopen %s", type);
    for (size_t i = 0; options[i][0]; i++)
        if (hc_fsconfig(fs, FSCONFIG_SET_STRING, options[i][0], options[i][1]) < 0)
            return hc_fail(err, errno, "%s=%s for a new %s", options[i][0], options[i][1], type);
    if (hc_fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL) < 0)
        return hc_fail(err, errno, "create a new %s", type);
    int fd = hc_fsmount(fs, (unsigned)attr);
    return fd >= 0 ? fd : hc_fail(err, errno, "fsmount %s", type);
}

/* Mount a tmpfs like that of /output on a directory that every host has. */
static int attach_tmpfs(struct hc_error *err)
{
    static const char *const options[][2] = {{"size", "65536"}, {"nr_inodes", "8"}, {NULL, NULL}};
    const uint64_t attr = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC | MOUNT_ATTR_NOSYMFOLLOW;
    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
        return hc_fail(err, errno, "cut mount propagation");
    hc_autofd fd = make_fs("tmpfs", options, attr, err);
    if (fd < 0)
        return -1;
    if (hc_move_mount(fd, AT_FDCWD, "/proc") < 0)
        return hc_fail(err, errno, "move_mount");
    return hc_take(&fd);
}

static int try_mounts(const void *arg, struct hc_error *err)
{
    (void)arg;
    hc_autofd fd = attach_tmpfs(err);
    if (fd < 0)
        return -1;
    hc_autofd copy = hc_open_tree(fd, "", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH);
    if (copy < 0)
        return hc_fail(err, errno, "open_tree");
    struct mount_attr attr = {.attr_set = MOUNT_ATTR_RDONLY, .propagation = MS_PRIVATE};
    if (hc_mount_setattr(copy, AT_EMPTY_PATH, &attr) < 0)
        return hc_fail(err, errno, "mount_setattr");
    if (faccessat(copy, ".", W_OK, 0) == 0 || errno != EROFS)
        return hc_fail(err, 0, "a read-only mount can be written to");
    return 0;
}

static int try_proc(const void *arg, struct hc_error *err)
{
    (void)arg;
    static const char *const options[][2] = {{"hidepid", "invisible"}, {"subset", "pid"}, {NULL, NULL}};
    hc_autofd fd = make_fs("proc", options, MOUNT_ATTR_RDONLY, err);
    if (fd < 0)
        return -1;
    if (faccessat(fd, "1/stat", F_OK, 0) < 0)
        return hc_fail(err, errno, "the new proc does not show its first process");
    if (faccessat(fd, "meminfo", F_OK, 0) == 0)
        return hc_fail(err, 0, "subset=pid has no effect");
    return 0;
}

static int try_pivot_root(const void *arg, struct hc_error *err)
{
    (void)arg;
    hc_autofd root = attach_tmpfs(err);
    if (root < 0)
        return -1;
    if (fchdir(root) < 0)
        return hc_fail(err, errno, "enter the new root");
    if (syscall(SYS_pivot_root, ".", ".") < 0)
        return hc_fail(err, errno, "pivot_root");
    return umount2(".", MNT_DETACH) < 0 ? hc_fail(err, errno, "detach the old root") : 0;
}

static int try_devices(const void *arg, struct hc_error *err)
{
    (void)arg;
    static const struct {
        const char *path;
        unsigned minor; /* minor device number; the major one is 1 */
    } nodes[] = {
        {"/dev/null", 3}, {"/dev/zero", 5}, {"/dev/full", 7}, {"/dev/random", 8}, {"/dev/urandom", 9}};
    for (size_t i = 0; i < sizeof nodes / sizeof *nodes; i++) {
        hc_autofd fd = hc_open_tree(AT_FDCWD, nodes[i].path, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
        struct stat st;
        if (fd < 0 || fstat(fd, &st) < 0)
            return hc_fail(err, errno, "clone the mount of %s", nodes[i].path);
        if (!S_ISCHR(st.st_mode) || st.st_rdev != makedev(1, nodes[i].minor))
            return hc_fail(err, 0, "%s is not the device 1:%u", nodes[i].path, nodes[i].minor);
        hc_autofd use = open(nodes[i].path, O_RDONLY | O_CLOEXEC);
        if (use < 0)
            return hc_fail(err, errno, "open %s", nodes[i].path);
    }
    return 0;
}

static int try_in_mounts(const struct hc_ids *ids, uint64_t more, attempt_fn *run, struct hc_error *err)
{
    return try_in_child(&(struct attempt){CLONE_NEWUSER | CLONE_NEWNS | more, ids, run, NULL}, err);
}

int hc_probe_mounts(const struct hc_ids *ids, struct hc_error *err)
{
    return try_in_mounts(ids, 0, try_mounts, err);
}

int hc_probe_proc(const struct hc_ids *ids, struct hc_error *err)
{
    return try_in_mounts(ids, CLONE_NEWPID, try_proc, err);
}

int hc_probe_pivot_root(const struct hc_ids *ids, struct hc_error *err)
{
    return try_in_mounts(ids, 0, try_pivot_root, err);
}

int hc_probe_devices(const struct hc_ids *ids, struct hc_error *err)
{
    return try_in_mounts(ids, 0, try_devices, err);
}

int hc_probe_idmap(const char *dir, const struct hc_ids *ids, struct hc_error *err)
{
    hc_autofd userns = hc_ids_mapping(geteuid(), getegid(), ids, err);
    if (userns < 0)
        return -1;
    hc_autofd fd = hc_open_tree(AT_FDCWD, dir, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
    if (fd < 0)
        return hc_fail(err, errno, "clone the mount of %s", dir);
    struct mount_attr attr = {.attr_set = MOUNT_ATTR_IDMAP, .userns_fd = (unsigned)userns};
    if (hc_mount_setattr(fd, AT_EMPTY_PATH, &attr) < 0)
        return hc_fail(err, errno, "map ids of the mount of %s", dir);
    return 0;
}

/* ---- filters ---- */

static int give_up_privileges(struct hc_error *err)
{
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ? hc_fail(err, errno, "no_new_privs") : 0;
}

static int try_filter(const void *arg, struct hc_error *err)
{
    const struct hc_buf *bpf = arg;
    const struct sock_fprog program = {
        .len = (unsigned short)(bpf->len / sizeof(struct sock_filter)),
        .filter = (struct sock_filter *)(void *)bpf->data,
    };
    if (give_up_privileges(err) < 0)
        return -1;
    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) < 0)
        return hc_fail(err, errno, "load a seccomp filter");
    /* Without the filter, this call succeeds and does nothing. */
    return unshare(0) == 0 ? hc_fail(err, 0, "a loaded filter does not refuse what it should") : 0;
}

int hc_probe_filter(const struct hc_buf *bpf, struct hc_error *err)
{
    return try_in_child(&(struct attempt){.run = try_filter, .arg = bpf}, err);
}

static int try_notification(const void *arg, struct hc_error *err)
{
    (void)arg;
    struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    const struct sock_fprog program = {.len = 1, .filter = &allow};
    if (give_up_privileges(err) < 0)
        return -1;
    hc_autofd fd =
        (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
    return fd < 0 ? hc_fail(err, errno, "load a filter with a listener") : 0;
}

int hc_probe_notification(struct hc_error *err)
{
    return try_in_child(&(struct attempt){.run = try_notification}, err);
}

static int try_landlock(const void *arg, struct hc_error *err)
{
    (void)arg;
    static const char path[] = "/proc/self/status";
    struct hc_landlock_attr attr = {.handled_access_fs = LANDLOCK_ACCESS_FS_READ_FILE};
    if (give_up_privileges(err) < 0)
        return -1;
    hc_autofd ruleset = (int)syscall(SYS_landlock_create_ruleset, &attr, sizeof attr.handled_access_fs, 0);
    if (ruleset < 0 || syscall(SYS_landlock_restrict_self, ruleset, 0) < 0)
        return hc_fail(err, errno, "apply a Landlock ruleset");
    hc_autofd fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0 || errno != EACCES)
        return hc_fail(err, 0, "a Landlock ruleset in force does not refuse what it should");
    return 0;
}

int hc_probe_landlock(int *abi, struct hc_error *err)
{
    *abi = hc_landlock_abi();
    if (*abi < 0)
        return hc_fail(err, errno, "ask for the Landlock ABI");
    return try_in_child(&(struct attempt){.run = try_landlock}, err);
}

static int try_cores(const void *arg, struct hc_error *err)
{
    (void)arg;
    return hc_cores_keep(err);
}

int hc_probe_cores(struct hc_error *err)
{
    return try_in_child(&(struct attempt){.run = try_cores}, err);
}

/* ---- descriptors and processes ---- */

int hc_probe_openat2(struct hc_error *err)
{
    struct open_how how = {
        .flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC,
        .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV,
    };
    hc_autofd root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    hc_autofd same = hc_openat2(root, ".", &how);
    if (same < 0)
        return hc_fail(err, errno, "openat2");
    hc_autofd above = hc_openat2(root, "..", &how);
    return above >= 0 ? hc_fail(err, 0, "openat2 leaves the directory that it should stay in") : 0;
}

int hc_probe_close_range(struct hc_error *err)
{
    /* No open descriptor has this number: the call is tested without closing any. */
    return syscall(SYS_close_range, ~0u, ~0u, 0) < 0 ? hc_fail(err, errno, "close_range") : 0;
}

/* Sleep until the parent kills this process, or dies. */
static _Noreturn void wait_to_be_killed(pid_t parent)
{
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    while (getppid() == parent)
        (void)pause();
    _exit(HC_EXIT_INTERNAL);
}

int hc_probe_pidfd(struct hc_error *err)
{
    int fd = -1;
    struct clone_args args = {
        .flags = CLONE_PIDFD | CLONE_CLEAR_SIGHAND, .pidfd = (uintptr_t)&fd, .exit_signal = SIGCHLD};
    pid_t us = getpid(), pid = hc_clone3(&args);
    if (pid == 0)
        wait_to_be_killed(us);
    if (pid < 0)
        return hc_fail(err, errno, "clone3 with a pidfd");
    hc_autofd pidfd = fd;
    siginfo_t info;
    int rc = 0;
    if (syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0) < 0)
        rc = hc_fail(err, errno, "pidfd_send_signal");
    else if (waitid(P_PIDFD, (id_t)pidfd, &info, WEXITED | WNOWAIT) < 0)
        rc = hc_fail(err, errno, "wait for a pidfd");
    end_child(pid);
    return rc;
}

static int list_child(pid_t child, struct hc_error *err)
{
    char path[64], text[4096], wanted[16];
    (void)snprintf(path, sizeof path, "/proc/self/task/%d/children", gettid());
    if (hc_read_attr(AT_FDCWD, path, text, sizeof text) < 0)
        return hc_fail(err, errno, "read %s", path);
    (void)snprintf(wanted, sizeof wanted, "%d", child);
    char *rest = NULL;
    for (char *p = strtok_r(text, " ", &rest); p; p = strtok_r(NULL, " ", &rest))
        if (strcmp(p, wanted) == 0)
            return 0;
    return hc_fail(err, 0, "a child is not listed in %s", path);
}

int hc_probe_children(struct hc_error *err)
{
    pid_t us = getpid(), pid = fork();
    if (pid < 0)
        return hc_fail(err, errno, "fork");
    if (pid == 0)
        wait_to_be_killed(us);
    int rc = list_child(pid, err);
    end_child(pid);
    return rc;
}

/* ---- cgroups ---- */

static int use_leaf(struct hc_cgroup *leaf, bool *has_kill, struct hc_error *err)
{
    struct clone_args args = {.flags = CLONE_INTO_CGROUP | CLONE_CLEAR_SIGHAND,
                              .exit_signal = SIGCHLD,
                              .cgroup = (unsigned)leaf->fd};
    pid_t us = getpid(), pid = hc_clone3(&args);
    if (pid == 0)
        wait_to_be_killed(us);
    if (pid < 0)
        return hc_fail(err, errno, "start a process in a cgroup");
    int rc = hc_cgroup_holds(leaf, pid) ? 0 : hc_fail(err, 0, "a process was not started in its cgroup");
    *has_kill = faccessat(leaf->fd, "cgroup.kill", W_OK, AT_EACCESS) == 0;
    if (*has_kill)
        hc_cgroup_kill(leaf);
    else
        (void)kill(pid, SIGKILL);
    if (hc_cgroup_wait_empty(leaf, err) < 0)
        rc = -1;
    end_child(pid);
    return rc;
}

int hc_probe_cgroup(const struct hc_cgroup_parent *parent, const struct hc_limits *limits, bool *has_kill,
                    struct hc_error *err)
{
    struct hc_cgroup leaf;
    char name[32];
    (void)snprintf(name, sizeof name, "doctor-%d", getpid());
    if (hc_cgroup_create(&leaf, parent, name, err) < 0)
        return -1;
    int rc = hc_cgroup_limit(&leaf, limits, err);
    if (rc == 0)
        rc = use_leaf(&leaf, has_kill, err);
    hc_cgroup_remove(&leaf);
    return rc;
}
