#include "shim/lock.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int hc_lock_syscalls(const void *bpf, size_t len, struct hc_error *err)
{
    if (len == 0 || len % sizeof(struct sock_filter) || len / sizeof(struct sock_filter) > BPF_MAXINSNS)
        return hc_fail(err, 0, "system call filter: %zu bytes are not a filter", len);
    struct sock_fprog program = {
        .len = (unsigned short)(len / sizeof(struct sock_filter)),
        .filter = (struct sock_filter *)(uintptr_t)bpf, /* only the kernel reads it, at any alignment */
    };
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        return hc_fail(err, errno, "no_new_privs");
    /* All threads: loading data may have started some (OpenBLAS does), and a filter on one thread alone
     * would leave the others as a way around it. A thread that cannot follow is named by its id. */
    long rc = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program);
    if (rc < 0)
        return hc_fail(err, errno, "system call filter");
    if (rc > 0)
        return hc_fail(err, 0, "system call filter: thread %ld could not take it", rc);
    return 0;
}
