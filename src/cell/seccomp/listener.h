/* listener.h - the launcher's end of the reporting filter, on which the kernel asks about each call that the
 * filter refuses. */
#ifndef HC_CELL_SECCOMP_LISTENER_H
#define HC_CELL_SECCOMP_LISTENER_H

#include "cell/seccomp/learn.h"
#include "manifest/denial.h"

#include <stdbool.h>

struct seccomp_notif;

#define HC_LISTENER_FLOOD 10000 /* refused calls of a job that are answered at once; later ones wait */

/* Returns whether this call may pass. The function must decide by the call's number and registers only, as
 * the guest can change its memory meanwhile. */
typedef bool hc_listener_permit(void *ctx, const struct seccomp_notif *question);

struct hc_listener {
    int fd;                     /* the listener, owned; -1: none */
    int64_t answered;           /* number of calls of this job or run that were answered so far */
    hc_listener_permit *permit; /* asked first; NULL: no call may pass */
    void *ctx;                  /* first argument of permit; borrowed */
};

/* Take ownership of the descriptor that the interpreter's process sent, also on failure. -1 if it is no
 * seccomp listener. */
int hc_listener_open(struct hc_listener *l, int fd, struct hc_error *err);

/* Answer up to `most` waiting calls without blocking: refuse them and note them in `denials` (may be
 * NULL). With `learned`, hc_learn_call decides instead. */
void hc_listener_answer(struct hc_listener *l, int most, struct hc_denials *denials,
                        struct hc_learned *learned);

void hc_listener_finish(struct hc_listener *l);

#endif
