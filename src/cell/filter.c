#include "cell/filter.h"

#include "base/fd.h"
#include "base/hash.h"
#include "cell/kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/mman.h>
#include <sys/stat.h>

/* Which filters and policies a row belongs to. */
enum when {
    IN_JOB = 1 << 0,       /* allowed to guest code under every policy */
    IN_FIRST = 1 << 1,     /* only until the job's filter is on */
    WITH_FORK = 1 << 2,    /* processes: "fork" */
    WITH_SOCKETS = 1 << 3, /* network: "loopback" */
    NO_FORK = 1 << 4,      /* processes: "none", once the shim has made its own */
    COUNTED = 1 << 5,      /* a cgroup counts the cell's memory */
    UNCOUNTED = 1 << 6,    /* none does: the watch must be able to see it */
};

/* Calls that need no look at their arguments. Whatever is on no list fails with ENOSYS: that is what libc and
 * libraries are written to survive. A name that an architecture does not have is passed over. */
static const struct set {
    const char *name;
    unsigned when;
    const char *why;
    const char *calls;
} sets[] = {
    {"io", IN_JOB, "read and write what is open",
     "read write readv writev pread64 pwrite64 preadv pwritev preadv2 pwritev2 lseek close close_range dup "
     "dup2 dup3 pipe "
     "pipe2 fsync fdatasync ftruncate fallocate fadvise64 sendfile copy_file_range poll ppoll select "
     "pselect6 "
     "epoll_create epoll_create1 epoll_ctl epoll_wait epoll_pwait epoll_pwait2 eventfd eventfd2 "
     "timerfd_create "
     "timerfd_settime timerfd_gettime signalfd4 sync_file_range"},
    {"files", IN_JOB, "what may be opened is decided by mounts and Landlock",
     "stat fstat lstat newfstatat statx access faccessat faccessat2 readlink readlinkat getdents "
     "getdents64 getcwd chdir fchdir mkdir mkdirat rmdir unlink unlinkat rename renameat renameat2 link "
     "linkat symlink symlinkat utime utimes utimensat futimesat statfs fstatfs truncate umask "
     "getxattr lgetxattr fgetxattr listxattr llistxattr flistxattr"},
    {"memory", IN_JOB, "the allocator and numeric libraries",
     "munmap mprotect mremap madvise brk msync mincore membarrier get_mempolicy"},
    {"self", IN_JOB, "a process asks about and ends itself",
     "getpid gettid getppid getuid geteuid getgid getegid getpgrp getpgid getsid setpgid setsid getgroups "
     "getresuid getresgid "
     "getrlimit setrlimit getrusage times sysinfo uname getpriority capget exit exit_group restart_syscall "
     "arch_prctl set_tid_address "
     "set_robust_list get_robust_list rseq getrandom getcpu"},
    {"threads", IN_JOB, "threads wait for each other",
     "futex futex_waitv sched_yield sched_getaffinity sched_setaffinity sched_getparam sched_getscheduler "
     "sched_get_priority_max sched_get_priority_min wait4 waitid"},
    {"signals", IN_JOB, "to processes of the same cell; the others are not visible",
     "kill tkill tgkill rt_sigaction rt_sigprocmask rt_sigreturn rt_sigpending rt_sigtimedwait rt_sigsuspend "
     "rt_sigqueueinfo "
     "rt_tgsigqueueinfo sigaltstack pause alarm"},
    {"time", IN_JOB, "clocks and timers; setting them needs rights that the cell lacks",
     "nanosleep clock_nanosleep clock_gettime clock_getres gettimeofday time setitimer getitimer "
     "timer_create timer_settime "
     "timer_gettime timer_getoverrun timer_delete"},
    {"channel", IN_JOB, "sockets that are open already: the control channel and socket pairs",
     "sendto sendmsg recvfrom recvmsg shutdown getsockname getpeername getsockopt"},
    {"sockets", WITH_SOCKETS, "servers and clients on the cell's own loopback interface",
     "bind listen accept accept4 connect sendmmsg recvmmsg setsockopt"},
    {"launch", IN_FIRST, "the shim is executed, and loads the job's filter", "execveat seccomp"},
};

#define NO_NAMESPACES "no namespaces inside a cell"

/* Calls that get another errno than ENOSYS, because programs understand it better. */
static const struct refusal {
    const char *call;
    int error;
    const char *why;
} refusals[] = {
    {"clone3", ENOSYS, "its flags lie in memory that a filter cannot read; libc falls back to clone"},
    {"io_uring_setup", ENOSYS, "a ring submits calls that the filter does not see"},
    {"memfd_create", ENOSYS, "memory outside of every counted place"},
    {"execve", EPERM, "the cell has one program"},
    {"execveat", EPERM, "the cell has one program"},
    {"fork", EPERM, "the policy does not allow processes"},
    {"vfork", EPERM, "the policy does not allow processes"},
    {"socket", EAFNOSUPPORT, "the cell has no network; its channel is inherited"},
    {"bind", EACCES, "the cell has no network"},
    {"listen", EACCES, "the cell has no network"},
    {"connect", EACCES, "the cell has no network"},
    {"setsockopt", EPERM, "larger buffers are memory that a watch does not see"},
    {"flock", ENOLCK, "cells share the files of the tree, and would see each other's locks"},
    {"unshare", EPERM, NO_NAMESPACES},
    {"setns", EPERM, NO_NAMESPACES},
    {"mount", EPERM, "the mounts are fixed"},
    {"umount2", EPERM, "the mounts are fixed"},
    {"pivot_root", EPERM, "the mounts are fixed"},
    {"chroot", EPERM, "the mounts are fixed"},
    {"open_tree", EPERM, "the mounts are fixed"},
    {"move_mount", EPERM, "the mounts are fixed"},
    {"fsopen", EPERM, "the mounts are fixed"},
    {"mount_setattr", EPERM, "the mounts are fixed"},
    {"ptrace", EPERM, "no debugging"},
    {"process_vm_readv", EPERM, "no debugging"},
    {"process_vm_writev", EPERM, "no debugging"},
    {"pidfd_getfd", EPERM, "no debugging"},
    {"kcmp", EPERM, "no debugging"},
    {"bpf", EPERM, "kernel surface"},
    {"perf_event_open", EPERM, "kernel surface"},
    {"userfaultfd", EPERM, "kernel surface"},
    {"add_key", EPERM, "keyrings are shared between cells of one uid"},
    {"request_key", EPERM, "keyrings are shared between cells of one uid"},
    {"keyctl", EPERM, "keyrings are shared between cells of one uid"},
    {"chown", EPERM, "there is one user"},
    {"fchown", EPERM, "there is one user"},
    {"lchown", EPERM, "there is one user"},
    {"fchownat", EPERM, "there is one user"},
    {"setuid", EPERM, "there is one user"},
    {"setgid", EPERM, "there is one user"},
    {"setreuid", EPERM, "there is one user"},
    {"setregid", EPERM, "there is one user"},
    {"setresuid", EPERM, "there is one user"},
    {"setresgid", EPERM, "there is one user"},
    {"setgroups", EPERM, "there is one user"},
    {"setfsuid", EPERM, "there is one user"},
    {"setfsgid", EPERM, "there is one user"},
    {"capset", EPERM, "there are no capabilities"},
    {"setxattr", ENOTSUP, "extended attributes are not counted against any limit"},
    {"lsetxattr", ENOTSUP, "extended attributes are not counted against any limit"},
    {"fsetxattr", ENOTSUP, "extended attributes are not counted against any limit"},
    {"setpriority", EACCES, "priorities are the launcher's"},
    {"sched_setscheduler", EPERM, "priorities are the launcher's"},
    {"sched_setparam", EPERM, "priorities are the launcher's"},
    {"sched_setattr", EPERM, "priorities are the launcher's"},
    {"personality", EPERM, "it weakens address space layout"},
    {"open_by_handle_at", EPERM, "it goes round the mounts"},
    {"name_to_handle_at", EOPNOTSUPP, "it goes round the mounts"},
    {"syslog", EPERM, "the host's"},
    {"sethostname", EPERM, "the launcher's"},
    {"setdomainname", EPERM, "the launcher's"},
    {"inotify_add_watch", EACCES, "it would show what other cells read in the tree"},
    {"fanotify_init", EPERM, "it would show what other cells read in the tree"},
};

#define NS_FLAGS                                                                                             \
    (CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS |               \
     CLONE_NEWCGROUP)
#define SHARED      (CLONE_THREAD | CLONE_FILES | CLONE_FS)
#define CREATES     (O_CREAT | (O_TMPFILE & ~O_DIRECTORY))
#define SET_ID      (S_ISUID | S_ISGID)
#define SET_ID_WHY  "in a bind-mounted /output it would lend the caller's id to other users of the host"
#define WORD_MASK   0xffffffffULL /* the kernel looks at 32 bits of an int; so must the comparison */
#define SOCKET_KIND 0xfULL        /* without SOCK_CLOEXEC and SOCK_NONBLOCK */
#define PR_SET_VMA_ 0x53564d41
#define TIOCLINUX_  0x541c

/* Calls decided by their arguments: allowed, or refused with `error`; what matches no row gets ENOSYS, as
 * libseccomp has no "otherwise". `mask` 0 ends the comparisons of a row. */
static const struct rule {
    const char *call;
    unsigned when;
    struct {
        unsigned arg;
        uint64_t mask, value;
    } cmp[2];
    const char *why;
    int error;
} rules[] = {
    /* CLONE_NEWTIME is below CSIGNAL and reachable only by clone3 and unshare. */
    /* With a table of open files of its own, each thread would have limits.open_files for itself. */
    {"clone", IN_JOB, {{0, SHARED | NS_FLAGS, SHARED}, {0}}, "threads", 0},
    {"clone", IN_FIRST | WITH_FORK, {{0, NS_FLAGS, 0}, {0}}, "processes without new namespaces", 0},
    {"clone", NO_FORK, {{0, CLONE_THREAD, 0}, {0}}, "the policy does not allow processes", EPERM},
    {"clone", IN_JOB, {{0, CLONE_NEWUSER, CLONE_NEWUSER}, {0}}, NO_NAMESPACES, EPERM},
    {"clone", IN_JOB, {{0, CLONE_NEWNS, CLONE_NEWNS}, {0}}, NO_NAMESPACES, EPERM},
    {"clone", IN_JOB, {{0, CLONE_NEWPID, CLONE_NEWPID}, {0}}, NO_NAMESPACES, EPERM},
    {"clone", IN_JOB, {{0, CLONE_NEWNET, CLONE_NEWNET}, {0}}, NO_NAMESPACES, EPERM},
    {"clone", IN_JOB, {{0, CLONE_NEWIPC, CLONE_NEWIPC}, {0}}, NO_NAMESPACES, EPERM},
    {"clone", IN_JOB, {{0, CLONE_NEWUTS, CLONE_NEWUTS}, {0}}, NO_NAMESPACES, EPERM},
    {"clone", IN_JOB, {{0, CLONE_NEWCGROUP, CLONE_NEWCGROUP}, {0}}, NO_NAMESPACES, EPERM},
    {"fork", IN_FIRST | WITH_FORK, {{0}}, "processes", 0},
    {"vfork", IN_FIRST | WITH_FORK, {{0}}, "processes", 0},
    {"mmap", COUNTED, {{0}}, "memory and files", 0},
    {"mmap", UNCOUNTED, {{3, MAP_ANONYMOUS, 0}, {0}}, "files", 0},
    {"mmap", UNCOUNTED, {{3, MAP_SHARED, 0}, {0}}, "private memory", 0},
    {"mmap",
     UNCOUNTED,
     {{3, MAP_ANONYMOUS | MAP_SHARED, MAP_ANONYMOUS | MAP_SHARED}, {0}},
     "it keeps pages that no process has mapped",
     EPERM},
    /* openat2 keeps its mode in memory, where a filter cannot look; nobody misses it. */
    {"open", IN_JOB, {{1, CREATES, 0}, {0}}, "open what is there", 0},
    {"open", IN_JOB, {{2, SET_ID, 0}, {0}}, "create", 0},
    {"openat", IN_JOB, {{2, CREATES, 0}, {0}}, "open what is there", 0},
    {"openat", IN_JOB, {{3, SET_ID, 0}, {0}}, "create", 0},
    {"creat", IN_JOB, {{1, SET_ID, 0}, {0}}, "create", 0},
    {"chmod", IN_JOB, {{1, SET_ID, 0}, {0}}, "modes of one's own files", 0},
    {"fchmod", IN_JOB, {{1, SET_ID, 0}, {0}}, "modes of one's own files", 0},
    {"fchmodat", IN_JOB, {{2, SET_ID, 0}, {0}}, "modes of one's own files", 0},
    {"chmod", IN_JOB, {{1, S_ISUID, S_ISUID}, {0}}, SET_ID_WHY, EPERM},
    {"chmod", IN_JOB, {{1, S_ISGID, S_ISGID}, {0}}, SET_ID_WHY, EPERM},
    {"fchmod", IN_JOB, {{1, S_ISUID, S_ISUID}, {0}}, SET_ID_WHY, EPERM},
    {"fchmod", IN_JOB, {{1, S_ISGID, S_ISGID}, {0}}, SET_ID_WHY, EPERM},
    {"fchmodat", IN_JOB, {{2, S_ISUID, S_ISUID}, {0}}, SET_ID_WHY, EPERM},
    {"fchmodat", IN_JOB, {{2, S_ISGID, S_ISGID}, {0}}, SET_ID_WHY, EPERM},
    {"fcntl", IN_JOB, {{1, WORD_MASK, F_DUPFD}, {0}}, "descriptors", 0},
    {"fcntl", IN_JOB, {{1, WORD_MASK, F_DUPFD_CLOEXEC}, {0}}, "descriptors", 0},
    {"fcntl", IN_JOB, {{1, WORD_MASK, F_GETFD}, {0}}, "close-on-exec", 0},
    {"fcntl", IN_JOB, {{1, WORD_MASK, F_SETFD}, {0}}, "close-on-exec", 0},
    {"fcntl", IN_JOB, {{1, WORD_MASK, F_GETFL}, {0}}, "non-blocking", 0},
    {"fcntl", IN_JOB, {{1, WORD_MASK, F_SETFL}, {0}}, "non-blocking", 0},
    {"fcntl", IN_JOB, {{1, WORD_MASK, F_GETLK}, {0}}, "SQLite locks its files", 0},
    {"fcntl", IN_JOB, {{1, WORD_MASK, F_SETLK}, {0}}, "SQLite locks its files", 0},
    {"fcntl", IN_JOB, {{1, WORD_MASK, F_SETLKW}, {0}}, "SQLite locks its files", 0},
    {"fcntl", IN_JOB, {{1, WORD_MASK, F_GETPIPE_SZ}, {0}}, "a question", 0},
    {"fcntl", IN_JOB, {{1, WORD_MASK, F_SETPIPE_SZ}, {0}}, "pipes are not counted as memory", EPERM},
    {"fcntl", IN_JOB, {{1, WORD_MASK, F_NOTIFY}, {0}}, "it would show what other cells read", EPERM},
    {"fcntl", IN_JOB, {{1, WORD_MASK, F_SETLEASE}, {0}}, "the host's writers of an input would wait", EACCES},
    {"socketpair", IN_JOB, {{0, WORD_MASK, AF_UNIX}, {0}}, "event loops wake themselves up through one", 0},
    {"socket", WITH_SOCKETS, {{0, WORD_MASK, AF_INET}, {1, SOCKET_KIND, SOCK_STREAM}}, "TCP on loopback", 0},
    {"socket", WITH_SOCKETS, {{0, WORD_MASK, AF_INET}, {1, SOCKET_KIND, SOCK_DGRAM}}, "UDP on loopback", 0},
    {"socket", WITH_SOCKETS, {{0, WORD_MASK, AF_INET6}, {1, SOCKET_KIND, SOCK_STREAM}}, "TCP on loopback", 0},
    {"socket", WITH_SOCKETS, {{0, WORD_MASK, AF_INET6}, {1, SOCKET_KIND, SOCK_DGRAM}}, "UDP on loopback", 0},
    {"socket", WITH_SOCKETS, {{0, WORD_MASK, AF_UNIX}, {0}}, "local sockets", 0},
    {"ioctl", IN_JOB, {{1, WORD_MASK, TCGETS}, {0}}, "isatty", 0},
    {"ioctl", IN_JOB, {{1, WORD_MASK, TIOCGWINSZ}, {0}}, "terminal size", 0},
    {"ioctl", IN_JOB, {{1, WORD_MASK, FIONREAD}, {0}}, "bytes waiting", 0},
    {"ioctl", IN_JOB, {{1, WORD_MASK, FIONBIO}, {0}}, "non-blocking", 0},
    {"ioctl", IN_JOB, {{1, WORD_MASK, FIOCLEX}, {0}}, "close-on-exec", 0},
    {"ioctl", IN_JOB, {{1, WORD_MASK, FIONCLEX}, {0}}, "close-on-exec", 0},
    {"ioctl", IN_JOB, {{1, WORD_MASK, TIOCSTI}, {0}}, "it types into a terminal", EPERM},
    {"ioctl", IN_JOB, {{1, WORD_MASK, TIOCLINUX_}, {0}}, "it pastes into a terminal", EPERM},
    {"prctl", IN_JOB, {{0, WORD_MASK, PR_SET_NAME}, {0}}, "thread names", 0},
    {"prctl", IN_JOB, {{0, WORD_MASK, PR_GET_NAME}, {0}}, "thread names", 0},
    {"prctl", IN_JOB, {{0, WORD_MASK, PR_SET_VMA_}, {0}}, "the allocator names its mappings", 0},
    {"prctl", IN_JOB, {{0, WORD_MASK, PR_GET_DUMPABLE}, {0}}, "a question", 0},
    {"prctl", IN_JOB, {{0, WORD_MASK, PR_GET_SECCOMP}, {0}}, "a question", 0},
    {"prctl", IN_JOB, {{0, WORD_MASK, PR_GET_NO_NEW_PRIVS}, {0}}, "a question", 0},
    {"prctl", IN_JOB, {{0, WORD_MASK, PR_CAPBSET_READ}, {0}}, "a question", 0},
    {"prctl", IN_JOB, {{0, WORD_MASK, PR_GET_SECUREBITS}, {0}}, "a question", 0},
    {"prctl", IN_JOB, {{0, WORD_MASK, PR_SET_PDEATHSIG}, {0}}, "children that end with their parent", 0},
    {"prctl", IN_FIRST, {{0, WORD_MASK, PR_SET_NO_NEW_PRIVS}, {0}}, "set already; the shim makes sure", 0},
    {"prctl", IN_FIRST, {{0, WORD_MASK, PR_SET_DUMPABLE}, {0}}, "the shim hides its memory", 0},
    {"prlimit64", IN_JOB, {{0, WORD_MASK, 0}, {0}}, "one's own limits; the hard ones cannot be raised", 0},
    {"mknod", IN_JOB, {{1, S_IFMT, S_IFIFO}, {0}}, "named pipes, where Landlock lets them be made", 0},
    {"mknodat", IN_JOB, {{2, S_IFMT, S_IFIFO}, {0}}, "named pipes, where Landlock lets them be made", 0},
    {"mknod", IN_JOB, {{1, S_IFMT, S_IFCHR}, {0}}, "no devices", EPERM},
    {"mknod", IN_JOB, {{1, S_IFMT, S_IFBLK}, {0}}, "no devices", EPERM},
    {"mknodat", IN_JOB, {{2, S_IFMT, S_IFCHR}, {0}}, "no devices", EPERM},
    {"mknodat", IN_JOB, {{2, S_IFMT, S_IFBLK}, {0}}, "no devices", EPERM},
};

/* Calls whose refusal, by either table, is told to the launcher (filter.h). */
static const struct told {
    const char *calls;
    const char *hint; /* what to do instead */
} told[] = {
    {"clone fork vfork execve execveat",
     "work within this one process; threads may be started, other processes and programs not"},
    {"socket bind listen connect", "there is no network: pass data to the job as an input"},
    {"unshare setns mount umount2 pivot_root chroot open_tree move_mount fsopen mount_setattr "
     "open_by_handle_at ptrace process_vm_readv process_vm_writev pidfd_getfd bpf perf_event_open "
     "userfaultfd "
     "io_uring_setup add_key request_key keyctl personality ioctl",
     "work with data needs no such call: leave it out"},
};

#define NAMESPACE(call, flag)                                                                                \
    {                                                                                                        \
        call, 0, flag, flag, #flag                                                                           \
    }
#define NAMESPACES(call)                                                                                     \
    NAMESPACE(call, CLONE_NEWUSER), NAMESPACE(call, CLONE_NEWNS), NAMESPACE(call, CLONE_NEWPID),             \
        NAMESPACE(call, CLONE_NEWNET), NAMESPACE(call, CLONE_NEWIPC), NAMESPACE(call, CLONE_NEWUTS),         \
        NAMESPACE(call, CLONE_NEWCGROUP)

/* What a refused call is told with: the arguments that it is known by. */
static const struct word {
    const char *call;
    unsigned arg;
    uint64_t mask, value;
    const char *name;
} words[] = {
    {"socket", 0, WORD_MASK, AF_UNIX, "AF_UNIX"},
    {"socket", 0, WORD_MASK, AF_INET, "AF_INET"},
    {"socket", 0, WORD_MASK, AF_INET6, "AF_INET6"},
    {"socket", 0, WORD_MASK, AF_NETLINK, "AF_NETLINK"},
    {"socket", 0, WORD_MASK, AF_PACKET, "AF_PACKET"},
    {"socket", 0, WORD_MASK, AF_VSOCK, "AF_VSOCK"},
    {"socket", 0, WORD_MASK, AF_ALG, "AF_ALG"},
    {"socket", 1, SOCKET_KIND, SOCK_STREAM, "SOCK_STREAM"},
    {"socket", 1, SOCKET_KIND, SOCK_DGRAM, "SOCK_DGRAM"},
    {"socket", 1, SOCKET_KIND, SOCK_RAW, "SOCK_RAW"},
    {"clone", 0, CLONE_THREAD, 0, "a new process"},
    NAMESPACES("unshare"),
    NAMESPACES("clone"),
    {"ioctl", 1, WORD_MASK, TIOCSTI, "TIOCSTI"},
    {"ioctl", 1, WORD_MASK, TIOCLINUX_, "TIOCLINUX"},
};

static unsigned wanted(enum hc_filter_kind kind, const struct hc_policy *p, bool counted)
{
    unsigned when = IN_JOB | (counted ? COUNTED : UNCOUNTED);
    if (kind == HC_FILTER_FIRST)
        when |= IN_FIRST;
    if (p->processes == HC_PROCESSES_FORK)
        when |= WITH_FORK;
    else if (kind != HC_FILTER_FIRST)
        when |= NO_FORK;
    if (p->network == HC_NETWORK_LOOPBACK)
        when |= WITH_SOCKETS;
    return when;
}

/* The calls that some row has decided already. */
struct seen {
    int numbers[512];
    size_t count;
};

static bool seen_before(const struct seen *s, int nr)
{
    for (size_t i = 0; i < s->count; i++)
        if (s->numbers[i] == nr)
            return true;
    return false;
}

static void remember(struct seen *s, int nr)
{
    if (!seen_before(s, nr) && s->count < sizeof s->numbers / sizeof *s->numbers)
        s->numbers[s->count++] = nr;
}

/* NULL: its refusal is not told. */
static const char *hint_of(const char *call)
{
    size_t len = strlen(call);
    for (size_t i = 0; i < sizeof told / sizeof *told; i++)
        for (const char *at = told[i].calls; *at; at += strspn(at, " ")) {
            size_t word = strcspn(at, " ");
            if (word == len && memcmp(at, call, len) == 0)
                return told[i].hint;
            at += word;
        }
    return NULL;
}

/* What this filter does about a call that is refused with `error`. */
static uint32_t refuse(enum hc_filter_kind kind, const char *call, int error)
{
    if (!hint_of(call))
        return SCMP_ACT_ERRNO((uint32_t)error);
    return kind == HC_FILTER_JOB ? SCMP_ACT_ALLOW : SCMP_ACT_NOTIFY;
}

/* The reporting filter lets pass whatever it does not report. */
static int add_rule(scmp_filter_ctx ctx, enum hc_filter_kind kind, uint32_t action, int nr, unsigned n,
                    const struct scmp_arg_cmp *cmp)
{
    if (kind == HC_FILTER_REPORT && action != SCMP_ACT_NOTIFY)
        return 0;
    return seccomp_rule_add_array(ctx, action, nr, n, cmp);
}

static int add_sets(scmp_filter_ctx ctx, enum hc_filter_kind kind, unsigned when, struct seen *seen,
                    struct hc_error *err)
{
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        if (!(sets[i].when & when))
            continue;
        char names[1024];
        (void)snprintf(names, sizeof names, "%s", sets[i].calls);
        char *rest = NULL;
        for (char *name = strtok_r(names, " ", &rest); name; name = strtok_r(NULL, " ", &rest)) {
            int nr = seccomp_syscall_resolve_name(name);
            if (nr < 0)
                continue;
            int rc = add_rule(ctx, kind, SCMP_ACT_ALLOW, nr, 0, NULL);
            if (rc < 0)
                return hc_fail(err, -rc, "allow %s", name);
            remember(seen, nr);
        }
    }
    return 0;
}

static int add_rules(scmp_filter_ctx ctx, enum hc_filter_kind kind, unsigned when, struct seen *seen,
                     struct hc_error *err)
{
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        const struct rule *r = &rules[i];
        int nr = seccomp_syscall_resolve_name(r->call);
        if (!(r->when & when) || nr < 0)
            continue;
        struct scmp_arg_cmp cmp[2];
        unsigned n = 0;
        for (; n < 2 && r->cmp[n].mask; n++)
            cmp[n] = SCMP_CMP64(r->cmp[n].arg, SCMP_CMP_MASKED_EQ, r->cmp[n].mask, r->cmp[n].value);
        uint32_t action = r->error ? refuse(kind, r->call, r->error) : SCMP_ACT_ALLOW;
        int rc = add_rule(ctx, kind, action, nr, n, cmp);
        if (rc < 0)
            return hc_fail(err, -rc, "%s %s", r->error ? "refuse" : "allow", r->call);
        remember(seen, nr);
    }
    return 0;
}

/* Those that no other row has decided for this filter. */
static int add_refusals(scmp_filter_ctx ctx, enum hc_filter_kind kind, const struct seen *seen,
                        struct hc_error *err)
{
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        const struct refusal *r = &refusals[i];
        int nr = seccomp_syscall_resolve_name(r->call);
        uint32_t action = refuse(kind, r->call, r->error);
        if (nr < 0 || action == SCMP_ACT_ERRNO(ENOSYS) || seen_before(seen, nr))
            continue;
        int rc = add_rule(ctx, kind, action, nr, 0, NULL);
        if (rc < 0)
            return hc_fail(err, -rc, "refuse %s", r->call);
    }
    return 0;
}

static int export_bpf(scmp_filter_ctx ctx, struct hc_buf *out, struct hc_error *err)
{
    hc_autofd fd = memfd_create("filter", MFD_CLOEXEC);
    if (fd < 0)
        return hc_fail(err, errno, "memfd_create");
    int rc = seccomp_export_bpf(ctx, fd);
    if (rc < 0)
        return hc_fail(err, -rc, "export the seccomp filter");
    if (lseek(fd, 0, SEEK_SET) < 0)
        return hc_fail(err, errno, "rewind the seccomp filter");
    return hc_read_all(fd, out, sizeof(struct sock_filter) * BPF_MAXINSNS, err);
}

static int compile(enum hc_filter_kind kind, const struct hc_policy *policy, bool counted, struct hc_buf *out,
                   struct hc_error *err)
{
    /* Wrong architecture (32-bit calls on a 64-bit kernel) ends the process: libseccomp's default. */
    scmp_filter_ctx ctx = seccomp_init(kind == HC_FILTER_REPORT ? SCMP_ACT_ALLOW : SCMP_ACT_ERRNO(ENOSYS));
    if (!ctx)
        return hc_fail(err, ENOMEM, "compile a seccomp filter");
    struct seen seen = {.count = 0};
    unsigned when = wanted(kind, policy, counted);
    /* A binary tree: loading a filter makes the kernel run it once for every call number. */
    int rc =
        seccomp_attr_set(ctx, SCMP_FLTATR_CTL_OPTIMIZE, 2) < 0 ? hc_fail(err, 0, "libseccomp is too old") : 0;
    if (rc == 0)
        rc = add_sets(ctx, kind, when, &seen, err);
    if (rc == 0)
        rc = add_rules(ctx, kind, when, &seen, err);
    if (rc == 0)
        rc = add_refusals(ctx, kind, &seen, err);
    if (rc == 0)
        rc = export_bpf(ctx, out, err);
    seccomp_release(ctx);
    return rc < 0 ? hc_ctx(err, "compile a seccomp filter") : 0;
}

static void hash_text(struct hc_hash *h, const char *text)
{
    hc_hash_add(h, text, strlen(text) + 1);
}

/* The cache key covers everything that goes into a filter: the tables, the choice, and who compiles it. */
static void cache_key(enum hc_filter_kind kind, const struct hc_policy *policy, bool counted,
                      char out[HC_SHA256_HEX])
{
    struct hc_hash h;
    hc_hash_init(&h);
    const struct scmp_version *v = seccomp_version();
    unsigned made[] = {kind,     wanted(kind, policy, counted), v->major, v->minor,
                       v->micro, seccomp_arch_native()};
    hc_hash_add(&h, made, sizeof made);
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        hash_text(&h, sets[i].calls);
        hc_hash_add(&h, &sets[i].when, sizeof sets[i].when);
    }
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        hash_text(&h, rules[i].call);
        hc_hash_add(&h, &rules[i].when, sizeof rules[i].when);
        for (size_t c = 0; c < 2; c++) {
            const uint64_t cmp[] = {rules[i].cmp[c].arg, rules[i].cmp[c].mask, rules[i].cmp[c].value};
            hc_hash_add(&h, cmp, sizeof cmp);
        }
        hc_hash_add(&h, &rules[i].error, sizeof rules[i].error);
    }
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        hash_text(&h, refusals[i].call);
        hc_hash_add(&h, &refusals[i].error, sizeof refusals[i].error);
    }
    for (size_t i = 0; i < sizeof told / sizeof *told; i++)
        hash_text(&h, told[i].calls);
    hc_hash_hex(&h, out);
}

/* A cached filter is SHA-256 of the rest, then the filter. It is trusted only if it is a plain file of our
 * own that nobody else may write to, since whoever writes it decides what the cell may call. */
static int cache_read(int dir, const char *name, struct hc_buf *out)
{
    hc_autofd fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    struct stat st;
    if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_uid != geteuid() || (st.st_mode & 022))
        return -1;
    struct hc_error ignored;
    hc_autobuf all = {0};
    const size_t max = HC_SHA256_HEX - 1 + sizeof(struct sock_filter) * BPF_MAXINSNS;
    if (hc_read_all(fd, &all, max, &ignored) < 0 || all.len < HC_SHA256_HEX)
        return -1;
    char digest[HC_SHA256_HEX];
    const char *body = all.data + HC_SHA256_HEX - 1;
    size_t len = all.len - (HC_SHA256_HEX - 1);
    hc_sha256_hex(body, len, digest);
    if (len % sizeof(struct sock_filter) || memcmp(digest, all.data, HC_SHA256_HEX - 1) != 0)
        return -1;
    return hc_buf_add(out, body, len);
}

static void cache_write(int dir, const char *name, const struct hc_buf *bpf)
{
    char digest[HC_SHA256_HEX], temp[96];
    hc_sha256_hex(bpf->data, bpf->len, digest);
    (void)snprintf(temp, sizeof temp, ".%.60s.%d", name, getpid());
    struct hc_error ignored;
    hc_autofd fd = openat(dir, temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return;
    if (hc_write_all(fd, digest, HC_SHA256_HEX - 1, &ignored) < 0 ||
        hc_write_all(fd, bpf->data, bpf->len, &ignored) < 0 || renameat(dir, temp, dir, name) < 0)
        (void)unlinkat(dir, temp, 0);
}

int hc_filter_get(enum hc_filter_kind kind, const struct hc_policy *policy, bool counted,
                  const char *cache_dir, struct hc_buf *out, struct hc_error *err)
{
    char key[HC_SHA256_HEX], name[HC_SHA256_HEX + 8];
    cache_key(kind, policy, counted, key);
    (void)snprintf(name, sizeof name, "%.32s.bpf", key);
    struct hc_error ignored;
    hc_autofd dir = -1;
    struct stat st;
    if (cache_dir && (access(cache_dir, F_OK) == 0 || hc_make_dirs(cache_dir, 0700, &ignored) == 0))
        dir = open(cache_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool usable = dir >= 0 && fstat(dir, &st) == 0 && st.st_uid == geteuid() && !(st.st_mode & 022);
    if (usable && cache_read(dir, name, out) == 0)
        return 0;
    hc_buf_clear(out);
    if (compile(kind, policy, counted, out, err) < 0)
        return -1;
    if (usable)
        cache_write(dir, name, out);
    return 0;
}

static bool decided_elsewhere(const char *call, unsigned when)
{
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if ((rules[i].when & when) && strcmp(rules[i].call, call) == 0)
            return true;
    size_t len = strlen(call);
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        if (!(sets[i].when & when))
            continue;
        for (const char *at = strstr(sets[i].calls, call); at; at = strstr(at + 1, call))
            if ((at == sets[i].calls || at[-1] == ' ') && (at[len] == ' ' || !at[len]))
                return true;
    }
    return false;
}

void hc_filter_each(const struct hc_policy *policy, bool counted, hc_filter_visitor *each, void *ctx)
{
    unsigned when = wanted(HC_FILTER_JOB, policy, counted);
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++)
        if (sets[i].when & when)
            each(ctx,
                 &(struct hc_filter_row){.name = sets[i].name, .calls = sets[i].calls, .why = sets[i].why});
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (rules[i].when & when)
            each(ctx, &(struct hc_filter_row){.name = rules[i].call,
                                              .by_arguments = rules[i].cmp[0].mask != 0,
                                              .error = rules[i].error,
                                              .why = rules[i].why});
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++)
        if (!decided_elsewhere(refusals[i].call, when))
            each(ctx, &(struct hc_filter_row){
                          .name = refusals[i].call, .error = refusals[i].error, .why = refusals[i].why});
}

/* ---- what a refused call was ---- */

static bool is_set_so(const struct seccomp_data *call, unsigned arg, uint64_t mask, uint64_t value)
{
    return (call->args[arg] & mask) == value;
}

static bool fits(const struct rule *r, const struct seccomp_data *call)
{
    for (size_t i = 0; i < 2 && r->cmp[i].mask; i++)
        if (!is_set_so(call, r->cmp[i].arg, r->cmp[i].mask, r->cmp[i].value))
            return false;
    return true;
}

static void say_what(const char *name, const struct seccomp_data *call, char *out, size_t size)
{
    size_t at = (size_t)snprintf(out, size, "%s", name);
    const char *before = "(";
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const struct word *w = &words[i];
        if (strcmp(w->call, name) != 0 || !is_set_so(call, w->arg, w->mask, w->value))
            continue;
        if (at < size)
            at += (size_t)snprintf(out + at, size - at, "%s%s", before, w->name);
        before = ", ";
    }
    if (*before == ',' && at < size)
        (void)snprintf(out + at, size - at, ")");
}

static bool is_call(const char *name, const struct seccomp_data *call)
{
    return hint_of(name) && seccomp_syscall_resolve_name(name) == call->nr;
}

static int describe(const char *name, int error, const struct seccomp_data *call, struct hc_denial *out)
{
    *out = (struct hc_denial){.by = HC_REFUSER_SECCOMP, .count = 1};
    const char *hint = hint_of(name);
    (void)snprintf(out->rule, sizeof out->rule, "%s", name);
    (void)snprintf(out->hint, sizeof out->hint, "%s", hint ? hint : "");
    say_what(name, call, out->what, sizeof out->what);
    return error;
}

/* The C library looks for a name service cache, over a socket of just this kind, whenever it is asked for a
 * user's or a host's name (nscd; tarfile and uuid do). It goes on without. */
bool hc_filter_is_habit(const struct seccomp_data *call)
{
    return is_call("socket", call) && is_set_so(call, 0, WORD_MASK, AF_UNIX) &&
           is_set_so(call, 1, WORD_MASK, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK);
}

int hc_filter_explain(const struct seccomp_data *call, struct hc_denial *out)
{
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (rules[i].error && is_call(rules[i].call, call) && fits(&rules[i], call))
            return describe(rules[i].call, rules[i].error, call, out);
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++)
        if (is_call(refusals[i].call, call))
            return describe(refusals[i].call, refusals[i].error, call, out);
    return describe("unknown", ENOSYS, call, out);
}
