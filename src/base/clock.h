/* clock.h - durations, and times of day. The times of one job's manifest come from a single reading of the
 * wall clock, so setting the clock meanwhile does not disturb them. */
#ifndef HC_BASE_CLOCK_H
#define HC_BASE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* The time of `clock`, in nanoseconds. */
int64_t hc_clock_ns(clockid_t clock);

/* CLOCK_MONOTONIC, in microseconds and in milliseconds: for durations and deadlines, never for a date. */
int64_t hc_now_us(void);
int64_t hc_mono_ms(void);

/* The time of day, in milliseconds since 1970. */
int64_t hc_wall_ms(void);

/* Print `ms`, milliseconds since 1970, into `out` as RFC 3339 text in UTC: without or with the milliseconds.
 * Returns `out`. */
char *hc_format_time(int64_t ms, bool with_milliseconds, char out[40]);

/* Nanoseconds by which the host's wall clock is ahead of the time since boot: the number changes when the
 * clock is set. */
int64_t hc_clock_ahead(void);

/* Print into `out` the current time by a clock that is `ahead` nanoseconds ahead of the time since boot, as
 * RFC 3339 text in UTC with milliseconds. */
void hc_clock_text(int64_t ahead, char out[40]);

#endif
