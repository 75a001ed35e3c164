/* sandbox.h - a sandbox around the front, which parses what strangers send. The front has no rights already;
 * in the sandbox it can neither make a file nor open one for writing, and can make only the system calls that
 * it needs. */
#ifndef HC_DAEMON_PROCESS_SANDBOX_H
#define HC_DAEMON_PROCESS_SANDBOX_H

#include "base/error.h"

/* Put this process into the sandbox for the rest of its life; to be called when all descriptors are open. If
 * the kernel has no Landlock, the filter alone is installed; without seccomp the call fails. */
int hc_sandbox_enter(struct hc_error *err);

#endif
