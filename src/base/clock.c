#include "base/clock.h"

#include <stdio.h>

#define SECOND      1000000000LL /* in nanoseconds */
#define MILLISECOND 1000000LL    /* in nanoseconds */

int64_t hc_clock_ns(clockid_t clock)
{
    struct timespec t;
    (void)clock_gettime(clock, &t);
    return t.tv_sec * SECOND + t.tv_nsec;
}

int64_t hc_now_us(void)
{
    return hc_clock_ns(CLOCK_MONOTONIC) / 1000;
}

int64_t hc_mono_ms(void)
{
    return hc_now_us() / 1000;
}

int64_t hc_wall_ms(void)
{
    return hc_clock_ns(CLOCK_REALTIME) / MILLISECOND;
}

char *hc_format_time(int64_t ms, bool with_milliseconds, char out[40])
{
    time_t whole = (time_t)(ms / 1000);
    struct tm tm = {0};
    (void)gmtime_r(&whole, &tm);
    size_t len = strftime(out, 40, "%Y-%m-%dT%H:%M:%S", &tm);
    if (with_milliseconds)
        (void)snprintf(out + len, 40 - len, ".%03dZ", (int)(ms % 1000));
    else
        (void)snprintf(out + len, 40 - len, "Z");
    return out;
}

int64_t hc_clock_ahead(void)
{
    return hc_clock_ns(CLOCK_REALTIME) - hc_clock_ns(CLOCK_BOOTTIME);
}

void hc_clock_text(int64_t ahead, char out[40])
{
    (void)hc_format_time((hc_clock_ns(CLOCK_BOOTTIME) + ahead) / MILLISECOND, true, out);
}
