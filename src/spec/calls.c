#include "spec/calls.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>

/* Calls that need no look at their arguments. Whatever is on no list fails with ENOSYS: that is what libc and
 * libraries are written to survive. A name that an architecture does not have is passed over. */
const struct hc_call_set hc_call_sets[] = {
    {"io", HC_IN_JOB, "read and write what is open",
     "read write readv writev pread64 pwrite64 preadv pwritev preadv2 pwritev2 lseek close close_range dup "
     "dup2 dup3 pipe "
     "pipe2 fsync fdatasync ftruncate fallocate fadvise64 sendfile copy_file_range poll ppoll select "
     "pselect6 "
     "epoll_create epoll_create1 epoll_ctl epoll_wait epoll_pwait epoll_pwait2 eventfd eventfd2 "
     "timerfd_create "
     "timerfd_settime timerfd_gettime signalfd4 sync_file_range"},
    {"files", HC_IN_JOB, "what may be opened is decided by mounts and Landlock",
     "stat fstat lstat newfstatat statx access faccessat faccessat2 readlink readlinkat getdents "
     "getdents64 getcwd chdir fchdir mkdir mkdirat rmdir unlink unlinkat rename renameat renameat2 link "
     "linkat symlink symlinkat utime utimes utimensat futimesat statfs fstatfs truncate umask "
     "getxattr lgetxattr fgetxattr listxattr llistxattr flistxattr"},
    {"memory", HC_IN_JOB, "the allocator and numeric libraries",
     "munmap mprotect mremap madvise brk msync mincore membarrier get_mempolicy"},
    {"self", HC_IN_JOB, "a process asks about and ends itself",
     "getpid gettid getppid getuid geteuid getgid getegid getpgrp getpgid getsid setpgid setsid getgroups "
     "getresuid getresgid "
     "getrlimit setrlimit getrusage times sysinfo uname getpriority capget exit exit_group restart_syscall "
     "arch_prctl set_tid_address "
     "set_robust_list get_robust_list rseq getrandom getcpu"},
    {"threads", HC_IN_JOB, "threads wait for each other",
     "futex futex_waitv sched_yield sched_getaffinity sched_setaffinity sched_getparam sched_getscheduler "
     "sched_get_priority_max sched_get_priority_min wait4 waitid"},
    {"signals", HC_IN_JOB, "to processes of the same cell; the others are not visible",
     "kill tkill tgkill rt_sigaction rt_sigprocmask rt_sigreturn rt_sigpending rt_sigtimedwait rt_sigsuspend "
     "rt_sigqueueinfo "
     "rt_tgsigqueueinfo sigaltstack pause alarm"},
    {"time", HC_IN_JOB, "clocks and timers; setting them needs rights that the cell lacks",
     "nanosleep clock_nanosleep clock_gettime clock_getres gettimeofday time setitimer getitimer "
     "timer_create timer_settime "
     "timer_gettime timer_getoverrun timer_delete"},
    {"channel", HC_IN_JOB, "sockets that are open already: the control channel and socket pairs",
     "sendto sendmsg recvfrom recvmsg shutdown getsockname getpeername getsockopt"},
    {"sockets", HC_WITH_SOCKETS, "servers and clients on the cell's own loopback interface",
     "bind listen accept accept4 connect sendmmsg recvmmsg"},
    {"launch", HC_IN_FIRST, "the shim is executed, and loads the job's filter", "execveat seccomp"},
};
const size_t hc_call_sets_count = sizeof hc_call_sets / sizeof *hc_call_sets;

#define NO_NAMESPACES "no namespaces inside a cell"

/* Calls that get another errno than ENOSYS, because programs understand it better. */
const struct hc_call_refusal hc_call_refusals[] = {
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
const size_t hc_call_refusals_count = sizeof hc_call_refusals / sizeof *hc_call_refusals;

#define NS_FLAGS                                                                                             \
    (CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS |               \
     CLONE_NEWCGROUP)
#define SHARED      (CLONE_THREAD | CLONE_FILES | CLONE_FS)
#define CREATES     (O_CREAT | (O_TMPFILE & ~O_DIRECTORY))
#define SET_ID      (S_ISUID | S_ISGID)
#define SET_ID_WHY  "in a bind-mounted /output it would lend the caller's id to other users of the host"
#define SOCKET_KIND 0xfULL /* without SOCK_CLOEXEC and SOCK_NONBLOCK */
#define PR_SET_VMA_ 0x53564d41
#define SOCKET_OPTION(option)                                                                                \
    {                                                                                                        \
        "setsockopt", HC_WITH_SOCKETS, {{1, HC_WORD_MASK, SOL_SOCKET}, {2, HC_WORD_MASK, option}},           \
            "sockets of the cell's own", 0                                                                   \
    }
#define TIOCLINUX_ 0x541c

/* Calls decided by their arguments: allowed, or refused with `error`; what matches no row gets ENOSYS, as
 * libseccomp has no "otherwise". `mask` 0 ends the comparisons of a row. */
const struct hc_call_rule hc_call_rules[] = {
    /* CLONE_NEWTIME is below CSIGNAL and reachable only by clone3 and unshare. */
    /* With a table of open files of its own, each thread would have limits.open_files for itself. */
    {"clone", HC_IN_JOB, {{0, SHARED | NS_FLAGS, SHARED}, {0}}, "threads", 0},
    {"clone", HC_IN_FIRST | HC_WITH_FORK, {{0, NS_FLAGS, 0}, {0}}, "processes without new namespaces", 0},
    {"clone", HC_NO_FORK, {{0, CLONE_THREAD, 0}, {0}}, "the policy does not allow processes", EPERM},
    {"clone", HC_IN_JOB, {{0, CLONE_NEWUSER, CLONE_NEWUSER}, {0}}, NO_NAMESPACES, EPERM},
    {"clone", HC_IN_JOB, {{0, CLONE_NEWNS, CLONE_NEWNS}, {0}}, NO_NAMESPACES, EPERM},
    {"clone", HC_IN_JOB, {{0, CLONE_NEWPID, CLONE_NEWPID}, {0}}, NO_NAMESPACES, EPERM},
    {"clone", HC_IN_JOB, {{0, CLONE_NEWNET, CLONE_NEWNET}, {0}}, NO_NAMESPACES, EPERM},
    {"clone", HC_IN_JOB, {{0, CLONE_NEWIPC, CLONE_NEWIPC}, {0}}, NO_NAMESPACES, EPERM},
    {"clone", HC_IN_JOB, {{0, CLONE_NEWUTS, CLONE_NEWUTS}, {0}}, NO_NAMESPACES, EPERM},
    {"clone", HC_IN_JOB, {{0, CLONE_NEWCGROUP, CLONE_NEWCGROUP}, {0}}, NO_NAMESPACES, EPERM},
    {"fork", HC_IN_FIRST | HC_WITH_FORK, {{0}}, "processes", 0},
    {"vfork", HC_IN_FIRST | HC_WITH_FORK, {{0}}, "processes", 0},
    {"mmap", HC_COUNTED, {{0}}, "memory and files", 0},
    {"mmap", HC_UNCOUNTED, {{3, MAP_ANONYMOUS, 0}, {0}}, "files", 0},
    {"mmap", HC_UNCOUNTED, {{3, MAP_SHARED, 0}, {0}}, "private memory", 0},
    {"mmap",
     HC_UNCOUNTED,
     {{3, MAP_ANONYMOUS | MAP_SHARED, MAP_ANONYMOUS | MAP_SHARED}, {0}},
     "it keeps pages that no process has mapped",
     EPERM},
    /* openat2 keeps its mode in memory, where a filter cannot look; nobody misses it. */
    {"open", HC_IN_JOB, {{1, CREATES, 0}, {0}}, "open what is there", 0},
    {"open", HC_IN_JOB, {{2, SET_ID, 0}, {0}}, "create", 0},
    {"openat", HC_IN_JOB, {{2, CREATES, 0}, {0}}, "open what is there", 0},
    {"openat", HC_IN_JOB, {{3, SET_ID, 0}, {0}}, "create", 0},
    {"creat", HC_IN_JOB, {{1, SET_ID, 0}, {0}}, "create", 0},
    {"chmod", HC_IN_JOB, {{1, SET_ID, 0}, {0}}, "modes of one's own files", 0},
    {"fchmod", HC_IN_JOB, {{1, SET_ID, 0}, {0}}, "modes of one's own files", 0},
    {"fchmodat", HC_IN_JOB, {{2, SET_ID, 0}, {0}}, "modes of one's own files", 0},
    {"chmod", HC_IN_JOB, {{1, S_ISUID, S_ISUID}, {0}}, SET_ID_WHY, EPERM},
    {"chmod", HC_IN_JOB, {{1, S_ISGID, S_ISGID}, {0}}, SET_ID_WHY, EPERM},
    {"fchmod", HC_IN_JOB, {{1, S_ISUID, S_ISUID}, {0}}, SET_ID_WHY, EPERM},
    {"fchmod", HC_IN_JOB, {{1, S_ISGID, S_ISGID}, {0}}, SET_ID_WHY, EPERM},
    {"fchmodat", HC_IN_JOB, {{2, S_ISUID, S_ISUID}, {0}}, SET_ID_WHY, EPERM},
    {"fchmodat", HC_IN_JOB, {{2, S_ISGID, S_ISGID}, {0}}, SET_ID_WHY, EPERM},
    {"fcntl", HC_IN_JOB, {{1, HC_WORD_MASK, F_DUPFD}, {0}}, "descriptors", 0},
    {"fcntl", HC_IN_JOB, {{1, HC_WORD_MASK, F_DUPFD_CLOEXEC}, {0}}, "descriptors", 0},
    {"fcntl", HC_IN_JOB, {{1, HC_WORD_MASK, F_GETFD}, {0}}, "close-on-exec", 0},
    {"fcntl", HC_IN_JOB, {{1, HC_WORD_MASK, F_SETFD}, {0}}, "close-on-exec", 0},
    {"fcntl", HC_IN_JOB, {{1, HC_WORD_MASK, F_GETFL}, {0}}, "non-blocking", 0},
    {"fcntl", HC_IN_JOB, {{1, HC_WORD_MASK, F_SETFL}, {0}}, "non-blocking", 0},
    {"fcntl", HC_IN_JOB, {{1, HC_WORD_MASK, F_GETLK}, {0}}, "SQLite locks its files", 0},
    {"fcntl", HC_IN_JOB, {{1, HC_WORD_MASK, F_SETLK}, {0}}, "SQLite locks its files", 0},
    {"fcntl", HC_IN_JOB, {{1, HC_WORD_MASK, F_SETLKW}, {0}}, "SQLite locks its files", 0},
    {"fcntl", HC_IN_JOB, {{1, HC_WORD_MASK, F_GETPIPE_SZ}, {0}}, "a question", 0},
    {"fcntl", HC_IN_JOB, {{1, HC_WORD_MASK, F_SETPIPE_SZ}, {0}}, "pipes are not counted as memory", EPERM},
    {"fcntl", HC_IN_JOB, {{1, HC_WORD_MASK, F_NOTIFY}, {0}}, "it would show what other cells read", EPERM},
    {"fcntl",
     HC_IN_JOB,
     {{1, HC_WORD_MASK, F_SETLEASE}, {0}},
     "the host's writers of an input would wait",
     EACCES},
    {"socketpair",
     HC_IN_JOB,
     {{0, HC_WORD_MASK, AF_UNIX}, {0}},
     "event loops wake themselves up through one",
     0},
    {"socket",
     HC_WITH_SOCKETS,
     {{0, HC_WORD_MASK, AF_INET}, {1, SOCKET_KIND, SOCK_STREAM}},
     "TCP on loopback",
     0},
    {"socket",
     HC_WITH_SOCKETS,
     {{0, HC_WORD_MASK, AF_INET}, {1, SOCKET_KIND, SOCK_DGRAM}},
     "UDP on loopback",
     0},
    {"socket",
     HC_WITH_SOCKETS,
     {{0, HC_WORD_MASK, AF_INET6}, {1, SOCKET_KIND, SOCK_STREAM}},
     "TCP on loopback",
     0},
    {"socket",
     HC_WITH_SOCKETS,
     {{0, HC_WORD_MASK, AF_INET6}, {1, SOCKET_KIND, SOCK_DGRAM}},
     "UDP on loopback",
     0},
    {"socket", HC_WITH_SOCKETS, {{0, HC_WORD_MASK, AF_UNIX}, {0}}, "local sockets", 0},
    SOCKET_OPTION(SO_REUSEADDR),
    SOCKET_OPTION(SO_REUSEPORT),
    SOCKET_OPTION(SO_BROADCAST),
    SOCKET_OPTION(SO_KEEPALIVE),
    SOCKET_OPTION(SO_OOBINLINE),
    SOCKET_OPTION(SO_RCVBUF),
    SOCKET_OPTION(SO_SNDBUF),
    SOCKET_OPTION(SO_RCVLOWAT),
    SOCKET_OPTION(SO_RCVTIMEO),
    SOCKET_OPTION(SO_SNDTIMEO),
    SOCKET_OPTION(SO_PASSCRED),
    {"setsockopt", HC_WITH_SOCKETS, {{1, HC_WORD_MASK, IPPROTO_IP}, {0}}, "addresses", 0},
    {"setsockopt", HC_WITH_SOCKETS, {{1, HC_WORD_MASK, IPPROTO_IPV6}, {0}}, "addresses", 0},
    {"setsockopt", HC_WITH_SOCKETS, {{1, HC_WORD_MASK, IPPROTO_TCP}, {0}}, "when to send", 0},
    {"setsockopt",
     HC_WITH_SOCKETS,
     {{1, HC_WORD_MASK, SOL_SOCKET}, {2, HC_WORD_MASK, SO_LINGER}},
     "the launcher would wait when it closes such a socket, which can be sent to it",
     EPERM},
    {"ioctl", HC_IN_JOB, {{1, HC_WORD_MASK, TCGETS}, {0}}, "isatty", 0},
    {"ioctl", HC_IN_JOB, {{1, HC_WORD_MASK, TIOCGWINSZ}, {0}}, "terminal size", 0},
    {"ioctl", HC_IN_JOB, {{1, HC_WORD_MASK, FIONREAD}, {0}}, "bytes waiting", 0},
    {"ioctl", HC_IN_JOB, {{1, HC_WORD_MASK, FIONBIO}, {0}}, "non-blocking", 0},
    {"ioctl", HC_IN_JOB, {{1, HC_WORD_MASK, FIOCLEX}, {0}}, "close-on-exec", 0},
    {"ioctl", HC_IN_JOB, {{1, HC_WORD_MASK, FIONCLEX}, {0}}, "close-on-exec", 0},
    {"ioctl", HC_IN_JOB, {{1, HC_WORD_MASK, TIOCSTI}, {0}}, "it types into a terminal", EPERM},
    {"ioctl", HC_IN_JOB, {{1, HC_WORD_MASK, TIOCLINUX_}, {0}}, "it pastes into a terminal", EPERM},
    {"prctl", HC_IN_JOB, {{0, HC_WORD_MASK, PR_SET_NAME}, {0}}, "thread names", 0},
    {"prctl", HC_IN_JOB, {{0, HC_WORD_MASK, PR_GET_NAME}, {0}}, "thread names", 0},
    {"prctl", HC_IN_JOB, {{0, HC_WORD_MASK, PR_SET_VMA_}, {0}}, "the allocator names its mappings", 0},
    {"prctl", HC_IN_JOB, {{0, HC_WORD_MASK, PR_GET_DUMPABLE}, {0}}, "a question", 0},
    {"prctl", HC_IN_JOB, {{0, HC_WORD_MASK, PR_GET_SECCOMP}, {0}}, "a question", 0},
    {"prctl", HC_IN_JOB, {{0, HC_WORD_MASK, PR_GET_NO_NEW_PRIVS}, {0}}, "a question", 0},
    {"prctl", HC_IN_JOB, {{0, HC_WORD_MASK, PR_CAPBSET_READ}, {0}}, "a question", 0},
    {"prctl", HC_IN_JOB, {{0, HC_WORD_MASK, PR_GET_SECUREBITS}, {0}}, "a question", 0},
    {"prctl",
     HC_IN_JOB,
     {{0, HC_WORD_MASK, PR_SET_PDEATHSIG}, {0}},
     "children that end with their parent",
     0},
    {"prctl",
     HC_IN_FIRST,
     {{0, HC_WORD_MASK, PR_SET_NO_NEW_PRIVS}, {0}},
     "set already; the shim makes sure",
     0},
    {"prctl", HC_IN_FIRST, {{0, HC_WORD_MASK, PR_SET_DUMPABLE}, {0}}, "the shim hides its memory", 0},
    {"prlimit64",
     HC_IN_JOB,
     {{0, HC_WORD_MASK, 0}, {0}},
     "one's own limits; the hard ones cannot be raised",
     0},
    {"mknod", HC_IN_JOB, {{1, S_IFMT, S_IFIFO}, {0}}, "named pipes, where Landlock lets them be made", 0},
    {"mknodat", HC_IN_JOB, {{2, S_IFMT, S_IFIFO}, {0}}, "named pipes, where Landlock lets them be made", 0},
    {"mknod", HC_IN_JOB, {{1, S_IFMT, S_IFCHR}, {0}}, "no devices", EPERM},
    {"mknod", HC_IN_JOB, {{1, S_IFMT, S_IFBLK}, {0}}, "no devices", EPERM},
    {"mknodat", HC_IN_JOB, {{2, S_IFMT, S_IFCHR}, {0}}, "no devices", EPERM},
    {"mknodat", HC_IN_JOB, {{2, S_IFMT, S_IFBLK}, {0}}, "no devices", EPERM},
};
const size_t hc_call_rules_count = sizeof hc_call_rules / sizeof *hc_call_rules;

/* Calls whose refusal, by either table, is told to the launcher (cell/filter.h). */
const struct hc_calls_told hc_calls_told[] = {
    {"clone fork vfork execve execveat",
     "work within this one process; threads may be started, other processes and programs not"},
    {"socket bind listen connect", "there is no network: pass data to the job as an input"},
    {"unshare setns mount umount2 pivot_root chroot open_tree move_mount fsopen mount_setattr "
     "open_by_handle_at ptrace process_vm_readv process_vm_writev pidfd_getfd bpf perf_event_open "
     "userfaultfd "
     "io_uring_setup add_key request_key keyctl personality ioctl",
     "work with data needs no such call: leave it out"},
};
const size_t hc_calls_told_count = sizeof hc_calls_told / sizeof *hc_calls_told;

#define NAMESPACE(call, flag)                                                                                \
    {                                                                                                        \
        call, 0, flag, flag, #flag                                                                           \
    }
#define NAMESPACES(call)                                                                                     \
    NAMESPACE(call, CLONE_NEWUSER), NAMESPACE(call, CLONE_NEWNS), NAMESPACE(call, CLONE_NEWPID),             \
        NAMESPACE(call, CLONE_NEWNET), NAMESPACE(call, CLONE_NEWIPC), NAMESPACE(call, CLONE_NEWUTS),         \
        NAMESPACE(call, CLONE_NEWCGROUP)

/* What a refused call is told with: the arguments that it is known by. */
const struct hc_call_word hc_call_words[] = {
    {"socket", 0, HC_WORD_MASK, AF_UNIX, "AF_UNIX"},
    {"socket", 0, HC_WORD_MASK, AF_INET, "AF_INET"},
    {"socket", 0, HC_WORD_MASK, AF_INET6, "AF_INET6"},
    {"socket", 0, HC_WORD_MASK, AF_NETLINK, "AF_NETLINK"},
    {"socket", 0, HC_WORD_MASK, AF_PACKET, "AF_PACKET"},
    {"socket", 0, HC_WORD_MASK, AF_VSOCK, "AF_VSOCK"},
    {"socket", 0, HC_WORD_MASK, AF_ALG, "AF_ALG"},
    {"socket", 1, SOCKET_KIND, SOCK_STREAM, "SOCK_STREAM"},
    {"socket", 1, SOCKET_KIND, SOCK_DGRAM, "SOCK_DGRAM"},
    {"socket", 1, SOCKET_KIND, SOCK_RAW, "SOCK_RAW"},
    {"clone", 0, CLONE_THREAD, 0, "a new process"},
    NAMESPACES("unshare"),
    NAMESPACES("clone"),
    {"ioctl", 1, HC_WORD_MASK, TIOCSTI, "TIOCSTI"},
    {"ioctl", 1, HC_WORD_MASK, TIOCLINUX_, "TIOCLINUX"},
};
const size_t hc_call_words_count = sizeof hc_call_words / sizeof *hc_call_words;
