/* permits.h - of a session: which of the calls that its filters refuse may pass after all. */
#ifndef HC_CELL_SECCOMP_PERMITS_H
#define HC_CELL_SECCOMP_PERMITS_H

#include "cell/seccomp/listener.h"

#include <sys/types.h>

#define HC_PERMIT_FORKS 2 /* that one copy of the interpreter takes */

struct hc_permits {
    int forks; /* that may still be made; more than none only while the launcher waits for a copy */
    pid_t of;  /* who may make them, and its child */
};

/* As hc_listener_permit; `ctx` is a struct hc_permits. A process may signal itself, and fork as above. */
bool hc_permits_ask(void *ctx, const struct seccomp_notif *question);

#endif
