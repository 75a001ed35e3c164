#include "policy/calls.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>

/* Calls that are allowed for different reasons are in different sets, so that a policy can deny one set and
 * keep the other. */
const struct hc_call_set hc_call_sets[] = {
    {"io", HC_IN_JOB, "read and write what is open", "read write readv writev pread64 pwrite64 lseek close"},
    {"vectors", HC_IN_JOB, "read and write what is open, in several parts at a place", "preadv pwritev"},
    {"descriptors", HC_IN_JOB, "copies of what is open", "dup dup2 dup3"},
    {"pipes", HC_IN_JOB, "between threads, and processes where there are any", "pipe pipe2"},
    {"waiting", HC_IN_JOB, "for descriptors",
     "poll ppoll select pselect6 epoll_create epoll_create1 epoll_ctl epoll_wait epoll_pwait epoll_pwait2"},
    {"events", HC_IN_JOB, "event loops wake themselves up",
     "eventfd eventfd2 timerfd_create timerfd_settime timerfd_gettime signalfd4"},
    {"file_copies", HC_IN_JOB, "from one open file to another", "copy_file_range"},
    {"file_sending", HC_COUNTED, "from an open file to a file or socket, where a cgroup counts memory",
     "sendfile"},
    {"file_sizes", HC_IN_JOB, "of what is open for writing; limits.file holds",
     "truncate ftruncate fallocate"},
    {"syncing", HC_IN_JOB, "one's own files to where they are kept", "fsync fdatasync sync_file_range msync"},
    {"files", HC_IN_JOB, "what may be opened is decided by mounts and Landlock",
     "stat fstat lstat newfstatat access faccessat faccessat2 readlink readlinkat getdents getdents64 "
     "getcwd"},
    {"directories", HC_IN_JOB, "the working directory and the mode of new files", "chdir fchdir umask"},
    {"file_changes", HC_IN_JOB, "where mounts and Landlock let files be changed",
     "mkdir mkdirat rmdir unlink unlinkat rename renameat utime utimes utimensat futimesat"},
    {"links", HC_IN_JOB, "in what the program may write to; nobody outside follows them",
     "link linkat symlink symlinkat"},
    {"attributes", HC_IN_JOB, "extended ones of files are read",
     "getxattr lgetxattr fgetxattr listxattr llistxattr flistxattr"},
    {"memory", HC_IN_JOB, "the allocator and numeric libraries", "munmap mprotect mremap brk"},
    {"memory_state", HC_IN_JOB, "questions about pages, and barriers between threads",
     "membarrier get_mempolicy"},
    {"self", HC_IN_JOB, "a process asks about and ends itself",
     "getpid gettid exit exit_group restart_syscall arch_prctl set_tid_address set_robust_list "
     "get_robust_list rseq getrandom"},
    {"identity", HC_IN_JOB, "a process asks who and where it is",
     "getppid getuid geteuid getgid getegid getgroups getresuid getresgid capget uname getcpu"},
    {"process_groups", HC_IN_JOB, "among processes of the same cell",
     "getpgrp getpgid getsid setpgid setsid"},
    {"usage", HC_IN_JOB, "what a process uses, and its limits, which it can only lower",
     "getrlimit setrlimit getrusage getpriority"},
    {"threads", HC_IN_JOB, "threads wait for each other", "futex futex_waitv sched_yield"},
    {"scheduling", HC_IN_JOB, "on which processors, and how, a thread runs",
     "sched_getaffinity sched_setaffinity sched_getparam sched_getscheduler sched_get_priority_max "
     "sched_get_priority_min"},
    {"children", HC_IN_JOB, "a process waits for its own", "wait4 waitid"},
    {"signals", HC_IN_JOB, "a process handles what it is sent",
     "rt_sigaction rt_sigprocmask rt_sigreturn sigaltstack"},
    {"signalling", HC_IN_JOB, "to processes of the same cell; the others are not visible",
     "kill tkill tgkill rt_sigpending rt_sigtimedwait rt_sigsuspend rt_sigqueueinfo rt_tgsigqueueinfo pause"},
    {"clocks", HC_IN_JOB, "what time it is, and waiting for some of it",
     "nanosleep clock_nanosleep clock_gettime clock_getres gettimeofday time"},
    {"timers", HC_IN_JOB, "they signal the process that made them",
     "alarm setitimer getitimer timer_create timer_settime timer_gettime timer_getoverrun timer_delete"},
    {"channel", HC_IN_JOB, "sockets that are open already: the control channel and socket pairs",
     "sendto recvfrom recvmsg"},
    {"messages", HC_IN_FIRST | HC_WITH_SOCKETS, "sockets that send several buffers at once, and descriptors",
     "sendmsg"},
    {"socket_state", HC_IN_JOB, "questions about sockets that are open already, and their end",
     "shutdown getsockname getpeername"},
    {"sockets", HC_WITH_SOCKETS, "servers and clients on the cell's own loopback interface",
     "bind listen accept accept4 connect sendmmsg recvmmsg"},
    {"launch", HC_IN_FIRST, "the shim is executed, and loads the job's filter", "execveat seccomp"},
    {"programs", HC_WITH_COMMANDS, "programs of the tree; Landlock knows which of them may be executed",
     "execve"},
    {"priorities", HC_OPTIONAL, "its own can be lowered, never raised: resource limits hold that",
     "setpriority sched_setscheduler sched_setparam sched_setattr sched_getattr sched_rr_get_interval "
     "ioprio_set ioprio_get"},
    {"numa", HC_OPTIONAL, "numeric libraries place their memory; limits.memory counts it wherever it is",
     "mbind set_mempolicy set_mempolicy_home_node"},
    {"memory_keys", HC_OPTIONAL, "a process closes its own memory to itself",
     "pkey_alloc pkey_free pkey_mprotect"},
    {"process_handles", HC_OPTIONAL, "signals to processes of the same cell, by descriptor",
     "pidfd_open pidfd_send_signal"},
    {"file_systems", HC_OPTIONAL, "how much room there is, on disks of the host too", "statfs fstatfs"},
    {"splicing", HC_OPTIONAL_COUNTED,
     "moves pages between pipes and files; faults of the kernel were found there", "splice tee"},
};
const size_t hc_call_sets_count = sizeof hc_call_sets / sizeof *hc_call_sets;

#define NO_NAMESPACES "no namespaces inside a cell"
#define OLD           "nobody misses it"
#define BUFFERS_WHY   "larger buffers are memory that a watch does not see"

/* Every system call of the two architectures that no other table has stands here, with the reason why it is
 * refused. A call without an errno of its own fails with ENOSYS, as libc and libraries are written to survive
 * ENOSYS. */
const struct hc_call_refusal hc_call_refusals[] = {
    {"clone3", ENOSYS, "its flags lie in memory that a filter cannot read; libc falls back to clone"},
    {"openat2", ENOSYS, "it keeps its mode in memory that a filter cannot read; nobody misses it"},
    {"fchmodat2", ENOSYS, "libc falls back to fchmodat, whose mode a filter can read"},
    {"io_uring_setup io_uring_enter io_uring_register", ENOSYS,
     "a ring submits calls that the filter does not see"},
    {"io_setup io_destroy io_submit io_cancel io_getevents io_pgetevents", ENOSYS,
     "it submits calls that the filter does not see"},
    {"memfd_create memfd_secret", ENOSYS,
     "memory outside of every counted place, and outside of what is mounted noexec"},
    {"execve execveat", EPERM, "the cell has one program"},
    {"uselib", ENOSYS, "the cell has one program"},
    {"fork vfork", EPERM, "the policy does not allow processes"},
    {"socket", EAFNOSUPPORT, "the cell has no network; its channel is inherited"},
    {"bind listen connect", EACCES, "the cell has no network"},
    {"setsockopt", EPERM, BUFFERS_WHY},
    {"sendmsg", EPERM,
     "descriptors that wait in sockets count for all cells of one user, and then none can send more"},
    {"sendfile splice tee", ENOSYS,
     "where no cgroup counts memory: whole pages wait in a socket or pipe as one byte each"},
    {"flock", ENOLCK, "cells share the files of the tree, and would see each other's locks"},
    {"unshare setns", EPERM, NO_NAMESPACES},
    {"mount umount2 pivot_root chroot open_tree move_mount fsopen mount_setattr", EPERM,
     "the mounts are fixed"},
    {"fsconfig fsmount fspick", ENOSYS, "the mounts are fixed"},
    {"ptrace process_vm_readv process_vm_writev pidfd_getfd kcmp", EPERM, "no debugging"},
    {"process_madvise process_mrelease lookup_dcookie", ENOSYS, "no debugging"},
    {"bpf perf_event_open userfaultfd", EPERM, "kernel surface"},
    {"add_key request_key keyctl", EPERM, "keyrings are shared between cells of one uid"},
    {"chown fchown lchown fchownat setuid setgid setreuid setregid setresuid setresgid setgroups setfsuid "
     "setfsgid",
     EPERM, "there is one user"},
    {"capset", EPERM, "there are no capabilities"},
    {"setxattr lsetxattr fsetxattr", ENOTSUP, "extended attributes are not counted against any limit"},
    {"removexattr lremovexattr fremovexattr setxattrat removexattrat", ENOSYS,
     "extended attributes are only read"},
    {"setpriority", EACCES, "priorities are the launcher's"},
    {"sched_setscheduler sched_setparam sched_setattr", EPERM, "priorities are the launcher's"},
    {"personality", EPERM, "it weakens address space layout"},
    {"open_by_handle_at", EPERM, "it goes round the mounts"},
    {"name_to_handle_at", EOPNOTSUPP, "it goes round the mounts"},
    {"syslog", EPERM, "the host's"},
    {"sethostname setdomainname", EPERM, "the launcher's"},
    {"inotify_add_watch", EACCES, "it would show what other cells read in the tree"},
    {"fanotify_init", EPERM, "it would show what other cells read in the tree"},
    {"inotify_init inotify_init1 inotify_rm_watch fanotify_mark", ENOSYS,
     "it would show what other cells read in the tree"},
    {"cachestat readahead mincore", ENOSYS,
     "it would show, or change, what other cells have read of the tree"},
    {"sysinfo times", ENOSYS, "it is about the host, as which the shim shows the cell"},
    {"statfs fstatfs", EPERM, "it would show how full the host's disks are, and that others fill them"},
    {"shmget shmat shmdt shmctl", ENOSYS, "segments that no watch sees, and that outlive their processes"},
    {"semget semop semtimedop semctl msgget msgsnd msgrcv msgctl", ENOSYS,
     "kernel memory that nobody counts"},
    {"mq_open mq_unlink mq_timedsend mq_timedreceive mq_notify mq_getsetattr", ENOSYS,
     "kernel memory that nobody counts"},
    {"mlock mlock2 mlockall munlock munlockall", ENOSYS, "no memory is locked: it belongs to all cells"},
    {"migrate_pages move_pages", ENOSYS, "it asks about, or moves, the memory of other processes"},
    {"remap_file_pages", ENOSYS, OLD},
    {"map_shadow_stack uretprobe", ENOSYS, "kernel surface"},
    {"lsm_get_self_attr lsm_set_self_attr lsm_list_modules", ENOSYS, "the host's administration"},
    {"vmsplice", ENOSYS, "pages of a process in a pipe; faults of the kernel were found there"},
    {"sync syncfs", ENOSYS, "it makes the host write what others have changed"},
    {"landlock_create_ruleset landlock_add_rule landlock_restrict_self seccomp", ENOSYS,
     "the launcher's: a cell is confined before its program runs"},
    {"futex_wait futex_wake futex_requeue statmount listmount mseal getxattrat listxattrat", ENOSYS,
     "newer than what libraries need"},
    {"ioprio_set", ENOSYS, "priorities are the launcher's"},
    {"settimeofday clock_settime clock_adjtime adjtimex", ENOSYS, "the host's clock"},
    {"acct quotactl quotactl_fd swapon swapoff reboot kexec_load kexec_file_load init_module finit_module "
     "delete_module create_module query_module get_kernel_syms vhangup nfsservctl ioperm iopl",
     ENOSYS, "the host's administration"},
    {"modify_ldt set_thread_area get_thread_area", ENOSYS, "for 32-bit programs"},
    {"_sysctl sysfs ustat signalfd epoll_ctl_old epoll_wait_old afs_syscall getpmsg putpmsg security tuxcall "
     "vserver",
     ENOSYS, OLD},
};
const size_t hc_call_refusals_count = sizeof hc_call_refusals / sizeof *hc_call_refusals;

#define NS_FLAGS                                                                                             \
    (CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS |               \
     CLONE_NEWCGROUP)
#define SHARED      (CLONE_THREAD | CLONE_FILES | CLONE_FS)
#define CREATES     (O_CREAT | (O_TMPFILE & ~O_DIRECTORY))
#define SET_ID      (S_ISUID | S_ISGID)
#define SET_ID_WHY  "in a bind-mounted /output it would lend the caller's id to other users of the host"
#define LOCKS_WHY   "cells share files of the tree, and would see each other's locks"
#define CACHE_WHY   "it would show, or change, what other cells have read of the tree"
#define SOCKET_KIND 0xfULL /* mask for socket's second argument: without SOCK_CLOEXEC and SOCK_NONBLOCK */

#define COUNTED_WHY "it counts those of the whole machine: other cells could be seen to start"
#define SO_COUNT    71      /* SO_NETNS_COOKIE */
#define STATX_COUNT 0x4000U /* STATX_MNT_ID_UNIQUE */
/* One row for each of SO_COUNT's bits that another option may lack. The few other options that have all of
 * these bits are refused too; no program asks for them. */
#define OTHER_OPTION(bit)                                                                                    \
    {                                                                                                        \
        "getsockopt", HC_IN_JOB, {{2, bit, 0}, {0}}, "of sockets that are open already", 0,                  \
            "without SO_NETNS_COOKIE", NULL                                                                  \
    }

#define NO_SIGNALS  "copies of the session's interpreter wait beside it"
#define SIGNAL_HINT "a run of a session can signal its own process only"
#define SIGNALS(call)                                                                                        \
    {                                                                                                        \
        call, HC_IN_SESSION, {{0}}, NO_SIGNALS, EPERM, "to other processes", SIGNAL_HINT                     \
    }

#define NO_NEW_CODE "syscalls.executable_memory is \"files\""
#define CODE_HINT                                                                                            \
    "code is not made at run time under this policy: leave out callbacks of ctypes, and compilers such as "  \
    "numba"

/* A rule that compares one argument with a number (WORD), or requires certain bits in it (BITS). */
#define WORD(call, when, arg, value, why, error)                                                             \
    {                                                                                                        \
        call, when, {{arg, HC_WORD_MASK, value}, {0}}, why, error, #value, NULL                              \
    }
#define BITS(call, when, arg, value, why, error)                                                             \
    {                                                                                                        \
        call, when, {{arg, value, value}, {0}}, why, error, #value, NULL                                     \
    }

/* The rule compares the protocol too: protocols other than TCP and UDP have sockets of the same kinds. */
#define SOCKET(family, kind, protocol, why)                                                                  \
    {                                                                                                        \
        "socket", HC_WITH_SOCKETS,                                                                           \
            {{0, HC_WORD_MASK, family}, {1, SOCKET_KIND, kind}, {2, HC_WORD_MASK, protocol}}, why, 0,        \
            #family ", " #kind ", " #protocol, NULL                                                          \
    }
#define SOCKET_OPTION(level, option, why, error)                                                             \
    {                                                                                                        \
        "setsockopt", HC_WITH_SOCKETS, {{1, HC_WORD_MASK, level}, {2, HC_WORD_MASK, option}}, why, error,    \
            #option, NULL                                                                                    \
    }

/* Calls decided by their arguments: allowed, or refused with `error`; what matches no row gets ENOSYS, as
 * libseccomp has no "otherwise". `mask` 0 ends the comparisons of a row. */
/* clang-format off */
const struct hc_call_rule hc_call_rules[] = {
    /* CLONE_NEWTIME is below CSIGNAL and reachable only by clone3 and unshare. */
    /* With a table of open files of its own, each thread would have limits.open_files for itself. */
    {"clone", HC_IN_JOB, {{0, SHARED | NS_FLAGS, SHARED}, {0}}, "threads", 0, "CLONE_THREAD, CLONE_FILES and CLONE_FS, without CLONE_NEW*", NULL},
    {"close_range", HC_IN_JOB, {{2, HC_WORD_MASK & ~(uint64_t)CLOSE_RANGE_CLOEXEC, 0}, {0}}, "descriptors", 0, "without CLOSE_RANGE_UNSHARE", NULL},
    BITS("close_range", HC_IN_JOB, 2, CLOSE_RANGE_UNSHARE, "each thread would have limits.open_files for itself", EINVAL),
    {"clone", HC_IN_FIRST | HC_WITH_FORK, {{0, NS_FLAGS, 0}, {0}}, "processes", 0, "without CLONE_NEW*", NULL},
    {"clone", HC_NO_FORK, {{0, CLONE_THREAD, 0}, {0}}, "the policy does not allow processes", EPERM, "without CLONE_THREAD", NULL},
    BITS("clone", HC_IN_JOB, 0, CLONE_NEWUSER, NO_NAMESPACES, EPERM),
    BITS("clone", HC_IN_JOB, 0, CLONE_NEWNS, NO_NAMESPACES, EPERM),
    BITS("clone", HC_IN_JOB, 0, CLONE_NEWPID, NO_NAMESPACES, EPERM),
    BITS("clone", HC_IN_JOB, 0, CLONE_NEWNET, NO_NAMESPACES, EPERM),
    BITS("clone", HC_IN_JOB, 0, CLONE_NEWIPC, NO_NAMESPACES, EPERM),
    BITS("clone", HC_IN_JOB, 0, CLONE_NEWUTS, NO_NAMESPACES, EPERM),
    BITS("clone", HC_IN_JOB, 0, CLONE_NEWCGROUP, NO_NAMESPACES, EPERM),
    {"fork", HC_IN_FIRST | HC_WITH_FORK, {{0}}, "processes", 0, NULL, NULL},
    {"vfork", HC_IN_FIRST | HC_WITH_FORK, {{0}}, "processes", 0, NULL, NULL},
    {"mmap", HC_COUNTED, {{3, MAP_HUGETLB, 0}, {0}}, "memory and files", 0, "without MAP_HUGETLB", NULL},
    {"mmap", HC_UNCOUNTED, {{3, MAP_ANONYMOUS | MAP_HUGETLB, 0}, {0}}, "files", 0, "without MAP_ANONYMOUS and MAP_HUGETLB", NULL},
    {"mmap", HC_UNCOUNTED, {{3, MAP_SHARED | MAP_HUGETLB, 0}, {0}}, "private memory", 0, "without MAP_SHARED and MAP_HUGETLB", NULL},
    BITS("mmap", HC_IN_JOB, 3, MAP_HUGETLB, "such pages are set aside for others on the host, and no limit counts them", EPERM),
    {"mmap", HC_UNCOUNTED, {{3, MAP_ANONYMOUS | MAP_SHARED, MAP_ANONYMOUS | MAP_SHARED}, {0}},
     "it keeps pages that no process has mapped", EPERM, "MAP_SHARED and MAP_ANONYMOUS", NULL},
    /* openat2 keeps its mode in memory, where a filter cannot look; no library needs it. */
    {"open", HC_IN_JOB, {{1, CREATES, 0}, {0}}, "open what is there", 0, "without O_CREAT and O_TMPFILE", NULL},
    {"open", HC_IN_JOB, {{2, SET_ID, 0}, {0}}, "create", 0, "a mode without S_ISUID and S_ISGID", NULL},
    {"openat", HC_IN_JOB, {{2, CREATES, 0}, {0}}, "open what is there", 0, "without O_CREAT and O_TMPFILE", NULL},
    {"openat", HC_IN_JOB, {{3, SET_ID, 0}, {0}}, "create", 0, "a mode without S_ISUID and S_ISGID", NULL},
    {"creat", HC_IN_JOB, {{1, SET_ID, 0}, {0}}, "create", 0, "a mode without S_ISUID and S_ISGID", NULL},
    {"chmod", HC_IN_JOB, {{1, SET_ID, 0}, {0}}, "modes of one's own files", 0, "without S_ISUID and S_ISGID", NULL},
    {"fchmod", HC_IN_JOB, {{1, SET_ID, 0}, {0}}, "modes of one's own files", 0, "without S_ISUID and S_ISGID", NULL},
    {"fchmodat", HC_IN_JOB, {{2, SET_ID, 0}, {0}}, "modes of one's own files", 0, "without S_ISUID and S_ISGID", NULL},
    BITS("chmod", HC_IN_JOB, 1, S_ISUID, SET_ID_WHY, EPERM),
    BITS("chmod", HC_IN_JOB, 1, S_ISGID, SET_ID_WHY, EPERM),
    BITS("fchmod", HC_IN_JOB, 1, S_ISUID, SET_ID_WHY, EPERM),
    BITS("fchmod", HC_IN_JOB, 1, S_ISGID, SET_ID_WHY, EPERM),
    BITS("fchmodat", HC_IN_JOB, 2, S_ISUID, SET_ID_WHY, EPERM),
    BITS("fchmodat", HC_IN_JOB, 2, S_ISGID, SET_ID_WHY, EPERM),
    {"statx", HC_IN_JOB, {{3, STATX_COUNT, 0}, {0}}, "what there is, as with stat", 0, "without STATX_MNT_ID_UNIQUE", NULL},
    {"statx", HC_IN_JOB, {{3, STATX_COUNT, STATX_COUNT}, {0}}, COUNTED_WHY, EINVAL, "STATX_MNT_ID_UNIQUE", NULL},
    OTHER_OPTION(SO_COUNT & 1),
    OTHER_OPTION(SO_COUNT & 2),
    OTHER_OPTION(SO_COUNT & 4),
    OTHER_OPTION(SO_COUNT & 64),
    {"getsockopt", HC_IN_JOB, {{2, SO_COUNT, SO_COUNT}, {0}}, COUNTED_WHY, ENOPROTOOPT, "SO_NETNS_COOKIE", NULL},
    {"renameat2", HC_IN_JOB, {{4, HC_WORD_MASK & ~(uint64_t)(RENAME_NOREPLACE | RENAME_EXCHANGE), 0}, {0}}, "where mounts and Landlock let files be changed", 0, "without RENAME_WHITEOUT", NULL},
    BITS("renameat2", HC_IN_JOB, 4, RENAME_WHITEOUT, "it leaves a device in the file's place", EINVAL),
    WORD("fcntl", HC_IN_JOB, 1, F_DUPFD, "descriptors", 0),
    WORD("fcntl", HC_IN_JOB, 1, F_DUPFD_CLOEXEC, "descriptors", 0),
    WORD("fcntl", HC_IN_JOB, 1, F_GETFD, "close-on-exec", 0),
    WORD("fcntl", HC_IN_JOB, 1, F_SETFD, "close-on-exec", 0),
    WORD("fcntl", HC_IN_JOB, 1, F_GETFL, "non-blocking", 0),
    WORD("fcntl", HC_IN_JOB, 1, F_SETFL, "non-blocking", 0),
    /* In a cell of one process the shim answers (libc.c), as no other process can hold a lock. */
    WORD("fcntl", HC_WITH_FORK, 1, F_GETLK, "SQLite locks its files", 0),
    WORD("fcntl", HC_WITH_FORK, 1, F_SETLK, "SQLite locks its files", 0),
    WORD("fcntl", HC_WITH_FORK, 1, F_SETLKW, "SQLite locks its files", 0),
    WORD("fcntl", HC_NO_FORK, 1, F_GETLK, LOCKS_WHY, ENOLCK),
    WORD("fcntl", HC_NO_FORK, 1, F_SETLK, LOCKS_WHY, ENOLCK),
    WORD("fcntl", HC_NO_FORK, 1, F_SETLKW, LOCKS_WHY, ENOLCK),
    WORD("fcntl", HC_IN_JOB, 1, F_OFD_GETLK, LOCKS_WHY, ENOLCK),
    WORD("fcntl", HC_IN_JOB, 1, F_OFD_SETLK, LOCKS_WHY, ENOLCK),
    WORD("fcntl", HC_IN_JOB, 1, F_OFD_SETLKW, LOCKS_WHY, ENOLCK),
    WORD("fcntl", HC_IN_JOB, 1, F_GETPIPE_SZ, "a question", 0),
    WORD("fcntl", HC_IN_JOB, 1, F_SETPIPE_SZ, "pipes are not counted as memory", EPERM),
    WORD("fcntl", HC_IN_JOB, 1, F_NOTIFY, "it would show what other cells read", EPERM),
    WORD("fcntl", HC_IN_JOB, 1, F_SETLEASE, "the host's writers of an input would wait", EACCES),
    WORD("preadv2", HC_IN_JOB, 5, 0, "as preadv", 0),
    WORD("pwritev2", HC_IN_JOB, 5, 0, "as pwritev", 0),
    BITS("preadv2", HC_IN_JOB, 5, RWF_NOWAIT, CACHE_WHY, EOPNOTSUPP),
    WORD("fadvise64", HC_IN_JOB, 3, POSIX_FADV_NORMAL, "how a file will be read", 0),
    WORD("fadvise64", HC_IN_JOB, 3, POSIX_FADV_RANDOM, "how a file will be read", 0),
    WORD("fadvise64", HC_IN_JOB, 3, POSIX_FADV_SEQUENTIAL, "how a file will be read", 0),
    WORD("fadvise64", HC_IN_JOB, 3, POSIX_FADV_WILLNEED, "how a file will be read", 0),
    WORD("fadvise64", HC_IN_JOB, 3, POSIX_FADV_NOREUSE, "how a file will be read", 0),
    WORD("fadvise64", HC_IN_JOB, 3, POSIX_FADV_DONTNEED, CACHE_WHY, EINVAL),
    /* Advice up to 7, in the kernel's numbering: newer advice stays refused until it has been reviewed. */
    {"madvise", HC_IN_JOB, {{2, HC_WORD_MASK & ~7ULL, 0}, {0}}, "the allocator gives pages back", 0, "up to MADV_DONTNEED", NULL},
    {"madvise", HC_IN_JOB, {{2, HC_WORD_MASK & ~3ULL, MADV_FREE}, {0}}, "the allocator gives pages back", 0, "MADV_FREE, MADV_REMOVE, MADV_DONTFORK, MADV_DOFORK", NULL},
    {"madvise", HC_IN_JOB, {{2, HC_WORD_MASK & ~1ULL, MADV_HUGEPAGE}, {0}}, "large pages, or none", 0, "MADV_HUGEPAGE, MADV_NOHUGEPAGE", NULL},
    {"madvise", HC_IN_JOB, {{2, HC_WORD_MASK & ~3ULL, MADV_DONTDUMP}, {0}}, "what forks and dumps get", 0, "MADV_DONTDUMP, MADV_DODUMP, MADV_WIPEONFORK, MADV_KEEPONFORK", NULL},
    {"madvise", HC_IN_JOB, {{2, HC_WORD_MASK & ~1ULL, MADV_POPULATE_READ}, {0}}, "pages ahead of their use", 0, "MADV_POPULATE_READ, MADV_POPULATE_WRITE", NULL},
    WORD("madvise", HC_IN_JOB, 2, MADV_MERGEABLE, "writing to a page tells whether another cell has the same", EINVAL),
    WORD("madvise", HC_IN_JOB, 2, MADV_COLD, CACHE_WHY, EINVAL),
    WORD("madvise", HC_IN_JOB, 2, MADV_PAGEOUT, CACHE_WHY, EINVAL),
    WORD("socketpair", HC_IN_JOB, 0, AF_UNIX, "event loops wake themselves up through one", 0),
    SOCKET(AF_INET, SOCK_STREAM, 0, "TCP on loopback"),
    SOCKET(AF_INET, SOCK_STREAM, IPPROTO_TCP, "TCP on loopback"),
    SOCKET(AF_INET, SOCK_DGRAM, 0, "UDP on loopback"),
    SOCKET(AF_INET, SOCK_DGRAM, IPPROTO_UDP, "UDP on loopback"),
    SOCKET(AF_INET6, SOCK_STREAM, 0, "TCP on loopback"),
    SOCKET(AF_INET6, SOCK_STREAM, IPPROTO_TCP, "TCP on loopback"),
    SOCKET(AF_INET6, SOCK_DGRAM, 0, "UDP on loopback"),
    SOCKET(AF_INET6, SOCK_DGRAM, IPPROTO_UDP, "UDP on loopback"),
    WORD("socket", HC_WITH_SOCKETS, 0, AF_UNIX, "local sockets", 0),
    SOCKET_OPTION(SOL_SOCKET, SO_REUSEADDR, "sockets of the cell's own", 0),
    SOCKET_OPTION(SOL_SOCKET, SO_REUSEPORT, "sockets of the cell's own", 0),
    SOCKET_OPTION(SOL_SOCKET, SO_BROADCAST, "sockets of the cell's own", 0),
    SOCKET_OPTION(SOL_SOCKET, SO_KEEPALIVE, "sockets of the cell's own", 0),
    SOCKET_OPTION(SOL_SOCKET, SO_OOBINLINE, "sockets of the cell's own", 0),
    SOCKET_OPTION(SOL_SOCKET, SO_RCVLOWAT, "sockets of the cell's own", 0),
    SOCKET_OPTION(SOL_SOCKET, SO_RCVTIMEO, "sockets of the cell's own", 0),
    SOCKET_OPTION(SOL_SOCKET, SO_SNDTIMEO, "sockets of the cell's own", 0),
    SOCKET_OPTION(SOL_SOCKET, SO_PASSCRED, "sockets of the cell's own", 0),
    /* Socket options that servers and clients set; many of the other options are kernel surface that loopback has
     * no use for. */
    SOCKET_OPTION(IPPROTO_IP, IP_TOS, "how packets are marked", 0),
    SOCKET_OPTION(IPPROTO_IP, IP_TTL, "how packets are marked", 0),
    SOCKET_OPTION(IPPROTO_IPV6, IPV6_V6ONLY, "servers that listen for both kinds of addresses", 0),
    SOCKET_OPTION(IPPROTO_IPV6, IPV6_UNICAST_HOPS, "how packets are marked", 0),
    SOCKET_OPTION(IPPROTO_IPV6, IPV6_TCLASS, "how packets are marked", 0),
    SOCKET_OPTION(IPPROTO_TCP, TCP_NODELAY, "when to send", 0),
    SOCKET_OPTION(IPPROTO_TCP, TCP_CORK, "when to send", 0),
    SOCKET_OPTION(IPPROTO_TCP, TCP_QUICKACK, "when to send", 0),
    SOCKET_OPTION(IPPROTO_TCP, TCP_KEEPIDLE, "when the other end is given up", 0),
    SOCKET_OPTION(IPPROTO_TCP, TCP_KEEPINTVL, "when the other end is given up", 0),
    SOCKET_OPTION(IPPROTO_TCP, TCP_KEEPCNT, "when the other end is given up", 0),
    SOCKET_OPTION(IPPROTO_TCP, TCP_USER_TIMEOUT, "when the other end is given up", 0),
    SOCKET_OPTION(SOL_SOCKET, SO_SNDBUF, BUFFERS_WHY, EPERM),
    SOCKET_OPTION(SOL_SOCKET, SO_RCVBUF, BUFFERS_WHY, EPERM),
    SOCKET_OPTION(SOL_SOCKET, SO_LINGER, "the launcher would wait when it closes such a socket, which can be sent to it", EPERM),
    WORD("ioctl", HC_IN_JOB, 1, TCGETS, "isatty", 0),
    WORD("ioctl", HC_IN_JOB, 1, TIOCGWINSZ, "terminal size", 0),
    WORD("ioctl", HC_IN_JOB, 1, FIONREAD, "bytes waiting", 0),
    WORD("ioctl", HC_IN_JOB, 1, FIONBIO, "non-blocking", 0),
    WORD("ioctl", HC_IN_JOB, 1, FIOCLEX, "close-on-exec", 0),
    WORD("ioctl", HC_IN_JOB, 1, FIONCLEX, "close-on-exec", 0),
    WORD("ioctl", HC_IN_JOB, 1, TIOCSTI, "it types into a terminal", EPERM),
    WORD("ioctl", HC_IN_JOB, 1, TIOCLINUX, "it pastes into a terminal", EPERM),
    WORD("prctl", HC_IN_JOB, 0, PR_SET_NAME, "thread names", 0),
    WORD("prctl", HC_IN_JOB, 0, PR_GET_NAME, "thread names", 0),
    WORD("prctl", HC_IN_JOB, 0, PR_SET_VMA, "the allocator names its mappings", 0),
    WORD("prctl", HC_IN_JOB, 0, PR_GET_DUMPABLE, "a question", 0),
    WORD("prctl", HC_IN_JOB, 0, PR_GET_SECCOMP, "a question", 0),
    WORD("prctl", HC_IN_JOB, 0, PR_GET_NO_NEW_PRIVS, "a question", 0),
    WORD("prctl", HC_IN_JOB, 0, PR_CAPBSET_READ, "a question", 0),
    WORD("prctl", HC_IN_JOB, 0, PR_GET_SECUREBITS, "a question", 0),
    WORD("prctl", HC_IN_JOB, 0, PR_SET_PDEATHSIG, "children that end with their parent", 0),
    WORD("prctl", HC_IN_FIRST, 0, PR_SET_NO_NEW_PRIVS, "set already; the shim makes sure", 0),
    WORD("prctl", HC_IN_FIRST, 0, PR_SET_DUMPABLE, "the shim hides its memory", 0),
    {"prlimit64", HC_IN_JOB, {{0, HC_WORD_MASK, 0}, {0}}, "one's own limits; the hard ones cannot be raised", 0, "of the process itself", NULL},
    {"mknod", HC_IN_JOB, {{1, S_IFMT, S_IFIFO}, {0}}, "named pipes, where Landlock lets them be made", 0, "S_IFIFO", NULL},
    {"mknodat", HC_IN_JOB, {{2, S_IFMT, S_IFIFO}, {0}}, "named pipes, where Landlock lets them be made", 0, "S_IFIFO", NULL},
    {"mknod", HC_IN_JOB, {{1, S_IFMT, S_IFCHR}, {0}}, "no devices", EPERM, "S_IFCHR", NULL},
    {"mknod", HC_IN_JOB, {{1, S_IFMT, S_IFBLK}, {0}}, "no devices", EPERM, "S_IFBLK", NULL},
    {"mknodat", HC_IN_JOB, {{2, S_IFMT, S_IFCHR}, {0}}, "no devices", EPERM, "S_IFCHR", NULL},
    {"mknodat", HC_IN_JOB, {{2, S_IFMT, S_IFBLK}, {0}}, "no devices", EPERM, "S_IFBLK", NULL},
    /* Only the reporting filter has these rows: it asks the launcher, which lets a process signal itself
     * (cell/seccomp/fork_permit.c). */
    SIGNALS("kill"),
    SIGNALS("tkill"),
    SIGNALS("tgkill"),
    SIGNALS("rt_sigqueueinfo"),
    SIGNALS("rt_tgsigqueueinfo"),
    SIGNALS("pidfd_open"),
    /* A timer could send SIGCONT to a process that SIGSTOP has stopped; setitimer sends only signals of its own. */
    {"timer_create", HC_IN_SESSION, {{0}}, "it could wake a process that waits for its next run", EPERM, NULL,
     "use setitimer or a thread: between its runs a session stands still"},
    /* The interpreter and its libraries come from files; code made in memory has not been checked. Only the
     * reporting filter, which is installed before any file of the job is read, refuses and reports these
     * calls. */
    {"mprotect", HC_NO_NEW_CODE, {{2, PROT_EXEC, PROT_EXEC}, {0}}, NO_NEW_CODE, EACCES, "PROT_EXEC", CODE_HINT},
    {"pkey_mprotect", HC_NO_NEW_CODE, {{2, PROT_EXEC, PROT_EXEC}, {0}}, NO_NEW_CODE, EACCES, "PROT_EXEC", CODE_HINT},
    {"mmap", HC_NO_NEW_CODE, {{2, PROT_EXEC, PROT_EXEC}, {3, MAP_ANONYMOUS, MAP_ANONYMOUS}}, NO_NEW_CODE, EACCES, "PROT_EXEC, MAP_ANONYMOUS", CODE_HINT},
    {"mmap", HC_NO_NEW_CODE, {{2, PROT_EXEC | PROT_WRITE, PROT_EXEC | PROT_WRITE}, {0}}, NO_NEW_CODE, EACCES, "PROT_EXEC and PROT_WRITE", CODE_HINT},
};
/* clang-format on */
const size_t hc_call_rules_count = sizeof hc_call_rules / sizeof *hc_call_rules;

/* Calls whose refusal, by either table, is reported to the launcher (cell/filter.h), with the hint for the
 * program's author. Rows of hc_call_rules with a hint of their own are reported too. */
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

/* The arguments that the report of a refused call names. */
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
    {"mmap", 2, PROT_EXEC, PROT_EXEC, "PROT_EXEC"},
    {"mprotect", 2, PROT_EXEC, PROT_EXEC, "PROT_EXEC"},
    {"pkey_mprotect", 2, PROT_EXEC, PROT_EXEC, "PROT_EXEC"},
    {"ioctl", 1, HC_WORD_MASK, TIOCLINUX, "TIOCLINUX"},
};
const size_t hc_call_words_count = sizeof hc_call_words / sizeof *hc_call_words;

const struct hc_call_need hc_call_needs[] = {
    {"read write readv writev lseek close", "the interpreter reads and writes files"},
    {"stat fstat newfstatat statx getdents getdents64 open openat fcntl",
     "the interpreter looks for modules"},
    {"mmap munmap mprotect mremap madvise brk", "the allocator needs it, and libraries that are loaded"},
    {"futex", "the interpreter's threads wait for each other"},
    {"rt_sigaction rt_sigprocmask rt_sigreturn",
     "the launcher warns the program by a signal when its time is over"},
    {"sendto recvfrom recvmsg", "the interpreter reports through its channel"},
    {"exit exit_group restart_syscall", "a process ends"},
};
const size_t hc_call_needs_count = sizeof hc_call_needs / sizeof *hc_call_needs;
