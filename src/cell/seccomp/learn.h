/* learn.h - what a trusted program needs, as the kernel asks about each of its calls: "hotcell policy
 * learn".
 *
 * The cell has all that any policy can give, and what no policy can allow stays refused. The answers are
 * decided by numbers and registers, which nobody can change meanwhile; yet whoever lets calls pass trusts the
 * program not to make a game of it. */
#ifndef HC_CELL_SECCOMP_LEARN_H
#define HC_CELL_SECCOMP_LEARN_H

#include "policy/policy.h"

#include <linux/seccomp.h>

#define HC_LEARN_CALLS_MAX 512 /* there are fewer calls */

struct hc_learned {
    const struct hc_policy *policy; /* under which the program runs; lent */
    bool begun;                     /* the job's filter is on: what comes now, the program does */
    bool network, processes, makes_code;
    struct hc_learned_call {
        char call[32];
        const char *never; /* why it was refused; NULL: it was used */
    } calls[HC_LEARN_CALLS_MAX];
    size_t count;
};

/* Note a call. 0: it may pass; else the errno to refuse it with. */
int hc_learn_call(struct hc_learned *l, const struct seccomp_data *call);

bool hc_learn_used(const struct hc_learned *l, const char *call);

#endif
