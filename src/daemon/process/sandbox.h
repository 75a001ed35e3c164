/* sandbox.h - a sandbox around the front, which parses what strangers send. The front has no rights already;
 * in the sandbox it can neither make a file nor open one for writing, but in the directory of uploads, and
 * can make only the system calls that it needs. */
#ifndef HC_DAEMON_PROCESS_SANDBOX_H
#define HC_DAEMON_PROCESS_SANDBOX_H

#include "base/error.h"

/* `uploads_fd`: the directory in which it may make, write, rename and remove files; -1: there is none.
 *
 * Put this process into the sandbox for the rest of its life; to be called when all descriptors are open. If
 * the kernel has no Landlock, the filter alone is installed; without seccomp the call fails. */
int hc_sandbox_enter(int uploads_fd, struct hc_error *err);

#endif
