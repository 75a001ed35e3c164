/* How fast a cell may use the disks that it can reach: io.max. */
#include "cell/cgroup.h"

#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

/* Replace a partition's device number by its disk's, as io.max takes whole disks only. In sysfs a
 * partition is a directory below its disk's. */
static bool find_whole_disk(dev_t *device)
{
    char path[64], number[32];
    (void)snprintf(path, sizeof path, "/sys/dev/block/%u:%u", major(*device), minor(*device));
    hc_autofd dir = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (dir < 0)
        return false;
    if (faccessat(dir, "partition", F_OK, 0) < 0)
        return true;
    char *end;
    if (hc_read_attr(dir, "../dev", number, sizeof number) < 0)
        return false;
    unsigned disk = (unsigned)strtoul(number, &end, 10);
    if (*end != ':')
        return false;
    *device = makedev(disk, (unsigned)strtoul(end + 1, NULL, 10));
    return true;
}

bool hc_cgroup_disk_of(struct hc_cgroup_disks *disks, int fd)
{
    struct stat st;
    if (fstat(fd, &st) < 0)
        return false;
    dev_t device = st.st_dev;
    if (!find_whole_disk(&device))
        return false;
    for (size_t i = 0; i < disks->count; i++)
        if (disks->list[i] == device)
            return true;
    if (disks->count == HC_CGROUP_DISKS)
        return false;
    disks->list[disks->count++] = device;
    return true;
}

bool hc_cgroup_asks_io(const struct hc_limits *l)
{
    for (size_t i = 0; i < hc_options_count; i++)
        if (hc_options[i].cgroup_key && hc_cgroup_asked(l, &hc_options[i]))
            return true;
    return false;
}

/* " rbps=1048576 wbps=...": the rates that the limits set, as they follow a disk's number in io.max. */
static void format_rates(const struct hc_limits *l, char *out, size_t size)
{
    size_t used = 0;
    *out = '\0';
    for (size_t i = 0; i < hc_options_count && used < size; i++) {
        const struct hc_option *opt = &hc_options[i];
        if (!opt->cgroup_key || !hc_cgroup_asked(l, opt))
            continue;
        int n =
            snprintf(out + used, size - used, " %s=%lld", opt->cgroup_key, (long long)hc_limit_value(l, opt));
        used += n < 0 ? 0 : (size_t)n;
    }
}

/* Whether the line of this disk in io.max has the wanted values. The kernel adds the limits that are
 * "max". */
static bool reads_back(const struct hc_cgroup *cg, const char *disk, const char *wanted)
{
    char now[4096], value[64], *rest = NULL;
    if (hc_read_attr(cg->fd, "io.max", now, sizeof now) < 0)
        return false;
    char *line = strtok_r(now, "\n", &rest);
    while (line && (strncmp(line, disk, strlen(disk)) != 0 || line[strlen(disk)] != ' '))
        line = strtok_r(NULL, "\n", &rest);
    while (line && *wanted) {
        size_t len = 1 + strcspn(wanted + 1, " "); /* with the blank before it */
        (void)snprintf(value, sizeof value, "%.*s", (int)len, wanted);
        const char *at = strstr(line, value);
        if (!at || (at[len] && at[len] != ' '))
            return false;
        wanted += len;
    }
    return line != NULL;
}

int hc_cgroup_limit_io(const struct hc_cgroup *cg, const struct hc_limits *l,
                       const struct hc_cgroup_disks *disks, struct hc_error *err)
{
    char rates[160];
    format_rates(l, rates, sizeof rates);
    for (size_t i = 0; i < disks->count; i++) {
        char disk[32], text[200];
        (void)snprintf(disk, sizeof disk, "%u:%u", major(disks->list[i]), minor(disks->list[i]));
        (void)snprintf(text, sizeof text, "%s%s", disk, rates);
        if (hc_write_attr(cg->fd, "io.max", text, err) < 0)
            return hc_exit_as(err, HC_EXIT_UNAVAILABLE);
        if (!reads_back(cg, disk, rates))
            return hc_fail_as(err, HC_EXIT_UNAVAILABLE, 0, "io.max does not read back '%s'", text);
    }
    return 0;
}
