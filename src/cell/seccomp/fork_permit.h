/* fork_permit.h - of a session: which of the calls that its filters refuse may pass after all. */
#ifndef HC_CELL_SECCOMP_FORK_PERMIT_H
#define HC_CELL_SECCOMP_FORK_PERMIT_H

#include "cell/seccomp/listener.h"

#include <sys/types.h>

#define HC_FORK_PERMIT_COUNT 2 /* that one copy of the interpreter takes */

struct hc_fork_permit {
    int forks; /* that may still be made; more than none only while the launcher waits for a copy */
    pid_t of;  /* who may make them, and its child */
};

/* As hc_listener_permit; `ctx` is a struct hc_fork_permit. A process may signal itself, and fork as above. */
bool hc_fork_permit_ask(void *ctx, const struct seccomp_notif *question);

#endif
