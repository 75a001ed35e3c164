/* lock.h - the job's own system call filter, put on as the launcher compiled it. */
#ifndef HC_SHIM_LOCK_H
#define HC_SHIM_LOCK_H

#include "base/error.h"

/* Install `len` bytes of struct sock_filter on every thread of this process. An empty filter is an error. */
int hc_lock_syscalls(const void *bpf, size_t len, struct hc_error *err);

#endif
