/* lock.h - system call filters, put on as the launcher compiled them. */
#ifndef HC_SHIM_LOCK_H
#define HC_SHIM_LOCK_H

#include "wire/handover.h"

/* Put the reporting filter on this thread, the only one there is. *listener is the descriptor that the kernel
 * asks through, owned by the caller; -1 if the kernel gives none, as it has one for a filter around us: then
 * what would be reported is refused with EPERM. */
int hc_lock_report(struct hc_bpf filter, int *listener, struct hc_error *err);

/* Put the job's own filter on every thread of this process, once: it is what a later call finds done. An
 * empty filter is an error. */
int hc_lock_syscalls(struct hc_bpf filter, struct hc_error *err);

#endif
