/* lock.h - installs the system call filters that the launcher has compiled. */
#ifndef HC_SHIM_LOCK_H
#define HC_SHIM_LOCK_H

#include "wire/handover.h"

/* Installs the reporting filter on this thread, which must be the only one. `*listener` is the descriptor for
 * the kernel's notifications, owned by the caller. It is -1 if the kernel gives none because an outer filter
 * has one already: calls that would be reported are then refused with EPERM. */
int hc_lock_report(struct hc_bpf filter, int *listener, struct hc_error *err);

/* Installs the job's own filter on every thread of this process; after the first success it does nothing. An
 * empty filter is an error. */
int hc_lock_syscalls(struct hc_bpf filter, struct hc_error *err);

#endif
