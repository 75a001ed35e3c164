/* cancel.h - signals that end a job in order instead of the launcher alone. */
#ifndef HC_CLI_CANCEL_H
#define HC_CLI_CANCEL_H

#include "base/error.h"

/* Block them, and give a descriptor that becomes readable with one; -1. */
int hc_cancel_open(struct hc_error *err);

/* The same, and readable as well once whoever started us has gone: `caller_fd` becomes readable then, or its
 * other end is closed; 0: nobody is watched. `signals` is borrowed, and is what hc_cancel_end wants. -1. */
int hc_cancel_watch(int signals, int caller_fd, struct hc_error *err);

/* Everything is cleaned up: end as the signal would have ended us, for the shell and for make. Returns if
 * there was none. */
void hc_cancel_end(int fd);
void hc_cancel_end_by(int sig); /* the same, by one that was read already; 0: none was */

#endif
