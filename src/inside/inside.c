/* The cell's first process, from clone3 to the shim, as one straight line.
 *
 * It starts with all capabilities in its own user namespace and none outside, sees the host's mounts in a
 * namespace of its own, and holds the launcher's descriptors. Each step below takes something away; any that
 * fails ends the process, with the reason sent through the construction socket. After the last line the only
 * descriptors are those of enum hc_cell_fd, and the only program that can be executed has been. */
#include "inside/plan.h"

#include "base/fd.h"
#include "base/kernel.h"
#include "base/packet.h"
#include "inside/clocks.h"
#include "inside/cores.h"
#include "inside/weak.h"
#include "wire/handover.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>

enum { FD_SYNC = HC_FD_SYNC, FD_SHIM = HC_FD_SHIM, FD_FIRST_FREE };

static _Noreturn void give_up(int sync_fd, const struct hc_error *err)
{
    struct hc_sync msg = {.kind = HC_SYNC_ERROR, .error = *err};
    (void)!TEMP_FAILURE_RETRY(send(sync_fd, &msg, sizeof msg, MSG_NOSIGNAL));
    _exit(err->exit);
}

static int wait_for_go(int sync_fd, struct hc_error *err)
{
    struct hc_sync msg;
    ssize_t n = TEMP_FAILURE_RETRY(recv(sync_fd, &msg, sizeof msg, 0));
    return n == (ssize_t)sizeof msg && msg.kind == HC_SYNC_GO ? 0 : hc_fail(err, 0, "the launcher has gone");
}

int hc_inside_offer_copies(const struct hc_plan *plan, int space_fd, struct hc_error *err)
{
    const struct hc_sync msg = {.kind = HC_SYNC_COPIES};
    if (hc_packet_send(plan->sync_fd, &msg, sizeof msg, &space_fd, 1, 0) < 0)
        return hc_fail(err, errno, "hand over the directory for copies");
    return wait_for_go(plan->sync_fd, err);
}

/* Have the kernel kill this process when the launcher dies. If it has died before this line, no signal comes,
 * but its socket is closed. A change of ids clears the setting, so this comes after it. */
static int die_with_launcher(const struct hc_plan *plan, struct hc_error *err)
{
    if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0)
        return hc_fail(err, errno, "tie the cell to its launcher");
    char byte;
    ssize_t n = recv(plan->sync_fd, &byte, 1, MSG_DONTWAIT | MSG_PEEK);
    return n < 0 && errno == EAGAIN ? 0 : hc_fail(err, 0, "the launcher has gone");
}

static int isolate_cores(const struct hc_plan *plan, struct hc_error *err)
{
    return plan->policy->cores == HC_CORES_KEPT ? hc_cores_keep(err) : 0;
}

static int set_names(struct hc_error *err)
{
    if (setsid() < 0) /* no controlling terminal, so none to push input into */
        return hc_fail(err, errno, "setsid");
    (void)umask(022); /* not the caller's */
    if (hc_weak(HC_WEAK_UTS_NAMESPACE))
        return 0;
    if (sethostname("cell", 4) < 0 || setdomainname("", 0) < 0)
        return hc_fail(err, errno, "name the host");
    return 0;
}

/* The channel to the interpreter, made in here: a socket belongs to the network namespace of its maker for
 * ever, and a program that has bind(2) could give one of the host's a name there. Its peer credentials,
 * too, are those of this process. */
static int make_control(int pair[2], struct hc_error *err)
{
    const int on = 1;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0 ||
        setsockopt(pair[0], SOL_SOCKET, SO_PASSCRED, &on, sizeof on) < 0)
        return hc_fail(err, errno, "make the control channel");
    return 0;
}

/* Send the launcher its end of the control channel and the roots of /output and /tmp, to measure both and to
 * collect results. A warm cell also sends the root of /input, for copies of the inputs. */
static int send_kept(const struct hc_plan *plan, const struct hc_mounted *m, int control_fd,
                     struct hc_error *err)
{
    const int kept[HC_SYNC_FDS] = {m->output_fd, m->tmp_fd, control_fd, m->input_fd};
    const struct hc_sync msg = {.kind = HC_SYNC_KEPT};
    const size_t count = m->input_fd >= 0 ? HC_SYNC_FDS : HC_SYNC_FDS - 1;
    return hc_packet_send(plan->sync_fd, &msg, sizeof msg, kept, count, 0) < 0
               ? hc_fail(err, errno, "hand over /output and the control channel")
               : 0;
}

/* Test from inside that the tree cannot be written to. */
static int attempt_root_write(struct hc_facts *f, struct hc_error *err)
{
    if (hc_weak(HC_WEAK_READ_ONLY_TREE))
        return 0;
    hc_autofd fd = open("/usr/.hotcell", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    f->root_write_errno = fd < 0 ? errno : 0;
    if (fd >= 0)
        return hc_fail_as(err, HC_EXIT_UNAVAILABLE, 0, "the tree can be written to from inside the cell");
    return 0;
}

/* Test that no /proc is visible: a copy could still have the /proc of its zygote. */
static int attempt_proc(const struct hc_plan *plan, struct hc_error *err)
{
    if (plan->zygote || hc_weak(HC_WEAK_PROC) ||
        (faccessat(AT_FDCWD, "/proc/self", F_OK, 0) < 0 && errno == ENOENT))
        return 0;
    return hc_fail_as(err, HC_EXIT_UNAVAILABLE, 0, "there are processes to be seen in the cell's /proc");
}

static int lock_syscalls(const struct hc_plan *plan, struct hc_facts *f, struct hc_error *err)
{
    if (hc_weak(HC_WEAK_SECCOMP))
        return 0;
    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &plan->filter) < 0)
        return hc_fail_as(err, HC_EXIT_UNAVAILABLE, errno, "load the first seccomp filter");
    f->seccomp_mode = prctl(PR_GET_SECCOMP, 0, 0, 0, 0);
    /* Without a filter both calls succeed and do nothing. The filter of a zygote allows unshare(0), so
     * that its cells, which inherit it, can prove their own filter. */
    f->filter_errno = unshare(plan->zygote ? CLONE_FS : 0) < 0 ? errno : 0;
    if (f->seccomp_mode != SECCOMP_MODE_FILTER || !f->filter_errno)
        return hc_fail_as(err, HC_EXIT_UNAVAILABLE, 0, "the seccomp filter is not in force");
    return 0;
}

static int attempt_landlock(struct hc_facts *f, struct hc_error *err)
{
    if (!f->landlock_abi)
        return 0;
    f->landlock_errno = symlink("x", "/output/.hotcell") < 0 ? errno : 0;
    if (f->landlock_errno)
        return 0;
    (void)unlink("/output/.hotcell");
    return hc_fail_as(err, HC_EXIT_UNAVAILABLE, 0, "Landlock is not in force");
}

/* Move the descriptors that stay to high numbers, then to their final numbers, then close all others. */
static int arrange_descriptors(const struct hc_plan *plan, int control, int shim_fd, struct hc_error *err)
{
    /* Opened in the cell: a descriptor from the launcher would belong to the host's mount, which is not
     * read-only, and the program could set the times of the host's own inode. */
    hc_autofd nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (nothing < 0)
        return hc_fail(err, errno, "open /dev/null");
    const int handover =
        plan->handover_fd < 0 ? nothing : plan->handover_fd; /* a copy gets its handover later */
    const int input = plan->stdin_fd < 0 ? nothing : plan->stdin_fd;
    const int from[FD_FIRST_FREE] = {input,    plan->stdout_fd, plan->stderr_fd, control,
                                     handover, plan->status_fd, plan->sync_fd,   shim_fd};
    int away[FD_FIRST_FREE];
    for (int i = 0; i < FD_FIRST_FREE; i++)
        if ((away[i] = fcntl(from[i], F_DUPFD_CLOEXEC, 2 * FD_FIRST_FREE)) < 0)
            return hc_fail(err, errno, "arrange descriptors");
    hc_close_fd(&nothing); /* its number may be one of the final numbers */
    for (int i = 0; i < FD_FIRST_FREE; i++)
        if (dup3(away[i], i, i >= FD_SYNC ? O_CLOEXEC : 0) < 0)
            return hc_fail(err, errno, "arrange descriptors");
    if (syscall(SYS_close_range, FD_FIRST_FREE, ~0u, 0) < 0)
        return hc_fail(err, errno, "close_range");
    return 0;
}

static int by_number(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

/* Close all descriptors except those that are arranged later. The launcher may have more open files than
 * the job's limit allows, and above the limit no file could be opened. */
static int close_others(const struct hc_plan *plan, int control, int shim_fd, struct hc_error *err)
{
    int kept[] = {plan->stdin_fd,    plan->stdout_fd, plan->stderr_fd, control,
                  plan->handover_fd, plan->status_fd, plan->sync_fd,   shim_fd};
    const size_t count = sizeof kept / sizeof *kept;
    int from = 0;
    qsort(kept, count, sizeof *kept, by_number);
    for (size_t i = 0; i < count; i++) {
        if (kept[i] > from && syscall(SYS_close_range, from, kept[i] - 1, 0) < 0)
            return hc_fail(err, errno, "close_range");
        if (kept[i] >= from)
            from = kept[i] + 1;
    }
    return syscall(SYS_close_range, from, ~0u, 0) < 0 ? hc_fail(err, errno, "close_range") : 0;
}

/* Handlers are reset by CLONE_CLEAR_SIGHAND; the mask is inherited. */
static int unblock_signals(struct hc_error *err)
{
    sigset_t none;
    (void)sigemptyset(&none);
    return sigprocmask(SIG_SETMASK, &none, NULL) < 0 ? hc_fail(err, errno, "unblock signals") : 0;
}

typedef int mounter(const struct hc_plan *plan, struct hc_mounted *out, struct hc_error *err);

/* The steps of every cell, cold or warm: names, network, mounts, limits, rights, rules, filter. */
static int confine(const struct hc_plan *plan, mounter *make_mounts, struct hc_facts *f, struct hc_error *err)
{
    struct hc_mounted m = {-1, -1, -1, -1};
    int control[2];
    if (unblock_signals(err) < 0 || set_names(err) < 0 || isolate_cores(plan, err) < 0 ||
        hc_loopback_up(make_mounts == hc_mounts_renew, &f->interfaces, &f->loopback_up, err) < 0 ||
        make_mounts(plan, &m, err) < 0 || /* last need for mount rights */
        make_control(control, err) < 0 || send_kept(plan, &m, control[0], err) < 0 ||
        close_others(plan, control[1], m.shim_fd, err) < 0 || attempt_root_write(f, err) < 0 ||
        attempt_proc(plan, err) < 0 || hc_rights_limit(plan, err) < 0 ||
        hc_rights_drop(plan, err) < 0 || /* proves itself: tries to come back */
        (f->landlock_abi = hc_landlock_apply(plan, m.shim_fd, err)) < 0 || attempt_landlock(f, err) < 0 ||
        hc_rights_read_back(f, err) < 0 ||
        lock_syscalls(plan, f, err) < 0) /* below this line only what the first filter allows */
        return -1;
    return arrange_descriptors(plan, control[1], m.shim_fd, err);
}

_Noreturn void hc_inside(const struct hc_plan *plan)
{
    struct hc_error err = {0};
    struct hc_sync msg = {.kind = HC_SYNC_FACTS};

    if (wait_for_go(plan->sync_fd, &err) < 0 ||
        hc_clocks_start(true, &err) < 0 || /* a change of ids closes our own /proc files to us */
        hc_rights_become_guest(plan, &err) < 0 || die_with_launcher(plan, &err) < 0)
        give_up(plan->sync_fd, &err);
    if (confine(plan, hc_mounts_build, &msg.facts, &err) < 0)
        give_up(plan->sync_fd, &err);

    if (TEMP_FAILURE_RETRY(send(FD_SYNC, &msg, sizeof msg, MSG_NOSIGNAL)) < 0)
        _exit(HC_EXIT_INTERNAL);
    /* The loader and the libraries of the tree run from here on. */
    if (plan->awaits_check && wait_for_go(FD_SYNC, &err) < 0)
        _exit(HC_EXIT_UNAVAILABLE);
    char name[] = "hotcell-shim", session[] = HC_SHIM_SESSION;
    char *const argv[] = {name, plan->policy->session ? session : NULL, NULL};
    (void)syscall(SYS_execveat, FD_SHIM, "", argv, plan->env, AT_EMPTY_PATH);
    /* Landlock identifies files by their inodes, which some network file systems recreate at every lookup. */
    (void)hc_fail_as(&err, HC_EXIT_UNAVAILABLE, errno, "execute the shim%s",
                     errno == EACCES ? " (trees must be on a local file system)" : "");
    give_up(FD_SYNC, &err);
}

/* The packet tells the launcher this process's pid. The launcher moves it into its cgroup, and only then
 * lets it go on: that cgroup becomes the root of the cgroup namespace. */
static int announce_and_wait(const struct hc_plan *plan, struct hc_error *err)
{
    struct hc_sync msg = {.kind = HC_SYNC_BORN};
    if (TEMP_FAILURE_RETRY(send(plan->sync_fd, &msg, sizeof msg, MSG_NOSIGNAL)) < 0)
        return hc_fail(err, errno, "tell the launcher of a new cell");
    if (wait_for_go(plan->sync_fd, err) < 0)
        return -1;
    return unshare(CLONE_NEWCGROUP) < 0
               ? hc_fail_as(err, HC_EXIT_UNAVAILABLE, errno, "make a cgroup namespace")
               : 0;
}

/* Map one uid and one gid. That needs no rights, as they are the ids that the zygote had when it made this
 * process (user_namespaces(7)). */
static int map_itself(const struct hc_plan *plan, struct hc_error *err)
{
    char uids[48], gids[48];
    (void)snprintf(uids, sizeof uids, "%d %u 1", HC_GUEST_ID, plan->host_uid);
    (void)snprintf(gids, sizeof gids, "%d %u 1", HC_GUEST_ID, plan->host_gid);
    if (prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) < 0) /* else root would own these files */
        return hc_fail(err, errno, "open up for a moment");
    if (hc_write_attr(AT_FDCWD, "/proc/self/setgroups", "deny", err) < 0 ||
        hc_write_attr(AT_FDCWD, "/proc/self/uid_map", uids, err) < 0 ||
        hc_write_attr(AT_FDCWD, "/proc/self/gid_map", gids, err) < 0)
        return hc_exit_as(err, HC_EXIT_UNAVAILABLE);
    return 0;
}

static int close_again(struct hc_error *err)
{
    return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0 ? hc_fail(err, errno, "hide this process") : 0;
}

/* As in main.c of the shim: this process will reap the cell's processes. */
static int block_child_signal(struct hc_error *err)
{
    sigset_t chld;
    (void)sigemptyset(&chld);
    (void)sigaddset(&chld, SIGCHLD);
    return signal(SIGCHLD, SIG_DFL) == SIG_ERR || sigprocmask(SIG_BLOCK, &chld, NULL) < 0
               ? hc_fail(err, errno, "block SIGCHLD")
               : 0;
}

void hc_inside_copy(const struct hc_plan *plan)
{
    struct hc_error err = {0};
    struct hc_sync msg = {.kind = HC_SYNC_FACTS};

    if (announce_and_wait(plan, &err) < 0 || map_itself(plan, &err) < 0 ||
        hc_clocks_start(false, &err) < 0 || /* this process's memory is still the zygote's */
        hc_rights_become_guest(plan, &err) < 0 || close_again(&err) < 0)
        give_up(plan->sync_fd, &err);
    if (confine(plan, hc_mounts_renew, &msg.facts, &err) < 0)
        give_up(plan->sync_fd, &err);
    if (block_child_signal(&err) < 0)
        give_up(FD_SYNC, &err);
    if (TEMP_FAILURE_RETRY(send(FD_SYNC, &msg, sizeof msg, MSG_NOSIGNAL)) < 0)
        _exit(HC_EXIT_INTERNAL);
}
