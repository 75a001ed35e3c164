/* feed.h - what a program reads beside its data: standard input, arguments, environment. */
#ifndef HC_SHIM_HARNESS_FEED_H
#define HC_SHIM_HARNESS_FEED_H

#include "base/error.h"
#include "wire/handover.h"

/* Make `fd`, which is used up, the process's standard input; -1: it stays as it is. */
int hc_feed_take(int fd, struct hc_error *err);

/* Standard input ends for everybody in this process who still reads: it becomes the cell's /dev/null again.
 */
int hc_feed_end(struct hc_error *err);

/* Give the program its arguments and environment, and a sys.stdin over the present descriptor 0. -1 with an
 * exception set. */
int hc_feed_begin(const struct hc_handover_job *job, bool run);

#endif
