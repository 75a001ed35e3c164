/* The launcher's side of inside.c: start the cell's first process with clone3, and check it until it executes
 * the shim. */
#include "cell/launch/launch.h"

#include "base/kernel.h"
#include "cell/launch/layers.h"
#include "inside/weak.h"

#include "base/fd.h"
#include "base/packet.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* All namespaces except the time namespace, which the child makes itself (clocks.c). */
#define NAMESPACES                                                                                           \
    (CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS |               \
     CLONE_NEWCGROUP)

void hc_launch_close_childs_ends(struct hc_launch *l)
{
    struct hc_plan *p = &l->plan;
    int *const fds[] = {&p->sync_fd,   &p->stdin_fd,    &p->stdout_fd,
                        &p->stderr_fd, &p->handover_fd, &p->status_fd};
    for (size_t i = 0; i < sizeof fds / sizeof *fds; i++)
        hc_close_fd(fds[i]);
}

static int clone_child(struct hc_launch *l, struct hc_error *err)
{
    int pidfd = -1;
    struct clone_args args = {
        .flags = hc_weak_clone_flags(NAMESPACES) | CLONE_PIDFD | CLONE_CLEAR_SIGHAND,
        .pidfd = (uintptr_t)&pidfd,
        .exit_signal = SIGCHLD,
    };
    if (l->cgroup.fd >= 0) {
        args.flags |= CLONE_INTO_CGROUP;
        args.cgroup = (unsigned)l->cgroup.fd;
    }
    pid_t pid = hc_clone3(&args);
    if (pid == 0) {
        hc_close_fd(&l->sync_fd); /* the launcher's end: else the child would not see it closed */
        hc_inside(&l->plan);
    }
    /* clone(2): with ENOSPC the kernel means a limit such as user.max_user_namespaces, not a disk. */
    if (pid < 0 && errno == ENOSPC)
        return hc_fail_as(
            err, HC_EXIT_UNAVAILABLE, 0,
            "make the cell's namespaces: this host allows no more of them ('hotcell doctor' says which)");
    const char *refusal = pid < 0 ? hc_cgroup_clone_refusal(&l->cgroup, errno) : NULL;
    if (refusal)
        return hc_fail_as(err, HC_EXIT_UNAVAILABLE, 0, "start the cell: %s", refusal);
    if (pid < 0)
        return hc_fail_as(err, HC_EXIT_UNAVAILABLE, errno,
                          "make the cell's namespaces (clone3); 'hotcell doctor' says what this host lacks");
    l->sup.pid = pid;
    l->sup.pidfd = pidfd;
    hc_launch_close_childs_ends(l);
    return 0;
}

int hc_sync_receive(int fd, struct hc_arrival *a, struct hc_error *err)
{
    struct hc_packet p = {.fds = a->fds, .room = HC_SYNC_FDS};
    ssize_t n = hc_packet_receive(fd, &a->msg, sizeof a->msg, &p, 0);
    a->sender = p.sender;
    if (n < 0)
        return hc_fail(err, errno, "wait for the cell's first process");
    if (n == 0)
        return 1;
    return n == (ssize_t)sizeof a->msg
               ? 0
               : hc_fail(err, 0, "a message of %zd bytes from the cell's first process", n);
}

int hc_sync_failure(struct hc_arrival *a, struct hc_error *err)
{
    *err = a->msg.error;
    err->text[sizeof err->text - 1] = '\0';
    return hc_ctx(err, "build the cell");
}

static int write_id_maps(const struct hc_launch *l, struct hc_error *err)
{
    if (hc_weak(HC_WEAK_USER_NAMESPACE))
        return 0;
    int rc = l->block.lease_fd >= 0
                 ? hc_ids_write_block_maps(l->sup.pid, HC_GUEST_ID, &l->ids, HC_ZYGOTE_FIRST_ID, &l->block,
                                           l->block_count, err)
                 : hc_ids_write_maps(l->sup.pid, HC_GUEST_ID, l->ids.uid, HC_GUEST_ID, l->ids.gid, err);
    return rc < 0 ? hc_ctx(err, "map ids into the cell ('hotcell doctor' says more)") : 0;
}

/* The first process has executed the shim when the launcher checks it. A shim that fails at once, for example
 * one of another version, has printed the reason on one line. No program was read yet, so the line is
 * hotcell's own. */
static int fail_ended_early(const struct hc_launch *l, struct hc_error *err)
{
    char said[512] = "";
    if (read(l->stderr_fd, said, sizeof said - 1) <= 0 || !*said)
        return hc_fail(err, 0, "the cell's first process ended while it was being built");
    return hc_fail(err, 0, "the interpreter did not start: %.*s", (int)strcspn(said, "\n"), said);
}

/* A process that exits loses its namespaces some time before its pidfd reports the end. */
#define ENDING_MS 500 /* ms to wait for the end of a process whose namespaces are gone */

/* If the check failed because the process has ended, and /proc says nothing about it, report the end
 * instead. */
static int check_layers(struct hc_launch *l, const struct hc_facts *facts, struct hc_error *err)
{
    if (hc_layers_check(l->m, &l->plan, facts, l->sup.pid, NULL, &l->cgroup, l->no_cgroup, err) == 0)
        return 0;
    struct pollfd first = {.fd = l->sup.pidfd, .events = POLLIN};
    return poll(&first, 1, ENDING_MS) == 1 ? fail_ended_early(l, err) : -1;
}

static int say_go(struct hc_launch *l, struct hc_error *err)
{
    const struct hc_sync go = {.kind = HC_SYNC_GO};
    return TEMP_FAILURE_RETRY(send(l->sync_fd, &go, sizeof go, MSG_NOSIGNAL)) < 0
               ? hc_fail(err, errno, "start the cell's first process")
               : 0;
}

/* The cell waits meanwhile: its working directory may be in a copy. */
static int fill_copies(struct hc_launch *l, int space_fd_taken, struct hc_error *err)
{
    l->space_fd = space_fd_taken;
    if (l->space_fd < 0)
        return hc_fail(err, 0, "the cell's first process has sent no directory for copies");
    return hc_launch_fill_copies(l, err) < 0 ? -1 : say_go(l, err);
}

/* The end of the socket: the first process has executed the shim, or has ended. Its /proc files are looked at
 * only then, as those of a process that has changed its uid and still has the launcher's memory want
 * CAP_SYS_PTRACE, which root of a container lacks. */
static int check_when_executed(struct hc_launch *l, const struct hc_facts *facts, bool told,
                               struct hc_error *err)
{
    if (!told || l->output_fd < 0 || l->tmp_fd < 0 || l->control_fd < 0)
        return fail_ended_early(l, err);
    /* A zygote runs no job, and does not have all layers of a cell. */
    return l->plan.zygote ? 0 : check_layers(l, facts, err);
}

static int await_construction(struct hc_launch *l, struct hc_error *err)
{
    /* The first process works meanwhile, and executes nothing of the tree before it is told to. */
    if (write_id_maps(l, err) < 0 || say_go(l, err) < 0 ||
        (l->plan.awaits_check && hc_launch_check_tree(l, err) < 0))
        return -1;
    struct hc_facts facts = {0};
    bool told = false;
    for (;;) {
        struct hc_arrival a;
        int rc = hc_sync_receive(l->sync_fd, &a, err);
        if (rc < 0)
            return -1;
        if (rc == 1)
            return check_when_executed(l, &facts, told, err);
        if (a.msg.kind == HC_SYNC_ERROR)
            return hc_sync_failure(&a, err);
        if (a.msg.kind == HC_SYNC_COPIES && fill_copies(l, a.fds[0], err) < 0)
            return -1;
        if (a.msg.kind == HC_SYNC_KEPT) {
            l->output_fd = a.fds[0];
            l->tmp_fd = a.fds[1];
            l->control_fd = a.fds[2];
        }
        if (a.msg.kind == HC_SYNC_FACTS) {
            facts = a.msg.facts;
            told = true;
            if (l->plan.awaits_check && say_go(l, err) < 0)
                return -1;
        }
    }
}

int hc_launch_construct(struct hc_launch *l, struct hc_error *err)
{
    if (clone_child(l, err) < 0 || await_construction(l, err) < 0)
        return -1;
    hc_close_fd(&l->sync_fd);
    return 0;
}
