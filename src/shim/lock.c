#include "shim/lock.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* In a weakened build (HC_WEAK) the launcher hands over an empty filter if the cell is to have none. */
static bool is_off(struct hc_bpf filter)
{
#ifdef HC_WEAK
    return filter.len == 0;
#else
    (void)filter;
    return false;
#endif
}

static int fill_program(struct hc_bpf filter, struct sock_fprog *out, struct hc_error *err)
{
    size_t count = filter.len / sizeof(struct sock_filter);
    if (filter.len == 0 || filter.len % sizeof(struct sock_filter) || count > BPF_MAXINSNS)
        return hc_fail(err, 0, "system call filter: %zu bytes are not a filter", filter.len);
    out->len = (unsigned short)count;
    /* Only the kernel reads the filter, at any alignment. */
    out->filter = (struct sock_filter *)(uintptr_t)filter.data;
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ? hc_fail(err, errno, "no_new_privs") : 0;
}

/* Installs the filter with EPERM in the place of each notification. */
static int install_without_listener(const struct sock_fprog *program, struct hc_error *err)
{
    struct sock_filter changed[BPF_MAXINSNS];
    memcpy(changed, program->filter, program->len * sizeof *changed);
    for (size_t i = 0; i < program->len; i++)
        if (BPF_CLASS(changed[i].code) == BPF_RET && changed[i].k == SECCOMP_RET_USER_NOTIF)
            changed[i].k = SECCOMP_RET_ERRNO | EPERM;
    struct sock_fprog silent = {.len = program->len, .filter = changed};
    return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &silent) < 0
               ? hc_fail(err, errno, "system call filter")
               : 0;
}

int hc_lock_report(struct hc_bpf filter, int *listener, struct hc_error *err)
{
    struct sock_fprog program;
    *listener = -1;
    if (is_off(filter))
        return 0;
    if (fill_program(filter, &program, err) < 0)
        return -1;
    long fd = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
    if (fd < 0)
        return install_without_listener(&program, err);
    *listener = (int)fd;
    return 0;
}

int hc_lock_syscalls(struct hc_bpf filter, struct hc_error *err)
{
    static bool is_on;
    struct sock_fprog program;
    if (is_on || is_off(filter))
        return 0;
    if (fill_program(filter, &program, err) < 0)
        return -1;
    /* The filter has to be on all threads: loading data may have started some (OpenBLAS does), and a filter
     * on one thread alone would leave the others as a way around it. A thread that cannot follow is named by
     * its id. */
    long rc = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program);
    if (rc < 0)
        return hc_fail(err, errno, "system call filter");
    if (rc > 0)
        return hc_fail(err, 0, "system call filter: thread %ld could not take it", rc);
    is_on = true;
    return 0;
}
