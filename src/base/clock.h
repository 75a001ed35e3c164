/* clock.h - what is read off clocks: how much time has passed, the time of day, and, for the launcher's
 * accounts, the time of day by one reading of the clock, however it is set meanwhile. */
#ifndef HC_BASE_CLOCK_H
#define HC_BASE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

int64_t hc_clock_ns(clockid_t clock);

/* CLOCK_MONOTONIC, in microseconds and in milliseconds: for durations and deadlines, never for a date. */
int64_t hc_now_us(void);
int64_t hc_mono_ms(void);

/* Milliseconds since 1970. */
int64_t hc_wall_ms(void);

/* Milliseconds since 1970 by RFC 3339, UTC: to the second, or with its milliseconds. Returns `out`. */
char *hc_format_time(int64_t ms, bool with_milliseconds, char out[40]);

/* How far the host's clock is ahead of the time since boot, in nanoseconds: what changes when somebody sets
 * it. */
int64_t hc_clock_ahead(void);

/* Now, by a clock that is this much ahead: RFC 3339, UTC, milliseconds. */
void hc_clock_text(int64_t ahead, char out[40]);

#endif
