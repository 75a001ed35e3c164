/* init.h - the life of a cell's first process after it has forked the interpreter. */
#ifndef HC_SHIM_INIT_H
#define HC_SHIM_INIT_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

/* Reap until `guest` ends, report how on `status_fd`, and exit; exit also when the launcher hangs up. For a
 * session, whose interpreters take over from one another, report each end and exit at the hang-up only.
 * Closes every other descriptor first, and then `sync_fd`, unless it is -1: it is ready. SIGCHLD must have
 * been blocked before the fork. */
_Noreturn void hc_init_run(pid_t guest, int status_fd, int sync_fd, bool session);

#endif
