/* clock.h - what the launcher reads off clocks: how much time has passed, and the time of day for accounts,
 * by one reading of the clock, however it is set meanwhile. */
#ifndef HC_BASE_CLOCK_H
#define HC_BASE_CLOCK_H

#include <stdint.h>

/* Microseconds of CLOCK_MONOTONIC: for durations and deadlines, never for a date. */
int64_t hc_now_us(void);

/* How far the host's clock is ahead of the time since boot, in nanoseconds: what changes when somebody sets
 * it. */
int64_t hc_clock_ahead(void);

/* Now, by a clock that is this much ahead: RFC 3339, UTC, milliseconds. */
void hc_clock_text(int64_t ahead, char out[40]);

#endif
