#include "base/clock.h"

#include <stdio.h>
#include <time.h>

#define SECOND 1000000000LL /* in nanoseconds */

static int64_t clock_ns(clockid_t clock)
{
    struct timespec t;
    (void)clock_gettime(clock, &t);
    return t.tv_sec * SECOND + t.tv_nsec;
}

int64_t hc_now_us(void)
{
    return clock_ns(CLOCK_MONOTONIC) / 1000;
}

int64_t hc_clock_ahead(void)
{
    return clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_BOOTTIME);
}

void hc_clock_text(int64_t ahead, char out[40])
{
    int64_t now = clock_ns(CLOCK_BOOTTIME) + ahead;
    time_t whole = (time_t)(now / SECOND);
    struct tm tm;
    (void)gmtime_r(&whole, &tm);
    char seconds[24];
    (void)strftime(seconds, sizeof seconds, "%Y-%m-%dT%H:%M:%S", &tm);
    (void)snprintf(out, 40, "%s.%03dZ", seconds, (int)(now % SECOND / 1000000));
}
