#include "inside/clocks.h"

#include "base/fd.h"
#include "base/kernel.h"
#include "inside/weak.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>
#include <time.h>

#define NS_PER_S 1000000000LL /* nanoseconds of a second */
/* A process may wait for a processor between reading two clocks, which then differ by that time. */
#define MAX_WAIT (10 * NS_PER_S) /* in nanoseconds */

static int64_t read_clock(clockid_t clock)
{
    struct timespec now;
    return clock_gettime(clock, &now) < 0 ? -1 : now.tv_sec * NS_PER_S + now.tv_nsec;
}

/* The raw clock gets the same offset as the monotonic one, from which it differs by the latter's
 * corrections. If it is behind, it must be the one that starts at zero, as time is never negative. */
static int64_t corrections(void)
{
    /* In this order: a wait in between makes the clocks start later, and never before zero. */
    int64_t raw = read_clock(CLOCK_MONOTONIC_RAW), ahead = read_clock(CLOCK_MONOTONIC) - raw;
    return ahead > 0 ? ahead : 0;
}

/* The offset of a clock, in nanoseconds, by which a time namespace differs from the host, from the text of
 * /proc/PID/timens_offsets. False: the text lacks the clock. */
static bool find_offset(const char *text, const char *name, int64_t *offset)
{
    const char *found = strstr(text, name);
    if (!found)
        return false;
    char *at = (char *)(uintptr_t)(found + strlen(name));
    long long seconds = strtoll(at, &at, 10), nanoseconds = strtoll(at, &at, 10);
    *offset = seconds * NS_PER_S + nanoseconds;
    return true;
}

/* Format a line of that file which sets a clock back to `start`. Offsets count from the host's clock,
 * which differs from the clock that this process sees if it is in a time namespace itself. */
static int format_offset(char *out, size_t size, const char *now, const char *name, clockid_t clock,
                         int64_t start)
{
    int64_t own = 0;
    (void)find_offset(now, name, &own);
    /* Nanoseconds are never negative, so the seconds are rounded down. */
    int64_t back = read_clock(clock) - own - start, seconds = (back + NS_PER_S - 1) / NS_PER_S;
    return snprintf(out, size, "%s %lld %lld\n", name, -(long long)seconds,
                    (long long)(seconds * NS_PER_S - back));
}

/* With CLONE_NEWTIME of clone3 this process would enter the namespace at once, and its offsets could no
 * longer be set. unshare makes it for the children only, and setns moves this process: whether an exec
 * moves a process depends on the kernel. */
int hc_clocks_start(bool follow, struct hc_error *err)
{
    if (hc_weak(HC_WEAK_TIME_NAMESPACE))
        return 0;
    if (unshare(CLONE_NEWTIME) < 0)
        return hc_fail_as(err, HC_EXIT_UNAVAILABLE, errno, "make a time namespace");
    char now[256], text[160];
    if (hc_read_attr(AT_FDCWD, "/proc/self/timens_offsets", now, sizeof now) < 0)
        return hc_fail_as(err, HC_EXIT_UNAVAILABLE, errno, "read the clocks of the time namespace");
    int64_t start = corrections();
    int n = format_offset(text, sizeof text, now, "monotonic", CLOCK_MONOTONIC, start);
    int m = format_offset(text + n, sizeof text - (size_t)n, now, "boottime", CLOCK_BOOTTIME, start);
    hc_autofd offsets = open("/proc/self/timens_offsets", O_WRONLY | O_CLOEXEC);
    if (offsets < 0 || write(offsets, text, (size_t)(n + m)) != n + m)
        return hc_fail_as(err, HC_EXIT_UNAVAILABLE, errno, "set the clocks of the time namespace");
    if (!follow)
        return 0;
    hc_autofd space = open("/proc/self/ns/time_for_children", O_RDONLY | O_CLOEXEC);
    if (space < 0 || setns(space, CLONE_NEWTIME) < 0)
        return hc_fail_as(err, HC_EXIT_UNAVAILABLE, errno, "enter the time namespace");
    return 0;
}

int64_t hc_clocks_read(pid_t pid)
{
    int64_t offset = 0;
    char path[48], text[256];
    (void)snprintf(path, sizeof path, "/proc/%d/timens_offsets", pid);
    if (hc_read_attr(AT_FDCWD, path, text, sizeof text) < 0 || !find_offset(text, "boottime", &offset))
        return -1;
    int64_t shown = read_clock(CLOCK_BOOTTIME) + offset - corrections();
    return offset < 0 && shown >= -MAX_WAIT ? MAX(shown, 0) / 1000000 : -1;
}
