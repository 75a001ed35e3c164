/* The soft mark on memory. memory.high alone says little: a program that reads files fills it with page
 * cache, which the kernel can reclaim at once. Only memory that cannot be reclaimed counts here. */
#include "cell/cgroup.h"

#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILE_MAX 4096 /* most bytes read of a file; memory.stat has some 2000 */

int hc_cgroup_soft_begin(const struct hc_cgroup *cg, int64_t mark, int *events, struct hc_error *err)
{
    char value[32], text[FILE_MAX];
    *events = -1;
    hc_autofd fd = openat(cg->fd, "memory.events", O_RDONLY | O_CLOEXEC);
    /* epoll reports changes since the last read, so read before memory.high is set. */
    if (fd < 0 || pread(fd, text, sizeof text, 0) < 0)
        return hc_fail(err, errno, "read memory.events");
    (void)snprintf(value, sizeof value, "%lld", (long long)mark);
    if (hc_write_attr(cg->fd, "memory.high", value, err) < 0)
        return -1;
    *events = hc_take(&fd);
    return 0;
}

void hc_cgroup_soft_lift(const struct hc_cgroup *cg)
{
    struct hc_error ignored;
    (void)hc_write_attr(cg->fd, "memory.high", "max", &ignored);
}

static int64_t stat_of(const char *text, const char *key)
{
    const char *at = strstr(text, key);
    return at ? strtoll(at + strlen(key), NULL, 10) : 0;
}

bool hc_cgroup_soft_reached(const struct hc_cgroup *cg, int events, int64_t mark)
{
    char text[FILE_MAX], current[32];
    (void)!pread(events, text, sizeof text, 0); /* else epoll reports the same change again */
    if (hc_read_attr(cg->fd, "memory.stat", text, sizeof text) < 0 ||
        hc_read_attr(cg->fd, "memory.current", current, sizeof current) < 0)
        return false;
    int64_t reclaimable = stat_of(text, "\nactive_file ") + stat_of(text, "\ninactive_file ") +
                          stat_of(text, "\nslab_reclaimable ");
    return strtoll(current, NULL, 10) - reclaimable >= mark - mark / 16;
}
