/* learn.h - record the calls that a trusted program makes, for "hotcell policy learn".
 *
 * The cell has every right that a policy can give; calls that no policy can allow stay refused. The
 * answers depend only on call numbers and registers, which the program cannot change meanwhile; yet a user
 * who learns a policy trusts the program. */
#ifndef HC_CELL_SECCOMP_LEARN_H
#define HC_CELL_SECCOMP_LEARN_H

#include "policy/policy.h"

#include <linux/seccomp.h>

#define HC_LEARN_CALLS_MAX 512 /* most calls that are recorded: there are fewer */

struct hc_learned {
    const struct hc_policy *policy; /* policy that the program runs under; borrowed */
    bool begun;                     /* the job's filter is on: calls from here on are the program's */
    /* The program made sockets; made processes; mapped memory to execute. */
    bool network, processes, makes_code;
    struct hc_learned_call {
        char call[32];     /* name of the call */
        const char *never; /* why the call was refused; NULL: it was allowed */
    } calls[HC_LEARN_CALLS_MAX];
    size_t count; /* used entries of `calls` */
};

/* Record a call. Returns 0 if it may pass, else the errno to refuse it with. */
int hc_learn_call(struct hc_learned *l, const struct seccomp_data *call);

/* Whether the program made this call, and it was allowed. */
bool hc_learn_used(const struct hc_learned *l, const char *call);

#endif
