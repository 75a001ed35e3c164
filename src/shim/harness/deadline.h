/* deadline.h - an exception in the main thread: TimeoutError when the job's time is nearly up, and when the
 * guest's objects keep the harness waiting; MemoryError when its memory is. Courtesy only: who catches it
 * goes on until the launcher, or the kernel, kills. */
#ifndef HC_SHIM_HARNESS_DEADLINE_H
#define HC_SHIM_HARNESS_DEADLINE_H

#include "shim/harness/py.h"

/* Before the program runs: what HC_SIGNAL_DEADLINE and HC_SIGNAL_MEMORY (wire/handover.h) and the harness's
 * own alarm do. `timeout` (lent for good) is limits.timeout as people write it. -1 with an exception set. */
int hc_deadline_prepare(const char *timeout);

/* For the next run of a session: as hc_deadline_prepare, with nothing raised so far. */
void hc_deadline_renew(const char *timeout);

/* From here on the launcher's signal raises, until hc_deadline_disarm. */
void hc_deadline_arm(void);
void hc_deadline_disarm(void);

/* How often it raised since the start: tells whether something was cut short in between. */
int hc_deadline_raised(void);

/* The harness calls into the guest's objects, and gives them so long; after that, and each time that it has
 * passed again, they get a TimeoutError. The launcher's signal about the time raises too. Ended by
 * hc_deadline_lift. */
void hc_deadline_within(int seconds);

/* What to do about objects that catch the TimeoutError, time after time: does not return. `ctx` is lent for
 * good. */
typedef void hc_deadline_end(void *ctx);
void hc_deadline_stubborn(hc_deadline_end *end, void *ctx);
void hc_deadline_lift(void);

#endif
