/* fork_permit.h - decide in a session which calls pass although its filters refuse them. */
#ifndef HC_CELL_SECCOMP_FORK_PERMIT_H
#define HC_CELL_SECCOMP_FORK_PERMIT_H

#include "cell/seccomp/listener.h"

#include <sys/types.h>

#define HC_FORK_PERMIT_COUNT 2 /* number of forks that making one copy of the interpreter takes */

struct hc_fork_permit {
    int forks;   /* forks that may still be made; above 0 only while the launcher waits for a copy */
    pid_t owner; /* the process that may make the first; its child may make the second */
};

/* A hc_listener_permit whose `ctx` is a struct hc_fork_permit: a process may signal itself, and the
 * permit's owner may fork. */
bool hc_fork_permit_ask(void *ctx, const struct seccomp_notif *question);

#endif
