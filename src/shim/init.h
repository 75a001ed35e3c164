/* init.h - runs a cell's first process, pid 1, after it has forked the interpreter. */
#ifndef HC_SHIM_INIT_H
#define HC_SHIM_INIT_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

/* Reaps children until the process `guest` ends, reports on `status_fd` how it ended, and exits; exits also
 * when the launcher closes its end of `status_fd`. For a session, whose interpreters take over from one
 * another, it reports the end of each child, and exits at the launcher's hang-up only. It first closes every
 * other descriptor below `status_fd`, and then `sync_fd` (-1: none), by which the launcher sees that it is
 * ready. SIGCHLD must have been blocked before the fork. */
_Noreturn void hc_init_run(pid_t guest, int status_fd, int sync_fd, bool session);

#endif
