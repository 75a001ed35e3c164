/* Every decision depends on numbers in registers, which the caller cannot change after the answer; memory
 * that they point to is never read. */
#include "cell/seccomp/fork_permit.h"

#include "base/status.h"
#include "policy/calls.h"

#include <fcntl.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <stdio.h>

/* As fork() of glibc and musl. */
#define FORK_FLAGS (CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID | SIGCHLD)

static bool is_call(const struct seccomp_notif *q, const char *name)
{
    return q->data.nr == seccomp_syscall_resolve_name(name);
}

/* The steps of making a copy, which is the child of a child (shim/session.c), from the last to the first:
 * `step` is the number of forks that are left. */
static const struct {
    const char *caller; /* the field of the caller's status that has to be the owner's process ID */
    uint64_t flags;     /* the flags of its clone */
} steps[HC_FORK_PERMIT_COUNT + 1] = {{0}, {"PPid", FORK_FLAGS}, {"Tgid", HC_BETWEEN_CLONE}};

static bool may_fork(struct hc_fork_permit *p, const struct seccomp_notif *q)
{
    char path[48];
    if (p->forks == 0 || q->data.args[0] != steps[p->forks].flags)
        return false;
    (void)snprintf(path, sizeof path, "/proc/%u/status", q->pid);
    const char *text = hc_status_read(AT_FDCWD, path);
    if (!text || hc_status_field(text, steps[p->forks].caller, 10, 0) != (uint64_t)p->owner)
        return false;
    p->forks--;
    return true;
}

/* Whether the first argument is the caller's own id: with `process` its process id, else its thread id. */
static bool is_self(const struct seccomp_notif *q, bool process)
{
    char path[48];
    (void)snprintf(path, sizeof path, "/proc/%u/status", q->pid);
    const char *text = hc_status_read(AT_FDCWD, path);
    long id = text ? hc_status_inner_id(text, process ? "NStgid" : "NSpid") : -1;
    return id > 0 && (int)q->data.args[0] == id;
}

static const struct {
    const char *call; /* name of the call */
    bool process;     /* its first argument is a process ID, else a thread ID */
    int number;       /* index of the argument with the signal's number */
} signals[] = {{"kill", true, 1},
               {"tkill", false, 1},
               {"tgkill", true, 2},
               {"rt_sigqueueinfo", true, 1},
               {"rt_tgsigqueueinfo", true, 2}};

/* SIGCONT is refused: an allowed call takes effect when the process next runs, so a process that was
 * stopped meanwhile could continue itself. */
static bool may_signal(const struct seccomp_notif *q)
{
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        if (is_call(q, signals[i].call))
            return (int)q->data.args[signals[i].number] != SIGCONT && is_self(q, signals[i].process);
    return false;
}

bool hc_fork_permit_ask(void *ctx, const struct seccomp_notif *q)
{
    return is_call(q, "clone") ? may_fork(ctx, q) : may_signal(q);
}
