/* enforce.h - the limits of a running job that the supervisor holds itself: warnings, the soft mark on
 * memory, and what no cgroup holds. */
#ifndef HC_CELL_SUPERVISE_ENFORCE_H
#define HC_CELL_SUPERVISE_ENFORCE_H

#include "cell/supervise/loop.h"

/* From here on it is the program's memory: an interpreter that starts near the mark must not be slowed down.
 *
 * In a session there is a second mark, just below limits.memory, at which the run is ended from here. Had the
 * kernel to choose, it would end the largest process, and that can be the copy that is to take over. */
void hc_enforce_soft(struct hc_loop *l);
void hc_enforce_soft_check(struct hc_loop *l); /* memory.events has changed */
void hc_enforce_soft_end(struct hc_loop *l);

/* The time or the memory is nearly used up. A program that has not begun, or is being accounted for, is left
 * alone. */
void hc_enforce_warn(struct hc_loop *l, int number, enum hc_warning of);

/* The ticker: processor time, memory where no cgroup holds it, and samples of both for the manifest. */
void hc_enforce_watch(struct hc_loop *l);

#endif
