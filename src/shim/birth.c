#include "shim/birth.h"

#include "base/fd.h"
#include "inside/plan.h"
#include "policy/calls.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define FIRST_STACK   262144 /* bytes of stack for inside.c in the cell's first process */
#define BETWEEN_STACK 65536  /* bytes of stack for be_between */
#define WAIT_STACK    16384  /* bytes of stack for wait_to_be_killed */
#define MAP_BYTES     256    /* most bytes of a map of a zygote's ids, which has two lines */

static int owner = -1; /* the user namespace that owns the networks of all cells */

/* ---- the owner ---- */

static int wait_to_be_killed(void *nothing)
{
    (void)nothing;
    (void)pause(); /* no signal has a handler */
    _exit(0);
}

/* Gives the user namespace of process `pid` the zygote's own ids, with the same numbers. `file`: "uid_map" or
 * "gid_map". */
static int map_alike(pid_t pid, const char *file, struct hc_error *err)
{
    char own[64], theirs[64], lines[MAP_BYTES], text[MAP_BYTES] = "";
    size_t len = 0;
    (void)snprintf(own, sizeof own, "/proc/self/%s", file);
    (void)snprintf(theirs, sizeof theirs, "/proc/%d/%s", pid, file);
    if (hc_read_attr(AT_FDCWD, own, lines, sizeof lines) < 0)
        return hc_fail(err, errno, "read %s", own);
    for (char *at = lines; *at && len < sizeof text;) {
        unsigned long first = strtoul(at, &at, 10);
        (void)strtoul(at, &at, 10);
        unsigned long count = strtoul(at, &at, 10);
        len += (size_t)snprintf(text + len, sizeof text - len, "%lu %lu %lu\n", first, first, count);
        at += strspn(at, " \n");
    }
    return len < sizeof text ? hc_write_attr(AT_FDCWD, theirs, text, err)
                             : hc_fail(err, 0, "%s is long", own);
}

static int map_and_open(pid_t pid, struct hc_error *err)
{
    char groups[64], space[64];
    (void)snprintf(groups, sizeof groups, "/proc/%d/setgroups", pid);
    (void)snprintf(space, sizeof space, "/proc/%d/ns/user", pid);
    if (hc_write_attr(AT_FDCWD, groups, "deny", err) < 0 || map_alike(pid, "uid_map", err) < 0 ||
        map_alike(pid, "gid_map", err) < 0)
        return -1;
    owner = open(space, O_RDONLY | O_CLOEXEC);
    return owner < 0 ? hc_fail(err, errno, "open %s", space) : 0;
}

int hc_birth_prepare(struct hc_error *err)
{
    static _Alignas(16) char stack[WAIT_STACK];
    pid_t pid = clone(wait_to_be_killed, stack + sizeof stack, HC_OWNER_CLONE, NULL);
    if (pid < 0)
        return hc_fail_as(err, HC_EXIT_UNAVAILABLE, errno, "make the user namespace that owns networks");
    int rc = prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) < 0 /* else root would own its files in /proc */
                 ? hc_fail(err, errno, "open up for a moment")
                 : map_and_open(pid, err);
    if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0 && rc == 0)
        rc = hc_fail(err, errno, "hide this process");
    (void)kill(pid, SIGKILL);
    (void)TEMP_FAILURE_RETRY(waitpid(pid, NULL, 0));
    return rc < 0 ? hc_exit_as(err, HC_EXIT_UNAVAILABLE) : 0;
}

/* ---- the first process of a cell ---- */

/* One birth, in the memory that the zygote, the process between and the first process share. */
struct shared_birth {
    const struct hc_birth *of; /* borrowed */
    int pid;                   /* the first process; -1: there is none */
    int error;                 /* errno of the step that failed */
};

static int enter_network(int fd)
{
    struct hc_error err;
    int interfaces, up;
    if (fd >= 0)
        return setns(fd, CLONE_NEWNET);
    if (unshare(CLONE_NEWNET) < 0)
        return -1;
    /* The cell has no right to do that. */
    if (hc_loopback_up(false, &interfaces, &up, &err) == 0)
        return 0;
    errno = err.sys;
    return -1;
}

/* Takes the ids of the new cell, as a user namespace belongs to the ids that make it, and mapping one's own
 * id into it needs no rights. These are raw system calls, as libc's functions would change the zygote's
 * threads, too. */
static int set_ids(uid_t uid, gid_t gid)
{
    return syscall(SYS_setresgid, -1, gid, -1) < 0 || syscall(SYS_setresuid, -1, uid, -1) < 0 ? -1 : 0;
}

/* The process between, which a zygote needs since it could not come back from the owner. */
static int be_between(void *arg)
{
    static _Alignas(16) char stack[FIRST_STACK];
    struct shared_birth *l = arg;
    const struct hc_birth *b = l->of;
    if (setns(owner, CLONE_NEWUSER) == 0 && enter_network(b->network_fd) == 0 && set_ids(b->uid, b->gid) == 0)
        l->pid = clone(b->first, stack + sizeof stack, HC_ZYGOTE_CLONE, b->arg);
    l->error = errno;
    _exit(0);
}

pid_t hc_birth_give(const struct hc_birth *birth)
{
    static _Alignas(16) char stack[BETWEEN_STACK];
    /* Others write to it while this process waits. */
    volatile struct shared_birth l = {.of = birth, .pid = -1};
    if (clone(be_between, stack + sizeof stack, HC_BETWEEN_CLONE, (void *)(uintptr_t)&l) < 0)
        return -1;
    errno = l.error;
    return l.pid;
}
