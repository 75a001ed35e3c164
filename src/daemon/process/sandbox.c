#include "daemon/process/sandbox.h"

#include "base/fd.h"
#include "base/kernel.h"
#include "policy/syscalls.h"

#include <errno.h>
#include <fcntl.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

/* ---- files ---- */

/* Rights that the front keeps: it reads policies, trees and results. */
#define READING ((uint64_t)(LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR))

/* What may be done in the directory of uploads. */
#define UPLOADING                                                                                            \
    ((uint64_t)(LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_MAKE_REG |                                \
                LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_TRUNCATE))

static int open_uploads(int ruleset, int uploads_fd, uint64_t handled, struct hc_error *err)
{
    const struct landlock_path_beneath_attr rule = {.allowed_access = UPLOADING & handled,
                                                    .parent_fd = uploads_fd};
    if (uploads_fd >= 0 && syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) < 0)
        return hc_fail(err, errno, "landlock_add_rule");
    return 0;
}

/* Refuses every access to files except reading, and what is done in the directory of uploads: the ruleset handles all
 * other rights and has no other rule that grants one. */
static int close_files(int uploads_fd, struct hc_error *err)
{
    int abi = hc_landlock_abi();
    if (abi < 1)
        return 0;
    const uint64_t handled = hc_landlock_rights(abi) & ~READING;
    hc_autofd ruleset = (int)syscall(SYS_landlock_create_ruleset, &handled, sizeof handled, 0);
    if (ruleset < 0)
        return hc_fail(err, errno, "landlock_create_ruleset");
    if (open_uploads(ruleset, uploads_fd, handled, err) < 0)
        return -1;
    if (syscall(SYS_landlock_restrict_self, ruleset, 0) < 0)
        return hc_fail(err, errno, "landlock_restrict_self");
    return 0;
}

/* ---- system calls ---- */

/* Calls that the front may make, and why; others fail with ENOSYS. */
static const struct {
    const char *calls, *why;
} allowed[] = {
    {"epoll_wait epoll_pwait epoll_ctl poll ppoll clock_gettime clock_nanosleep nanosleep gettimeofday time "
     "restart_syscall",
     "its loop"},
    {"accept accept4 recvfrom recvmsg sendto sendmsg shutdown getsockopt setsockopt getsockname getpeername",
     "connections, which come to sockets that listen already; channels to other processes"},
    {"read readv pread64 preadv write writev pwrite64 pwritev lseek sendfile close pipe2 memfd_create",
     "connections, output of jobs, the ledger, requests and manifests"},
    {"openat2 newfstatat fstat stat lstat statx access faccessat faccessat2 readlink readlinkat getdents64 "
     "getcwd",
     "policies, trees and results, to be read"},
    {"fsync fdatasync ftruncate fallocate", "the ledger"},
    {"munmap mremap brk madvise", "memory"},
    {"rt_sigaction rt_sigprocmask rt_sigreturn sigaltstack gettid getpid getppid getuid geteuid getgid "
     "getegid futex getrandom uname sysinfo sched_yield sched_getaffinity rseq set_robust_list exit "
     "exit_group",
     "what libc does by itself"},
};

/* Calls that are allowed if the bits `mask` of one argument equal `value`. */
static const struct rule {
    const char *call; /* name of the call */
    unsigned arg;     /* number of the argument, from 0 */
    uint64_t mask, value;
    const char *why; /* the reason, a phrase */
} rules[] = {
    {"mmap", 2, PROT_EXEC, 0, "memory, which is no code"},
    {"mprotect", 2, PROT_EXEC, 0, "memory, which is no code"},
    {"openat", 2, O_ACCMODE | O_CREAT | O_TRUNC, O_RDONLY, "policies, trees and results, to be read"},
    /* F_SETOWN is not allowed: it would make the kernel send signals to other processes. */
    {"fcntl", 1, UINT32_MAX, F_GETFD, "its descriptors"},
    {"fcntl", 1, UINT32_MAX, F_SETFD, "its descriptors"},
    {"fcntl", 1, UINT32_MAX, F_GETFL, "its descriptors"},
    {"fcntl", 1, UINT32_MAX, F_SETFL, "its descriptors"},
    {"fcntl", 1, UINT32_MAX, F_DUPFD_CLOEXEC, "its descriptors"},
    {"fcntl", 1, UINT32_MAX, F_ADD_SEALS, "requests, as workers take them"},
    {"fcntl", 1, UINT32_MAX, F_GET_SEALS, "manifests, as workers give them"},
    {"fcntl", 1, UINT32_MAX, F_GETLK, "the ledger"},
    {"fcntl", 1, UINT32_MAX, F_SETLK, "the ledger"},
    {"fcntl", 1, UINT32_MAX, F_SETLKW, "the ledger"},
};

static int allow(scmp_filter_ctx filter, const char *call, unsigned count, const struct scmp_arg_cmp *cmp)
{
    int number = seccomp_syscall_resolve_name(call);
    if (number == __NR_SCMP_ERROR)
        return -EINVAL;
    /* A call that this architecture does not have needs no rule. */
    return number < 0 ? 0 : seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, number, count, cmp);
}

static int add_rules(scmp_filter_ctx filter)
{
    /* For abort(3): the front can send a signal to itself alone. */
    const struct scmp_arg_cmp self = SCMP_A0(SCMP_CMP_MASKED_EQ, UINT32_MAX, (scmp_datum_t)getpid());
    /* Channels to the process that runs a job with tools, or holds a session. Only stream sockets: a datagram
     * socket could send to any other datagram socket of the host. */
    const struct scmp_arg_cmp pair[] = {
        SCMP_A0(SCMP_CMP_MASKED_EQ, UINT32_MAX, AF_UNIX),
        SCMP_A1(SCMP_CMP_MASKED_EQ, UINT32_MAX, SOCK_STREAM | SOCK_CLOEXEC),
    };
    int rc = allow(filter, "tgkill", 1, &self);
    if (rc == 0)
        rc = allow(filter, "socketpair", 2, pair);
    char name[32];
    for (size_t i = 0; i < sizeof allowed / sizeof *allowed; i++)
        for (const char *at = allowed[i].calls; rc == 0 && hc_calls_next(&at, name);)
            rc = allow(filter, name, 0, NULL);
    for (size_t i = 0; rc == 0 && i < sizeof rules / sizeof *rules; i++) {
        const struct rule *r = &rules[i];
        const struct scmp_arg_cmp cmp = SCMP_CMP64(r->arg, SCMP_CMP_MASKED_EQ, r->mask, r->value);
        rc = allow(filter, r->call, 1, &cmp);
    }
    return rc;
}

/* Names in the directory of uploads, where Landlock lets them be changed. */
static int add_upload_rules(scmp_filter_ctx filter)
{
    int rc = allow(filter, "unlinkat", 0, NULL);
    return rc < 0 ? rc : allow(filter, "renameat", 0, NULL);
}

static int filter_calls(bool uploads, struct hc_error *err)
{
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(ENOSYS));
    if (!filter)
        return hc_fail(err, ENOMEM, "filter system calls");
    int rc = add_rules(filter);
    if (rc == 0 && uploads)
        rc = add_upload_rules(filter);
    if (rc == 0)
        rc = seccomp_load(filter);
    seccomp_release(filter);
    return rc < 0 ? hc_fail(err, -rc, "filter system calls") : 0;
}

/* Proves that the filter works: without it this call succeeds. */
static int prove(struct hc_error *err)
{
    if (prctl(PR_GET_SECCOMP, 0, 0, 0, 0) == -1 && errno == ENOSYS)
        return 0;
    return hc_fail(err, 0, "the filter of system calls is not on");
}

int hc_sandbox_enter(int uploads_fd, struct hc_error *err)
{
    if (close_files(uploads_fd, err) < 0 || filter_calls(uploads_fd >= 0, err) < 0)
        return -1;
    return prove(err);
}
