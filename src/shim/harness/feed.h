/* feed.h - gives a program what it reads beside its data: standard input, arguments, environment. */
#ifndef HC_SHIM_HARNESS_FEED_H
#define HC_SHIM_HARNESS_FEED_H

#include "base/error.h"
#include "wire/handover.h"

/* Makes `fd`, which is closed, the process's standard input; `fd` -1: standard input stays as it is. */
int hc_feed_take(int fd, struct hc_error *err);

/* Ends standard input for all threads of this process that still read it: it becomes the cell's /dev/null
 * again. */
int hc_feed_end(struct hc_error *err);

/* Gives the program its arguments and environment, and a sys.stdin over the present descriptor 0. `run`: it
 * is a run of a session. -1 with an exception set. */
int hc_feed_begin(const struct hc_handover_job *job, bool run);

/* For sessions, before the guard is on: builtins.input becomes a function that tells the launcher when the
 * program of an interactive run calls it. -1 with an exception set. */
int hc_feed_watch_input(void);

#endif
