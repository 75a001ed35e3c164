/* deadline.h - raises exceptions in the guest's main thread: TimeoutError when the job's time is over or
 * when the guest's objects keep the harness waiting, MemoryError when the job's memory is nearly used up. A
 * courtesy only: a program that catches them goes on until the launcher, or the kernel, kills it. */
#ifndef HC_SHIM_HARNESS_DEADLINE_H
#define HC_SHIM_HARNESS_DEADLINE_H

#include "shim/harness/py.h"

/* Installs the handlers of HC_SIGNAL_DEADLINE and HC_SIGNAL_MEMORY (wire/handover.h) and of the interrupt;
 * called before the program runs. `timeout` is the text of limits.timeout, borrowed for the life of the
 * process. -1 with an exception set. */
int hc_deadline_prepare(const char *timeout);

/* Sets `timeout` for the next run of a session, and counts exceptions from 0 again. */
void hc_deadline_renew(const char *timeout);

/* Between these two calls the launcher's signals raise exceptions; outside them they do nothing. */
void hc_deadline_arm(void);
void hc_deadline_disarm(void);

/* The exceptions raised so far in this run. A caller compares two counts to learn whether its work was cut
 * short. */
int hc_deadline_raised(void);

/* The harness is about to call methods of the guest's objects, and allows them `seconds`. Every time that
 * these have passed, and at the launcher's signal about the job's time, the objects get a TimeoutError, until
 * hc_deadline_lift. */
void hc_deadline_within(int seconds);
void hc_deadline_lift(void);

/* Sets the function that is called when the guest's objects have caught several TimeoutErrors in one piece of
 * the harness's work; it does not return. `ctx` is its argument, borrowed for the life of the process. */
typedef void hc_deadline_end(void *ctx);
void hc_deadline_on_stubborn(hc_deadline_end *end, void *ctx);

#endif
