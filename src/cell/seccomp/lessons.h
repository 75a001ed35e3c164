/* lessons.h - what a trusted program needs, as the kernel asks about each of its calls: "hotcell policy
 * learn".
 *
 * The cell has all that any policy can give, and what no policy can allow stays refused. The answers are
 * decided by numbers and registers, which nobody can change meanwhile; yet whoever lets calls pass trusts the
 * program not to make a game of it. */
#ifndef HC_CELL_SECCOMP_LESSONS_H
#define HC_CELL_SECCOMP_LESSONS_H

#include "policy/policy.h"

#include <linux/seccomp.h>

#define HC_LESSONS_MAX 512 /* there are fewer calls */

struct hc_lessons {
    const struct hc_policy *policy; /* under which the program runs; lent */
    bool begun;                     /* the job's filter is on: what comes now, the program does */
    bool network, processes, makes_code;
    struct hc_lesson {
        char call[32];
        const char *never; /* why it was refused; NULL: it was used */
    } calls[HC_LESSONS_MAX];
    size_t count;
};

/* Note a call. 0: it may pass; else the errno to refuse it with. */
int hc_lessons_take(struct hc_lessons *l, const struct seccomp_data *call);

bool hc_lessons_used(const struct hc_lessons *l, const char *call);

#endif
