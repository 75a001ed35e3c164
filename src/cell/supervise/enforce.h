/* enforce.h - the limits of a running job that the supervisor enforces itself: warnings, the soft mark on
 * memory, and limits that no cgroup enforces. */
#ifndef HC_CELL_SUPERVISE_ENFORCE_H
#define HC_CELL_SUPERVISE_ENFORCE_H

#include "cell/supervise/loop.h"

/* Start to watch the soft mark on memory. Called when the program begins: an interpreter that starts near
 * the mark must not be slowed down.
 *
 * In a session there is a second mark, just below limits.memory, at which the run is ended from here. At
 * limits.memory the kernel would kill the largest process, which can be the copy that is to take over. */
void hc_enforce_soft(struct hc_loop *l);
void hc_enforce_soft_check(struct hc_loop *l); /* to be called when memory.events has changed */
void hc_enforce_soft_end(struct hc_loop *l);

/* Send the signal `number` to warn the program that its time is over or its memory nearly used up. A program
 * that has not begun, or has already reported, gets none. */
void hc_enforce_warn(struct hc_loop *l, int number, enum hc_warning of);

/* To be called by the ticker: check processor time, and memory where no cgroup limits it, and sample both
 * for the manifest. */
void hc_enforce_watch(struct hc_loop *l);

/* Milliseconds to the next sample of memory, of which `used` bytes are used now, and `before` at the last
 * sample, but no more than `most`: until then the cell should not exceed limits.memory by much. */
int64_t hc_enforce_next_ms(const struct hc_limits *limits, int64_t used, int64_t before, int64_t most);

#endif
