/* cancel.h - turns signals and the end of the calling program into a readable descriptor, so that a job can
 * be ended in order. */
#ifndef HC_CLI_CANCEL_H
#define HC_CLI_CANCEL_H

#include "base/error.h"

/* Blocks SIGINT, SIGTERM and SIGHUP; returns a descriptor, owned by the caller, that becomes readable when
 * one of them arrives. -1: an error. */
int hc_cancel_open(struct hc_error *err);

/* Makes a descriptor, owned by the caller, that becomes readable as soon as `signals` does (from
 * hc_cancel_open, borrowed) or `caller_fd` (borrowed), a pidfd or a pipe that becomes readable, or is closed,
 * when the calling program ends; 0: no such descriptor. -1: an error. */
int hc_cancel_watch(int signals, int caller_fd, struct hc_error *err);

/* Ends this process by the signal that has arrived at `fd` (from hc_cancel_open), as the shell and make
 * expect; called when everything is cleaned up. Returns if no signal has arrived. */
void hc_cancel_end(int fd);
void hc_cancel_end_by(int sig); /* the same for a signal that was read already; 0: no signal */

#endif
