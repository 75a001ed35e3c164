/* Every decision depends on numbers in registers, which the caller cannot change after the answer; memory
 * that they point to is never read. */
#include "cell/seccomp/fork_permit.h"

#include "base/status.h"

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

/* Whether the caller is the process that may fork, or its child: a copy is the child of a child
 * (shim/session.c). */
static bool may_use(const struct hc_fork_permit *p, pid_t caller)
{
    char path[48];
    (void)snprintf(path, sizeof path, "/proc/%d/status", caller);
    const char *text = hc_status_read(AT_FDCWD, path);
    return text && (hc_status_field(text, "Tgid", 10, 0) == (uint64_t)p->owner ||
                    hc_status_field(text, "PPid", 10, 0) == (uint64_t)p->owner);
}

static bool may_fork(struct hc_fork_permit *p, const struct seccomp_notif *q)
{
    if (p->forks == 0 || q->data.args[0] != FORK_FLAGS || !may_use(p, (pid_t)q->pid))
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
