/* listener.h - the launcher's end of the reporting filter: the kernel asks about each call that it refuses.
 */
#ifndef HC_CELL_SECCOMP_LISTENER_H
#define HC_CELL_SECCOMP_LISTENER_H

#include "cell/seccomp/learn.h"
#include "manifest/denial.h"

#include <stdbool.h>

struct seccomp_notif;

#define HC_LISTENER_FLOOD 10000 /* calls of one job; what comes after these is answered slowly */

/* Asked first: may this call pass? Only for calls that are decided by their number and registers. NULL: none
 * may.
 */
typedef bool hc_listener_permit(void *ctx, const struct seccomp_notif *question);

struct hc_listener {
    int fd; /* -1: none */
    int64_t answered;
    hc_listener_permit *permit;
    void *ctx; /* of permit; borrowed */
};

/* Take over the descriptor that the interpreter's process sent. It must be what it is said to be. */
int hc_listener_open(struct hc_listener *l, int fd, struct hc_error *err);

/* Refuse up to `most` waiting calls, never blocking, and note them in `denials` (NULL: nowhere). With
 * `learned`, they say instead what passes, and take the notes. */
void hc_listener_answer(struct hc_listener *l, int most, struct hc_denials *denials,
                        struct hc_learned *learned);

void hc_listener_finish(struct hc_listener *l);

#endif
